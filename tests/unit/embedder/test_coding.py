import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from satchel.embedder.coding import ArrivingCodes, bytes_per_token, joined, sign_codes

FINITE = st.floats(-2, 2, width=32)


@given(
    states=st_numpy.arrays(
        np.float32,
        st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 20)),
        elements=FINITE,
    ),
    data=st.data(),
)
def test_bit_i_from_the_highest_says_whether_number_i_is_above_zero(
    states: np.ndarray[tuple[int, int, int], np.dtype[np.float32]], data: st.DataObject
) -> None:
    rows, tokens, dimension = states.shape
    places = data.draw(st.lists(st.integers(0, rows * tokens - 1), min_size=1))

    codes = sign_codes(states, np.array(places))

    assert codes.shape == (len(places), bytes_per_token(dimension))
    for place, code in zip(places, codes, strict=True):
        bits = "".join("1" if value > 0 else "0" for value in states[place // tokens, place % tokens])
        assert "".join(f"{byte:08b}" for byte in code) == bits.ljust(8 * len(code), "0")


@given(counts=st.lists(st.integers(0, 4), min_size=1, max_size=8), data=st.data())
def test_codes_stand_in_the_order_of_the_rows_whatever_batches_bring_them(
    counts: list[int], data: st.DataObject
) -> None:
    arriving = ArrivingCodes([np.arange(count) for count in counts], 1)
    order = data.draw(st.permutations(range(len(counts))))
    cut = data.draw(st.integers(0, len(counts)))

    for rows in (order[:cut], order[cut:]):
        codes = np.array([[row] for row in rows for _ in range(counts[row])], dtype=np.uint8).reshape(-1, 1)
        assert len(codes) == arriving.count(rows)
        arriving.take(rows, codes)

    assert arriving.whole.counts.tolist() == counts
    assert arriving.whole.codes[:, 0].tolist() == [
        row for row, count in enumerate(counts) for _ in range(count)
    ]


def test_joined_codes_keep_their_order_and_are_counted() -> None:
    parts = [np.full((count, 2), count, dtype=np.uint8) for count in (1, 0, 2)]

    found = joined(parts, 2)

    assert (found.codes[:, 0].tolist(), found.counts.tolist()) == ([1, 2, 2], [1, 0, 2])
    assert joined([], 2).codes.shape == (0, 2)
