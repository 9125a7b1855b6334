"""Packs and unpacks vectors as they travel: rows of little-endian float32 without anything between them."""

import sys
from array import array
from collections.abc import Iterable
from dataclasses import dataclass

from satchel.api.embedder.v1.embedder_service_pb2 import EmbedTextsResponse

_FLOAT_BYTES = 4


@dataclass(frozen=True, slots=True)
class Embedding:
    """Vectors of some texts: ``rows`` of unit length, and the whole ``response`` with spans and model."""

    rows: "list[array[float]]"
    response: EmbedTextsResponse

    @classmethod
    def of(cls, response: EmbedTextsResponse) -> "Embedding":
        """Unpack the rows of a response."""
        return cls(unpack(response.vectors, response.dimension), response)


def pack(vector: Iterable[float]) -> bytes:
    """Return one row as bytes; numbers are rounded to single precision.

    With numpy: ``vector.astype("<f4").tobytes()``.
    """
    row = array("f", vector)
    if sys.byteorder == "big":
        row.byteswap()
    return row.tobytes()


def unpack(data: bytes, dimension: int) -> "list[array[float]]":
    """Return the rows of packed vectors, each of ``dimension`` numbers.

    With numpy, without a copy: ``numpy.frombuffer(data, "<f4").reshape(-1, dimension)``.

    Raises:
        ValueError: the bytes are not whole rows.
    """
    size = dimension * _FLOAT_BYTES
    if not data:
        return []
    if size <= 0 or len(data) % size:
        raise ValueError(f"{len(data)} bytes are not whole rows of {dimension} float32 numbers.")
    rows = [array("f", data[start : start + size]) for start in range(0, len(data), size)]
    if sys.byteorder == "big":
        for row in rows:
            row.byteswap()
    return rows
