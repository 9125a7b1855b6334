"""Commands that run until they are stopped: up, mcp, serve."""

from enum import StrEnum
from typing import Annotated

import typer

from satchel.cli.place import place_of


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
    app.command()(mcp)
    app.command()(serve)


def up(
    context: typer.Context,
    *,
    grpc: Annotated[
        str, typer.Option(envvar="SATCHEL_GRPC", help="Address of gRPC; port 0 takes a free one.")
    ] = "127.0.0.1:50051",
    http: Annotated[
        str,
        typer.Option(
            envvar="SATCHEL_HTTP", help="Address of REST, /mcp, /docs, /metrics; port 0 takes a free one."
        ),
    ] = "127.0.0.1:8080",
) -> None:
    """Run Satchel until it is stopped: gRPC, REST and MCP.

    It owns the data folder until Ctrl-C or SIGTERM, and then finishes what is under way.
    """
    from satchel.cli.actions import up as action  # noqa: PLC0415  # quick --help

    action.up(place_of(context), grpc_address=grpc, http_address=http)


def mcp(context: typer.Context) -> None:
    """Serve MCP on stdin and stdout.

    For clients that start their server themselves. It joins the Satchel that runs on the
    data folder, or starts one in this process.
    """
    from satchel.cli.actions import mcp as action  # noqa: PLC0415  # quick --help

    action.mcp(place_of(context))


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
