"""What the commands recall and search do."""

import sys
from collections.abc import Iterable, Mapping

from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.cli.actions.memories import read_argument
from satchel.cli.explanations import explained
from satchel.cli.output import tell, write_json, write_line, write_text
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec
from satchel.gateway.transcoder.words import words_of

_INDENT = "    "


def recall(place: Place, show: Show, question: str, fields: Mapping[str, object]) -> bool:
    """Print the context and its receipt; tell whether the context holds anything."""
    message = request(pb.RecallRequest, query=read_argument(question), project=place.project, **fields)

    async def work(clients: Clients) -> pb.RecallResponse:
        return await clients.allocator.Recall(message)

    answer = run(place, show, "recall", work)
    if show.as_json:
        write_json(codec.encode(answer))
    else:
        write_text(answer.context)
        if answer.context and sys.stdout.isatty():
            tell("")
        is_cba = answer.receipt.strategy == pb.STRATEGY_CBA
        for line in explained(answer.explanations, with_factors=is_cba):
            tell(line)
        tell(format_receipt(answer.receipt))
    return bool(answer.context)


def format_receipt(receipt: pb.Receipt) -> str:
    """Return a receipt as one line, with a line for each thing that the caller should know."""
    shown = codec.encode(receipt)
    parts = [
        f"{receipt.total_tokens:,} of {receipt.budget:,} tokens ({_percent(receipt)}%)",
        f"{receipt.selected_count} of {receipt.candidate_count} candidates",
        f"strategy {shown['strategy']}",
        f"revision {receipt.revision}",
    ]
    if receipt.fallback_wing:
        parts.append(f"from wing {receipt.fallback_wing}")
    if receipt.degraded:
        parts.append(f"without {_named(receipt.degraded)}")
    return "\n".join(["; ".join(parts), *receipt.notes])


def _named(parts: Iterable[pb.Part.ValueType]) -> str:
    words = words_of(pb.Part.DESCRIPTOR)
    return ", ".join(words[part] for part in parts)


def _percent(receipt: pb.Receipt) -> int:
    return round(100 * receipt.total_tokens / receipt.budget) if receipt.budget else 0


def search(place: Place, show: Show, words: str, fields: Mapping[str, object]) -> bool:
    """Print what was found; tell whether anything was."""
    message = request(pb.SearchMemoriesRequest, query=read_argument(words), project=place.project, **fields)

    async def work(clients: Clients) -> pb.SearchMemoriesResponse:
        return await clients.allocator.SearchMemories(message)

    answer = run(place, show, "search", work)
    if show.as_json:
        write_json(codec.encode(answer))
        return bool(answer.results)
    for result in answer.results:
        write_line(format_result(result))
    if answer.degraded:
        tell(f"Answered without {_named(answer.degraded)}.")
    if not answer.results:
        tell("Nothing was found.")
    return bool(answer.results)


def format_result(result: pb.SearchResult) -> str:
    """Return a result for a person: one line about it, then its text, indented."""
    shown = codec.encode(result)
    when = str(shown.get("occurred_at") or shown.get("created_at") or "")[:10]
    scores = f"{result.score:.3f} (similarity {result.similarity:.3f})"
    head = f"{scores}  {result.id}  {result.wing}/{result.room}  {shown['type']}  {when}"
    text = result.content + (" ..." if result.truncated else "")
    return "\n".join([head, *(_INDENT + line for line in text.splitlines())])
