"""One real Satchel in one process for the tests of the client, and a project of its own for each test."""

import uuid
from collections.abc import AsyncIterator, Iterator

import pytest

from e2e.running import Running, embedded
from satchel.client import AsyncSatchel, Satchel


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Satchel that runs on an empty data folder."""
    with embedded(tmp_path_factory.mktemp("client") / "data") as started:
        yield started


@pytest.fixture
def project() -> str:
    """The name of a project that nobody has used."""
    return f"p-{uuid.uuid4()}"


@pytest.fixture
def satchel(running: Running, project: str) -> Iterator[Satchel]:
    """A synchronous client of the project."""
    with Satchel(running.store, project=project) as client:
        yield client


@pytest.fixture
async def asatchel(running: Running, project: str) -> AsyncIterator[AsyncSatchel]:
    """An asynchronous client of the project."""
    async with AsyncSatchel(running.store, project=project) as client:
        yield client
