"""Asks a system every question at every budget, and measures what comes back."""

import time
from collections.abc import Sequence

from benchmarks.measures import count_found, is_answered, recall_at, reciprocal_rank
from benchmarks.records import Corpus, Question
from benchmarks.results import RECALL_DEPTHS, Answer, Measured, Outcome
from benchmarks.systems import System
from satchel.runtime.tokens import count_tokens

BUDGETS = (250, 500, 1000, 2000, 4000)
MS = 1000.0


def ask_all(system: System, corpus: Corpus, budgets: Sequence[int] = BUDGETS) -> Measured:
    """Return the outcomes of all questions, in their order."""
    outcomes = (_ask(system, corpus, question, budgets) for question in corpus.questions)
    return Measured(system.name, tuple(outcomes))


def _ask(system: System, corpus: Corpus, question: Question, budgets: Sequence[int]) -> Outcome:
    spans = corpus.spans(question)
    ranked = system.rank(question, max(RECALL_DEPTHS))
    return Outcome(
        question=question.id,
        category=question.category,
        evidence=len(spans),
        answers=tuple(_answer(system, question, spans, budget) for budget in budgets),
        recalls=tuple(recall_at(depth, ranked, question.evidence) for depth in RECALL_DEPTHS),
        reciprocal_rank=reciprocal_rank(ranked, question.evidence),
    )


def _answer(system: System, question: Question, spans: Sequence[str], budget: int) -> Answer:
    begun = time.perf_counter()
    context = system.context(question, budget)
    spent_ms = (time.perf_counter() - begun) * MS
    return Answer(
        budget=budget,
        found=count_found(spans, context),
        is_answered=is_answered(question.answer, context) if question.answer else None,
        tokens=count_tokens(context),
        ms=round(spent_ms, 3),
    )
