r"""Mends what the SDK's JSON parser cannot read, so that the tool can answer instead of the protocol.

A client written in JavaScript that cuts a text inside an emoji sends half of a surrogate pair as an escape
(``\ud83d``). The SDK drops such a frame before it knows whom to answer. Here the half becomes an escaped
NUL, which every text field refuses with the same reason, by name.
"""

import re

_ESCAPE = re.compile(
    rb"\\(?:(?P<pair>u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_NUL = rb"\u0000"


def mend(frame: bytes) -> bytes:
    """Return JSON text in which no escape is half of a surrogate pair; everything else is left as it is."""
    if b"\\ud" not in frame and b"\\uD" not in frame:
        return frame
    return _ESCAPE.sub(lambda found: _NUL if found["half"] else found[0], frame)
