"""How a recall came about, as a table for a person: ranks, price, what became of it, and why."""

from collections.abc import Iterable, Iterator, Sequence

from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.gateway.transcoder import codec

_HEADS = ("score", "by meaning", "by words", "tokens", "outcome", "memory", "why")
_RIGHT = 4  # columns that are aligned to the right
_NOTHING = "-"
# What is smaller changes no order that a person would ask about.
_LEAST = 0.005
_BOOSTS = ("late", "neighbor", "session", "speaker", "time", "question")
# Factors of Context Budget Allocation by the value that changes nothing.
_FACTORS = {"density": None, "age": 1.0, "overlap": 0.0, "session": 1.0, "causal": 1.0}


def explained(items: Sequence[pb.CandidateExplanation], *, with_factors: bool) -> Iterator[str]:
    """Yield a line of heads and one a candidate; nothing without candidates.

    A place counts from 1, and the cosine follows it. ``with_factors`` adds the factors of Context Budget
    Allocation, which other strategies do not go by.
    """
    if not items:
        return
    rows = [_HEADS, *(_row(item, with_factors=with_factors) for item in items)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [
            cell.rjust(width) if at < _RIGHT else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _row(item: pb.CandidateExplanation, *, with_factors: bool) -> tuple[str, ...]:
    signals = [*_boosts(item), *(_factors(item) if with_factors else ())]
    return (
        f"{item.score:.4f}",
        _place(item.dense_rank, item.similarity if item.HasField("similarity") else None),
        _place(item.lexical_rank, None),
        str(item.token_cost),
        str(codec.encode(item)["outcome"]),
        item.id,
        " ".join([item.reason, f"({', '.join(signals)})"] if signals else [item.reason]),
    )


def _place(rank: int, similarity: float | None) -> str:
    place = str(rank) if rank else _NOTHING
    return place if similarity is None else f"{place} ({similarity:.2f})"


def _boosts(item: pb.CandidateExplanation) -> Iterable[str]:
    values = ((name, float(getattr(item, f"{name}_boost"))) for name in _BOOSTS)
    return [f"{name} {value:+.2f}" for name, value in values if abs(value) >= _LEAST]


def _factors(item: pb.CandidateExplanation) -> Iterable[str]:
    values = ((name, float(getattr(item, name)), neutral) for name, neutral in _FACTORS.items())
    return [
        f"{name} x{value:.2f}" if name != "overlap" else f"overlap {value:.2f}"
        for name, value, neutral in values
        if neutral is None or abs(value - neutral) >= _LEAST
    ]
