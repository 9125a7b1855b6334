"""Measures a Satchel through its Python client: stores a corpus there, recalls and searches."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from benchmarks.records import NOTHING, Memory, Question
from satchel.api.store.v1 import lifecycle_service_pb2 as lifecycle_pb
from satchel.api.store.v1 import lifecycle_service_pb2_grpc as lifecycle_rpc
from satchel.client import Imported, NewMemory, Satchel
from satchel.client.fields import RoleLike

DEFAULT_STRATEGY = "default"
_TIMEOUT_S = 60.0
_EMBED_TEXTS = 64


class Filled:
    """A Satchel that holds a corpus in a project of its own; a namespace is a wing.

    ``names`` are the corpus's ids by those of the stored memories, ``revision`` that of the last one.
    """

    def __init__(
        self, client: Satchel, project: str, names: Mapping[str, list[str]] = NOTHING, revision: int = 0
    ) -> None:
        self.client = client
        self.project = project
        self.revision = revision
        self._names: dict[str, list[str]] = dict(names)
        self._searched: dict[tuple[str, int], list[str]] = {}

    def store(self, memories: Sequence[Memory]) -> None:
        """Store memories in their order.

        Raises:
            RuntimeError: a memory was refused.
        """
        report = self.client.import_(
            [_record(one) for one in memories], progress=lambda done: self._note(done, memories)
        )
        if report.failed:
            first = report.failures[0]
            raise RuntimeError(f"Memory '{memories[first.sequence - 1].id}' was refused: {first.error}")

    def through(self, client: Satchel) -> "Filled":
        """Return what is stored as another client sees it, which has searched for nothing yet."""
        return Filled(client, self.project, self._names, self.revision)

    def names(self, stored: str) -> Sequence[str]:
        """Return the corpus's ids that a stored memory stands for."""
        return self._names.get(stored, [])

    def search(self, question: Question, depth: int) -> Sequence[str]:
        """Return the corpus's ids of what a search finds, best first; a repeated question is not asked again.

        A stored memory stands for all that have the same text and place, so there may be more than ``depth``.
        """
        if (question.id, depth) not in self._searched:
            found = self.client.search(
                question.query, top_k=depth, wing=question.namespace, min_revision=self.revision
            )
            ids = [name for one in found.results for name in self.names(one.id)]
            self._searched[question.id, depth] = ids
        return self._searched[question.id, depth]

    def embed(self, texts: Sequence[str], role: str) -> Sequence[tuple[int, Sequence[float]]]:
        """Return the vectors of all passages of the texts, each with the index of its text."""
        rows: list[tuple[int, Sequence[float]]] = []
        for start in range(0, len(texts), _EMBED_TEXTS):
            part = texts[start : start + _EMBED_TEXTS]
            made = self.client.embed(part, role=cast("RoleLike", role), split_passages=True)
            indexes = (start + span.text_index for span in made.response.spans)
            rows.extend(zip(indexes, made.rows, strict=True))
        return rows

    def clear(self) -> None:
        """Delete what was stored."""
        stub = lifecycle_rpc.LifecycleServiceStub(self.client.channel("store"))
        stub.ClearMemories(
            lifecycle_pb.ClearMemoriesRequest(mode=lifecycle_pb.CLEAR_MODE_GLOBAL, project=self.project),
            timeout=_TIMEOUT_S,
            metadata=self.client.metadata,
        )

    def _note(self, done: Imported, memories: Sequence[Memory]) -> None:
        if done.stored is not None:
            self._names.setdefault(done.stored.id, []).append(memories[done.sequence - 1].id)
            self.revision = max(self.revision, done.stored.revision)


class SatchelSystem:
    """One strategy of a filled Satchel; ``default`` names none, and so takes the server's own."""

    def __init__(self, filled: Filled, strategy: str = DEFAULT_STRATEGY) -> None:
        self._filled = filled
        self._options: dict[str, Any] = {} if strategy == DEFAULT_STRATEGY else {"strategy": strategy}
        self.name = "Satchel" if strategy == DEFAULT_STRATEGY else f"Satchel, {strategy}"

    def context(self, question: Question, budget: int) -> str:
        """Recall, as of the time at which the question is asked if it has one."""
        answer = self._filled.client.recall(
            question.query,
            budget=budget,
            wing=question.namespace,
            min_revision=self._filled.revision,
            reference_time=question.now,  # type: ignore[arg-type]  # None is not sent
            **self._options,
        )
        return answer.context

    def rank(self, question: Question, depth: int) -> Sequence[str]:
        """Search; strategies do not differ in it."""
        return self._filled.search(question, depth)


@contextmanager
def opened(url: str, *, api_key: str = "", is_kept: bool = False) -> Iterator[Filled]:
    """Yield a Satchel with an empty project of its own, which is cleared at the end unless it is kept."""
    project = f"benchmark-{uuid.uuid4().hex[:8]}"
    with Satchel(url, api_key=api_key, project=project, timeout=_TIMEOUT_S) as client:
        made = Filled(client, project)
        try:
            yield made
        finally:
            if not is_kept:
                made.clear()


def _record(memory: Memory) -> NewMemory:
    record = NewMemory(content=memory.content, wing=memory.namespace)
    optional: Mapping[str, Any] = {
        "session_id": memory.session_id,
        "occurred_at": memory.occurred_at,
        "metadata": memory.metadata,
    }
    for name, value in optional.items():
        if value:
            record[name] = value  # type: ignore[literal-required]  # a field of a new memory
    return record
