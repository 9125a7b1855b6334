"""Commands that run until they are stopped: up, mcp, serve."""

from enum import StrEnum
from typing import Annotated

import typer

from satchel.cli.place import place_of


class Transport(StrEnum):
    """What `server` and `mcp` speak with their clients."""

    STDIO = "stdio"
    SSE = "sse"
    HTTP = "http"


class Service(StrEnum):
    """What `serve` runs as a process of its own."""

    EMBEDDER = "embedder"
    INDEX = "index"
    STORE = "store"
    ALLOCATOR = "allocator"
    GATEWAY = "gateway"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(up)
    app.command()(server)
    app.command()(mcp)
    app.command()(serve)


def up(
    context: typer.Context,
    *,
    grpc: Annotated[
        str,
        typer.Option(
            envvar="SATCHEL_GRPC", help="Address of gRPC (127.0.0.1:50051); port 0 takes a free one."
        ),
    ] = "",
    http: Annotated[
        str,
        typer.Option(
            envvar="SATCHEL_HTTP",
            help="Address of REST, /mcp, /docs, /metrics (127.0.0.1:8080); port 0 takes a free one.",
        ),
    ] = "",
) -> None:
    """Run Satchel until it is stopped: gRPC, REST and MCP.

    It owns the data folder until Ctrl-C or SIGTERM, and then finishes what is under way.
    """
    from satchel.cli.actions import up as action  # noqa: PLC0415  # quick --help

    action.up(place_of(context), grpc_address=grpc, http_address=http)


def server(
    context: typer.Context,
    *,
    transport: Annotated[
        Transport | None, typer.Option(help="What MCP clients speak; stdio when nothing is configured.")
    ] = None,
    mcp_addr: Annotated[str, typer.Option(help="Address of MCP for sse and http (127.0.0.1:3001).")] = "",
    with_soul: Annotated[bool, typer.Option("--with-soul", help="Keep identities of agents.")] = False,
    with_api: Annotated[bool, typer.Option("--with-api", help="Serve REST.")] = False,
    api_addr: Annotated[str, typer.Option(help="Address of REST (127.0.0.1:8080).")] = "",
    api_token: Annotated[
        str, typer.Option(help="Token that callers need; SATCHEL_AUTH_TOKEN hides it from the process list.")
    ] = "",
    no_metrics: Annotated[bool, typer.Option("--no-metrics", help="Serve no metrics.")] = False,
    prometheus_addr: Annotated[str, typer.Option(help="Address of /metrics (127.0.0.1:9090).")] = "",
    with_llm: Annotated[
        bool, typer.Option("--with-llm", help="Extract facts with a language model too.")
    ] = False,
    llm_endpoint: Annotated[
        str, typer.Option(help="URL of the language model's server (http://localhost:11434).")
    ] = "",
) -> None:
    """Run Satchel with the options of `mira server`.

    MCP on stdin and stdout, or at an address of its own; REST only when it is asked for.
    """
    from satchel.cli.actions import server as action  # noqa: PLC0415  # quick --help

    texts = {
        "--transport": transport.value if transport else "",
        "--mcp-addr": mcp_addr,
        "--api-addr": api_addr,
        "--api-token": api_token,
        "--prometheus-addr": prometheus_addr,
        "--llm-endpoint": llm_endpoint,
    }
    switches = {
        "--with-soul": with_soul,
        "--with-api": with_api,
        "--no-metrics": no_metrics,
        "--with-llm": with_llm,
    }
    action.server(place_of(context), texts=texts, switches=switches)


def mcp(
    context: typer.Context,
    *,
    transport: Annotated[
        Transport, typer.Option(help="What the client speaks: stdio, or over HTTP sse or http.")
    ] = Transport.STDIO,
    mcp_addr: Annotated[str, typer.Option(help="Address for sse and http (127.0.0.1:3001).")] = "",
) -> None:
    """Serve MCP on stdin and stdout.

    For clients that start their server themselves. It joins the Satchel that runs on the
    data folder, or starts one in this process.
    """
    from satchel.cli.actions import mcp as action  # noqa: PLC0415  # quick --help

    action.mcp(place_of(context), transport=transport.value, address=mcp_addr)


def serve(
    context: typer.Context,
    service: Annotated[Service, typer.Argument(help="The service to run.")],
    *,
    listen: Annotated[str, typer.Option(help="Address to listen on, instead of the service's own.")] = "",
    embedder: Annotated[str, typer.Option(help="Address of the embedder.")] = "",
    index: Annotated[str, typer.Option(help="Address of the index.")] = "",
    store: Annotated[str, typer.Option(help="Address of the store.")] = "",
    allocator: Annotated[str, typer.Option(help="Address of the allocator.")] = "",
    insecure_bind: Annotated[
        bool,
        typer.Option(
            "--insecure-bind",
            envvar="SATCHEL_INSECURE_BIND",
            help="Listen on an address that other machines reach, although callers need no key; for a "
            "private network between containers.",
        ),
    ] = False,
) -> None:
    """Run one service as a process of its own.

    The five find each other on 127.0.0.1, ports 50061 to 50064 and 8080, unless told otherwise.
    """
    from satchel.cli.actions import serve as action  # noqa: PLC0415  # quick --help

    peers = {"embedder": embedder, "index": index, "store": store, "allocator": allocator}
    action.serve(place_of(context), service.value, listen, peers, insecure_bind=insecure_bind)
