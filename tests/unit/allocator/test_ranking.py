import numpy as np
import pytest

from satchel.allocator.collapse import collapse
from satchel.allocator.evidence import Evidence
from satchel.allocator.expansion import centroid, clean, content_words, keywords, variants
from satchel.allocator.ranking import provisional, rank
from satchel.allocator.tuning import Tuning

from .building import located


def rows(*vectors: tuple[float, ...]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    stacked = np.array(vectors, dtype=np.float32)
    normal: np.ndarray[tuple[int, int], np.dtype[np.float32]] = stacked / np.linalg.norm(
        stacked, axis=1, keepdims=True
    )
    return normal


def test_accents_and_other_scripts_survive_expansion() -> None:
    assert clean("  règles \n du   jeu ") == "règles du jeu"
    assert content_words("Quelles sont les règles du jeu ?") == ["règles", "jeu"]
    assert content_words("数据库 ERR_4711-x") == ["数据库", "ERR_4711-x"]


def test_a_query_of_stop_words_keeps_them() -> None:
    assert content_words("who is it") == ["who", "is", "it"]


def test_keywords_are_the_longest_words_in_order() -> None:
    assert keywords("why did we choose PostgreSQL over MongoDB yesterday") == [
        "PostgreSQL",
        "MongoDB",
        "yesterday",
    ]


def test_expansion_starts_with_the_query_and_repeats_nothing() -> None:
    assert variants("databases", expand=True) == ["databases"]
    assert variants("why databases", expand=True) == ["why databases", "databases"]
    assert variants("why databases", expand=False) == ["why databases"]


def test_at_most_so_many_variants_stand_beside_the_query() -> None:
    query = "why do we shard large relational databases"

    assert [len(variants(query, expand=True, most=most)) for most in (1, 2, 10)] == [2, 3, 3]


def test_the_centroid_has_unit_norm_and_survives_cancellation() -> None:
    assert centroid(rows((1, 0), (0, 1))).tolist() == pytest.approx([0.7071068, 0.7071068])
    assert centroid(rows((1, 0), (-1, 0))).tolist() == [1, 0]


def test_near_duplicates_collapse_into_the_best_and_not_in_chains() -> None:
    into = collapse(rows((1, 0), (0.95, 0.3), (0.8, 0.6)), ["same"] * 3, 0.88)
    assert into.tolist() == [0, 0, 2]
    assert collapse(rows((1, 0), (1, 0)), ["same"] * 2, 1.0).tolist() == [0, 1]


NORTH = rows((1, 0))


def test_texts_that_state_other_facts_do_not_collapse_however_near_they_are() -> None:
    texts = [
        f"On {day} the build took {minutes} minutes." for day, minutes in (("Monday", 12), ("Tuesday", 31))
    ]
    found = located(("a", NORTH), ("b", NORTH), ("c", NORTH), texts=[*texts, texts[0]])
    ranking = rank(found, Evidence(NORTH[0]), Tuning(), collapsing=True)
    assert [place.source for place in ranking.places] == [0, 1]
    assert [(gone.source, kept) for gone, kept in ranking.collapsed] == [(2, 0)]


def test_words_give_a_memory_its_exact_cosine() -> None:
    found = located(("a", NORTH), ("b", rows((0.6, 0.8))))
    ranking = rank(found, Evidence(NORTH[0], {"a": 1}, {"b": 5.0}), Tuning(), collapsing=True)
    signals = {found.ids[place.source]: place.signals for place in ranking.places}
    assert signals["b"].similarity == pytest.approx(0.6)
    assert (signals["b"].dense_rank, signals["b"].lexical_rank) == (0, 1)


def test_a_memory_counts_by_its_best_passage() -> None:
    found = located(("long", rows((0, 1), (1, 0.1))))
    ranking = rank(found, Evidence(NORTH[0]), Tuning(), collapsing=True)
    assert ranking.places[0].passage == 1
    assert ranking.places[0].signals.similarity == pytest.approx(0.995037)


def test_a_neighbour_out_of_scope_lends_but_is_not_shown() -> None:
    beside = ("beside", rows((0, 1)))
    both = located(("hit", NORTH), beside, sessions=[("s", 1), ("s", 2)], hidden="hit")
    ranking = rank(both, Evidence(NORTH[0]), Tuning(), collapsing=True)
    assert [place.source for place in ranking.places] == [1]
    alone = rank(located(beside), Evidence(NORTH[0]), Tuning(), collapsing=True)
    assert ranking.places[0].relevance > alone.places[0].relevance


def test_collapse_keeps_the_best_scored_not_the_first() -> None:
    found = located(("first", rows((0.9, 0.43))), ("best", NORTH), texts=["We use Go!", "We use Go."])
    ranking = rank(found, Evidence(NORTH[0]), Tuning(), collapsing=True)
    assert [place.source for place in ranking.places] == [1]
    assert [(gone.source, kept) for gone, kept in ranking.collapsed] == [(0, 1)]


def test_a_tag_adds_its_bonus() -> None:
    found = located(("a", NORTH), ("b", NORTH))
    ranking = rank(found, Evidence(NORTH[0], tags={"b": 2}), Tuning(), collapsing=False)
    assert [found.ids[place.source] for place in ranking.places] == ["b", "a"]
    assert ranking.places[0].signals.tag_matches == 2


def test_order_does_not_depend_on_the_order_of_arrival() -> None:
    found = located(*((name, NORTH) for name in "cab"))
    ranking = rank(found, Evidence(NORTH[0]), Tuning(), collapsing=False)
    assert [found.ids[place.source] for place in ranking.places] == ["a", "b", "c"]


def test_vectors_of_another_width_than_the_query_are_not_compared() -> None:
    found = located(("a", rows((1, 0, 0))), ("b", rows((0, 1, 0))))
    ranking = rank(found, Evidence(NORTH[0], lexical={"b": 1.0}), Tuning(), collapsing=True)
    assert [found.ids[place.source] for place in ranking.places] == ["b", "a"]
    assert all(place.signals.similarity is None for place in ranking.places)


def test_what_words_alone_found_is_provisionally_as_near_as_the_last_vector_hit() -> None:
    found = provisional({"a": 0.9, "b": 0.3}, {"c": 4.0}, {}, Tuning())
    assert found.index("c") < found.index("b")
    assert provisional({}, {}, {}, Tuning()) == []
    assert provisional({}, {"x": 1.0, "y": 2.0}, {}, Tuning()) == ["y", "x"]
