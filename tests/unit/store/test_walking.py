"""Following links breadth first."""

from collections.abc import Collection, Iterable

from satchel.store.causality.walking import Reached, Step, walk
from satchel.store.model import Relation

BECAUSE, UPDATES = Relation.BECAUSE, Relation.UPDATES


class Links:
    """Links from one memory to others; the time of a memory is the number in its name."""

    def __init__(self, links: dict[str, list[tuple[str, Relation]]]) -> None:
        self.links = links
        self.asked: list[Collection[str]] = []

    def __call__(self, ids: Collection[str]) -> Iterable[Step]:
        self.asked.append(ids)
        for via in ids:
            for other, relation in self.links.get(via, ()):
                yield Step(int(other[1:]), other, relation, via)


def ids(reached: Iterable[Reached]) -> list[str]:
    return [one.id for one in reached]


def test_the_nearest_come_first_and_those_at_one_depth_by_time_then_id() -> None:
    links = Links({"s0": [("b2", BECAUSE), ("a2", BECAUSE), ("c1", BECAUSE)], "a2": [("d0", BECAUSE)]})

    found = walk("s0", links, max_depth=5, limit=9)

    assert ids(found.reached) == ["c1", "a2", "b2", "d0"]
    assert [one.depth for one in found.reached] == [1, 1, 1, 2]


def test_a_cycle_returns_neither_the_start_nor_anything_twice() -> None:
    links = Links(
        {"s0": [("a1", BECAUSE)], "a1": [("b2", BECAUSE)], "b2": [("s0", BECAUSE), ("a1", BECAUSE)]}
    )

    assert ids(walk("s0", links, max_depth=20, limit=9).reached) == ["a1", "b2"]


def test_a_memory_is_reached_over_the_shortest_way_and_its_lowest_relation() -> None:
    links = Links(
        {
            "s0": [("a1", UPDATES), ("a1", BECAUSE), ("b2", BECAUSE)],
            "a1": [("c3", BECAUSE)],
            "b2": [("c3", BECAUSE)],
        }
    )

    found = walk("s0", links, max_depth=5, limit=9)

    assert found.reached == (
        Reached("a1", 1, BECAUSE, "s0"),
        Reached("b2", 1, BECAUSE, "s0"),
        Reached("c3", 2, BECAUSE, "a1"),
    )


def test_the_walk_ends_at_the_greatest_depth_without_looking_further() -> None:
    links = Links({f"n{at}": [(f"n{at + 1}", BECAUSE)] for at in range(9)})

    found = walk("n0", links, max_depth=3, limit=9)

    assert (ids(found.reached), found.truncated) == (["n1", "n2", "n3"], False)
    assert len(links.asked) == 3


def test_more_than_the_bound_is_said_and_just_the_bound_is_not() -> None:
    links = Links({"s0": [(f"n{at}", BECAUSE) for at in range(4)]})

    assert ids(walk("s0", links, max_depth=5, limit=3).reached) == ["n0", "n1", "n2"]
    assert walk("s0", links, max_depth=5, limit=3).truncated
    assert not walk("s0", links, max_depth=5, limit=4).truncated
