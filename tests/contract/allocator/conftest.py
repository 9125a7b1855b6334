from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest

from satchel.allocator.main import build
from satchel.allocator.settings import AllocatorSettings
from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceStub
from satchel.runtime.inprocess import InProcessChannel, InProcessServer

from .peers import World, register

if TYPE_CHECKING:
    from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceAsyncStub

NOW_US = 1_700_000_000_000_000


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def allocator(world: World) -> AsyncIterator["AllocatorServiceAsyncStub"]:
    """An allocator over stand-ins, behind the interceptors of every service."""
    server = InProcessServer()
    register(world, server)
    channel = InProcessChannel(server)
    async with build(
        AllocatorSettings(),
        embedder_channel=channel,
        index_channel=channel,
        store_channel=channel,
        clock=lambda: NOW_US,
    ) as built:
        built.register(server)
        yield AllocatorServiceStub(channel)
