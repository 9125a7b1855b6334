import math
import struct

import pytest

from satchel.client import pack, unpack


def test_a_row_is_packed_as_little_endian_float32() -> None:
    assert pack([1.0, -0.5]) == b"\x00\x00\x80\x3f\x00\x00\x00\xbf"


def test_rows_come_back_one_by_one() -> None:
    data = struct.pack("<4f", 1.0, 2.0, 3.0, 4.0)

    assert [list(row) for row in unpack(data, 2)] == [[1.0, 2.0], [3.0, 4.0]]


def test_numbers_are_rounded_to_single_precision() -> None:
    (row,) = unpack(pack([0.1]), 1)

    assert row[0] != 0.1
    assert math.isclose(row[0], 0.1, rel_tol=1e-7)


def test_nothing_has_no_rows() -> None:
    assert unpack(b"", 384) == []


@pytest.mark.parametrize(("size", "dimension"), [(12, 2), (7, 1), (8, 0), (8, -1)])
def test_bytes_that_are_not_whole_rows_are_refused(size: int, dimension: int) -> None:
    with pytest.raises(ValueError, match="are not whole rows"):
        unpack(bytes(size), dimension)
