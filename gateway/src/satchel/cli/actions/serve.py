"""What the command serve does: one service as a process of its own.

Every service reads its own ``SATCHEL_<SERVICE>_*`` variables, of the environment and of the configuration
file. This fills in what is not set: addresses at which the five find each other, and the places in the data
folder.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from satchel.cli.actions.addresses import bound_socket, require_loopback
from satchel.cli.logs import setup_server_logs
from satchel.cli.place import Place
from satchel.cli.settings import PREFIX, CommandSettings
from satchel.gateway.data_folder import DataFolder, FileLock, FolderBusy, Owner, Ownership
from satchel.runtime.keys import load_keys
from satchel.runtime.metrics.settings import load_metrics
from satchel.runtime.settings import Values, load

DEFAULT_ADDRESSES: Mapping[str, str] = {
    "embedder": "127.0.0.1:50061",
    "index": "127.0.0.1:50062",
    "store": "127.0.0.1:50063",
    "allocator": "127.0.0.1:50064",
    "gateway": "127.0.0.1:8080",
}
_REMEDY = (
    "Set a token for all five (SATCHEL_AUTH_TOKEN), use 127.0.0.1, or --insecure-bind on a private network "
    "between containers."
)

# The variable of each service's own address, and of the peers that it calls.
_LISTEN: Mapping[str, str] = {
    "embedder": "SATCHEL_EMBEDDER_LISTEN",
    "index": "SATCHEL_INDEX_LISTEN",
    "store": "SATCHEL_STORE_LISTEN",
    "allocator": "SATCHEL_ALLOCATOR_LISTEN",
    "gateway": "SATCHEL_GATEWAY_HTTP_ADDRESS",
}
_PEERS: Mapping[str, Mapping[str, str]] = {
    "embedder": {},
    "index": {"store": "SATCHEL_INDEX_STORE"},
    "store": {"embedder": "SATCHEL_STORE_EMBEDDER"},
    "allocator": {
        "embedder": "SATCHEL_ALLOCATOR_EMBEDDER",
        "index": "SATCHEL_ALLOCATOR_INDEX",
        "store": "SATCHEL_ALLOCATOR_STORE",
    },
    "gateway": {
        "embedder": "SATCHEL_GATEWAY_EMBEDDER",
        "index": "SATCHEL_GATEWAY_INDEX",
        "store": "SATCHEL_GATEWAY_STORE",
        "allocator": "SATCHEL_GATEWAY_ALLOCATOR",
    },
}


def serve(place: Place, service: str, listen: str, peers: Mapping[str, str], *, insecure_bind: bool) -> None:
    """Run the service until SIGINT or SIGTERM.

    Raises:
        CommandError: the address can be reached from other machines, and neither keys nor an option allow it.
        FolderBusy: another Satchel owns the data folder that the store would open.
    """
    folder = DataFolder(place.data_dir)
    values = Values(environment(service, listen, peers, folder, place.values)).over(place.values)
    address = values[_LISTEN[service]]
    if insecure_bind or load(CommandSettings, PREFIX, values).insecure_bind:
        values = values.over(Values({"SATCHEL_GATEWAY_OPEN_TO_NETWORK": "true"}))
    else:
        has_keys = load_keys(values).are_set
        require_loopback(address, "--listen", _REMEDY, has_keys=has_keys)
        if metrics := load_metrics(values).prometheus_addr:
            require_loopback(metrics, "SATCHEL_METRICS_PROMETHEUS_ADDR", _REMEDY, has_keys=has_keys)
    with bound_socket(address, "--listen"):
        pass  # a model takes a second to load; an address that is taken should be told at once
    setup_server_logs(values)
    database = _owned_database(values, folder, address) if service == "store" else nullcontext()
    with database:
        run: Callable[[Mapping[str, str]], None] = import_module(f"satchel.{service}.main").run
        run(values)


def environment(
    service: str, listen: str, peers: Mapping[str, str], folder: DataFolder, given: Mapping[str, str]
) -> dict[str, str]:
    """Return the variables to set: what the command line says, and defaults for what ``given`` lacks."""
    found = {_LISTEN[service]: listen or given.get(_LISTEN[service], DEFAULT_ADDRESSES[service])}
    for peer, variable in _PEERS[service].items():
        found[variable] = peers.get(peer) or given.get(variable, DEFAULT_ADDRESSES[peer])
    if service == "index":
        found["SATCHEL_INDEX_FOLDER"] = given.get("SATCHEL_INDEX_FOLDER", str(folder.index))
    if service == "store":
        found["SATCHEL_STORE_URL"] = given.get("SATCHEL_STORE_URL", f"sqlite:{folder.database}")
    return found


@contextmanager
def _owned_database(values: Mapping[str, str], folder: DataFolder, address: str) -> Iterator[None]:
    """Own the folder of the store's database for a ``with`` block, so that nobody else opens the same file.

    It is the data folder, unless ``SATCHEL_STORE_URL`` names a file elsewhere.

    Raises:
        FolderBusy: another Satchel owns the folder.
    """
    file = database_file(values["SATCHEL_STORE_URL"])
    if file is not None and file != folder.database.resolve():
        folder = DataFolder(file.parent)
        folder.path.mkdir(parents=True, exist_ok=True)  # not ours alone: its rights stay as they are
        remedy = "Stop it, or name a database in another folder with SATCHEL_STORE_URL."
    else:
        folder.prepare()
        remedy = "Stop it, or choose another folder with --data-dir."
    with _owned(folder, address, remedy):
        yield


def database_file(url: str) -> Path | None:
    """Return the file that a store's URL names, symbolic links followed; `None` when it names none."""
    scheme, _, place = url.partition(":")
    return Path(place.removeprefix("//")).expanduser().resolve() if scheme == "sqlite" and place else None


@contextmanager
def _owned(folder: DataFolder, address: str, remedy: str) -> Iterator[None]:
    lock = FileLock.try_acquire(folder.lock_file)
    if lock is None:
        raise FolderBusy(folder, folder.owner(), remedy)
    ownership = Ownership(lock)
    started = datetime.now(UTC).isoformat(timespec="microseconds")
    ownership.publish(
        Owner(os.getpid(), address, version=version("satchel"), started_at=started, role="serve store")
    )
    try:
        yield
    finally:
        ownership.retract()
        ownership.release()
