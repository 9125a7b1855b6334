"""Clusters of vectors of which any two are alike."""

import itertools
import math

import numpy as np
import pytest
from numpy.typing import NDArray

from satchel.store.consolidation.clustering import clusters_of, mean_vector


def at_degrees(*angles: float) -> NDArray[np.float32]:
    """Return unit vectors of the plane at some angles."""
    radians = np.radians(angles)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1).astype(np.float32)


def places(vectors: NDArray[np.float32], threshold: float) -> list[tuple[int, ...]]:
    return [cluster.places for cluster in clusters_of(vectors, threshold)]


def test_a_chain_of_likenesses_does_not_join_its_ends() -> None:
    chain = at_degrees(0, 19, 38, 57, 76)

    found = clusters_of(chain, math.cos(math.radians(20)))

    assert [len(cluster.places) for cluster in found] == [2, 2]
    assert all(cluster.similarity >= math.cos(math.radians(20)) - 1e-6 for cluster in found)


def test_equal_vectors_are_alike_at_the_threshold_of_one() -> None:
    vectors = at_degrees(33, 33, 80, 33, 12)

    (found,) = clusters_of(vectors, 1.0)

    assert found.places == (0, 1, 3)
    assert found.similarity == pytest.approx(1.0)


def test_nothing_is_alike_in_nothing_and_in_one() -> None:
    assert places(at_degrees(), 0.5) == []
    assert places(at_degrees(1), 0.5) == []
    assert places(at_degrees(0, 90), 0.5) == []


@pytest.mark.parametrize("seed", range(5))
def test_clusters_are_those_of_joining_the_two_most_alike_again_and_again(seed: int) -> None:
    made = np.random.default_rng(seed).standard_normal((60, 3))
    vectors = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    cosines = vectors @ vectors.T
    clusters = [frozenset({place}) for place in range(60)]

    def least(pair: tuple[frozenset[int], frozenset[int]]) -> float:
        return min(float(cosines[one, other]) for one in pair[0] for other in pair[1])

    while True:
        one, other = max(itertools.combinations(clusters, 2), key=least)
        if least((one, other)) < 0.8:
            break
        clusters = [cluster for cluster in clusters if cluster not in (one, other)] + [one | other]

    expected = sorted(tuple(sorted(cluster)) for cluster in clusters if len(cluster) > 1)
    found = clusters_of(vectors, 0.8)
    assert [cluster.places for cluster in found] == expected
    for cluster in found:
        pairs = itertools.combinations(cluster.places, 2)
        assert cluster.similarity == pytest.approx(min(float(cosines[pair]) for pair in pairs), abs=1e-6)


def test_the_mean_of_passages_has_unit_norm_and_is_zero_where_they_cancel_out() -> None:
    rows = at_degrees(0, 90).astype("<f4").tobytes()
    opposite = at_degrees(0, 180).astype("<f4").tobytes()

    np.testing.assert_allclose(mean_vector(rows, 2), at_degrees(45)[0], atol=1e-6)
    assert np.isfinite(mean_vector(opposite, 2)).all()
