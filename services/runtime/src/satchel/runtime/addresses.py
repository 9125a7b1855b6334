"""Which addresses a program may be sent to by somebody else: public ones, in whatever form they are written.

A URL that a caller names must not lead into this machine or the network around it ("server-side request
forgery"). A name is no proof: what counts is the address that it is resolved to, at each connection.
"""

import asyncio
import ipaddress
import re
import socket
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9.])?")
_PRINTABLE = re.compile(r"[\x21-\x7e]+")
_LOCAL_NAMES = ("localhost", "local", "internal", "localdomain", "home.arpa")

# What no public host has, whichever of it this version of Python knows (IANA's registries of special-purpose
# addresses), and one that is public by its number and private by its use: the metadata server of Azure.
_SPECIAL = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32", "2001::/23", "2001:db8::/32", "3fff::/20"),
    )
)
_UNICAST = ipaddress.IPv6Network("2000::/3")  # all that is assigned; RFC 4291, section 2.4
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class Target:
    """A URL in the parts that a request needs; ``host`` without brackets, ``path`` with the query."""

    scheme: str
    host: str
    port: int
    path: str


class UnusableUrl(ValueError):  # noqa: N818  # the name says what happened
    """A URL that cannot be called; ``limit`` says what it must be, ``remedy`` is a sentence."""

    def __init__(self, limit: str, remedy: str) -> None:
        super().__init__(f"The URL must be {limit}. {remedy}")
        self.limit = limit
        self.remedy = remedy


def target_of(url: str) -> Target:
    """Take a URL apart.

    Raises:
        UnusableUrl: it is not of http or https, has no host, or has what is never sent.
    """
    remedy = "Write it as in https://example.com/hook."
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UnusableUrl("a URL", remedy) from None
    if parts.scheme not in _PORTS:
        raise UnusableUrl("of http or https", remedy)
    if not _PRINTABLE.fullmatch(url):
        raise UnusableUrl(
            "of printable ASCII characters", "Write a name of other letters in its xn-- form, others as %xx."
        )
    if parts.username is not None or parts.password is not None or "\\" in url:
        raise UnusableUrl("without user name and password", "Put a token into the path or the query.")
    if parts.fragment:
        raise UnusableUrl("without a fragment", "Leave out '#' and what follows.")
    if not (_HOST.fullmatch(host) or ":" in host):
        raise UnusableUrl("one with a host", remedy)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, host, _PORTS[parts.scheme] if port is None else port, path)


def literal(host: str) -> Address | None:
    """Return the address that a host is written as, in any form that a resolver takes; None for a name.

    IPv4 also in one to four decimal, octal or hexadecimal numbers, as in ``0x7f.1``.
    """
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host.rstrip(".")))
    except OSError:
        return None


def is_public(address: Address) -> bool:
    """Tell whether an address belongs to the public Internet and to one host.

    One that carries an IPv4 address is as public as that one.
    """
    inner = _carried(address)
    if inner is not None:
        return is_public(inner)
    if isinstance(address, ipaddress.IPv6Address) and address not in _UNICAST:
        return False
    is_special = address.is_multicast or address.is_reserved or any(address in one for one in _SPECIAL)
    return address.is_global and not is_special


def is_local_name(host: str) -> bool:
    """Tell whether a name means this machine or the network around it, whatever it is resolved to."""
    bare = host.rstrip(".").lower()
    return any(bare == name or bare.endswith(f".{name}") for name in _LOCAL_NAMES)


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host; none where the name is not known."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # not known, or no name at all
        return []
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def _carried(address: Address) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address that an IPv6 address leads to: mapped, 6to4, Teredo or NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    teredo = address.teredo
    return address.ipv4_mapped or address.sixtofour or (teredo[1] if teredo else None)
