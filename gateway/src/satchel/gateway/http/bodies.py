"""Reads bodies: JSON in UTF-8, as its headers declare it, and no more of it than a limit."""

from email.message import Message

from starlette.datastructures import Headers
from starlette.requests import Request

from satchel.gateway.errors import BodyTooLarge, WrongContentCoding, WrongContentType
from satchel.gateway.transcoder.faults import wrong_type
from satchel.gateway.transcoder.json_text import Json, loads
from satchel.runtime.errors import InvalidRequest

_JSON_TYPES = ("application/json", "text/json")
_CHARSETS = ("utf-8", "utf8", "us-ascii")


async def read_json(request: Request, limit_bytes: int) -> Json:
    """Return the JSON of a request's body; `None` for no body.

    Raises:
        WrongContentType: the body is not declared as JSON in UTF-8.
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
    """Take JSON by its name or by a suffix, in UTF-8 and as it is.

    A body without a type is refused as well: a browser asks a server before it sends JSON across sites, but
    not before it sends a body that declares nothing.

    Raises:
        WrongContentType: the headers name no type, another type or another charset.
        WrongContentCoding: they name a coding.
    """
    if headers.get("content-encoding", "identity").strip().lower() not in {"", "identity"}:
        raise WrongContentCoding
    declared = headers.get("content-type", "")
    kind = declared.partition(";")[0].strip().lower()
    if kind not in _JSON_TYPES and not kind.endswith("+json"):
        raise WrongContentType
    if _charset(declared) not in _CHARSETS:
        raise WrongContentType


def _charset(content_type: str) -> str:
    header = Message()
    header["Content-Type"] = content_type
    return (header.get_content_charset() or "utf-8").lower()
