"""Finds where Satchel is: named by the caller or the environment, else running on the data folder.

The process that owns a data folder writes where it listens into ``satchel.lock`` there. Its text outlives an
owner that was killed, so the process that it names must be alive. The lock itself is left alone: whoever
tries it could keep a Satchel from starting.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

DEFAULT_URL = "127.0.0.1:50051"

PARTS = ("embedder", "index", "store", "allocator")

_SCHEME = "grpc://"
_FOLDER = Path("~/.satchel")
_LOCK_FILE = "satchel.lock"
_MAX_LOCK_BYTES = 65536
_GREATEST_PORT = 65535
# A single command of `satchel` owns the folder for a moment only.
_PASSING_ROLE = "command"
_LONE_STORE_ROLE = "serve store"


class AddressError(ValueError):
    """The address cannot be used; the text says what to give instead."""


def find_targets(url: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the gRPC target of each part of Satchel.

    The first of these that there is: ``url``, ``SATCHEL_URL``, the Satchel that runs on the data folder
    (``SATCHEL_DATA_DIR``, else ``~/.satchel``), ``127.0.0.1:50051``.

    Raises:
        AddressError: the URL cannot be understood, or the folder's services run apart.
    """
    named = url or environ.get("SATCHEL_URL", "")
    if named:
        return parse_url(named)
    folder = Path(environ.get("SATCHEL_DATA_DIR", "") or _FOLDER).expanduser()
    return dict.fromkeys(PARTS, _owner_of(folder) or DEFAULT_URL)


def parse_url(url: str) -> dict[str, str]:
    """Return the target of each part that a URL names.

    One target (``host:port``, ``unix:/path``) serves all parts; parts of their own are named, as in
    ``store=host:50063,allocator=host:50064,index=host:50062,embedder=host:50061``.

    Raises:
        AddressError: a part is unknown, or a target is empty.
    """
    if "=" not in url:
        return dict.fromkeys(PARTS, _target(url, url))
    pairs = [part.partition("=") for part in url.split(",") if part.strip()]
    targets = {name.strip(): _target(target, url) for name, _, target in pairs}
    unknown = sorted(targets.keys() - set(PARTS))
    if unknown:
        raise AddressError(f"The URL '{url}' names '{unknown[0]}'. The parts are {', '.join(PARTS)}.")
    return targets


def _target(text: str, url: str) -> str:
    target = text.strip().removeprefix(_SCHEME).rstrip("/")
    if not target or "://" in target.removeprefix("dns:///"):
        raise AddressError(f"The URL '{url}' is not a gRPC address. Give host:port, such as {DEFAULT_URL}.")
    port = target.rpartition(":")[2]
    if "/" not in target and not target.startswith("unix:") and not _is_port(port):
        # gRPC would take another port in place of it: 443, or what is left of a number that is too great.
        raise AddressError(f"The URL '{url}' has no port. Give host:port, such as {DEFAULT_URL}.")
    return target


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 0 < int(text[:6]) <= _GREATEST_PORT


def _owner_of(folder: Path) -> str:
    """Return where the living owner of a data folder listens; empty when there is none."""
    owner = _read_owner(folder / _LOCK_FILE)
    # Its socket asks for no key, and is there for this user alone.
    address, role = owner.get("socket") or owner.get("grpc"), owner.get("role")
    if not isinstance(address, str) or role == _PASSING_ROLE or not _is_alive(owner.get("pid")):
        return ""
    if role == _LONE_STORE_ROLE:
        raise AddressError(
            f"The services on the data folder {folder} run apart. Name them: "
            f"url='store={address},allocator=host:port,index=host:port,embedder=host:port'."
        )
    return address


def _read_owner(path: Path) -> Mapping[str, object]:
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(_MAX_LOCK_BYTES))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_alive(pid: object) -> bool:
    # Where there is no `fork` there is no owner either, and signal 0 would not be harmless.
    if not isinstance(pid, int) or pid <= 0 or not hasattr(os, "fork"):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's process
    return True
