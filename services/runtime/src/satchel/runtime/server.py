"""Provides a gRPC server over the network: health, reflection, and draining before it stops."""

import asyncio
import logging
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any, Protocol, Self, cast

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio as health_aio
from grpc_reflection.v1alpha import reflection

from satchel.runtime.channels import MAX_METADATA_BYTES
from satchel.runtime.interceptors import MAX_CONCURRENT_CALLS, Authenticator, default_chain
from satchel.runtime.interceptors.auth import local_owner
from satchel.runtime.interceptors.deadline import end_endless_calls
from satchel.runtime.methods import require_access_rules
from satchel.runtime.status import MAX_MESSAGE_BYTES

_log = logging.getLogger("satchel.server")

DEFAULT_GRACE_S = 10.0
_ENDING = (signal.SIGTERM, signal.SIGINT)
# Calls that gRPC takes in, in multiples of those that may run: a call that is refused also runs for a moment.
_TAKEN_IN = 2


@dataclass(frozen=True, slots=True)
class Pings:
    """How a connection on which nothing happens is kept, and found dead.

    Clients may ping it, calls or not, every ``least_ms``: a little less than 10 s, for what is sent every
    10 s comes early now and then. The server pings after ``every_ms`` of silence, and ends the connection
    and its calls where no answer comes within ``answer_ms``. gRPC pings every second at most.
    """

    least_ms: int = 9_000
    every_ms: int = 60_000
    answer_ms: int = 20_000


def server_options(pings: Pings) -> tuple[tuple[str, int], ...]:
    """Return what every server is opened with, as gRPC names it."""
    return (
        ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
        ("grpc.max_metadata_size", MAX_METADATA_BYTES),
        # Two servers on one port would share its connections at random.
        ("grpc.so_reuseport", 0),
        # GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, whose text leaves "recv" out.
        ("grpc.http2.min_ping_interval_without_data_ms", pings.least_ms),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.keepalive_time_ms", pings.every_ms),
        ("grpc.keepalive_timeout_ms", pings.answer_ms),
        # A ping that measures the connection and gets no answer would hold back the others for a minute.
        ("grpc.http2.ping_timeout_ms", pings.answer_ms),
        # Else only the first two pings of a silence are sent.
        ("grpc.http2.max_pings_without_data", 0),
    )


class Registrable(Protocol):
    """What a service's `build` yields."""

    def register(self, server: grpc.aio.Server) -> None:
        """Add the service's servicers to ``server``."""


class GrpcServer:
    """Serves what is registered, with health per service, reflection and the interceptor chain.

    Use it as an async context manager: entering starts it, leaving drains it. ``authenticator`` is the one of
    the default chain, ``pings`` are for tests to change. Calls beyond
    ``max_concurrent_calls`` are refused with `Overloaded` by the default chain; beyond twice as many gRPC
    refuses them itself, with the same code but without details, before any interceptor runs.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        *,
        interceptors: Sequence[grpc.aio.ServerInterceptor] | None = None,
        authenticator: Authenticator = local_owner,
        credentials: grpc.ServerCredentials | None = None,
        grace_s: float = DEFAULT_GRACE_S,
        max_concurrent_calls: int = MAX_CONCURRENT_CALLS,
        pings: Pings = Pings(),
    ) -> None:
        self._addresses = tuple(addresses)
        self._credentials = credentials
        self._grace_s = grace_s
        self._health = health_aio.HealthServicer()
        self._services: list[str] = []
        self._ports: tuple[int, ...] = ()
        self._interceptors = (
            default_chain(authenticator=authenticator, max_concurrent_calls=max_concurrent_calls)
            if interceptors is None
            else tuple(interceptors)
        )
        self._server = grpc.aio.server(
            interceptors=self._interceptors,
            options=server_options(pings),
            maximum_concurrent_rpcs=_TAKEN_IN * max_concurrent_calls,
        )

    @property
    def ports(self) -> tuple[int, ...]:
        """Ports that are served, one an address (1 for a Unix socket), known once started."""
        return self._ports

    def register(self, *parts: Registrable) -> None:
        """Add services; only before the start.

        Raises:
            ValueError: an RPC of ours does not say which right it needs.
        """
        recorder = cast("grpc.aio.Server", _Recorder(self._server, self._services))
        for part in parts:
            part.register(recorder)

    async def start(self) -> None:
        """Bind every address and serve; health says SERVING for each service and overall.

        Raises:
            RuntimeError: an address cannot be bound.
        """
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        reflection.enable_server_reflection(
            (
                *self._services,
                health_pb2.DESCRIPTOR.services_by_name["Health"].full_name,
                reflection.SERVICE_NAME,
            ),
            self._server,
        )
        self._ports = tuple(self._bind(address) for address in self._addresses)
        await self._server.start()
        for service in ("", *self._services):
            await self._health.set(service, health_pb2.HealthCheckResponse.SERVING)
        _log.info("server.started", extra={"addresses": ",".join(self._addresses), "ports": self._ports})

    async def stop(self) -> None:
        """Say NOT_SERVING, refuse new calls, and give those under way ``grace_s`` seconds to end."""
        await self._health.enter_graceful_shutdown()
        end_endless_calls(self._interceptors)
        await self._server.stop(self._grace_s)
        _log.info("server.stopped")

    async def wait(self) -> None:
        """Wait until the server has stopped."""
        await self._server.wait_for_termination()

    def _bind(self, address: str) -> int:
        if self._credentials is None:
            return self._server.add_insecure_port(address)
        return self._server.add_secure_port(address, self._credentials)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()


class _Recorder:
    """Passes handlers on to a server and notes the names of their services."""

    def __init__(self, server: grpc.aio.Server, names: list[str]) -> None:
        self._server = server
        self._names = names

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        self._server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(
        self, service_name: str, handlers: "Mapping[str, grpc.RpcMethodHandler[Any, Any]]"
    ) -> None:
        require_access_rules(service_name, handlers)
        self._names.append(service_name)
        self._server.add_registered_method_handlers(service_name, handlers)


async def serve_forever(
    built: Registrable,
    address: str | Sequence[str],
    *,
    interceptors: Sequence[grpc.aio.ServerInterceptor] | None = None,
    authenticator: Authenticator = local_owner,
    credentials: grpc.ServerCredentials | None = None,
    grace_s: float = DEFAULT_GRACE_S,
) -> None:
    """Serve ``built`` on ``address`` (or on several) until SIGTERM or SIGINT, then drain and return."""
    addresses = (address,) if isinstance(address, str) else tuple(address)
    server = GrpcServer(
        addresses,
        interceptors=interceptors,
        authenticator=authenticator,
        credentials=credentials,
        grace_s=grace_s,
    )
    server.register(built)
    asked = note_signals()
    async with server:
        await asked.wait()


def note_signals() -> asyncio.Event:
    """Return an event that is set when the process is asked to end (SIGTERM or SIGINT). In the main thread.

    Call it before anybody is told that the process serves. To its last moment the process then dies of no
    such signal: what asks twice, as supervisors and impatient people do, would else cut off calls and
    snapshots that are about to be finished. Leaving has an end of its own, and SIGKILL is always possible.
    """
    loop = asyncio.get_running_loop()
    asked = asyncio.Event()

    def ask(number: int, _frame: FrameType | None) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(_note, asked, number)
        elif not asked.is_set():
            # Nothing of ours runs any more, and nobody was asked: the signal has its old meaning.
            signal.signal(number, before[signal.Signals(number)])
            signal.raise_signal(number)

    # Not loop.add_signal_handler, whose handlers end with the loop, before the process does.
    before = {number: signal.signal(number, ask) for number in _ENDING}
    return asked


def _note(asked: asyncio.Event, number: int) -> None:
    if asked.is_set():
        _log.info("server.stopping_already", extra={"signal": signal.Signals(number).name})
    asked.set()
