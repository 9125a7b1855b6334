"""Says what a measured system is: something that holds memories and gives contexts and rankings."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from benchmarks.records import Question

# Turns texts into vectors, for the role ``query`` or ``passage``: each vector with the index of its text, for
# a long text has several.
Embed: TypeAlias = Callable[[Sequence[str], str], Sequence[tuple[int, Sequence[float]]]]


class System(Protocol):
    """A way to find memories, filled with a corpus."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def context(self, question: Question, budget: int) -> str:
        """Return the text that a model would receive, of at most ``budget`` tokens."""
        ...

    def rank(self, question: Question, depth: int) -> Sequence[str]:
        """Return the ids of the best ``depth`` memories, best first."""
        ...
