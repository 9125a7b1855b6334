from itertools import pairwise
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.allocator import late_interaction
from satchel.allocator.late_interaction import Codes, codes_by_memory, maxsim, no_codes, unpacked


def packed(*tokens: str) -> Codes:
    """Return the codes of tokens that are written as bits."""
    bits = np.array([[int(bit) for bit in token] for token in tokens], dtype=np.uint8)
    rows = np.packbits(bits, axis=1)
    return unpacked(rows.tobytes(), rows.shape[1])


def plain_maxsim(query: list[str], memories: list[list[str]], dimension: int) -> list[float]:
    """Compare one pair of bits after the other."""
    known = [number for number, tokens in enumerate(memories) if tokens]
    totals = dict.fromkeys(known, 0.0)
    for own in query:
        best = [max(agreement(own, token, dimension) for token in memories[number]) for number in known]
        spread = pstdev(best) if len(set(best)) > 1 else np.inf
        for number, value in zip(known, best, strict=True):
            totals[number] += (value - fmean(best)) / spread
    return [
        totals[number] / len(query) if number in totals and query else np.nan
        for number in range(len(memories))
    ]


def agreement(one: str, other: str, dimension: int) -> float:
    same = sum(left == right for left, right in zip(one, other, strict=True))
    return 2 * same / dimension - 1


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[str], list[list[str]], int]:
    dimension = draw(st.sampled_from([1, 3, 8, 63, 64, 65, 130]))
    token = st.text("01", min_size=dimension, max_size=dimension)
    query = draw(st.lists(token, max_size=4))
    memories = draw(st.lists(st.lists(token, max_size=4), min_size=1, max_size=6))
    return query, memories, dimension


@given(case=cases(), step=st.sampled_from([1, 7, 1 << 16]))
def test_blocks_of_bits_give_what_a_plain_loop_gives(
    case: tuple[list[str], list[list[str]], int], step: int
) -> None:
    query, memories, dimension = case
    tokens = [token for memory in memories for token in memory]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(late_interaction, "_STEP_NUMBERS", step)
        found = maxsim(
            packed(*query) if query else no_codes(),
            packed(*tokens) if tokens else no_codes(),
            np.array([len(memory) for memory in memories]),
            dimension=dimension,
        )

    assert found == pytest.approx(plain_maxsim(query, memories, dimension), abs=1e-9, nan_ok=True)


def test_the_memory_with_the_token_that_was_asked_for_is_best() -> None:
    found = maxsim(packed("1100"), packed("0011", "1100", "1010", "0110"), np.array([1, 1, 2]), dimension=4)

    assert found.argmax() == 1
    assert found.mean() == pytest.approx(0)


def test_memories_without_codes_have_no_figure_and_move_no_other() -> None:
    query, codes = packed("1100"), packed("0011", "1100")

    found = maxsim(query, codes, np.array([0, 1, 0, 1]), dimension=4)

    assert np.isnan(found).tolist() == [True, False, True, False]
    assert found[[1, 3]].tolist() == maxsim(query, codes, np.array([1, 1]), dimension=4).tolist()


def test_a_token_that_all_memories_answer_alike_counts_nothing() -> None:
    codes, counts = packed("1100", "1010"), np.array([1, 1])
    alone = maxsim(packed("1100"), codes, counts, dimension=4)

    found = maxsim(packed("1100", "1000"), codes, counts, dimension=4)

    assert alone.tolist() == [1, -1]
    assert found.tolist() == [0.5, -0.5]


def test_no_query_and_no_codes_give_no_figures() -> None:
    assert np.isnan(maxsim(no_codes(), packed("1"), np.array([1]), dimension=1)).all()
    assert np.isnan(maxsim(packed("1"), no_codes(), np.array([0, 0]), dimension=1)).all()
    assert maxsim(packed("1"), no_codes(), np.zeros(0, dtype=np.int64), dimension=1).tolist() == []


def test_unpacking_fills_the_last_word_with_zeros() -> None:
    found = unpacked(bytes(range(1, 19)), 9)

    assert found.shape == (2, 2)
    assert found.tobytes() == bytes([*range(1, 10), *bytes(7), *range(10, 19), *bytes(7)])
    assert unpacked(b"", 0).shape == (0, 0)


@given(
    counts=st.lists(st.integers(0, 3), min_size=1, max_size=8),
    data=st.data(),
)
def test_codes_are_put_in_the_order_of_the_memories(counts: list[int], data: st.DataObject) -> None:
    """Row n has the codes 100 n, 100 n + 1 and so on; rows of a memory stand in their order."""
    owners = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(counts), max_size=len(counts))))
    rows = [[100 * row + at for at in range(count)] for row, count in enumerate(counts)]
    codes = np.array([[code] for row in rows for code in row], dtype=np.uint64).reshape(-1, 1)

    found, per_memory = codes_by_memory(codes, np.array(counts), owners, memories=5)

    ends = [0, *np.cumsum(per_memory).tolist()]
    for number, (start, end) in enumerate(pairwise(ends)):
        own = [code for row, owner in zip(rows, owners, strict=True) if owner == number for code in row]
        assert found[start:end, 0].tolist() == own
