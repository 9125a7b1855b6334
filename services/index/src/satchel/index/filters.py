"""Evaluates a filter over columns: exact, vectorised, without a row-by-row step."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from satchel.index.columns import Columns
from satchel.index.model import ACTIVE, Filter, Mask
from satchel.index.vocabulary import Codes, Vocabulary

_FEW = 4


@dataclass(frozen=True, slots=True)
class Condition:
    """A column and the numbers that pass, ascending."""

    column: str
    allowed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompiledFilter:
    """A filter in numbers of the vocabulary, as it was when it was compiled. Hashable."""

    conditions: tuple[Condition, ...]
    since_us: int | None = None
    until_us: int | None = None


def compile_filter(wanted: Filter, vocabulary: Vocabulary) -> CompiledFilter | None:
    """Translate the names of a filter; `None` if no row can pass (an unknown wing, for instance)."""
    conditions = [Condition("state", tuple(sorted(set(wanted.states or (ACTIVE,)))))]
    if wanted.types:
        conditions.append(Condition("type", tuple(sorted(set(wanted.types)))))
    for column, names, codes in (
        ("wing", wanted.wings, vocabulary.wings),
        ("room", wanted.rooms, vocabulary.rooms),
        ("session", wanted.session_ids, vocabulary.sessions),
    ):
        if names:
            conditions.append(Condition(column, _known(names, codes)))
    if wanted.tags:
        conditions.append(Condition("tagset", tuple(vocabulary.tagsets.holding(wanted.tags).tolist())))
    if not all(condition.allowed for condition in conditions):
        return None
    return CompiledFilter(tuple(conditions), wanted.since_us, wanted.until_us)


def evaluate(compiled: CompiledFilter, columns: Columns, alive: Mask) -> Mask:
    """Return which rows are alive and pass, as booleans (rows,)."""
    mask = alive.copy()
    for condition in compiled.conditions:
        mask &= _is_allowed(getattr(columns, condition.column), condition.allowed)
    if compiled.since_us is not None:
        mask &= columns.effective_us >= compiled.since_us
    if compiled.until_us is not None:
        mask &= columns.effective_us < compiled.until_us
    return mask


def _known(names: tuple[str, ...], codes: Codes) -> tuple[int, ...]:
    found = {codes.find(name) for name in names}
    return tuple(sorted(code for code in found if code is not None))


def _is_allowed(values: NDArray[np.integer], allowed: tuple[int, ...]) -> Mask:
    """Compare with each of a few numbers, or look up in a table of many."""
    if len(allowed) <= _FEW:
        mask: Mask = values == allowed[0]
        for number in allowed[1:]:
            mask |= values == number
        return mask
    table = np.zeros(max(int(values.max(initial=0)), allowed[-1]) + 2, dtype=np.bool_)
    table[list(allowed)] = True
    # A number of -1 (no session) reads the last entry, which no name has.
    looked_up: Mask = table[values]
    return looked_up
