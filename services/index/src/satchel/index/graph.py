"""What a graph of nearest neighbours can do, whoever builds it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from satchel.index.model import FloatMatrix, FloatVector, RowNumbers

CHUNK_ROWS = 64
"""Rows join a graph in chunks of so many; a graph over whole chunks does not depend on when they came."""

Scored = tuple[FloatVector, RowNumbers]
"""Inner products by descending value, and the rows they belong to; both (found,)."""


class Graph(Protocol):
    """An approximate nearest-neighbour structure over rows that never change.

    Searches may run on any number of threads at once.
    """

    @property
    def count(self) -> int:
        """Number of rows."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes of vectors and links."""
        ...

    def vectors(self) -> FloatMatrix:
        """Return the rows (count, dimension), without a copy; valid while the graph is."""
        ...

    def search(self, query: FloatVector, breadth: int) -> Scored:
        """Return about the ``breadth`` rows nearest to the query."""
        ...

    def write(self, path: Path) -> None:
        """Write the graph and its vectors to a file."""
        ...


@dataclass(frozen=True, slots=True)
class MeasuredGraph:
    """A graph, and the least breadth of a walk that finds what is near; see `calibration`."""

    graph: Graph
    breadth: int
