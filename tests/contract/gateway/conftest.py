"""A gateway over fake services, reached as a client would."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from contract.gateway.fakes import World, client_of, open_world

from satchel.gateway.settings import GatewaySettings
from satchel.gateway.transcoder.descriptors import Contract, load_contract


@pytest.fixture(scope="session")
def contract() -> Contract:
    return load_contract()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with open_world() as opened:
        yield opened


@pytest.fixture
async def http(world: World) -> AsyncIterator[httpx2.AsyncClient]:
    async with client_of(world, GatewaySettings()) as client:
        yield client
