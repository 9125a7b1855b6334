"""A gateway over fake services, reached as a client would."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from contract.gateway.fakes import World, open_world

from satchel.gateway.rest.app import build_app
from satchel.gateway.transcoder.descriptors import Contract, load_contract

BASE_URL = "http://127.0.0.1:8080"


@pytest.fixture(scope="session")
def contract() -> Contract:
    return load_contract()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with open_world() as opened:
        yield opened


@pytest.fixture
async def http(world: World) -> AsyncIterator[httpx2.AsyncClient]:
    app = build_app(world.clients)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=BASE_URL) as client:
        yield client
