from dataclasses import replace

from unit.store.samples import MEMORY, STORED

from satchel.runtime.tokens import count_tokens
from satchel.store.ids import Stamp
from satchel.store.model import Component, MemoryType, NewMemory
from satchel.store.preparing import DEFAULT_ROOMS, as_new, normal_tags, prepare, searchable_text
from satchel.store.snapshots import (
    dump_component,
    dump_memory,
    dump_stored,
    load_component,
    load_memory,
    load_stored,
)

STAMP = Stamp(1_700_000_000_000_000, "018bcfe5-6800-7000-8000-000000000000")
NEW = NewMemory(content="The team decided to adopt Kubernetes for deployment.", wing="w")


def test_the_room_follows_the_type_unless_it_is_given() -> None:
    for kind, room in DEFAULT_ROOMS.items():
        assert prepare(replace(NEW, type=kind), STAMP).room == room
    assert prepare(replace(NEW, room="own"), STAMP).room == "own"


def test_an_inferred_type_is_not_declared() -> None:
    inferred, declared = prepare(NEW, STAMP), prepare(replace(NEW, type=MemoryType.FACT), STAMP)

    assert (inferred.type, inferred.declared) == (MemoryType.DECISION, False)
    assert (declared.type, declared.declared) == (MemoryType.FACT, True)


def test_of_mixed_tags_and_types_those_that_the_text_gives_count_as_derived() -> None:
    first = prepare(replace(NEW, tags=("Own Tag",)), STAMP)
    again = prepare(replace(NEW, type=first.type, tags=first.tags, mixed=True), STAMP)

    assert (again.declared, again.given_tags, again.tags) == (False, ("own tag",), first.tags)
    assert prepare(replace(NEW, type=MemoryType.FACT, mixed=True), STAMP).declared


def test_tags_are_lower_case_single_spaced_unique_and_sorted() -> None:
    assert normal_tags(("B  b", "a", "A", " ", "b B")) == ("a", "b b")


def test_costs_are_exact_for_the_text_and_the_header() -> None:
    costs = prepare(NEW, STAMP).costs

    assert costs.verbatim == count_tokens(NEW.content)
    assert costs.header == count_tokens(f"[decision|2023-11-14|w] T0:{STAMP.id}")
    assert costs.fingerprint > 0


def test_preparing_is_deterministic() -> None:
    assert prepare(NEW, STAMP) == prepare(NEW, STAMP)


def test_a_secret_is_neither_indexed_nor_embedded_nor_read_for_facts() -> None:
    vault = Component("vault", {"entry_type": "api_key", "caption": "key of the build server"})
    made = prepare(NewMemory(content="hunter2 decided", wing="w", title="Build", component=vault), STAMP)

    assert made.hidden
    found = " ".join((*made.words, *made.tags, made.fingerprint))
    assert "hunter2" not in found
    assert "build" in found
    assert (
        searchable_text(title="Build", content="hunter2", component=vault)
        == "Build\napi_key\nkey of the build server"
    )


def test_a_memory_becomes_new_again_with_its_given_tags_and_declared_type() -> None:
    again = as_new(MEMORY)

    assert (again.tags, again.type) == (MEMORY.given_tags, MEMORY.type)
    assert as_new(MEMORY._replace(declared=False)).type is None


def test_snapshots_lose_nothing() -> None:
    assert load_memory(dump_memory(MEMORY)) == MEMORY
    assert load_stored(dump_stored((STORED, STORED))) == (STORED, STORED)
    assert load_component(dump_component(None)) is None
