"""How Satchel is, in the words that clients of MIRA read."""

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder.json_text import Json
from satchel.gateway.transcoder.words import word_of
from satchel.runtime.errors import ServiceError
from satchel.runtime.status import to_service_error

Check = Literal["pass", "warn", "fail"]
Verdict = Literal["healthy", "degraded", "unhealthy"]

# The index follows the store, or says nothing.
_NOTHING_SPECIAL = frozenset({index_pb.INDEX_STATE_UNSPECIFIED, index_pb.INDEX_STATE_READY})

# Health is asked often and must not hang with what it asks.
_TIMEOUT_S = 2.0

_SCHEMA_OF_CHECK: dict[str, Json] = {"type": "string", "enum": ["pass", "warn", "fail"]}
SCHEMA: dict[str, Json] = {
    "type": "object",
    "description": "How Satchel is.",
    "properties": {
        "status": {
            "type": "string",
            "enum": ["healthy", "degraded", "unhealthy"],
            "description": "`degraded` answers with less than all parts; `unhealthy` does not answer.",
        },
        "checks": {
            "type": "object",
            "description": "The parts: `warn` works with less, `fail` does not answer.",
            "properties": dict.fromkeys(("database", "vector_store", "embedder"), _SCHEMA_OF_CHECK),
            "required": ["database", "vector_store", "embedder"],
            "additionalProperties": False,
        },
        "ready": {"type": "boolean", "description": "Whether requests are answered."},
        "db_connected": {"type": "boolean", "description": "Whether the store answers."},
        "memory_count": {"type": "integer", "minimum": 0, "description": "Memories in the store."},
        "vector_index_ready": {"type": "boolean", "description": "Whether the index follows the store."},
        "version": {"type": "string", "description": "Version of Satchel."},
        "details": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What is not as it should be, as sentences.",
        },
    },
    "required": [
        "status",
        "checks",
        "ready",
        "db_connected",
        "memory_count",
        "vector_index_ready",
        "version",
        "details",
    ],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Health:
    """The state of all parts at one moment."""

    database: Check = "fail"
    vector_store: Check = "fail"
    embedder: Check = "fail"
    memory_count: int = 0
    vector_count: int = 0
    version: str = ""
    details: tuple[str, ...] = field(default=())
    answers: bool = True

    @property
    def status(self) -> Verdict:
        """The verdict: without the store or the allocator nothing is answered."""
        if self.database == "fail" or not self.answers:
            return "unhealthy"
        return "healthy" if self.vector_store == self.embedder == "pass" else "degraded"

    @property
    def is_ready(self) -> bool:
        """Whether requests are answered."""
        return self.status != "unhealthy"

    def as_json(self) -> dict[str, Json]:
        """Return the health as `SCHEMA` describes it."""
        return {
            "status": self.status,
            "checks": {
                "database": self.database,
                "vector_store": self.vector_store,
                "embedder": self.embedder,
            },
            "ready": self.is_ready,
            "db_connected": self.database == "pass",
            "memory_count": self.memory_count,
            "vector_index_ready": self.vector_store == "pass",
            "version": self.version,
            "details": list(self.details),
        }


async def check_health(clients: Clients) -> Health:
    """Ask the allocator how the parts are, and the store itself when the allocator does not answer."""
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            status = await clients.allocator.GetStatus(allocator_pb.GetStatusRequest(), timeout=_TIMEOUT_S)
    except Exception as error:  # noqa: BLE001  # whatever happened, health has an answer
        return await _without_allocator(clients, to_service_error(error))
    return _from_status(status)


async def _without_allocator(clients: Clients, failure: ServiceError) -> Health:
    details = (f"The allocator does not answer: {failure.message}",)
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            status = await clients.memory.GetStoreStatus(store_pb.GetStoreStatusRequest(), timeout=_TIMEOUT_S)
    except Exception as error:  # noqa: BLE001  # whatever happened, health has an answer
        store = f"The store does not answer: {to_service_error(error).message}"
        return Health(details=(*details, store), answers=False)
    stats = status.stats
    return Health(
        database="pass",
        memory_count=stats.verbatim_count,
        vector_count=stats.embedding_count,
        details=details,
        answers=False,
    )


def _from_status(status: allocator_pb.GetStatusResponse) -> Health:
    parts = {part.name: part for part in status.parts}
    return Health(
        database=_check(parts.get(allocator_pb.PART_STORE)),
        vector_store=_index_check(parts.get(allocator_pb.PART_INDEX), status.index.state),
        embedder=_check(parts.get(allocator_pb.PART_EMBEDDER)),
        memory_count=status.stats.verbatim_count,
        vector_count=status.stats.embedding_count,
        version=status.version,
        details=tuple(f"{word_of(part, 'name')}: {part.detail}" for part in status.parts if not part.healthy),
    )


def _check(part: allocator_pb.PartStatus | None) -> Check:
    return "pass" if part is not None and part.healthy else "fail"


def _index_check(part: allocator_pb.PartStatus | None, state: index_pb.IndexState.ValueType) -> Check:
    """Call an index that loads or rebuilds a warning: the store's exact search answers meanwhile."""
    if part is not None and part.healthy:
        return "pass" if state in _NOTHING_SPECIAL else "warn"
    return "fail" if state in _NOTHING_SPECIAL else "warn"
