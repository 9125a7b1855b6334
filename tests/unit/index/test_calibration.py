import numpy as np
from satchel.index.calibration import measure_breadth
from satchel.index.graph import Scored
from satchel.index.model import FloatVector
from unit.index.fakes import NumpyGraph, NumpyLibrary, unit_rows

ROWS = unit_rows(np.random.default_rng(1), 2000)
QUERIES = list(unit_rows(np.random.default_rng(2), 16))


class ShortSightedGraph(NumpyGraph):
    """A graph that overlooks neighbours when it is walked less broadly than ``needed``."""

    def __init__(self, needed: int) -> None:
        super().__init__(ROWS)
        self.needed = needed

    def search(self, query: FloatVector, breadth: int) -> Scored:
        scores, rows = super().search(query, breadth)
        return (scores, rows) if breadth >= self.needed else (scores[2:], rows[2:])


def test_breadth_is_the_least_that_finds_the_neighbours_of_the_queries() -> None:
    assert (
        measure_breadth(NumpyGraph(ROWS), QUERIES, NumpyLibrary(), ef_search=100, stop=lambda: False) == 100
    )
    assert (
        measure_breadth(ShortSightedGraph(190), QUERIES, NumpyLibrary(), ef_search=100, stop=lambda: False)
        == 200
    )


def test_breadth_has_an_upper_limit() -> None:
    assert (
        measure_breadth(ShortSightedGraph(10_000), QUERIES, NumpyLibrary(), ef_search=100, stop=lambda: False)
        == 800
    )


def test_measuring_ends_when_told_to() -> None:
    stopped = measure_breadth(NumpyGraph(ROWS), QUERIES, NumpyLibrary(), ef_search=100, stop=lambda: True)

    assert stopped is None
