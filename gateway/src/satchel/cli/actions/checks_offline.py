"""Checks that need no service: this machine, the installation, the data folder."""

import os
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from satchel.cli.actions.addresses import bound_socket
from satchel.cli.actions.checks import Check, fail, ok, warn
from satchel.cli.configuration.loading import Configuration
from satchel.cli.exits import CommandError
from satchel.embedder.adapters.packaged import packaged_model
from satchel.gateway.data_folder import DataFolder, FolderUnusable
from satchel.runtime.errors import ServiceError
from satchel.runtime.tokens import count_tokens

_DEFAULT_ADDRESSES = {"--grpc": "127.0.0.1:50051", "--http": "127.0.0.1:8080"}
_LEAST_PYTHON = (3, 11)
_LEAST_FREE_BYTES = 256 * 2**20
_COPY = "Copy the folder to a disk that can be written, and name the copy with --data-dir."
_REINSTALL = "Install Satchel again: pip install --force-reinstall satchel."


def check_python() -> Check:
    """Check the version of Python."""
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < _LEAST_PYTHON:
        return fail("python", f"This is Python {found}.", "Install Satchel with Python 3.11 or newer.")
    return ok("python", found)


def check_packages() -> Check:
    """Check that every package that Satchel needs is installed."""
    names = [_package_name(line) for line in requires("satchel") or () if "extra ==" not in line]
    missing = [name for name in names if not _is_installed(name)]
    if missing:
        return fail("packages", f"Missing: {', '.join(missing)}.", _REINSTALL)
    return ok("packages", f"satchel {version('satchel')} and all {len(names)} packages it needs")


def check_model() -> Check:
    """Check the packaged model and its tokenizer against their hashes."""
    try:
        source = packaged_model(max_tokens=None)
        source.open_tokenizer()
    except (ServiceError, OSError) as error:
        return fail("model", str(error), _REINSTALL)
    return ok("model", f"{source.name}, SHA-256 {source.sha256[:16]}...")


def check_token_counts() -> Check:
    """Check the ranks by which tokens are counted."""
    try:
        count = count_tokens("Satchel counts tokens without a network.")
    except (ServiceError, OSError, ValueError) as error:
        return fail("tokens", str(error), _REINSTALL)
    return ok("tokens", f"cl100k_base counts ({count} tokens in the test sentence)")


def check_configuration(configuration: Configuration) -> Check:
    """Tell which configuration file is used; one that cannot be used has ended the command before."""
    if configuration.passed_over:
        remedy = "Name the file with --config, or correct it, if it is Satchel's."
        return warn("config", f"{configuration.passed_over}.", remedy)
    return ok("config", configuration.described)


def check_folder(folder: DataFolder) -> Check:
    """Check that the data folder is there, private, writable and not full."""
    path = folder.path
    if not path.exists():
        return ok("folder", f"{path} does not exist yet; the first command makes it")
    if not path.is_dir():
        return fail("folder", f"{path} is not a folder.", "Choose another with --data-dir.")
    if os.statvfs(path).f_flag & os.ST_RDONLY:
        return fail("folder", f"{path} is on a file system that is read-only.", _COPY)
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return fail("folder", f"{path} cannot be written.", f"Give yourself the right: chmod u+rwx {path}.")
    return _check_space_and_rights(path)


def _check_space_and_rights(path: Path) -> Check:
    free = shutil.disk_usage(path).free
    if free < _LEAST_FREE_BYTES:
        return warn("folder", f"Only {free // 2**20} MiB are free at {path}.", "Free space on that disk.")
    if path.stat().st_mode & 0o077:
        return warn("folder", f"Others can read {path}.", f"Take the right from them: chmod 700 {path}.")
    return ok("folder", f"{path}, private, {free // 2**30} GiB free")


def check_owner(folder: DataFolder) -> Check:
    """Check who owns the data folder."""
    try:
        if not folder.path.is_dir() or not folder.is_owned():
            return ok("owner", "nobody is running on the data folder")
    except FolderUnusable as error:
        return fail("owner", "It cannot be found out: the folder's locks cannot be opened.", error.remedy)
    owner = folder.owner()
    if owner is None:
        return warn("owner", "A Satchel is starting or stopping.", "Run doctor again in a moment.")
    return ok("owner", owner.describe())


def check_ports(folder: DataFolder) -> Sequence[Check]:
    """Check that the default ports are free, or taken by the owner of the data folder."""
    owner = folder.owner() if _has_owner(folder) else None
    ours = {owner.grpc, owner.http.removeprefix("http://")} if owner else set()
    return [_check_port(option, address, ours) for option, address in _DEFAULT_ADDRESSES.items()]


def _has_owner(folder: DataFolder) -> bool:
    try:
        return folder.path.is_dir() and folder.is_owned()
    except FolderUnusable:
        return False  # the check of the owner has told


def _check_port(option: str, address: str, ours: set[str]) -> Check:
    name = f"port {address.rpartition(':')[2]}"
    if address in ours:
        return ok(name, f"served by the running Satchel ({address})")
    try:
        with bound_socket(address, option):
            return ok(name, f"{address} is free")
    except CommandError:
        remedy = f"Stop the program that uses it, or start Satchel with another {option}."
        return warn(name, f"{address} is taken by another program.", remedy)


def _package_name(requirement: str) -> str:
    for index, character in enumerate(requirement):
        if not (character.isalnum() or character in "-_."):
            return requirement[:index]
    return requirement


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
