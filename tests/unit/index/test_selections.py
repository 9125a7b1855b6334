"""The cache of what filters let pass."""

import numpy as np

from satchel.index.model import Filter
from satchel.index.segment import Selection, SelectionCache

MEBIBYTE = 1024 * 1024


def selection(byte_count: int = 0) -> Selection:
    none = np.empty(0, dtype=np.int64)
    return Selection(np.zeros(byte_count, dtype=np.bool_), none, base_count=0, everything=False)


def wanted(number: int) -> Filter:
    return Filter(project="default", wings=(f"w{number}",))


def test_the_selections_used_last_are_kept_up_to_a_number_of_bytes() -> None:
    cache = SelectionCache()
    for number in range(40):
        cache.put(wanted(number), selection(MEBIBYTE))
        cache.get(wanted(0))

    kept = [number for number in range(40) if cache.get(wanted(number)) is not None]
    assert kept == [0, *range(10, 40)]


def test_a_selection_that_is_put_again_counts_once() -> None:
    cache = SelectionCache()
    cache.put(wanted(0), selection(MEBIBYTE))
    for _ in range(100):
        cache.put(wanted(1), selection(MEBIBYTE))

    assert cache.get(wanted(0)) is not None


def test_selections_of_no_rows_are_bounded_too() -> None:
    cache = SelectionCache()
    for number in range(70_000):
        cache.put(wanted(number), selection())

    assert cache.get(wanted(0)) is None
    assert cache.get(wanted(69_999)) is not None
