"""Keeps account of an import: numbers what is sent, counts what is answered, says when to wait."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1.memory_pb2 import Memory
from satchel.client.errors import Internal, InvalidArgument, SatchelError, from_status
from satchel.client.requests import NewMemoryLike, Requests

# What may be imported: a new memory, or one that an export gave.
Record: TypeAlias = NewMemoryLike | Memory

# So many records may wait for their answer.
WINDOW = 512
_MAX_FAILURES = 1000


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of one record: ``stored``, or the ``error`` with which it was refused.

    ``sequence`` is the number of the record among those that were given, from 1.
    """

    sequence: int
    stored: pb.StoreMemoryResponse | None = None
    error: SatchelError | None = None


Progress: TypeAlias = Callable[[Imported], None]


@dataclass(slots=True)
class ImportReport:
    """What became of an import; ``stored`` counts new memories, ``duplicates`` those that were there already.

    ``failures`` keeps the first 1,000 refused records.
    """

    stored: int = 0
    duplicates: int = 0
    failed: int = 0
    failures: list[Imported] = field(default_factory=list)

    def add(self, one: Imported) -> None:
        """Count a record."""
        if one.stored is None:
            self.failed += 1
            self.failures.extend([one] if len(self.failures) < _MAX_FAILURES else [])
        elif one.stored.duplicate:
            self.duplicates += 1
        else:
            self.stored += 1


class Account:
    """The records of one import that are sent, and those that are answered."""

    def __init__(self, requests: Requests, progress: Progress | None) -> None:
        self.report = ImportReport()
        self._requests = requests
        self._progress = progress
        self._taken = 0
        self._sent = 0
        self._answered = 0
        self._all_sent = False

    @property
    def is_full(self) -> bool:
        """Whether the next record must wait for an answer."""
        return self._sent - self._answered >= WINDOW

    def request(self, record: Record) -> pb.ImportMemoriesRequest | None:
        """Return the request of the next record; `None` for one of which none can be made.

        Such a record is refused as the store refuses one, and told of at once: it may be told before records
        that were taken earlier.
        """
        self._taken += 1
        try:
            made = self._requests.import_(self._taken, record)
        except (ValueError, TypeError) as exc:
            error = InvalidArgument(f"Record {self._taken} is no memory: {exc}")
            self._tell(Imported(self._taken, error=error))
            return None
        self._sent += 1
        return made

    def end(self) -> None:
        """Note that no more records come."""
        self._all_sent = True

    def take(self, answer: pb.ImportMemoriesResponse) -> None:
        """Count an answer, and tell of it."""
        self._answered += 1
        refused = answer.WhichOneof("result") == "error"
        one = Imported(
            answer.sequence,
            stored=None if refused else answer.stored,
            error=from_status(answer.error) if refused else None,
        )
        self._tell(one)

    def _tell(self, one: Imported) -> None:
        self.report.add(one)
        if self._progress is not None:
            self._progress(one)

    def close(self) -> ImportReport:
        """Return the report when the stream has ended well.

        Raises:
            Internal: records are not sent, or without an answer, all the same.
        """
        if not self._all_sent or self._answered < self._sent:
            raise Internal("The store ended the import before it had answered every record. Import it again.")
        return self.report
