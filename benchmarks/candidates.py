"""Asks a Satchel with ``explain``, and keeps what each candidate had going for it.

Packing is repeated here without Satchel, which makes it an approximation: whole texts only, each with its own
tokens and those of the fence and of a line a day, near duplicates not collapsed, no relative times resolved.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.fitting import Floats, Listed
from benchmarks.records import Corpus, Memory, Question
from benchmarks.satchel_system import Filled
from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.runtime.tokens import count_tokens

# As docs/recall.md says of the context: its fence, the line over the first day, and over each other day.
FENCE_TOKENS = 14
FIRST_DAY_TOKENS = 6
DAY_TOKENS = 3

SIGNALS = (
    "similarity",
    "words",
    "late interaction",
    "neighbours",
    "session",
    "speaker",
    "time",
    "question",
)
"""What is weighted; under the server's own settings every weight is 1."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its candidates as columns, in the order that the server gave them.

    ``signals`` is (candidates, `SIGNALS`), in standard deviations of the question's similarities; ``tokens``
    and ``days`` are of the candidates (day -1 for none). ``gold`` is the number of pieces of evidence, and
    ``found`` that of those that each candidate is.
    """

    namespace: str
    signals: Floats
    tokens: NDArray[np.int64]
    days: NDArray[np.int64]
    found: NDArray[np.int64]
    gold: int

    @property
    def listed(self) -> Listed:
        """What a fit needs of it."""
        return Listed(self.signals, self.found > 0)

    def coverage(self, order: Sequence[int], budget: int) -> float:
        """Return the share of the evidence that fits, in [0, 1], packed greedily in an order."""
        left, seen, found = budget - FENCE_TOKENS, {-1}, 0
        for at in order:
            day = int(self.days[at])
            line = 0 if day in seen else DAY_TOKENS if len(seen) > 1 else FIRST_DAY_TOKENS
            price = int(self.tokens[at]) + line
            if price <= left:
                left -= price
                seen.add(day)
                found += int(self.found[at])
        return found / self.gold

    def weighted(self, weights: Floats) -> list[int]:
        """Return the candidates by descending weighted sum of their signals; equal ones as they came."""
        order: list[int] = np.argsort(-(self.signals @ weights), kind="stable").tolist()
        return order


def ask(filled: Filled, corpus: Corpus, budget: int) -> Iterator[Asked]:
    """Yield every question with its candidates at a budget; the corpus is stored already.

    Raises:
        SatchelError: a call failed.
    """
    memories = {(one.namespace, one.id): one for one in corpus.memories}
    for question in corpus.questions:
        answer = filled.client.recall(
            question.query,
            budget=budget,
            wing=question.namespace,
            min_revision=filled.revision,
            reference_time=question.now,  # type: ignore[arg-type]  # None is not sent
            explain=True,
        )
        yield columns(question, answer.explanations, filled.names, memories.__getitem__)


def columns(
    question: Question,
    explained: Sequence[allocator_pb.CandidateExplanation],
    names: Callable[[str], Sequence[str]],
    memory: Callable[[tuple[str, str]], Memory],
) -> Asked:
    """Return the candidates of a question as columns, best first.

    ``names`` are the corpus's ids of a stored one, ``memory`` gives that of a namespace and an id.
    """
    ordered = sorted(explained, key=lambda one: -one.relevance)
    known = [names(one.id) for one in ordered]
    texts = [memory((question.namespace, ids[0])) for ids in known]
    gold = set(question.evidence)
    return Asked(
        namespace=question.namespace,
        signals=_signals(ordered),
        tokens=np.array([_tokens(one.content) for one in texts], dtype=np.int64),
        days=np.array(
            [one.occurred_at.toordinal() if one.occurred_at else -1 for one in texts], dtype=np.int64
        ),
        found=np.array([len(gold.intersection(ids)) for ids in known], dtype=np.int64),
        gold=len(gold),
    )


def _signals(explained: Sequence[allocator_pb.CandidateExplanation]) -> Floats:
    """Return (candidates, signals); the rows add up to the scores by which the server ranks."""
    rows = np.array([_row(one) for one in explained], dtype=np.float64).reshape(-1, len(SIGNALS))
    spread = float(rows[:, 0].std()) if len(rows) else 0.0
    return rows / spread if spread > 0 else rows


def _row(one: allocator_pb.CandidateExplanation) -> tuple[float, ...]:
    near = one.similarity if one.HasField("similarity") else one.fused_score
    return (
        near,
        one.fused_score - near,
        one.late_boost,
        one.neighbor_boost,
        one.session_boost,
        one.speaker_boost,
        one.time_boost,
        one.question_boost,
    )


@cache
def _tokens(text: str) -> int:
    return count_tokens(f"{text.strip()}\n")
