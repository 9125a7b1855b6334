"""Finds the Satchel that a command works with: a remote one, the folder's owner, or one of its own."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version

from satchel.cli.exits import CommandError, Exit
from satchel.cli.place import Place
from satchel.gateway.clients import Clients
from satchel.gateway.data_folder import DataFolder
from satchel.gateway.home import Home
from satchel.gateway.home_services import Running
from satchel.runtime.channels import open_channel
from satchel.runtime.errors import PeerUnavailable, ServiceError
from satchel.runtime.settings import Secret
from satchel.runtime.status import to_service_error

_log = logging.getLogger("satchel.home")

# A command that is done does not wait long for its guests: they find another owner by themselves.
_GRACE_S = 1.0

_SERVICES = ("embedder", "index", "store", "allocator")


@asynccontextmanager
async def open_clients(place: Place, *, role: str = "command") -> AsyncIterator[Clients]:
    """Open what the global options name; what this process starts ends with the ``with`` block.

    Raises:
        CommandError: the URL cannot be understood.
        FolderBusy: the owner of the data folder does not become ready.
    """
    async with AsyncExitStack() as stack:
        if place.url:
            targets = parse_url(place.url)
            channels = {
                name: await stack.enter_async_context(open_channel(target, api_key=place.token or None))
                for name, target in targets.items()
            }
            yield Clients(channels)
        else:
            home = await stack.enter_async_context(open_home(place, role=role))
            yield Clients.over(home.channel)


def named_error(error: Exception, place: Place) -> ServiceError:
    """Return what went wrong in a call; with the address, if nothing answers at that of the command line."""
    found = to_service_error(error)
    if not place.url or not isinstance(found, PeerUnavailable):
        return found
    peer = found.metadata.get("peer", "")
    address = parse_url(place.url).get(peer, place.url)
    return PeerUnavailable(
        f"Nothing answers at {address} (--url). Start Satchel there with 'satchel up', or leave --url and "
        "SATCHEL_URL away to use the data folder.",
        peer=peer,
    )


def open_home(place: Place, *, role: str) -> Home:
    """Make this process's place at the data folder; other processes of the same user reach what it runs."""
    return Home(
        place.data_dir,
        start=partial(start_embedded, environ=place.values),
        connect=partial(open_channel, api_key=local_key(place)),
        role=role,
        version=version("satchel"),
    )


def local_key(place: Place) -> Secret | None:
    """Return the key for the owner of the data folder, which asks for one where it has no socket."""
    return place.token or Secret(place.values.get("SATCHEL_AUTH_TOKEN", "")) or None


@asynccontextmanager
async def start_embedded(
    folder: DataFolder, *, environ: Mapping[str, str] | None = None
) -> AsyncIterator[Running]:
    """Run the services for as long as this process works, on a socket in the folder or a loopback port."""
    # Most commands join a Satchel that runs: they need not wait for the models' libraries.
    from satchel.gateway.embedded import FREE_LOOPBACK_PORT, EmbeddedSettings, open_embedded  # noqa: PLC0415

    address = folder.new_socket()
    if address is None:
        _log.warning("owner.listens_on_loopback", extra={"folder": str(folder.path)})
    loaded = EmbeddedSettings.load(folder, grpc_address=address or FREE_LOOPBACK_PORT, environ=environ)
    settings = replace(loaded, grace_s=_GRACE_S)
    async with open_embedded(settings) as embedded:
        yield embedded


def parse_url(text: str) -> dict[str, str]:
    """Return the gRPC target of each service.

    One target (``host:port``) serves all; services of their own are named, as in
    ``store=host:50063,allocator=host:50064,index=host:50062``.

    Raises:
        CommandError: a service is unknown, or one that commands need is missing.
    """
    if "=" not in text:
        return dict.fromkeys(_SERVICES, text.removeprefix("grpc://").rstrip("/"))
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    targets = {name.strip(): target.strip() for name, _, target in pairs}
    unknown = sorted(targets.keys() - set(_SERVICES))
    missing = sorted({"store", "allocator"} - targets.keys())
    if unknown or missing:
        problem = f"does not know '{unknown[0]}'" if unknown else f"lacks '{missing[0]}'"
        raise CommandError(
            f"--url {problem}. Give one host:port, or store=host:port,allocator=host:port,index=host:port.",
            Exit.USAGE,
        )
    return {"index": targets["store"], **targets}
