"""What is refused before anything is read or called: sizes, content types, foreign hosts and pages."""

from collections.abc import Collection
from email.message import Message
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from satchel.gateway.errors import BodyTooLarge, HostRefused, WrongContentCoding, WrongContentType
from satchel.gateway.rest.fixed import refuse
from satchel.gateway.transcoder.faults import wrong_type
from satchel.gateway.transcoder.json_text import Json, loads
from satchel.runtime.errors import InvalidRequest

_LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})
_JSON_TYPES = ("application/json", "text/json")
_CHARSETS = ("utf-8", "utf8", "us-ascii")


async def read_json(request: Request, limit_bytes: int) -> Json:
    """Return the JSON of a request's body; `None` for no body.

    Raises:
        WrongContentType: the body is declared as something else than JSON in UTF-8.
        WrongContentCoding: the body is declared as compressed.
        BodyTooLarge: it has more than ``limit_bytes``; no more than that is read.
        MalformedJson: it is not JSON.
        InvalidRequest: it is the JSON value null, which is no message.
    """
    body = await read_body(request, limit_bytes)
    if not body.strip():
        return None
    check_content(request.headers)
    value = loads(body)
    if value is None:
        raise InvalidRequest([wrong_type("body", "an object", None)])
    return value


async def read_body(request: Request, limit_bytes: int) -> bytes:
    """Return a request's body.

    Raises:
        BodyTooLarge: it has more than ``limit_bytes``; no more than that is read.
    """
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limit_bytes:
        raise BodyTooLarge(limit_bytes)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > limit_bytes:
            raise BodyTooLarge(limit_bytes)
    return bytes(body)


def check_content(headers: Headers) -> None:
    """Take JSON by its name or by a suffix, in UTF-8 and as it is; a body without a type counts as JSON.

    Raises:
        WrongContentType: the headers name another type or another charset.
        WrongContentCoding: they name a coding.
    """
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise WrongContentCoding
    declared = headers.get("content-type", "")
    kind = declared.partition(";")[0].strip().lower()
    if kind and kind not in _JSON_TYPES and not kind.endswith("+json"):
        raise WrongContentType
    if _charset(declared) not in _CHARSETS:
        raise WrongContentType


def _charset(content_type: str) -> str:
    header = Message()
    header["Content-Type"] = content_type
    return (header.get_content_charset() or "utf-8").lower()


class HostGuard:
    """Lets through only requests for, and from pages of, the hosts of this machine.

    A server on a loopback address asks for no key. Without this, any web page could reach it through the
    user's browser, by a name that resolves to 127.0.0.1 (DNS rebinding) or by a plain form.
    """

    def __init__(self, app: ASGIApp, allowed_hosts: Collection[str]) -> None:
        self._app = app
        self._allowed = _LOOPBACK_HOSTS | {host.lower() for host in allowed_hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 to the others."""
        refused = self._refused(Headers(scope=scope)) if scope["type"] == "http" else ""
        if refused:
            await refuse(Request(scope), HostRefused(refused))(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refused(self, headers: Headers) -> str:
        if _host_of(f"//{headers.get('host', '')}") not in self._allowed:
            return "Host"
        origin = headers.get("origin")
        if origin is not None and _host_of(origin) not in self._allowed:
            return "Origin"
        return ""


def _host_of(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
