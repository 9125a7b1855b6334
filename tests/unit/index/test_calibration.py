import numpy as np
from unit.index.fakes import NumpyGraph, NumpyLibrary, unit_rows

from satchel.index.calibration import likely_queries, measure_breadth
from satchel.index.graph import Scored
from satchel.index.model import FloatMatrix, FloatVector

ROWS = unit_rows(np.random.default_rng(1), 2000)


class ShortSightedGraph(NumpyGraph):
    """A graph that overlooks neighbours when it is walked less broadly than ``needed``."""

    def __init__(self, needed: int, rows: FloatMatrix = ROWS) -> None:
        super().__init__(rows)
        self.needed = needed

    def search(self, query: FloatVector, breadth: int) -> Scored:
        scores, rows = super().search(query, breadth)
        return (scores, rows) if breadth >= self.needed else (scores[2:], rows[2:])


def measured(graph: NumpyGraph) -> int | None:
    return measure_breadth(graph, NumpyLibrary(), ef_search=100, stop=lambda: False)


def test_breadth_is_the_least_that_finds_the_nearest_rows() -> None:
    assert measured(NumpyGraph(ROWS)) == 100
    assert measured(ShortSightedGraph(190)) == 200


def test_breadth_has_an_upper_limit() -> None:
    assert measured(ShortSightedGraph(10_000)) == 800


def test_equal_rows_stand_for_each_other() -> None:
    assert measured(ShortSightedGraph(190, np.repeat(ROWS[:4], 500, axis=0))) == 100


def test_graph_of_fewer_rows_than_are_compared_is_measured() -> None:
    assert measured(NumpyGraph(ROWS[:3])) == 100


def test_queries_are_a_function_of_the_rows_and_spread_as_they_do() -> None:
    stretched = ROWS * np.linspace(0.2, 1.0, ROWS.shape[1], dtype=np.float32) + np.float32(0.3)
    rows = (stretched / np.linalg.norm(stretched, axis=1, keepdims=True)).astype(np.float32)

    queries = likely_queries(rows)

    np.testing.assert_array_equal(queries, likely_queries(rows.copy()))
    np.testing.assert_allclose(np.linalg.norm(queries, axis=1), 1.0, atol=1e-6)
    np.testing.assert_allclose(queries.mean(axis=0), rows.mean(axis=0), atol=0.1)
    np.testing.assert_allclose(queries.std(axis=0), rows.std(axis=0), atol=0.15)


def test_measuring_ends_when_told_to() -> None:
    assert measure_breadth(NumpyGraph(ROWS), NumpyLibrary(), ef_search=100, stop=lambda: True) is None
