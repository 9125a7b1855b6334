"""Names the fields that calls take by keyword, and makes requests of them.

The names, meanings and defaults are those of the contract; a field that is left out, or `None`, is not sent.
The contract's words may be short: ``"decision"`` for ``MEMORY_TYPE_DECISION``. Times need a zone.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Required, TypeAlias, TypedDict, TypeVar
from uuid import UUID

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message

from satchel.api.allocator.v1.allocator_service_pb2 import AllocationOptions
from satchel.api.types.v1.memory_pb2 import CausalLink, Component

M = TypeVar("M", bound=Message)

# A word, or the number of the contract's enum value.
MemoryTypeLike: TypeAlias = Literal["decision", "fact", "preference", "session_note", "debug_log"] | int
StateLike: TypeAlias = Literal["active", "archived", "deleted"] | int
SensitivityLike: TypeAlias = Literal["low", "medium", "high"] | int
StrategyLike: TypeAlias = Literal["cba", "knapsack", "top"] | int
RoleLike: TypeAlias = Literal["query", "passage"] | int
Json: TypeAlias = Mapping[str, Any]


class MemoryFields(TypedDict, total=False):
    """What may be said of a new memory beside its text; see `StoreMemoryRequest`."""

    project: str
    wing: str
    room: str
    type: MemoryTypeLike
    tags: Iterable[str]
    metadata: Json
    session_id: str
    occurred_at: datetime
    title: str
    summary: str
    path: str
    component: Component
    source: str
    sensitivity: SensitivityLike
    causal_links: Iterable[CausalLink]
    request_id: str | UUID


class NewMemory(MemoryFields, total=False):
    """A new memory, for `remember_many` and `import_`."""

    content: Required[str]


class ChangedFields(TypedDict, total=False):
    """What may be changed of a memory; see `UpdateMemoryRequest`. `None` clears the field."""

    content: str
    wing: str
    room: str | None
    type: MemoryTypeLike | None
    tags: Iterable[str] | None
    metadata: Json | None
    title: str | None
    summary: str | None
    path: str | None
    component: Component | None
    source: str | None
    sensitivity: SensitivityLike | None
    occurred_at: datetime | None


class RecallFields(TypedDict, total=False):
    """Which memories a recall may use, and how; see `RecallRequest`."""

    project: str
    wing: str
    room: str
    types: Iterable[MemoryTypeLike]
    fallback_wings: Iterable[str]
    session_id: str
    strategy: StrategyLike
    options: AllocationOptions
    explain: bool
    min_revision: int
    reference_time: datetime
    since: datetime
    until: datetime
    tags: Iterable[str]
    skip_given: bool


class SearchFields(TypedDict, total=False):
    """Which memories a search may find; see `SearchMemoriesRequest`."""

    threshold: float
    project: str
    wing: str
    room: str
    types: Iterable[MemoryTypeLike]
    options: AllocationOptions
    min_revision: int
    since: datetime
    until: datetime
    tags: Iterable[str]
    max_content_length: int


class ListFields(TypedDict, total=False):
    """Which memories are listed; see `ListMemoriesRequest`."""

    project: str
    wing: str
    room: str
    type: MemoryTypeLike
    state: StateLike
    session_id: str
    tag: str
    page_size: int


class ExportFields(TypedDict, total=False):
    """Which memories are exported; see `ExportMemoriesRequest`."""

    project: str
    wing: str
    room: str
    states: Iterable[StateLike]
    all_projects: bool


class AllocateFields(TypedDict, total=False):
    """How candidates are packed; see `AllocateRequest`."""

    strategy: StrategyLike
    options: AllocationOptions
    explain: bool
    reference_time: datetime


class CandidateFields(TypedDict, total=False):
    """One candidate of the caller's own; see `Candidate`. The vector is packed, or a row of numbers."""

    id: Required[str]
    content: Required[str]
    relevance: float
    type: MemoryTypeLike
    occurred_at: datetime
    fact_count: int
    fingerprint: str
    vector: bytes | Sequence[float]
    linked_ids: Iterable[str]
    session_id: str


def refuse_text(values: object, name: str) -> None:
    """Refuse one text where many values are wanted: Python would take it for a list of its letters.

    Raises:
        TypeError: it is one.
    """
    if isinstance(values, str | bytes):
        raise TypeError(f"'{name}' must list values. Put a single text into a list: [{values[:20]!r}].")


def build(message_type: type[M], fields: Mapping[str, object]) -> M:
    """Make a message of fields by name; those that are `None` are left out.

    Raises:
        ValueError: the message has no such field, an enum no such word, or a time has no zone.
        TypeError: a value has another type than its field.
    """
    known = message_type.DESCRIPTOR.fields_by_name
    given = {
        name: _value(known[name], value) if name in known else value
        for name, value in fields.items()
        if value is not None
    }
    return message_type(**given)


def _value(field: Any, value: Any) -> Any:  # noqa: ANN401  # as many types as fields
    if field.is_repeated:
        # A text is a list of its letters to Python, and never meant as one.
        items = (value,) if isinstance(value, str) else value
        return [_single(field, item) for item in items]
    return _single(field, value)


def _single(field: Any, value: object) -> object:  # noqa: ANN401  # descriptors have two classes
    if isinstance(value, str) and field.enum_type is not None:
        return _number(field.enum_type, value)
    if isinstance(value, datetime) and value.tzinfo is None:
        raise ValueError(f"The time in '{field.name}' has no zone. Give it one, such as datetime.UTC.")
    return str(value) if isinstance(value, UUID) else value


def _number(enum: EnumDescriptor, word: str) -> int:
    """Return the number of a word; the value 0 of an enum shows what all names begin with."""
    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
    found = enum.values_by_name.get(prefix + word.removeprefix(prefix).upper())
    if found is None:
        words = ", ".join(value.name.removeprefix(prefix).lower() for value in enum.values if value.number)
        raise ValueError(f"'{word}' is no {enum.name}. Give one of {words}.")
    return int(found.number)
