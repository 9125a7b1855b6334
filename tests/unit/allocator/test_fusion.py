import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.allocator.fusion import ranks, reciprocal_rank, relevance, standard_score


def test_found_in_both_lists_beats_found_in_one_at_the_same_rank() -> None:
    dense, words = np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0])
    fused = reciprocal_rank([dense, words], 60)
    assert fused[0] > fused[1]
    assert fused[2] > fused[1]
    assert fused[0] == 1.0


def test_an_empty_list_of_words_keeps_the_order_by_meaning() -> None:
    cosine = np.array([0.2, 0.9, 0.5])
    fused = reciprocal_rank([ranks(cosine), np.zeros(3)], 60)
    assert np.argsort(-fused).tolist() == [1, 2, 0]
    scored = standard_score(cosine, np.zeros(3), lexical_weight=1.0)
    assert np.argsort(-scored).tolist() == [1, 2, 0]


def test_equal_scores_share_a_rank_and_unknown_ones_have_none() -> None:
    assert ranks(np.array([0.5, np.nan, 0.9, 0.5])).tolist() == [2, 0, 1, 2]


def test_words_raise_a_memory_over_its_equal_in_meaning() -> None:
    fused = standard_score(np.array([0.4, 0.4, 0.1]), np.array([0.0, 7.0, 0.0]), lexical_weight=1.0)
    assert fused[1] > fused[0] > fused[2]


def test_a_memory_without_a_vector_counts_as_the_mean() -> None:
    fused = standard_score(np.array([0.2, np.nan, 0.6]), None, lexical_weight=1.0)
    assert fused[1] == pytest.approx(0.4)


def test_words_alone_are_scaled_to_the_best() -> None:
    assert standard_score(None, np.array([2.0, 4.0]), lexical_weight=1.0).tolist() == [0.5, 1.0]


def test_two_candidates_keep_their_own_cosines() -> None:
    """Two scores have no spread worth the name; they must not be torn apart."""
    fused = standard_score(np.array([0.62, 0.6]), np.array([3.0, 2.9]), lexical_weight=1.0)
    assert relevance(fused).min() > 0.5


def test_fusing_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="by meaning or by words"):
        standard_score(None, None, lexical_weight=1.0)


@given(st.lists(st.floats(-1, 3), min_size=2, max_size=30))
def test_relevance_is_monotonic_and_within_zero_and_one(scores: list[float]) -> None:
    ordered = np.sort(np.array(scores))
    mapped = relevance(ordered)
    assert (np.diff(mapped) >= 0).all()
    assert 0 < mapped[0] <= mapped[-1] < 1
