import numpy as np
import pytest

from satchel.embedder.model import Pooling
from satchel.embedder.pooling import mean_pool, merge_passages, normalise, pool


def test_mean_leaves_padding_out() -> None:
    states = np.array([[[1, 2], [3, 4], [99, 99]]], dtype=np.float32)
    mask = np.array([[1, 1, 0]])

    assert mean_pool(states, mask).tolist() == [[2.0, 3.0]]


def test_row_without_a_real_token_is_zeros_and_never_nan() -> None:
    states = np.ones((1, 2, 3), dtype=np.float32)
    mask = np.zeros((1, 2), dtype=np.int64)

    assert pool(states, mask, Pooling.MEAN).tolist() == [[0.0, 0.0, 0.0]]


def test_cls_takes_the_first_token() -> None:
    states = np.array([[[3, 4], [9, 9]]], dtype=np.float32)

    pooled = pool(states, np.ones((1, 2), dtype=np.int64), Pooling.CLS)

    assert pytest.approx([0.6, 0.8]) == pooled[0].tolist()


def test_model_that_pools_by_itself_is_only_normalised() -> None:
    assert (
        pytest.approx([0.6, 0.8])
        == pool(np.array([[3, 4]], dtype=np.float32), np.ones((1, 7), dtype=np.int64), Pooling.MEAN)[
            0
        ].tolist()
    )


def test_normalised_rows_have_unit_norm_in_float32() -> None:
    rows = normalise(np.array([[1e-6, 0], [3e10, 4e10]], dtype=np.float32))

    assert np.float32 == rows.dtype
    assert pytest.approx([1.0, 1.0]) == np.linalg.norm(rows, axis=1).tolist()


def test_passages_of_a_text_merge_into_their_renormalised_mean() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1], [0, 1]], dtype=np.float32)

    merged = merge_passages(vectors, np.array([0, 1, 1, 2]))

    assert pytest.approx(np.array([[1, 0], [0.5**0.5, 0.5**0.5], [0, 1]])) == merged


def test_text_of_one_passage_keeps_its_row_bit_for_bit() -> None:
    vectors = normalise(np.random.default_rng(1).normal(size=(4, 5)).astype(np.float32))

    merged = merge_passages(vectors, np.array([0, 1, 1, 2]))

    assert vectors[0].tobytes() == merged[0].tobytes()
    assert vectors[3].tobytes() == merged[2].tobytes()
