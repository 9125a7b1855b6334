"""The state of all parts, asked at the same time; one that is silent is reported, and fails nothing."""

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from satchel.allocator.ports import IndexState, ModelIdentity, PartState, Peers, StoreState, SystemState
from satchel.runtime.errors import ServiceError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Answer(Generic[T]):
    value: T | None = None
    fault: str = ""


async def report(peers: Peers, project: str) -> SystemState:
    """Gather the state of store, index and embedder. The ports bring their own short deadlines."""
    async with asyncio.TaskGroup() as group:
        store_call = group.create_task(_asked(peers.store.status(project)))
        index_call = group.create_task(_asked(peers.index.status()))
        models_call = group.create_task(_asked(peers.embedder.list_models()))
    store, index, models = store_call.result(), index_call.result(), models_call.result()
    return SystemState(
        parts=(_embedder_part(models), _index_part(index), _store_part(store)),
        store=store.value,
        index=index.value,
        models=models.value or (),
    )


async def _asked(call: Awaitable[T]) -> _Answer[T]:
    try:
        return _Answer(await call)
    except ServiceError as error:
        return _Answer(fault=error.message)


def _embedder_part(models: _Answer[Sequence[ModelIdentity]]) -> PartState:
    if not models.value:
        return PartState("embedder", healthy=False, detail=models.fault or "No model is loaded.")
    return PartState("embedder", healthy=True, detail=f"Embeds with {models.value[0].name}.")


def _index_part(index: _Answer[IndexState]) -> PartState:
    if index.value is None:
        return PartState("index", healthy=False, detail=index.fault)
    ready = index.value.state == "ready"
    detail = f"The index is {index.value.state}, {index.value.lag} revisions behind the store."
    return PartState("index", healthy=ready, detail=detail)


def _store_part(store: _Answer[StoreState]) -> PartState:
    if store.value is None:
        return PartState("store", healthy=False, detail=store.fault)
    count = store.value.counts.verbatim_count
    return PartState(
        "store", healthy=True, detail=f"Holds {count} memories at revision {store.value.head_revision}."
    )
