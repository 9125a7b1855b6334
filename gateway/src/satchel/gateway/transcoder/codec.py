"""The one JSON codec of every door: messages to JSON and back.

Names are those of the contract in snake_case; enums are short lower-case words (``decision``); times
RFC 3339 in UTC; 64-bit numbers are numbers; bytes are base64; free-form objects are plain JSON.
"""

from satchel.gateway.transcoder.decoding import decode
from satchel.gateway.transcoder.encoding import encode, encode_field
from satchel.gateway.transcoder.json_text import MAX_DEPTH, Json, MalformedJson, dumps, loads

__all__ = ["MAX_DEPTH", "Json", "MalformedJson", "decode", "dumps", "encode", "encode_field", "loads"]
