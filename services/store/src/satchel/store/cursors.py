"""Page tokens: where the next page begins, bound to the arguments of the first.

A token is URL-safe, versioned and checksummed. It holds no secret: a caller who forges one sees only
what the same call without a token would show.
"""

import base64
import binascii
import hashlib
import json

from satchel.store.errors import PageTokenMismatch
from satchel.store.scope import Place

_VERSION = 1
_DIGEST_BYTES = 8
_LARGEST = 2**63 - 1  # of what the database compares


def encode_token(place: Place, arguments: bytes) -> str:
    """Return the token for the page after ``place``; ``arguments`` identify the listing."""
    payload = json.dumps([_VERSION, place.created_at, place.id], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(_seal(payload, arguments) + payload).decode().rstrip("=")


def decode_token(token: str, arguments: bytes) -> Place:
    """Return the place that `encode_token` was given.

    Raises:
        PageTokenMismatch: the token is damaged, of another version, or of other arguments.
    """
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise PageTokenMismatch from error
    seal, payload = raw[:_DIGEST_BYTES], raw[_DIGEST_BYTES:]
    if seal != _seal(payload, arguments):
        raise PageTokenMismatch
    return _place(payload)


def _place(payload: bytes) -> Place:
    """Read a payload, which anybody can forge: the checksum is no signature."""
    try:
        version, created_at, memory_id = json.loads(payload)
    except (ValueError, TypeError, RecursionError) as error:
        raise PageTokenMismatch from error
    is_place = type(created_at) is int and abs(created_at) <= _LARGEST and isinstance(memory_id, str)
    if version != _VERSION or not is_place:
        raise PageTokenMismatch
    return Place(created_at, memory_id)


def _seal(payload: bytes, arguments: bytes) -> bytes:
    """Return the checksum of the payload and the arguments together."""
    digest = hashlib.sha256(len(arguments).to_bytes(8, "big") + arguments + payload)
    return digest.digest()[:_DIGEST_BYTES]
