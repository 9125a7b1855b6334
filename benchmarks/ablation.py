"""Measures what each step of a recall is worth: the same memories, one setting changed each time."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.asking import ask_all
from benchmarks.measuring import say
from benchmarks.records import Corpus
from benchmarks.results import Measured
from benchmarks.satchel_system import DEFAULT_STRATEGY, Filled, SatchelSystem, opened
from benchmarks.serving import embedded
from benchmarks.tables import nearest_budget, share, table
from satchel.client import Satchel

_PREFIX = "SATCHEL_ALLOCATOR_"
_TIMEOUT_S = 60.0


class UnknownVariantError(ValueError):
    """There is no variant of this name."""

    def __init__(self, name: str) -> None:
        known = ", ".join(f"'{one.name}'" for one in VARIANTS)
        super().__init__(f"There is no variant '{name}'. Name some of {known}.")


@dataclass(frozen=True, slots=True)
class Variant:
    """What is changed: settings of the allocator, by what follows their prefix, or the strategy asked for."""

    name: str
    settings: Mapping[str, str] = field(default_factory=dict)
    strategy: str = DEFAULT_STRATEGY

    @property
    def variables(self) -> Mapping[str, str]:
        """The settings as variables of the environment."""
        return {f"{_PREFIX}{name}": value for name, value in self.settings.items()}


_NO_LATE = {"LATE_WEIGHT": "0"}
_NO_NEIGHBOURS = dict.fromkeys(
    ("PREVIOUS_SHARE", "NEXT_SHARE", "SECOND_PREVIOUS_SHARE", "SECOND_NEXT_SHARE"), "0"
)
_NO_SESSION = {"SESSION_WEIGHT": "0"}
_NO_SPEAKER = {"SPEAKER_WEIGHT": "0"}
_NO_TIME = {"TIME_WEIGHT": "0"}
_NO_QUESTION = {"QUESTION_WEIGHT": "0"}

DEFAULT = "default"
PLAIN = "all boosts off (plain hybrid)"

VARIANTS = (
    Variant(DEFAULT),
    Variant("without late interaction", _NO_LATE),
    Variant("without neighbours", _NO_NEIGHBOURS),
    Variant("without session support", _NO_SESSION),
    Variant("without speakers", _NO_SPEAKER),
    Variant("without times", _NO_TIME),
    Variant("without the question penalty", _NO_QUESTION),
    Variant(PLAIN, _NO_LATE | _NO_NEIGHBOURS | _NO_SESSION | _NO_SPEAKER | _NO_TIME | _NO_QUESTION),
    Variant("rank fusion instead of scores", {"FUSION": "reciprocal_rank"}),
    Variant("meaning without words", {"LEXICAL": "false"}),
    Variant("near duplicates not collapsed", {"DUPLICATE_SIMILARITY": "1"}),
    Variant("dates not resolved", {"RESOLVE_DATES": "false"}),
    Variant("strategy `top`", strategy="top"),
    Variant("strategy `cba`", strategy="cba"),
)
"""The default first; each of the others differs from it in what its name says."""


def named(names: Sequence[str]) -> tuple[Variant, ...]:
    """Return the variants of these names in the order of `VARIANTS`; all of them for none.

    Raises:
        UnknownVariantError: a name is none of them.
    """
    known = {one.name for one in VARIANTS}
    for name in names:
        if name not in known:
            raise UnknownVariantError(name)
    return tuple(one for one in VARIANTS if not names or one.name in names)


def ablate(
    corpus: Corpus, budgets: Sequence[int], variants: Sequence[Variant] = VARIANTS
) -> Iterator[Measured]:
    """Yield what each variant got, under its name, as soon as it is measured.

    Everything is stored once; Satchel is then started over the same folder for each variant.

    Raises:
        SatchelError: a call failed.
        RuntimeError: a memory was refused, or Satchel did not start, such as over a setting it does not know.
    """
    with tempfile.TemporaryDirectory(prefix="satchel-ablation-") as name:
        folder = Path(name)
        stored = _stored(corpus, folder)
        for one in variants:
            yield _asked(corpus, budgets, one, stored, folder)


def table_of(systems: Sequence[Measured]) -> str:
    """Return coverage at each budget, and answer coverage and median time at the one nearest to 1,000."""
    budgets = systems[0].budgets
    at = nearest_budget(budgets)
    head = ["variant", *map(str, budgets), f"answers at {at}", f"ms at {at}"]
    rows = (
        [
            one.system,
            *(share(one.coverage(budget)) for budget in budgets),
            share(one.answered(at)),
            f"{one.median_ms(at):.1f}",
        ]
        for one in systems
    )
    return table(head, rows)


def report(systems: Sequence[Measured], namespaces: int) -> str:
    """Return a page with the table and what it says."""
    return (
        "# What each step is worth\n\n"
        f"Evidence coverage at a budget. {len(systems[0].outcomes)} questions, {namespaces} namespaces, all "
        "stored before the first question.\nAnswers: the share of questions whose answer's words are in the "
        "context. Milliseconds: the median of a recall.\n\n"
        f"{table_of(systems)}"
    )


def _stored(corpus: Corpus, folder: Path) -> Filled:
    with embedded(folder) as url, opened(url, is_kept=True) as filled:
        filled.store(corpus.memories)
        say(f"{len(corpus.memories)} memories are stored")
        return filled


def _asked(
    corpus: Corpus, budgets: Sequence[int], variant: Variant, stored: Filled, folder: Path
) -> Measured:
    with (
        embedded(folder, variant.variables) as url,
        Satchel(url, project=stored.project, timeout=_TIMEOUT_S) as client,
    ):
        measured = ask_all(SatchelSystem(stored.through(client), variant.strategy), corpus, budgets)
    say(f"{variant.name}: {share(measured.coverage(nearest_budget(budgets)))}")
    return replace(measured, system=variant.name)
