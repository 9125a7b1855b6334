"""The real library: recall against brute force with a stated floor, graphs that grow, files."""

from pathlib import Path

import numpy as np
import pytest
from unit.index.fakes import MODEL, brute_force, unit_rows, upsert

from satchel.index.adapters.faiss import FaissGraph, FaissLibrary
from satchel.index.catalog import Catalog
from satchel.index.graph import CHUNK_ROWS
from satchel.index.model import Filter, FloatMatrix, Model, Query
from satchel.index.planning import Tuning
from satchel.index.searching import IndexView, Method, search_view

DIMENSION = 32
COUNT = 6_000
FLOOR = 0.98
WIDE_MODEL = Model(MODEL.sha256, DIMENSION)
LIBRARY = FaissLibrary(links=32, ef_construction=100)
# Small limits, so that graphs and every way of search are used on small data.
METHOD = Method(LIBRARY, Tuning(exact_rows=200, rows_per_breadth=1))


def test_the_factor_of_the_levels_can_be_set() -> None:
    """A greater factor puts more rows on upper levels, and what is near is found all the same."""
    vectors = unit_rows(np.random.default_rng(3), 3_000, DIMENSION)
    usual, higher = (
        FaissLibrary(links=32, ef_construction=100, level_factor=factor).extend(None, vectors, lambda: False)
        for factor in (None, 0.8)
    )
    assert isinstance(usual, FaissGraph)
    assert isinstance(higher, FaissGraph)

    assert higher.nbytes > usual.nbytes
    assert [int(higher.search(vectors[n], 50)[1][0]) for n in range(0, 3_000, 300)] == list(
        range(0, 3_000, 300)
    )


@pytest.fixture(scope="module")
def rows() -> FloatMatrix:
    """Clustered rows: what shares a cluster shares a room."""
    rng = np.random.default_rng(17)
    centres = unit_rows(rng, 60, DIMENSION)
    spread = centres[np.arange(COUNT) % 60] + 0.15 * rng.standard_normal((COUNT, DIMENSION)).astype(
        np.float32
    )
    scaled: FloatMatrix = spread / np.linalg.norm(spread, axis=1, keepdims=True)
    return scaled


@pytest.mark.parametrize(
    "wanted",
    [
        Filter(),
        Filter(rooms=tuple(f"room{n}" for n in range(30))),
        Filter(rooms=("room1", "room2", "room3")),
        Filter(tags=("half",)),
        Filter(tags=("twentieth",)),
        Filter(tags=("two-hundredth",)),
        Filter(rooms=("room5",), tags=("half",)),
    ],
    ids=str,
)
def test_recall_holds_with_and_without_filters(rows: FloatMatrix, wanted: Filter) -> None:
    rng = np.random.default_rng(3)
    tags = {"half": rng.random(COUNT) < 0.5, "twentieth": rng.random(COUNT) < 0.05}
    tags["two-hundredth"] = rng.random(COUNT) < 0.005
    changes = [
        upsert(
            n + 1,
            f"m{n:05d}",
            rows[n : n + 1],
            room=f"room{n % 60}",
            tags=tuple(tag for tag, chosen in tags.items() if chosen[n]),
        )
        for n in range(COUNT)
    ]
    catalog = Catalog(crossover=1_000)
    catalog.apply(changes, revision=COUNT, model=WIDE_MODEL)
    view = _build_all(catalog)
    assert all(segment.view.base is not None for segment in view.projects["default"])

    recalls = []
    for vector in unit_rows(rng, 20, DIMENSION):
        query = Query(vector, wanted)
        expected = {hit.memory_id for hit in brute_force(changes, query)}
        found = {hit.memory_id for hit in search_view(view, query, METHOD)}
        recalls.append(len(found & expected) / len(expected))

    assert np.mean(recalls) >= FLOOR


def test_exact_search_of_some_rows_equals_numpy(rows: FloatMatrix) -> None:
    chosen = np.arange(5, COUNT, 7)
    query = rows[11]

    scores, found = LIBRARY.exact(rows, chosen, query, 5)

    expected = chosen[np.argsort(-(rows[chosen] @ query))[:5]]
    assert expected.tolist() == found.tolist()
    np.testing.assert_allclose(scores, rows[found] @ query, rtol=1e-5)
    whole = LIBRARY.exact(rows, None, query, COUNT + 1)[1]
    assert whole[0] == 11
    assert len(whole) == COUNT


def test_graph_grows_on_a_copy(rows: FloatMatrix) -> None:
    first = LIBRARY.extend(None, rows[:500], lambda: False)
    assert first is not None

    second = LIBRARY.extend(first, rows[500:800], lambda: False)

    assert second is not None
    assert (first.count, second.count) == (500, 800)
    np.testing.assert_array_equal(rows[:800], second.vectors())
    assert second.search(rows[700], 10)[1][0] == 700
    assert first.search(rows[700], 10)[1].max() < 500
    assert second.nbytes > rows[:800].nbytes


def test_graph_does_not_depend_on_the_pieces_in_which_it_grew(rows: FloatMatrix, tmp_path: Path) -> None:
    whole = LIBRARY.extend(None, rows[:1024], lambda: False)
    first = LIBRARY.extend(None, rows[: 5 * CHUNK_ROWS], lambda: False)
    assert isinstance(whole, FaissGraph)
    assert isinstance(first, FaissGraph)
    first.write(tmp_path / "graph")
    grown = LIBRARY.extend(LIBRARY.read(tmp_path / "graph"), rows[5 * CHUNK_ROWS : 1024], lambda: False)
    assert isinstance(grown, FaissGraph)

    whole.write(tmp_path / "whole")
    grown.write(tmp_path / "grown")

    assert (tmp_path / "whole").read_bytes() == (tmp_path / "grown").read_bytes()


def test_two_indexes_of_the_same_rows_give_the_same_hits(rows: FloatMatrix) -> None:
    changes = [upsert(n + 1, f"m{n:05d}", row[None]) for n, row in enumerate(rows[:3000])]
    views = []
    for step in (3000, 700):
        catalog = Catalog(crossover=1_000)
        for start in range(0, 3000, step):
            batch = changes[start : start + step]
            catalog.apply(batch, revision=batch[-1].revision, model=WIDE_MODEL)
            view = _build_all(catalog)
        views.append(view)
    one, two = (view.projects["default"][-1].view for view in views)

    assert (one.breadth, one.base_count) == (two.breadth, two.base_count)
    for vector in unit_rows(np.random.default_rng(8), 20, DIMENSION):
        query = Query(vector)
        assert search_view(views[0], query, METHOD) == search_view(views[1], query, METHOD)


def test_build_ends_when_told_to(rows: FloatMatrix) -> None:
    asked = iter([False, False, True])

    assert LIBRARY.extend(None, rows, lambda: next(asked)) is None


def test_graph_comes_back_from_its_file(rows: FloatMatrix, tmp_path: Path) -> None:
    graph = LIBRARY.extend(None, rows[:300], lambda: False)
    assert isinstance(graph, FaissGraph)
    graph.write(tmp_path / "graph")

    again = LIBRARY.read(tmp_path / "graph")

    np.testing.assert_array_equal(graph.vectors(), again.vectors())
    assert graph.search(rows[9], 20)[1].tolist() == again.search(rows[9], 20)[1].tolist()


def _build_all(catalog: Catalog) -> IndexView:
    view = catalog.view()
    while (job := catalog.next_job(is_quiet=True)) is not None:
        view = catalog.finish(job, job.run(LIBRARY, lambda: False))
    return view
