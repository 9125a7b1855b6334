import numpy as np

from satchel.embedder.cache import VectorCache
from satchel.embedder.model import Role

VECTOR = np.array([1, 0], dtype=np.float32)


def test_text_is_found_by_role_and_exact_characters_only() -> None:
    cache = VectorCache(10)
    cache.put(Role.QUERY, "who?", VECTOR, 4)

    assert cache.get(Role.QUERY, "who?") == (VECTOR, 4)
    assert cache.get(Role.PASSAGE, "who?") is None
    assert cache.get(Role.QUERY, "Who?") is None
    assert cache.get(Role.QUERY, "who? ") is None


def test_least_recently_used_goes_first() -> None:
    cache = VectorCache(2)
    cache.put(Role.QUERY, "a", VECTOR, 1)
    cache.put(Role.QUERY, "b", VECTOR, 1)
    cache.get(Role.QUERY, "a")
    cache.put(Role.QUERY, "c", VECTOR, 1)

    assert cache.get(Role.QUERY, "a") is not None
    assert cache.get(Role.QUERY, "b") is None
    assert len(cache) == 2


def test_cache_of_capacity_zero_and_overlong_texts_keep_nothing() -> None:
    nothing, some = VectorCache(0), VectorCache(5)
    nothing.put(Role.QUERY, "a", VECTOR, 1)
    some.put(Role.QUERY, "a" * 5000, VECTOR, 1)

    assert [len(nothing), len(some)] == [0, 0]
