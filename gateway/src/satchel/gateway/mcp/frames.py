r"""Carries halves of surrogate pairs past the SDK's JSON parser, so that the tool can name the field.

A client written in JavaScript that cuts a text inside an emoji sends half of a surrogate pair as an escape
(``\ud83d``). The SDK drops such a frame before it knows whom to answer. Here the half becomes an escaped NUL
with the half's digits (``\u0000d83d``), an escaped NUL becomes two, and `restored` makes both what they were.
No text that is taken holds a NUL, so nothing else changes.
"""

import re
from typing import overload

from satchel.gateway.transcoder.json_text import Json

_ESCAPE = re.compile(
    rb"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|u(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2})|(?P<nul>u0000)|.)",
    re.DOTALL,
)
_NUL = rb"\u0000"
_MARK = re.compile(r"\0(?:\0|([dD][89a-fA-F][0-9a-fA-F]{2}))")


def mend(frame: bytes) -> bytes:
    """Return JSON text in which no escape is half of a surrogate pair; only halves and NULs change."""
    if b"\\ud" not in frame and b"\\uD" not in frame and _NUL not in frame:
        return frame
    return _ESCAPE.sub(_mended, frame)


def _mended(found: re.Match[bytes]) -> bytes:
    if found["half"]:
        return _NUL + found["half"]
    return _NUL * 2 if found["nul"] else found[0]


@overload
def restored(value: str) -> str: ...
@overload
def restored(value: dict[str, Json]) -> dict[str, Json]: ...
@overload
def restored(value: Json) -> Json: ...
def restored(value: Json) -> Json:
    """Return the JSON value that a frame held before `mend`, with its halves of surrogate pairs."""
    if isinstance(value, str):
        return _MARK.sub(_original, value) if "\0" in value else value
    if isinstance(value, list):
        return [restored(item) for item in value]
    if isinstance(value, dict):
        return {restored(name): restored(member) for name, member in value.items()}
    return value


def _original(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else "\0"
