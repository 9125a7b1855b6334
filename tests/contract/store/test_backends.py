"""Which backends there are, and that they differ just as they declare."""

from pathlib import Path

import pytest
from contract.store.backends import BACKENDS, Backend, Category, RunningStore, belongs_to
from unit.store import fakes

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.store.errors import StoreUnavailable
from satchel.store.factory import open_store
from satchel.store.settings import StoreSettings

FORGETFUL = [backend for backend in BACKENDS if Category.LASTING in backend.opted_out]
WITHOUT_FILES = [backend for backend in BACKENDS if Category.ON_DISK in backend.opted_out]


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


@requirement("store:acknowledged-is-durable")
@belongs_to(Category.LASTING)
async def test_what_was_stored_is_there_after_a_restart(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store("text", tags=["t"], session_id="s")
        before = await client.memories.GetMemory(pb.GetMemoryRequest(id=stored.id))
    async with running_store() as client:
        after = await client.memories.GetMemory(pb.GetMemoryRequest(id=stored.id))

    assert after == before


@requirement("backend:memory")
@pytest.mark.parametrize("forgetful", FORGETFUL, ids=lambda backend: backend.name)
async def test_a_backend_that_does_not_last_begins_anew(forgetful: Backend, tmp_path: Path) -> None:
    url = forgetful.url(tmp_path / "store")
    async with fakes.running_store(tmp_path, url=url) as client:
        await client.store("text")
    async with fakes.running_store(tmp_path, url=url) as client:
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert (status.stats.verbatim_count, status.head_revision) == (0, 0)


@requirement("backend:memory")
@pytest.mark.parametrize("fileless", WITHOUT_FILES, ids=lambda backend: backend.name)
async def test_a_backend_without_files_leaves_the_disk_alone(fileless: Backend, tmp_path: Path) -> None:
    async with fakes.running_store(tmp_path, url=fileless.url(tmp_path / "store")) as client:
        await client.store("text")
        status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())

    assert (status.database_bytes, status.schema_version) == (0, 0)
    assert files_in(tmp_path) == []


@requirement("backend:named")
@pytest.mark.parametrize("url", ["memory:a.db", "postgres://user:secret@host/db", "satchel.db"])
def test_a_url_that_names_no_backend_is_refused_without_showing_its_secrets(url: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"SATCHEL_STORE_URL.*'sqlite:'.*'memory:'") as refused:
        open_store(StoreSettings(url=url), now=0)

    assert "secret" not in str(refused.value)
