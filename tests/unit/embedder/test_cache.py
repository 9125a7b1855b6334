import numpy as np

from satchel.embedder.cache import Kept, VectorCache
from satchel.embedder.model import Role

KEPT = Kept(np.array([1, 0], dtype=np.float32), 4, np.zeros((2, 1), dtype=np.uint8))


def test_text_is_found_by_role_and_exact_characters_only() -> None:
    cache = VectorCache(10)
    cache.put(Role.QUERY, "who?", KEPT)

    assert cache.get(Role.QUERY, "who?") == KEPT
    assert cache.get(Role.PASSAGE, "who?") is None
    assert cache.get(Role.QUERY, "Who?") is None
    assert cache.get(Role.QUERY, "who? ") is None


def test_least_recently_used_goes_first() -> None:
    cache = VectorCache(2)
    cache.put(Role.QUERY, "a", KEPT)
    cache.put(Role.QUERY, "b", KEPT)
    cache.get(Role.QUERY, "a")
    cache.put(Role.QUERY, "c", KEPT)

    assert cache.get(Role.QUERY, "a") is not None
    assert cache.get(Role.QUERY, "b") is None
    assert len(cache) == 2


def test_cache_of_capacity_zero_and_overlong_texts_keep_nothing() -> None:
    nothing, some = VectorCache(0), VectorCache(5)
    nothing.put(Role.QUERY, "a", KEPT)
    some.put(Role.QUERY, "a" * 5000, KEPT)

    assert [len(nothing), len(some)] == [0, 0]
