"""Prunes a chat history to a budget: what must stay, what may go, and what of it is worth most. Pure.

A history is a list of messages as chat interfaces take it. Messages that only make sense together, such as a
call of a tool and its result, are one block, which is kept or dropped as a whole; the order never changes.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from satchel.cli.importing.records import Json

Message = Mapping[str, Json]
CountTokens = Callable[[str], int]

_INSTRUCTIONS = frozenset({"system", "developer"})
_SEAM = 8  # tokens by which texts may be smaller together than apart: brackets, and what joins at the seam
_RESULTS = frozenset({"tool", "function"})


class BudgetTooSmall(ValueError):  # noqa: N818  # says what happened
    """What must be kept is larger than the budget; ``needed`` is its number of tokens."""

    def __init__(self, needed: int) -> None:
        super().__init__(needed)
        self.needed = needed


@dataclass(frozen=True, slots=True)
class Block:
    """Messages ``start`` to ``end`` (exclusive), which stay together; ``must_stay`` whatever the budget."""

    start: int
    end: int
    must_stay: bool


def blocks_of(messages: Sequence[Message], keep_last: int) -> list[Block]:
    """Cut a history into blocks; those of instructions and of the last ``keep_last`` messages must stay."""
    starts = [at for at in range(len(messages)) if at == 0 or not _is_result(messages[at])]
    first_kept = len(messages) - keep_last
    return [
        Block(start, end, end > first_kept or messages[start].get("role") in _INSTRUCTIONS)
        for start, end in pairwise([*starts, len(messages)])
    ]


def last_question(messages: Sequence[Message]) -> int | None:
    """Return the place of the last message of a user that is no result of a tool; `None` without one."""
    asked = (at for at, message in enumerate(messages) if message.get("role") == "user")
    return max((at for at in asked if not _is_result(messages[at])), default=None)


def to_text(messages: Sequence[Message]) -> str:
    """Return messages as compact JSON: the form in which they are counted and written."""
    return json.dumps(messages, ensure_ascii=False, separators=(",", ":"))


def prune(
    messages: Sequence[Message],
    blocks: Sequence[Block],
    worth: Sequence[float],
    *,
    budget: int,
    count_tokens: CountTokens,
) -> list[Message]:
    """Return the messages that stay, in order; `to_text` of them has at most ``budget`` tokens.

    ``worth`` is one number for each block. Blocks are taken by descending worth, of equal ones the later,
    as long as they fit; a smaller one may follow one that did not.

    Raises:
        BudgetTooSmall: what must stay does not fit.
    """
    kept = {at for at, block in enumerate(blocks) if block.must_stay}
    used = count_tokens(to_text(_chosen(messages, blocks, kept)))
    if used > budget:
        raise BudgetTooSmall(used)
    for at in sorted(set(range(len(blocks))) - kept, key=lambda at: (-worth[at], -at)):
        size = count_tokens(to_text(messages[blocks[at].start : blocks[at].end]))
        if used + size > budget + _SEAM:
            continue  # far too large: it need not be counted with the others
        together = count_tokens(to_text(_chosen(messages, blocks, kept | {at})))
        if together <= budget:
            used = together
            kept.add(at)
    return _chosen(messages, blocks, kept)


def _chosen(messages: Sequence[Message], blocks: Sequence[Block], places: set[int]) -> list[Message]:
    return [
        message
        for at, block in enumerate(blocks)
        if at in places
        for message in messages[block.start : block.end]
    ]


def _is_result(message: Message) -> bool:
    """Tell whether a message answers the call of a tool in the one before, in either of the usual forms."""
    if message.get("role") in _RESULTS:
        return True
    parts = message.get("content")
    return isinstance(parts, list) and any(
        isinstance(part, dict) and part.get("type") == "tool_result" for part in parts
    )
