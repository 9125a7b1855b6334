"""Who asks over HTTP: a key where callers need one, and so many requests a minute."""

import ipaddress
import logging
import math
from collections.abc import Collection, Iterable
from typing import TypeAlias

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from satchel.gateway.errors import RateLimited
from satchel.gateway.http.rates import TokenBuckets
from satchel.gateway.http.routes import refuse
from satchel.runtime.errors import ServiceError, Unauthenticated
from satchel.runtime.interceptors.auth import identified
from satchel.runtime.keys import KeyRing

_log = logging.getLogger("satchel.gateway")

# Load balancers and orchestrators ask these, often and without a key.
_FREE_PATHS = frozenset({"/health", "/health/live", "/health/ready"})
_PUBLIC_PATHS = _FREE_PATHS | {"/openapi.json"}
# What one subscriber is given of IPv6 (RFC 6177); addresses within it cost an attacker nothing.
_IPV6_PREFIX_BITS = 64

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


class CallerGuard:
    """Answers 401 to callers without a known key, and 429 to those that ask too often.

    A known caller is counted by its key, anybody else by its address: wrong keys count too, and the 429 of an
    address that tried too many says nothing of the next one. What a key may do is checked by the services.
    """

    def __init__(
        self, app: ASGIApp, ring: KeyRing, buckets: TokenBuckets, trusted_proxies: Collection[str] = ()
    ) -> None:
        self._app = app
        self._ring = ring
        self._buckets = buckets
        self._proxies = tuple(ipaddress.ip_network(proxy, strict=False) for proxy in trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["path"] in _FREE_PATHS:
            await self._app(scope, receive, send)
            return
        try:
            self._admit(scope, Headers(scope=scope))
        except ServiceError as error:
            await refuse(Request(scope), error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _admit(self, scope: Scope, headers: Headers) -> None:
        address = client_address(scope, headers, self._proxies)
        sent = headers.getlist("authorization")
        unknown: Unauthenticated | None = None
        caller = f"address:{address}"
        if self._ring:
            try:
                caller = f"key:{identified(self._ring, sent).subject}"
            except Unauthenticated as error:
                unknown = error
        wait_s = self._buckets.take(caller)
        if wait_s:
            raise RateLimited(self._buckets.per_minute, math.ceil(wait_s))
        if unknown is not None and scope["path"] not in _PUBLIC_PATHS:
            _log.info("http.unauthenticated", extra={"address": address, "sent_key": bool(sent)})
            raise unknown


def client_address(scope: Scope, headers: Headers, proxies: Iterable[Network]) -> str:
    """Return the address of the client, without its port; an IPv6 address as its network of 64 bits.

    Behind proxies that are trusted it is the last address in ``X-Forwarded-For`` that is none of theirs:
    what stands before that was written by the client. Of other clients that header is not read.
    """
    known = tuple(proxies)
    client = scope.get("client")
    address = _parsed(client[0]) if client else None
    hops = [hop for line in headers.getlist("x-forwarded-for") for hop in line.split(",")]
    while hops and _is_in(address, known):
        before = _parsed(hops.pop())
        if before is None:
            break
        address = before
    return _grouped(address)


def _parsed(text: str) -> Address | None:
    try:
        return ipaddress.ip_address(text.strip().strip("[]"))
    except ValueError:
        return None


def _is_in(address: Address | None, networks: Iterable[Network]) -> bool:
    return address is not None and any(address in network for network in networks)


def _grouped(address: Address | None) -> str:
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ipaddress.ip_network((address, _IPV6_PREFIX_BITS), strict=False))
    return "" if address is None else str(address)
