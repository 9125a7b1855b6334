"""The vector library over FAISS; the only module that imports it.

FAISS releases the interpreter lock, so calls must come from worker threads. Its own threading is off: a
search takes well under a millisecond, and several services share the cores.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss as _faiss
import numpy as np

from satchel.index.graph import CHUNK_ROWS, Graph, Scored
from satchel.index.model import FloatMatrix, FloatVector, RowNumbers

# The package's type stubs leave out most of what is used here.
faiss: Any = _faiss

_LINK_BYTES = 4
_CACHED_WALKS = 64


class FaissGraph:
    """HNSW over unit vectors by inner product, with the vectors in its flat storage.

    Source: Malkov and Yashunin 2018; FAISS ``IndexHNSWFlat``.
    """

    def __init__(self, index: Any) -> None:  # noqa: ANN401  # untyped by the package
        self._index = index
        storage = faiss.downcast_index(index.storage)
        flat = faiss.rev_swig_ptr(storage.get_xb(), index.ntotal * index.d)
        self._vectors: FloatMatrix = flat.reshape(index.ntotal, index.d)
        self._vectors.flags.writeable = False
        self._walks: dict[int, Any] = {}

    @property
    def count(self) -> int:
        """Number of rows."""
        return int(self._index.ntotal)

    @property
    def nbytes(self) -> int:
        """Bytes of vectors and links."""
        links = self._index.hnsw.neighbors.size() * _LINK_BYTES
        return int(self._vectors.nbytes + links + 16 * self.count)

    def vectors(self) -> FloatMatrix:
        """Return the rows, without a copy."""
        return self._vectors

    def search(self, query: FloatVector, breadth: int) -> Scored:
        """Return about the ``breadth`` rows nearest to the query."""
        count = min(breadth, self.count)
        scores = np.empty(count, np.float32)
        rows = np.empty(count, np.int64)
        self._index.search_c(
            1, faiss.swig_ptr(query), count, faiss.swig_ptr(scores), faiss.swig_ptr(rows), self._walk(breadth)
        )
        found = int(np.searchsorted(rows < 0, True))  # noqa: FBT003  # a value to search for
        return scores[:found], rows[:found]

    def _walk(self, breadth: int) -> Any:  # noqa: ANN401  # untyped by the package
        """Return the parameters of a walk; making them costs as much as a tenth of a walk."""
        walk = self._walks.get(breadth)
        if walk is None:
            if len(self._walks) >= _CACHED_WALKS:
                self._walks = {}
            walk = self._walks[breadth] = faiss.SearchParametersHNSW(efSearch=breadth)
        return walk

    def write(self, path: Path) -> None:
        """Write the graph and its vectors to a file."""
        faiss.write_index(self._index, str(path))

    def copy(self) -> Any:  # noqa: ANN401  # untyped by the package
        """Return a copy of the index that may grow."""
        return faiss.clone_index(self._index)


class FaissLibrary:
    """Exact search by FAISS kernels and HNSW graphs with ``links`` neighbours a node.

    Without a ``level_factor`` it is 1 / ln(links), as Malkov and Yashunin 2018 have it (section 4.1).
    """

    def __init__(self, *, links: int, ef_construction: int, level_factor: float | None = None) -> None:
        self._links = links
        self._ef_construction = ef_construction
        self._level_factor = level_factor

    def exact(self, vectors: FloatMatrix, rows: RowNumbers | None, query: FloatVector, count: int) -> Scored:
        """Return the ``count`` rows of greatest inner product, of all or of ``rows`` (ascending)."""
        faiss.omp_set_num_threads(1)
        compared = len(vectors) if rows is None else len(rows)
        count = min(count, compared)
        scores = np.empty(count, np.float32)
        found = np.empty(count, np.int64)
        left, right = faiss.swig_ptr(query), faiss.swig_ptr(vectors)
        out = faiss.swig_ptr(scores), faiss.swig_ptr(found)
        width = vectors.shape[1]
        if rows is None:
            faiss.knn_inner_product(left, right, width, 1, compared, count, *out)
        else:
            subset = faiss.swig_ptr(rows)
            faiss.knn_inner_products_by_idx(
                left, right, subset, width, 1, len(vectors), compared, count, *out
            )
        return scores, found

    def extend(self, base: Graph | None, vectors: FloatMatrix, stop: Callable[[], bool]) -> FaissGraph | None:
        """Return a new graph over the rows of ``base`` and then ``vectors``; ``base`` stays as it is.

        A running search is safe, for it is another index that grows. Costs about 0.5 ms a row at 100,000
        rows, and for a moment the memory of the base once more.

        In whichever pieces rows are added, the graph over them is the same, as long as the pieces before
        the last are whole chunks: FAISS draws levels and an order by chunk, here with the chunk's number as
        the seed.
        """
        faiss.omp_set_num_threads(1)
        if isinstance(base, FaissGraph):
            index = base.copy()
        else:
            index = faiss.IndexHNSWFlat(vectors.shape[1], self._links, faiss.METRIC_INNER_PRODUCT)
            index.hnsw.efConstruction = self._ef_construction
            if self._level_factor is not None:
                _set_levels(index.hnsw, self._links, self._level_factor)
        for start in range(0, len(vectors), CHUNK_ROWS):
            if stop():
                return None
            index.hnsw.rng = faiss.RandomGenerator(index.ntotal // CHUNK_ROWS)
            index.add(np.ascontiguousarray(vectors[start : start + CHUNK_ROWS]))
        return FaissGraph(index)

    def read(self, path: Path) -> FaissGraph:
        """Read a graph that `FaissGraph.write` wrote."""
        return FaissGraph(faiss.read_index(str(path)))


def _set_levels(hnsw: Any, links: int, level_factor: float) -> None:  # noqa: ANN401  # untyped by the package
    """Replace the levels of an empty graph; FAISS only adds to those that it has."""
    hnsw.assign_probas.clear()
    hnsw.cum_nneighbor_per_level.clear()
    hnsw.set_default_probas(links, level_factor)
