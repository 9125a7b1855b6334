"""Exact token accounting: what a memory costs in a form, framing included, and what is left."""

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence

from satchel.allocator.model import Candidate, Form, Outline
from satchel.allocator.rendering import (
    Fence,
    Heading,
    block,
    dates_piece,
    fence,
    heading,
    heading_piece,
    unjoined_end,
)

Count = Callable[[str], int]

# The longest token of cl100k_base has 128 bytes, so a text has at least a token for each 128 bytes.
_LONGEST_TOKEN_BYTES = 128
# What the line break and the label of a block may save or add at most, against the stored count.
_FRAME_TOLERANCE = 8
_REFERENCE_FRAME_TOKENS = 5  # of `[x] → T0:`, the colon left to the id
_LEAST_UUID_TOKENS = 9
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# Pieces of a UUID that have a token each at least: the pattern of cl100k_base joins no more than three
# digits, and to letters only the one sign before them.
_UUID_PIECE = re.compile(r"\d{1,3}|-?[a-f]+|-")


class BlockCounts:
    """Counts of blocks, kept for those memories that have a version. Least recently used ones go first."""

    def __init__(self, count: Count, capacity: int) -> None:
        self.count = count
        self._capacity = capacity
        self._kept: OrderedDict[object, int] = OrderedDict()

    def of(self, candidate: Candidate, form: Form) -> int:
        """Return the exact tokens of the block that shows the candidate in the form."""
        if not candidate.version:
            return self.count(block(candidate, form))
        part = candidate.excerpt if form is Form.EXCERPT else None
        key = (candidate.id, candidate.version, form, part, candidate.dates)
        # Each step is atomic, so that worker threads and the event loop may share the counts.
        known = self._kept.pop(key, None)
        return self._keep(key, self._counted(candidate, form) if known is None else known)

    def _counted(self, candidate: Candidate, form: Form) -> int:
        """Count; of a text that was counted when it was stored only what the line break may change."""
        if form is Form.VERBATIM and candidate.verbatim_tokens is not None:
            end = unjoined_end(candidate.text)
            if end is not None:
                framing = self.of_piece(f"{end}\n") - self.of_piece(end)
                dates = dates_piece(candidate)
                return candidate.verbatim_tokens + framing + (self.of_piece(dates) if dates else 0)
        return self.count(block(candidate, form))

    def of_piece(self, piece: str) -> int:
        """Return the exact tokens of a short piece of framing."""
        known = self._kept.get(piece)
        return self._keep(piece, self.count(piece)) if known is None else known

    def _keep(self, key: object, tokens: int) -> int:
        self._kept[key] = tokens
        if len(self._kept) > self._capacity:
            self._kept.popitem(last=False)
        return tokens


class Ledger:
    """A budget being spent on memories; knows what the framing of each would add.

    The price of a memory is its block and, for the first one of its day, the heading; the year is charged
    with the first heading of a year. What is spent is exactly the tokens of the context as it would stand.
    """

    def __init__(
        self, budget: int, outline: Outline, counts: BlockCounts, reserve: Sequence[Candidate] = ()
    ) -> None:
        """Open a budget for the candidates of ``outline`` and ``reserve``; no others may be bought."""
        self._counts = counts
        self._outline = outline
        self.budget = budget
        self.with_wing = len({*outline.wings, *(one.wing for one in reserve)}) > 1
        # No other form of a memory than its text holds an angle bracket.
        texts = [*outline.texts, *(one.text for one in reserve)]
        self.fence: Fence = fence([text for text in texts if "<" in text])
        self.spent = counts.of_piece(self.fence.opening) + counts.of_piece(self.fence.closing)
        self.empty_price = self.spent
        self._days: set[object] = set()
        self._years: set[int] = set()

    @property
    def left(self) -> int:
        """Tokens that are not spent."""
        return self.budget - self.spent

    def tokens(self, candidate: Candidate, form: Form) -> int:
        """Return the tokens of the block alone."""
        return self._counts.of(candidate, form)

    def price(self, candidate: Candidate, form: Form) -> int:
        """Return what showing the candidate in this form would cost now, its heading included."""
        return self.tokens(candidate, form) + self.heading_price(candidate)

    def heading_price(self, candidate: Candidate) -> int:
        """Return what the heading of the candidate would cost now."""
        return self._day_price(heading(candidate, with_wing=self.with_wing))

    def certainly_too_dear(self, candidate: Candidate, left: int) -> bool:
        """Tell, without counting, whether the whole text cannot fit in ``left`` tokens."""
        return _is_too_dear(candidate.verbatim_tokens, candidate.text, left)

    def may_refer(self, candidate: Candidate) -> bool:
        """Tell, without counting, whether a form with a reference may fit."""
        return _may_refer(candidate.id, self.left)

    def is_hopeless(self, candidate: Candidate) -> bool:
        """Tell, without counting, whether the candidate cannot fit in any form, now or ever."""
        left = self.left
        return self.certainly_too_dear(candidate, left) and not self.may_refer(candidate)

    def hopeful(self, indices: Iterable[int]) -> Iterator[int]:
        """Yield those of the outline's candidates that may fit when their turn comes, without looking at one.

        What is left never grows, so that the others never will.
        """
        outline = self._outline
        for index in indices:
            left = self.left
            is_too_dear = _is_too_dear(outline.tokens[index], outline.texts[index], left)
            if not is_too_dear or _may_refer(outline.ids[index], left):
                yield index

    def spend(self, candidate: Candidate, form: Form) -> int:
        """Take the candidate; returns the tokens of its block.

        Raises:
            ValueError: it does not fit in what is left.
        """
        tokens = self.tokens(candidate, form)
        day = heading(candidate, with_wing=self.with_wing)
        price = tokens + self._day_price(day)
        if price > self.left:
            raise ValueError(f"The form costs {price} tokens, and {self.left} are left.")
        self.spent += price
        if day is not None:
            self._days.add(day)
            self._years.add(day.day[0])
        return tokens

    def exchange(self, candidate: Candidate, old: Form, new: Form) -> int | None:
        """Show a taken candidate in another form; returns the tokens of the new block, `None` if too dear."""
        change = self.tokens(candidate, new) - self.tokens(candidate, old)
        if change > self.left:
            return None
        self.spent += change
        return self.tokens(candidate, new)

    def _day_price(self, day: Heading | None) -> int:
        if day is None or day in self._days:
            return 0
        return self._counts.of_piece(heading_piece(day, with_year=day.day[0] not in self._years))


def _is_too_dear(tokens: int | None, text: str, left: int) -> bool:
    if tokens is not None:
        return tokens > left + _FRAME_TOLERANCE
    return len(text) > max(left, 1) * _LONGEST_TOKEN_BYTES


def _may_refer(memory_id: str, left: int) -> bool:
    """Tell whether a form with a reference to the id may fit; of other ids than UUIDs nothing is known."""
    if not _UUID.fullmatch(memory_id):
        return left > 0
    room = left - _REFERENCE_FRAME_TOKENS
    return room >= _LEAST_UUID_TOKENS and room >= len(_UUID_PIECE.findall(memory_id))
