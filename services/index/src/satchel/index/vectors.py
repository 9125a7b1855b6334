"""Checks and unpacks vectors from their form on the wire: packed little-endian float32 rows."""

import numpy as np

from satchel.index.errors import DimensionMismatch, VectorMalformed
from satchel.index.model import FloatMatrix

_BYTES = 4
_NORM_TOLERANCE = 0.01


def unpack_rows(data: bytes, *, dimension: int, field: str) -> FloatMatrix:
    """Return the rows (count, dimension), each of L2 norm 1.

    What arrives must be of that norm to one part in a hundred; what is left of a difference is removed, so
    that inner products are cosines.

    Raises:
        VectorMalformed: the bytes are not whole rows, not finite, or not of unit norm.
    """
    if dimension < 1 or not data or len(data) % (_BYTES * dimension):
        raise VectorMalformed(field=field, problem=f"has {len(data)} bytes, which is not whole rows")
    rows = np.frombuffer(data, "<f4").astype(np.float32, copy=False).reshape(-1, dimension)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    if not np.isfinite(norms).all():
        raise VectorMalformed(field=field, problem="holds a number that is not finite")
    if (np.abs(norms - 1.0) > _NORM_TOLERANCE).any():
        raise VectorMalformed(field=field, problem="holds a vector whose norm is not 1")
    scaled: FloatMatrix = rows / norms[:, None].astype(np.float32)
    return scaled


def unpack_changed_rows(data: bytes, *, dimension: int, count: int, field: str) -> FloatMatrix | None:
    """Return the rows of a change; `None` for no bytes.

    Raises:
        DimensionMismatch: there are not ``count`` rows of the stated dimension.
        VectorMalformed: see `unpack_rows`.
    """
    if not data:
        return None
    rows = unpack_rows(data, dimension=dimension, field=field)
    if len(rows) != count:
        actual = len(data) // (_BYTES * max(count, 1))
        raise DimensionMismatch(field=field, expected=dimension, actual=actual)
    return rows
