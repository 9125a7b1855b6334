"""Writes results as tables of Markdown."""

from collections.abc import Callable, Iterable, Sequence

from benchmarks.results import RECALL_DEPTHS, Measured

CATEGORY_BUDGET = 1000


def report(systems: Sequence[Measured]) -> str:
    """Return a page with every measure; all systems have answered the same questions."""
    budgets = systems[0].budgets
    parts = [
        f"# Evidence under a token budget\n\n{len(systems[0].outcomes)} questions.\n",
        _section("Evidence coverage", systems, budgets, lambda one, b: share(one.coverage(b))),
        _section("Answer-string coverage", systems, budgets, lambda one, b: share(one.answered(b))),
        _section("Contexts over the budget", systems, budgets, lambda one, b: str(one.violations(b))),
        _section("Tokens used, mean", systems, budgets, lambda one, b: f"{one.tokens(b):.0f}"),
        _section("Milliseconds, median", systems, budgets, lambda one, b: f"{one.median_ms(b):.1f}"),
        f"## Ranking\n\n{_ranking(systems)}",
    ]
    if systems[0].categories:
        parts.append(_by_category(systems))
    return "\n".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column is text and whose others are numbers."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, rule, *rows))


def share(value: float) -> str:
    """Return a share with three digits, without the 0 before the point."""
    return f"{value:.3f}".removeprefix("0") if value < 1 else "1"


def nearest_budget(budgets: Sequence[int]) -> int:
    """Return the budget nearest to 1,000, at which one figure stands for all."""
    return min(budgets, key=lambda one: abs(one - CATEGORY_BUDGET))


def coverage(systems: Sequence[Measured]) -> str:
    """Return the table of evidence coverage."""
    budgets = systems[0].budgets
    return _table(systems, budgets, lambda one, budget: share(one.coverage(budget)))


def _section(
    title: str, systems: Sequence[Measured], budgets: Sequence[int], cell: Callable[[Measured, int], str]
) -> str:
    return f"## {title}\n\n{_table(systems, budgets, cell)}"


def _table(systems: Sequence[Measured], budgets: Sequence[int], cell: Callable[[Measured, int], str]) -> str:
    rows = [[one.system, *(cell(one, budget) for budget in budgets)] for one in systems]
    return table(["system", *map(str, budgets)], rows)


def _ranking(systems: Sequence[Measured]) -> str:
    rows = [
        [
            one.system,
            *(share(one.recall(depth)) for depth in RECALL_DEPTHS),
            share(one.mean_reciprocal_rank()),
        ]
        for one in systems
    ]
    return table(["system", *(f"recall@{depth}" for depth in RECALL_DEPTHS), "MRR"], rows)


def _by_category(systems: Sequence[Measured]) -> str:
    names, budget = systems[0].categories, nearest_budget(systems[0].budgets)
    rows = [[one.system, *(share(one.coverage(budget, name)) for name in names)] for one in systems]
    return f"## Evidence coverage at {budget}, by category\n\n{table(['system', *names], rows)}"
