"""The two ways to reach a service, as one fixture value."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import grpc
from contract.runtime.echo import Echo, EchoStub

from satchel.runtime.channels import open_channel
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import Authenticator, default_chain
from satchel.runtime.interceptors.auth import local_owner
from satchel.runtime.server import GrpcServer, Registrable


@dataclass
class Reach:
    """A running echo service, the stub that reaches it and the channel below."""

    stub: EchoStub
    echo: Echo
    channel: grpc.aio.Channel


@asynccontextmanager
async def over_inprocess(
    authenticator: Authenticator = local_owner, *, max_calls: int = 1000, more: Sequence[Registrable] = ()
) -> AsyncIterator[Reach]:
    chain = default_chain(authenticator=authenticator, max_concurrent_calls=max_calls)
    server, echo = InProcessServer(chain), Echo()
    for part in (echo, *more):
        part.register(server)
    channel = InProcessChannel(server)
    try:
        yield Reach(EchoStub(channel), echo, channel)
    finally:
        await server.stop()


@asynccontextmanager
async def over_loopback(
    authenticator: Authenticator = local_owner, *, max_calls: int = 1000, more: Sequence[Registrable] = ()
) -> AsyncIterator[Reach]:
    chain = default_chain(authenticator=authenticator, max_concurrent_calls=max_calls)
    server, echo = GrpcServer(["127.0.0.1:0"], interceptors=chain, grace_s=0.2), Echo()
    server.register(echo, *more)
    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        yield Reach(EchoStub(channel), echo, channel)


Opener = Callable[..., AbstractAsyncContextManager[Reach]]
TRANSPORTS: dict[str, Opener] = {"inprocess": over_inprocess, "loopback": over_loopback}
