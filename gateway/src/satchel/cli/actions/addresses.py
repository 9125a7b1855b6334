"""Checks of addresses before anything slow begins."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from satchel.cli.exits import CommandError, Exit
from satchel.gateway.settings import is_loopback

_MAX_PORT = 65535


def split_address(address: str, option: str) -> tuple[str, int]:
    """Return host and port of ``host:port``; an IPv6 host may be in brackets.

    Raises:
        CommandError: it has another form; names the option.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > _MAX_PORT:
        raise CommandError(f"{option} must be host:port, not '{address}'.", Exit.USAGE)
    return host.strip("[]"), int(port)


def require_loopback(address: str, option: str, remedy: str, *, has_keys: bool = False) -> None:
    """Refuse an address that other machines can reach, unless callers need a key.

    Raises:
        CommandError: the address is not one of this machine alone, and there are no keys.
    """
    host, _ = split_address(address, option)
    if not is_loopback(host) and not has_keys:
        raise CommandError(
            f"{option} {address} can be reached from other machines, and callers need no key. {remedy}",
            Exit.USAGE,
        )


@contextmanager
def bound_socket(address: str, option: str) -> Iterator[socket.socket]:
    """Bind a TCP socket for a ``with`` block.

    Raises:
        CommandError: the address is taken or not one of this machine; names the option.
    """
    host, port = split_address(address, option)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, port))
            bound.listen(0)
        except OSError as exc:
            raise CommandError(
                f"Nothing can listen on {address} ({exc.strerror}). Stop the program that uses it, or choose "
                f"another address with {option}.",
                Exit.UNAVAILABLE,
            ) from exc
        yield bound
