import json

from hypothesis import given
from hypothesis import strategies as st
from unit.store.samples import MEMORY

from satchel.store.lifecycle import MOST_IDS, Moved, Shelved, moved, said_by, size_of
from satchel.store.model import Link, MemoryType, Relation
from satchel.store.servicers import encoding
from satchel.store.servicers.decoding import UPDATABLE

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=300)


def test_a_version_says_all_that_an_update_may_change() -> None:
    said = said_by(MEMORY)

    assert set(said) == set(UPDATABLE)
    assert (said["type"], said["tags"], said["occurred_at"]) == (MemoryType.FACT, ("a",), -1)


def test_a_type_that_was_inferred_is_left_to_be_inferred_again() -> None:
    assert said_by(MEMORY._replace(declared=False))["type"] is None


def test_counts_are_of_all_and_ids_of_some() -> None:
    shelved = [Shelved(f"{n:05}", MemoryType(4 + n % 2), n % 3) for n in range(MOST_IDS + 5)]

    found = moved(reversed(shelved), 7)

    assert (found.count, found.tokens, found.revision) == (MOST_IDS + 5, 10_005, 7)
    assert (found.count_of(MemoryType.SESSION_NOTE), found.count_of(MemoryType.DEBUG_LOG)) == (5003, 5002)
    assert found.count_of(MemoryType.FACT) == 0
    assert list(found.ids) == [one.id for one in shelved[5:]]


def test_without_memories_there_is_no_revision() -> None:
    assert moved([], 7) == Moved(by_type={})


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=5), st.integers(0, 50))
def test_the_size_of_a_memory_is_a_bound_of_its_message(
    content: str, metadata: str, tags: list[str], links: int
) -> None:
    linked = Link("018bcfe5-6800-7000-8000-000000000001", Relation.UPDATES, outgoing=True)
    memory = MEMORY._replace(
        content=content,
        summary=content,
        metadata=json.dumps({"k": [metadata, None, 0.1]}),
        tags=tuple(tags),
        links=(linked,) * links,
    )

    assert encoding.memory(memory).ByteSize() <= size_of(memory)
