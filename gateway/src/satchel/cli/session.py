"""Runs one command against a Satchel, with its trace if that was asked for."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import grpc
from google.protobuf.message import Message

from satchel.cli.connect import named_error, open_clients
from satchel.cli.logs import setup_command_logs
from satchel.cli.output import tell
from satchel.cli.place import Place, Show
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec
from satchel.runtime import telemetry
from satchel.runtime.trace_tree import format_tree

T = TypeVar("T")
M = TypeVar("M", bound=Message)


def run(place: Place, show: Show, name: str, work: Callable[[Clients], Awaitable[T]]) -> T:
    """Do a command's work and return its result; ``name`` is that of its span.

    Raises:
        ServiceError: as the services report it, or with the address at which nothing answers.
    """
    setup_command_logs(place.values)
    flush = telemetry.setup_telemetry("satchel-cli")
    try:
        return asyncio.run(_run(place, show, name, work))
    except grpc.aio.AioRpcError as error:
        raise named_error(error, place) from error
    finally:
        flush()


async def _run(place: Place, show: Show, name: str, work: Callable[[Clients], Awaitable[T]]) -> T:
    async with open_clients(place) as clients:
        if not show.trace:
            with telemetry.span(f"satchel.cli.{name}"):
                return await work(clients)
        with telemetry.collect_trace() as collector:
            try:
                with telemetry.span(f"satchel.cli.{name}"):
                    return await work(clients)
            finally:
                await asyncio.sleep(0)  # the last call's spans arrive with the loop's next turn
                tell(format_tree(collector.spans))


def request(message_type: type[M], **fields: object) -> M:
    """Make a request of what was given on the command line; `None` and empty values are left out.

    Words (types, strategies) and times are read by the one codec, so that they mean what they mean at the
    other doors.

    Raises:
        InvalidRequest: names the field, its limit and the remedy.
    """
    given = {key: value for key, value in fields.items() if value not in (None, "", [], 0)}
    return codec.decode(message_type, _json(given))


def _json(fields: Mapping[str, object]) -> codec.Json:
    return dict(fields)  # type: ignore[arg-type]  # command-line values are texts, numbers, lists and objects
