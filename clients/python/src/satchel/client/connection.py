"""Provides what both clients share: addresses, channels, credentials, deadlines, trace context."""

import os
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import grpc

from satchel.client.address import PARTS, AddressError, find_targets
from satchel.client.errors import SatchelError, explain
from satchel.client.requests import Call
from satchel.client.rpcs import Rpc, channel_options

DEFAULT_TIMEOUT_S = 10.0

# What opens a channel: gRPC's own functions, of either kind.
OpenChannel = Callable[..., Any]
# Keyword arguments of a multi-callable of gRPC.
Terms = dict[str, Any]


class Connection:
    """The channels of a client, opened when they are first needed, and what every call over them carries."""

    def __init__(
        self,
        *,
        url: str,
        api_key: str,
        timeout: float,
        credentials: grpc.ChannelCredentials | None,
        open_plain: OpenChannel,
        open_secure: OpenChannel,
    ) -> None:
        self._targets: Mapping[str, str] = find_targets(url)
        self._credentials = credentials
        self._open_plain = open_plain
        self._open_secure = open_secure
        self._channels: dict[str, Any] = {}
        self._opening = threading.Lock()
        self._is_closed = False
        self._methods: dict[Rpc[Any, Any], Callable[..., Any]] = {}
        if not (api_key.isascii() and api_key.isprintable()):
            raise ValueError("The API key holds a line break or another character that no key has.")
        self._authorization = (("authorization", f"Bearer {api_key}"),) if api_key else ()
        self.timeout_s = timeout

    def target(self, part: str) -> str:
        """Return the gRPC name of a part.

        Raises:
            AddressError: the URL does not name it.
        """
        target = self._targets.get(part)
        if target is None:
            named = ", ".join(self._targets)
            raise AddressError(f"The URL names {named}, but not '{part}'. The parts are {', '.join(PARTS)}.")
        return target

    def channel(self, part: str) -> Any:  # noqa: ANN401  # of either kind
        """Return the channel to a part; parts at one address share it.

        Raises:
            ValueError: the client is closed.
        """
        target = self.target(part)
        with self._opening:
            if self._is_closed:
                raise ValueError("The client is closed. Open another one.")
            if target not in self._channels:
                self._channels[target] = self._open(target)
            return self._channels[target]

    def close(self) -> list[Any]:
        """Open no more channels; return the open ones for their owner to close."""
        with self._opening:
            self._is_closed = True
            self._methods.clear()
            return list(self._channels.values())

    def method(self, rpc: Rpc[Any, Any]) -> Callable[..., Any]:
        """Return what makes calls of an RPC."""
        found = self._methods.get(rpc)
        if found is None:
            found = getattr(rpc.stub(self.channel(rpc.part)), rpc.name)
            self._methods[rpc] = found
        return found

    def unary_terms(self, call: Call[Any, Any], timeout: float | None) -> Terms:
        """Return deadline and metadata of a call that has one answer; ``timeout`` is in seconds."""
        seconds = self.timeout_s * call.patience if timeout is None else timeout
        return {"timeout": seconds, "metadata": self.metadata()}

    def stream_terms(self, timeout: float | None) -> Terms:
        """Return deadline and metadata of a stream, which may take as long as there is data."""
        return {"timeout": timeout, "metadata": self.metadata()}

    def metadata(self) -> tuple[tuple[str, str], ...]:
        """Return the key, and the context of the trace in which the caller is."""
        return (*self._authorization, *_trace_context())

    def explainer(self, rpc: Rpc[Any, Any]) -> Callable[[grpc.RpcError], SatchelError]:
        """Return what tells the meaning of a failed call of an RPC."""
        return lambda error: explain(error, self.target(rpc.part))

    def _open(self, target: str) -> Any:  # noqa: ANN401  # gRPC does not type it
        options = list(channel_options())
        if self._credentials is None:
            return self._open_plain(target, options=options)
        return self._open_secure(target, self._credentials, options=options)


def default_project() -> str:
    """Return the project that the environment names."""
    return os.environ.get("SATCHEL_PROJECT", "")


def _trace_context() -> tuple[tuple[str, str], ...]:
    """Return ``traceparent`` and its like while a span of OpenTelemetry is active.

    A program that has never imported OpenTelemetry has no span: this must not be what imports it.
    """
    if "opentelemetry.trace" not in sys.modules:
        return ()
    from opentelemetry.trace import get_current_span  # noqa: PLC0415  # see above

    span = get_current_span().get_span_context()
    if not span.is_valid:
        return ()
    parent = f"00-{span.trace_id:032x}-{span.span_id:016x}-{span.trace_flags:02x}"
    state = span.trace_state.to_header() if span.trace_state else ""
    return (("traceparent", parent), *((("tracestate", state),) if state else ()))
