"""What the command server does: what MIRA's command of this name does, with its options and addresses."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace

from satchel.cli.actions.serving import Everything, Listener, joined, serve_http
from satchel.cli.actions.up import home_of, run
from satchel.cli.configuration.conversions import address
from satchel.cli.connect import open_clients
from satchel.cli.logs import setup_server_logs
from satchel.cli.place import Place
from satchel.cli.settings import PREFIX, CommandSettings
from satchel.gateway.clients import Clients
from satchel.gateway.mcp.stdio import run_stdio
from satchel.gateway.settings import ProcessSettings
from satchel.runtime.keys import KeyRing
from satchel.runtime.settings import Values, load
from satchel.runtime.telemetry import setup_telemetry

METRICS_ADDRESS = "127.0.0.1:9090"

_REST = "SATCHEL_GATEWAY_REST"
# The options that are texts, and those that switch something, with what they set it to.
_TEXTS = {
    "--transport": "SATCHEL_MCP_TRANSPORT",
    "--api-token": "SATCHEL_AUTH_TOKEN",
    "--llm-endpoint": "SATCHEL_STORE_LLM_ENDPOINT",
}
_ADDRESSES = {
    "--mcp-addr": "SATCHEL_MCP_ADDRESS",
    "--api-addr": "SATCHEL_GATEWAY_HTTP_ADDRESS",
    "--prometheus-addr": "SATCHEL_METRICS_PROMETHEUS_ADDR",
}
_SWITCHES = {
    "--with-soul": ("SATCHEL_SOUL_ENABLED", "true"),
    "--with-api": (_REST, "true"),
    "--with-llm": ("SATCHEL_STORE_LLM_ENABLED", "true"),
    "--no-metrics": ("SATCHEL_METRICS_ENABLED", "false"),
}


def server(place: Place, *, texts: dict[str, str], switches: dict[str, bool]) -> None:
    """Serve MCP, and REST where that is asked for, until SIGINT or SIGTERM, or until stdin is closed.

    ``texts`` and ``switches`` are the options of the command line by name; an empty text was not given.

    Raises:
        CommandError: an address is taken, or can be reached from other machines without a key.
        FolderBusy: another Satchel owns the data folder, and this one cannot join it.
    """
    values = configured(place, texts, switches)
    settings = ProcessSettings.load(values)
    listeners = joined(listeners_of(values, settings))
    if settings.mcp.transport != "stdio":
        grpc = load(CommandSettings, PREFIX, values).grpc
        run(place, Everything(settings, values, listeners, grpc), role="server")
        return
    setup_server_logs(values)
    flush = setup_telemetry("satchel")
    try:
        asyncio.run(_serve_stdio(place, values, settings, listeners))
    finally:
        flush()


def configured(place: Place, texts: dict[str, str], switches: dict[str, bool]) -> Values:
    """Return the variables under the options; an address without a host is one that may be served."""
    has_keys = bool(texts.get("--api-token")) or any(
        map(place.values.get, ("SATCHEL_AUTH_TOKEN", "SATCHEL_KEYS"))
    )
    options = {variable: (option, texts.get(option, "")) for option, variable in _TEXTS.items()}
    for option, variable in _ADDRESSES.items():
        options[variable] = (option, address(texts.get(option, ""), has_keys=has_keys))
    for option, (variable, text) in _SWITCHES.items():
        options[variable] = (option, text if switches.get(option) else "")
    return place.with_options(options)


def listeners_of(values: Values, settings: ProcessSettings) -> list[Listener]:
    """Return what is served over HTTP; REST only when something asks for it."""
    found = []
    if _REST in values and settings.gateway.rest:
        found.append(Listener("--api-addr", settings.gateway.http_address, rest=True))
    if settings.mcp.transport != "stdio":
        found.append(Listener("--mcp-addr", settings.mcp.address, mcp=True))
    if settings.metrics.enabled:
        wanted = settings.metrics.prometheus_addr
        found.append(
            Listener("--prometheus-addr", wanted or METRICS_ADDRESS, metrics=True, optional=not wanted)
        )
    return found


async def _serve_stdio(
    place: Place, values: Values, settings: ProcessSettings, listeners: list[Listener]
) -> None:
    """Serve one client on stdin and stdout. REST needs services of this process, which check its keys."""
    everything = Everything(settings, values, listeners)
    if any(listener.rest for listener in listeners):
        home = home_of(place, everything, role="server")
        async with home:
            await home.own()
            await run_stdio(Clients.over(home.channel), settings.mcp)
        return
    # What this process may start reads the options as well.
    place = replace(place, configuration=replace(place.configuration, values=values))
    async with open_clients(place, role="mcp") as clients, AsyncExitStack() as stack:
        from satchel.gateway.app import Gateway  # noqa: PLC0415  # the handshake does not wait for it

        gateway = Gateway(clients, settings.gateway, ring=KeyRing(settings.keys), metrics=settings.metrics)
        await serve_http(gateway, everything.free(), stack)
        await run_stdio(clients, settings.mcp)
