"""Measures a Satchel, and the references beside it, on a corpus."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.asking import BUDGETS, ask_all
from benchmarks.records import Corpus
from benchmarks.references import all_references
from benchmarks.results import Measured, join
from benchmarks.satchel_system import DEFAULT_STRATEGY, Filled, SatchelSystem, opened
from benchmarks.serving import embedded
from benchmarks.systems import System


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: strategies of Satchel, and the references if they are wanted.

    With ``all_first`` every namespace is stored before the first question. Else one namespace is stored and
    asked about after the other, so that what comes later cannot disturb.
    """

    strategies: Sequence[str] = (DEFAULT_STRATEGY,)
    budgets: Sequence[int] = BUDGETS
    references: bool = False
    all_first: bool = False


def measure(corpus: Corpus, plan: Plan, url: str = "") -> list[Measured]:
    """Return what each system got; without ``url`` a Satchel is started for it.

    Raises:
        SatchelError: a call failed.
        RuntimeError: a memory was refused, or Satchel did not start.
    """
    with _satchel(url) as filled:
        if plan.all_first:
            filled.store(corpus.memories)
        parts = [_measure_part(part, plan, filled) for part in corpus.parts() if part.questions]
    return [join(of_system) for of_system in zip(*parts, strict=True)]


def say(text: str) -> None:
    """Tell how far a run is."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def _satchel(url: str) -> Iterator[Filled]:
    with ExitStack() as stack:
        address = url or stack.enter_context(embedded())
        yield stack.enter_context(opened(address, api_key=os.environ.get("SATCHEL_API_KEY", "")))


def _measure_part(part: Corpus, plan: Plan, filled: Filled) -> list[Measured]:
    if not plan.all_first:
        filled.store(part.memories)
    systems: list[System] = [SatchelSystem(filled, name) for name in plan.strategies]
    if plan.references:
        systems.extend(all_references(part, filled.embed))
    return [_ask(system, part, plan) for system in systems]


def _ask(system: System, part: Corpus, plan: Plan) -> Measured:
    measured = ask_all(system, part, plan.budgets)
    say(f"{part.questions[0].namespace}: {system.name}, {len(part.questions)} questions")
    return measured
