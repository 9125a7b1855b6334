"""Tells whether weights are general: fits them on all namespaces but one, and looks at that one.

What a fit gains on the questions that it has seen, and does not on those that it has not, is fitted to the
data set. Weights are multiples of the server's own, of the same norm as these: the order of a ranking says
nothing about their height.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.candidates import SIGNALS, Asked, ask
from benchmarks.fitting import Floats, fit
from benchmarks.measuring import say
from benchmarks.records import Corpus
from benchmarks.satchel_system import opened
from benchmarks.serving import embedded
from benchmarks.tables import share, table

_LEAST_NAMESPACES = 2


class UnfittableError(ValueError):
    """There is too little to fit on."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights fitted on all namespaces, and on all but the one that names them."""

    on_all: Floats
    without: Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Row:
    """Coverage of one way to weigh, at each budget, over all questions and in each namespace."""

    name: str
    coverage: Mapping[int, float]
    by_namespace: Mapping[str, Mapping[int, float]]


@dataclass(frozen=True, slots=True)
class Found:
    """What a fit gave: coverage under the server's weights, those fitted on all, and on the others."""

    own: Row
    in_sample: Row
    held_out: Row
    fitted: Fitted
    questions: int

    @property
    def rows(self) -> tuple[Row, Row, Row]:
        """The three ways to weigh."""
        return self.own, self.in_sample, self.held_out


def measure(corpus: Corpus, budgets: Sequence[int]) -> Found:
    """Store a corpus in a fresh Satchel, ask everything at the largest budget, fit, and judge.

    Raises:
        SatchelError: a call failed.
        RuntimeError: a memory was refused, or Satchel did not start.
        UnfittableError: see `fit_all`.
    """
    with embedded() as url, opened(url) as filled:
        filled.store(corpus.memories)
        say(f"{len(corpus.memories)} memories are stored")
        asked = list(ask(filled, corpus, max(budgets)))
    say(f"{len(asked)} questions are asked")
    return judge(asked, fit_all(asked), budgets)


def fit_all(asked: Sequence[Asked]) -> Fitted:
    """Fit on all namespaces, and leaving each out in turn.

    Raises:
        UnfittableError: there are fewer than two namespaces, or no evidence among the candidates of some.
    """
    names = _namespaces(asked)
    if len(names) < _LEAST_NAMESPACES:
        raise UnfittableError(
            "To leave one namespace out takes two at least. Give questions of more namespaces."
        )
    without = {name: _fit([one for one in asked if one.namespace != name]) for name in names}
    return Fitted(_fit(asked), without)


def judge(asked: Sequence[Asked], fitted: Fitted, budgets: Sequence[int]) -> Found:
    """Return what the server's own weights, those fitted on all, and those fitted on the others cover."""
    own = np.ones(len(SIGNALS))
    names = _namespaces(asked)
    return Found(
        _row("the server's own weights", asked, dict.fromkeys(names, own), budgets),
        _row("fitted on all (in sample)", asked, dict.fromkeys(names, fitted.on_all), budgets),
        _row("fitted on the others (held out)", asked, fitted.without, budgets),
        fitted,
        len(asked),
    )


def report(found: Found) -> str:
    """Return a page with what the weights cover, what holding out costs, and the weights."""
    return (
        f"# Weights fitted, and judged on what they have not seen\n\n{found.questions} questions. An "
        "approximation: the candidates of one recall are sorted again and packed greedily,\nwhole texts only."
        f"\n\n{_coverage(found)}\n## In sample and held out, each namespace\n\n{_by_namespace(found)}\n"
        "## Weights, in multiples of the server's own\n\n0 where no memory has what is weighed.\n\n"
        f"{_weights(found.fitted)}"
    )


def as_json(found: Found) -> Mapping[str, Any]:
    """Return what is saved: coverage of each row and the weights by the name of their signal."""
    return {
        "coverage": {row.name: {"all": row.coverage, "by_namespace": row.by_namespace} for row in found.rows},
        "weights": {
            "all": _named(found.fitted.on_all),
            "without": {name: _named(one) for name, one in found.fitted.without.items()},
        },
    }


def _coverage(found: Found) -> str:
    budgets = tuple(found.own.coverage)
    rows = [[row.name, *(share(row.coverage[budget]) for budget in budgets)] for row in found.rows]
    lost = (_signed(found.in_sample.coverage[one] - found.held_out.coverage[one]) for one in budgets)
    return table(["weights", *map(str, budgets)], [*rows, ["lost by holding out", *lost]])


def _weights(fitted: Fitted) -> str:
    rows = [("all", fitted.on_all), *((f"all but {name}", one) for name, one in fitted.without.items())]
    return table(["fitted on", *SIGNALS], [[name, *(f"{one:.2f}" for one in row)] for name, row in rows])


def _fit(asked: Sequence[Asked]) -> Floats:
    try:
        weights = fit([one.listed for one in asked])
    except ValueError as exc:
        raise UnfittableError(f"{exc} Give questions whose evidence a recall finds.") from exc
    norm = float(np.linalg.norm(weights))
    scaled: Floats = weights * (np.sqrt(np.count_nonzero(weights)) / norm if norm > 0 else 1.0)
    return scaled


def _row(name: str, asked: Sequence[Asked], weights: Mapping[str, Floats], budgets: Sequence[int]) -> Row:
    covered: dict[str, list[list[float]]] = {one: [] for one in _namespaces(asked)}
    for one in asked:
        order = one.weighted(weights[one.namespace])
        covered[one.namespace].append([one.coverage(order, budget) for budget in budgets])
    every = [row for rows in covered.values() for row in rows]
    return Row(name, _means(every, budgets), {key: _means(rows, budgets) for key, rows in covered.items()})


def _means(rows: Sequence[Sequence[float]], budgets: Sequence[int]) -> dict[int, float]:
    return dict(zip(budgets, np.mean(rows, axis=0).tolist(), strict=True))


def _by_namespace(found: Found) -> str:
    seen = found.in_sample.by_namespace
    rows = (
        [name, *(f"{share(seen[name][one])}, {share(value)}" for one, value in covered.items())]
        for name, covered in found.held_out.by_namespace.items()
    )
    return table(["namespace", *map(str, found.own.coverage)], rows)


def _namespaces(asked: Sequence[Asked]) -> list[str]:
    return list(dict.fromkeys(one.namespace for one in asked))


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def _named(weights: Floats) -> dict[str, float]:
    return dict(zip(SIGNALS, (round(float(one), 4) for one in weights), strict=True))
