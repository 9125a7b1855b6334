"""Everything in one process: the services, gRPC in front of them, and HTTP on one address or several."""

import logging
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from satchel.cli.actions.addresses import bound_socket, require_loopback, split_address
from satchel.cli.exits import CommandError
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.home_services import Running
from satchel.gateway.settings import (
    DEFAULT_REQUESTS_PER_MINUTE,
    GatewaySettings,
    ProcessSettings,
    is_loopback,
)
from satchel.runtime.background import running
from satchel.runtime.keys import KeyRing
from satchel.runtime.metrics.reporting import report_totals

if TYPE_CHECKING:
    from satchel.gateway.app import Gateway

_log = logging.getLogger("satchel.home")

_REMEDY = "Set a token (SATCHEL_AUTH_TOKEN, or api.auth_token in the configuration file), or use 127.0.0.1."


@dataclass(frozen=True, slots=True)
class Listener:
    """An HTTP address: the option or key that sets it, and what is served there.

    One that is ``optional`` is left away when its address is taken: nobody asked for that very address.
    """

    option: str
    address: str
    rest: bool = False
    mcp: bool = False
    metrics: bool = False
    optional: bool = False

    def joined(self, other: "Listener") -> "Listener":
        """Return the listener that serves what both do, at the address of this one."""
        return replace(
            self,
            rest=self.rest or other.rest,
            mcp=self.mcp or other.mcp,
            metrics=self.metrics or other.metrics,
            optional=self.optional and other.optional,
        )


def joined(listeners: Iterable[Listener]) -> list[Listener]:
    """Return the listeners with one for each address, in order; any number may take a free port."""
    found: dict[str, Listener] = {}
    for number, listener in enumerate(listeners):
        key = f"{number}" if listener.address.endswith(":0") else listener.address
        found[key] = found[key].joined(listener) if key in found else listener
    return list(found.values())


class Everything:
    """What `Home` starts when this process owns the data folder.

    Without a ``grpc_address`` gRPC is served in the data folder alone. ``served`` are the listeners with
    their URLs, once it runs.
    """

    def __init__(
        self,
        settings: ProcessSettings,
        values: Mapping[str, str],
        listeners: Sequence[Listener],
        grpc_address: str = "",
    ) -> None:
        """Take what to serve.

        Raises:
            CommandError: an address can be reached from other machines, and callers need no key.
        """
        has_keys = settings.keys.are_set
        for listener in listeners:
            require_loopback(listener.address, listener.option, _REMEDY, has_keys=has_keys)
        if grpc_address:
            require_loopback(grpc_address, "--grpc", _REMEDY, has_keys=has_keys)
        self._settings = replace(settings, gateway=_rated(settings.gateway, listeners))
        self._values = values
        self._listeners = listeners
        self._grpc_address = grpc_address
        self.served: list[tuple[Listener, str]] = []

    @property
    def gateway_settings(self) -> GatewaySettings:
        """The settings of the gateway, with the rate that the addresses ask for."""
        return self._settings.gateway

    @asynccontextmanager
    async def start(self, folder: DataFolder) -> AsyncIterator[Running]:
        """Run it for a ``with`` block.

        Raises:
            CommandError: an address is taken.
        """
        # Loading what runs takes a second; an address or a folder that is taken should be told at once.
        listeners = self.free()
        from satchel.gateway.app import Gateway  # noqa: PLC0415  # slow, as said above
        from satchel.gateway.embedded import FREE_LOOPBACK_PORT, EmbeddedSettings, open_embedded  # noqa: PLC0415  # slow
        from satchel.gateway.webhooks.running import delivering  # noqa: PLC0415  # slow

        socket = self._socket(folder)
        grpc_address = self._grpc_address or socket or FREE_LOOPBACK_PORT
        loaded = EmbeddedSettings.load(folder, grpc_address=grpc_address, environ=self._values)
        local = socket if self._grpc_address else ""
        async with open_embedded(replace(loaded, local_address=local)) as embedded, AsyncExitStack() as stack:
            gateway = Gateway(
                embedded.guarded_clients(),
                self._settings.gateway,
                ring=KeyRing(self._settings.keys),
                inside=embedded.clients(),
                mcp=self._settings.mcp,
                metrics=self._settings.metrics,
            )
            report_s = self._settings.metrics.report_interval_seconds
            await stack.enter_async_context(running(report_totals(report_s)))
            await stack.enter_async_context(delivering(embedded.clients(), self._settings.webhooks))
            self.served = await serve_http(gateway, listeners, stack)
            yield replace(embedded, http_address=self.served[0][1] if self.served else "")

    def free(self) -> list[Listener]:
        """Return the listeners whose addresses are free; one that is optional may be taken."""
        found = []
        with ExitStack() as stack:
            if self._grpc_address:
                stack.enter_context(bound_socket(self._grpc_address, "--grpc"))
            for listener in self._listeners:
                try:
                    stack.enter_context(bound_socket(listener.address, listener.option))
                except CommandError as exc:
                    if not listener.optional:
                        raise
                    _log.warning("http.left_away", extra={"address": listener.address, "cause": exc.message})
                    continue
                found.append(listener)
        return found

    def _socket(self, folder: DataFolder) -> str:
        """Return the socket for the folder's user; empty where nobody needs it, or there can be none."""
        if self._grpc_address and not self._settings.keys.are_set:
            return ""
        found = folder.new_socket()
        if found is None:
            _log.warning("owner.listens_on_loopback", extra={"folder": str(folder.path)})
        return found or ""


def _rated(gateway: GatewaySettings, listeners: Sequence[Listener]) -> GatewaySettings:
    """Return the settings with the rate of a network address, if one of the listeners has such a one."""
    hosts = [split_address(listener.address, listener.option)[0] for listener in listeners]
    if gateway.requests_per_minute is not None or all(map(is_loopback, hosts)):
        return gateway
    return replace(gateway, requests_per_minute=DEFAULT_REQUESTS_PER_MINUTE)


async def serve_http(
    gateway: "Gateway", listeners: Sequence[Listener], stack: AsyncExitStack
) -> list[tuple[Listener, str]]:
    """Serve each listener until the stack is left; return the listeners with their URLs."""
    from satchel.gateway.app import Doors  # noqa: PLC0415  # slow, and loaded by whoever made the gateway
    from satchel.gateway.main import HttpServer  # noqa: PLC0415  # the same

    served = []
    for listener in listeners:
        app = gateway.app(Doors(rest=listener.rest, mcp=listener.mcp, metrics=listener.metrics))
        http = await stack.enter_async_context(HttpServer(app, gateway.settings, listener.address))
        served.append((listener, f"http://{listener.address.rpartition(':')[0]}:{http.port}"))
    return served
