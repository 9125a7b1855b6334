"""How Satchel is, in the words that clients of MIRA read."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Literal

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.store.v1 import memory_service_pb2 as store_pb
from satchel.gateway.clients import Clients
from satchel.gateway.exchanges import on_own_behalf
from satchel.gateway.transcoder.json_text import Json
from satchel.gateway.transcoder.words import word_of
from satchel.runtime.errors import Code, ServiceError
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
        "memory_count": {
            "type": "integer",
            "minimum": 0,
            "description": "Memories that the caller may read. Absent for a caller without a key where "
            "keys are set, and for one that names none of its several projects.",
        },
        "vector_index_ready": {"type": "boolean", "description": "Whether the index follows the store."},
        "version": {
            "type": "string",
            "description": "Version of Satchel. Absent for a caller without a key.",
        },
        "details": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What is not as it should be, as sentences. Absent for a caller without a key.",
        },
    },
    "required": [
        "status",
        "checks",
        "ready",
        "db_connected",
        "vector_index_ready",
    ],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Health:
    """The state of all parts at one moment; ``memory_count`` is `None` where it is not for the caller."""

    database: Check = "fail"
    vector_store: Check = "fail"
    embedder: Check = "fail"
    memory_count: int | None = 0
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
        counts: dict[str, Json] = {} if self.memory_count is None else {"memory_count": self.memory_count}
        return {**self.state(), **counts, "version": self.version, "details": list(self.details)}

    def state(self) -> dict[str, Json]:
        """Return what anybody may know: how the parts are, and nothing of what they hold."""
        return {
            "status": self.status,
            "checks": {
                "database": self.database,
                "vector_store": self.vector_store,
                "embedder": self.embedder,
            },
            "ready": self.is_ready,
            "db_connected": self.database == "pass",
            "vector_index_ready": self.vector_store == "pass",
        }


async def check_health(clients: Clients, inside: Clients | None = None) -> Health:
    """Ask the allocator how the parts are, and the store itself when the allocator does not answer.

    ``clients`` ask for the caller. Where that names none of the several projects of its key, and so is told
    nothing, ``inside`` ask for the process, and the count of all memories is left out.

    Raises:
        ServiceError: the caller names none of its projects, and there is nothing ``inside``.
    """
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            status = await clients.allocator.GetStatus(allocator_pb.GetStatusRequest(), timeout=_TIMEOUT_S)
    except Exception as caught:  # whatever happened, health has an answer
        error = to_service_error(caught)
        if error.code is not Code.PERMISSION_DENIED:
            return await _without_allocator(clients, error)
        if inside is None:
            raise error from caught
    else:
        return _from_status(status)
    return replace(await on_own_behalf(check_health(inside)), memory_count=None)


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
