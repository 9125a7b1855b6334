"""What the command optimize does."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from satchel.api.embedder.v1 import embedder_service_pb2 as pb
from satchel.cli.actions.conversations import read_input
from satchel.cli.actions.output_file import opened_output
from satchel.cli.exits import CommandError, Exit
from satchel.cli.importing.chat import is_message_list, text_of
from satchel.cli.importing.jsonl import parse_json
from satchel.cli.importing.records import ImportFormatError, Json
from satchel.cli.output import tell, write_json
from satchel.cli.place import Place, Show
from satchel.cli.pruning import Block, BudgetTooSmall, Message, blocks_of, last_question, prune, to_text
from satchel.cli.session import run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec
from satchel.runtime.tokens import count_tokens

_MAX_TEXTS = 256
_MAX_READ = 8000  # code points of a block that are compared
_LONG_S = 600.0


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be kept, and where it goes; ``output`` is `None` when only the figures are wanted."""

    budget: int
    keep_last: int
    output: Path | None


def optimize(place: Place, show: Show, path: Path, wish: Wish) -> None:
    """Prune a chat history, write it, and tell the figures.

    Raises:
        CommandError: there is no such file, or what must stay is larger than the budget.
        ImportFormatError: the file holds no chat history.
    """
    data = _parse(path)
    messages = _messages_of(path, data)
    blocks = blocks_of(messages, wish.keep_last)
    before = count_tokens(to_text(messages))
    kept = messages if before <= wish.budget else _pruned(place, show, messages, blocks, wish)
    if wish.output is not None:
        with opened_output(wish.output) as file:
            file.write(f"{_written(data, kept)}\n".encode(errors="backslashreplace"))
    figures = {
        "messages_before": len(messages),
        "messages_after": len(kept),
        "tokens_before": before,
        "tokens_after": count_tokens(to_text(kept)),
        "budget": wish.budget,
    }
    _tell(figures, show, is_stdout_free=wish.output is None or str(wish.output) != "-")


def _written(data: Json, kept: list[Message]) -> str:
    """Return the history in the layout that it came in."""
    if not isinstance(data, dict):
        return to_text(kept)
    return json.dumps({**data, "messages": kept}, ensure_ascii=False, separators=(",", ":"))


def _pruned(
    place: Place, show: Show, messages: Sequence[Message], blocks: Sequence[Block], wish: Wish
) -> list[Message]:
    worth = _worth(place, show, messages, blocks)
    try:
        return prune(messages, blocks, worth, budget=wish.budget, count_tokens=count_tokens)
    except BudgetTooSmall as error:
        raise CommandError(
            f"The instructions and the last {wish.keep_last} messages take {error.needed} tokens, and the "
            f"budget is {wish.budget}. Raise --budget or lower --keep-last."
        ) from error


def _worth(place: Place, show: Show, messages: Sequence[Message], blocks: Sequence[Block]) -> Sequence[float]:
    """Return how near each block is to the last question; without a question, all the same."""
    question = last_question(messages)
    asked = "" if question is None else _readable(messages[question : question + 1])
    texts = [_readable(messages[one.start : one.end]) for one in blocks]
    if not asked.strip():
        return [0.0] * len(blocks)

    async def work(clients: Clients) -> list[float]:
        if "embedder" not in clients.channels:
            raise CommandError("--url lacks 'embedder'. Give its address too.", Exit.USAGE)
        (query,) = await _vectors(clients, [asked], pb.TEXT_ROLE_QUERY)
        said = await _vectors(clients, [one for one in texts if one.strip()], pb.TEXT_ROLE_PASSAGE)
        near = iter(said @ query)
        return [float(next(near)) if text.strip() else -1.0 for text in texts]

    return run(place, show, "optimize", work)


def _readable(messages: Sequence[Message]) -> str:
    """Return what messages say, without characters that no text of the contract may hold, and bounded."""
    text = "\n".join(map(text_of, messages))[:_MAX_READ]
    return text.replace("\0", " ").encode(errors="replace").decode()


async def _vectors(
    clients: Clients, texts: Sequence[str], role: pb.TextRole.ValueType
) -> NDArray[np.float32]:
    """Return a row of unit norm for each text."""
    rows = []
    for start in range(0, len(texts), _MAX_TEXTS):
        request = pb.EmbedTextsRequest(texts=texts[start : start + _MAX_TEXTS], role=role)
        answer = await clients.embedder.EmbedTexts(request, timeout=_LONG_S)
        rows.append(np.frombuffer(answer.vectors, dtype="<f4").reshape(answer.count, answer.dimension))
    return np.concatenate(rows)


def _parse(path: Path) -> Json:
    try:
        return parse_json(read_input(path))
    except ValueError as exc:
        raise ImportFormatError(f"{path} {exc}.") from exc


def _messages_of(path: Path, data: Json) -> list[Message]:
    found = data.get("messages") if isinstance(data, dict) else data
    messages = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    if not is_message_list(found) or not isinstance(found, list) or len(messages) < len(found):
        raise ImportFormatError(
            f"{path} is no chat history: a JSON list of messages with 'role' and 'content', or an object "
            "with such a list as 'messages'."
        )
    return list(messages)


def _tell(figures: dict[str, int], show: Show, *, is_stdout_free: bool) -> None:
    if show.as_json and is_stdout_free:
        write_json(figures)
    elif show.as_json:
        tell(codec.dumps(dict(figures)))
    else:
        tell(
            f"{figures['messages_after']} of {figures['messages_before']} messages kept, "
            f"{figures['tokens_after']} of {figures['tokens_before']} tokens, budget {figures['budget']}."
        )
