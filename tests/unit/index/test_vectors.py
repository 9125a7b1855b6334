import numpy as np
import pytest
from unit.index.fakes import unit_rows

from satchel.index.errors import DimensionMismatch, VectorMalformed
from satchel.index.vectors import unpack_changed_rows, unpack_rows

ROWS = unit_rows(np.random.default_rng(1), 3, 4)


def test_packed_rows_come_back_as_they_were() -> None:
    np.testing.assert_allclose(ROWS, unpack_rows(ROWS.tobytes(), dimension=4, field="v"), rtol=1e-6)


def test_small_difference_of_norm_is_removed() -> None:
    rows = unpack_rows((ROWS * np.float32(1.005)).tobytes(), dimension=4, field="v")

    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"123",
        ROWS.tobytes()[:-4],
        np.array([np.nan, 0, 0, 0], np.float32).tobytes(),
        np.array([np.inf, 0, 0, 0], np.float32).tobytes(),
        np.zeros(4, np.float32).tobytes(),
        np.full(4, 3e38, np.float32).tobytes(),
        (ROWS * np.float32(2)).tobytes(),
    ],
)
def test_anything_but_whole_finite_unit_rows_is_refused(data: bytes) -> None:
    with pytest.raises(VectorMalformed) as caught:
        unpack_rows(data, dimension=4, field="vector")

    assert caught.value.metadata["field"] == "vector"


def test_change_with_more_rows_than_passages_is_refused() -> None:
    with pytest.raises(DimensionMismatch):
        unpack_changed_rows(ROWS.tobytes(), dimension=4, count=2, field="v")
    assert unpack_changed_rows(b"", dimension=4, count=2, field="v") is None
