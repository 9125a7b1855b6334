import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from satchel.embedder.batching import Pending, pad, take_batch


def test_longest_rows_of_the_first_request_come_first() -> None:
    pending = Pending([5, 60, 58, 20])

    assert take_batch([pending], 120) == [[2, 1]]
    assert len(pending) == 2


def test_batch_is_filled_with_rows_of_like_length_from_other_requests() -> None:
    first, second, third = Pending([40]), Pending([4, 41, 38]), Pending([36])

    assert take_batch([first, second, third], 400) == [[0], [2], [0]]
    assert [len(first), len(second), len(third)] == [0, 2, 0]


def test_full_batch_looks_at_no_further_request() -> None:
    assert take_batch([Pending([10, 10]), Pending([10])], 20) == [[0, 1]]


def test_batch_has_no_more_rows_than_it_may() -> None:
    assert take_batch([Pending([10, 10, 10]), Pending([10])], 1000, 2) == [[1, 2]]
    assert take_batch([Pending([10]), Pending([10, 10])], 1000, 2) == [[0], [1]]


def test_row_above_the_budget_is_a_batch_of_its_own() -> None:
    assert take_batch([Pending([300])], 100) == [[0]]


@given(
    requests=st.lists(st.lists(st.integers(1, 300), min_size=1, max_size=20), min_size=1, max_size=8),
    budget=st.integers(1, 2000),
)
def test_batches_hold_every_row_once_within_budget_and_with_little_padding(
    requests: list[list[int]], budget: int
) -> None:
    waiting = {index: Pending(lengths) for index, lengths in enumerate(requests)}
    seen: list[tuple[int, int]] = []
    while waiting:
        keys = list(waiting)
        batch = [
            (key, row)
            for key, rows in zip(keys, take_batch(waiting.values(), budget), strict=False)
            for row in rows
        ]
        lengths = [requests[key][row] for key, row in batch]
        assert len(batch) == 1 or len(batch) * max(lengths) <= budget
        assert max(lengths) - min(lengths) <= max(8, max(lengths) // 4)
        seen += batch
        waiting = {key: pending for key, pending in waiting.items() if pending}

    assert sorted((i, j) for i, lengths in enumerate(requests) for j in range(len(lengths))) == sorted(seen)


def test_padding_fills_on_the_right_and_is_masked() -> None:
    batch = pad([np.array([7, 8, 9], dtype=np.int32), np.array([5], dtype=np.int32)], pad_id=3)

    assert batch.ids.tolist() == [[7, 8, 9], [5, 3, 3]]
    assert batch.mask.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert np.int64 == batch.ids.dtype


def test_places_count_along_the_padded_rows() -> None:
    rows = [np.array([7, 8, 9], dtype=np.int32), np.array([5], dtype=np.int32)]

    batch = pad(rows, 3, [np.array([0, 2]), np.array([0])])

    assert batch.ids.ravel()[batch.coded].tolist() == [7, 9, 5]
    assert pad(rows, 3).coded.tolist() == []
