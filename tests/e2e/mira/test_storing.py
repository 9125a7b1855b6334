"""What a client of MIRA stores: checked, typed, placed, read for facts, and kept once."""

from datetime import UTC, datetime

import pytest

from e2e.door import Door
from requirements import requirement

SAMPLE = (
    "We decided to use PostgreSQL for v2 (rejected: MySQL (replication), MongoDB) because of its ACID "
    "guarantees. Approved by CTO. Jean will take care of the migration."
)
ROOMS = {
    "decision": "decisions",
    "fact": "facts",
    "preference": "preferences",
    "session_note": "session",
    "debug_log": "debug",
}


def facts_of(door: Door, wing: str, text: str) -> dict[str, object]:
    found: dict[str, object] = door.load(door.store(wing, text))["fingerprint"]
    return found


@requirement("store:whole", "doors:miras-clients")
def test_a_stored_text_is_answered_with_its_figures_and_loads_as_it_was(door: Door) -> None:
    before = datetime.now(UTC)
    text = "We chose PostgreSQL for the ledger.\n\nRègle : «jamais» de perte 🙂 "
    answer = door.send("POST", "/memories", {"wing": "w1", "content": text})
    stored = answer.json()
    loaded = door.load(stored["id"])

    assert answer.status_code == 201
    assert stored["type"] == "decision"
    assert stored["fact_count"] >= 1
    assert stored["token_count"] > 0
    assert len(stored["model_hash"]) == 16
    assert stored["fingerprint_id"] == stored["id"]
    assert (loaded["content"], loaded["wing"]) == (text, "w1")
    assert before <= datetime.fromisoformat(loaded["created_at"]) <= datetime.now(UTC)


@requirement("doors:same-errors", "doors:miras-clients")
@pytest.mark.parametrize("wing", [None, "", " ", "a b", "é", "a/b", "w" * 101])
def test_a_wing_that_is_missing_or_not_legal_is_refused_and_nothing_is_stored(
    door: Door, wing: str | None
) -> None:
    text = f"Never stored under {wing}."
    body = {"content": text, "project": "refused"} | ({} if wing is None else {"wing": wing})
    answer = door.send("POST", "/memories", body)

    assert (answer.status_code, answer.json()["field"]) == (422, "wing")
    assert door.ask("GET", "/status", project="refused")["stats"]["verbatim_count"] == 0


@requirement("doors:miras-clients")
def test_a_wing_of_a_hundred_legal_characters_is_accepted(door: Door) -> None:
    wing = "Az09-_" * 16 + "long"

    assert len(wing) == 100
    assert door.load(door.store(wing, "Legal."))["wing"] == wing


@requirement("store:whole", "doors:same-errors", "doors:miras-clients")
def test_the_limit_of_a_text_counts_code_points_not_bytes(door: Door) -> None:
    longest = "é🙂" * 32_768
    refused = [
        door.send("POST", "/memories", {"wing": "limits", "content": text}) for text in (longest + "x", "")
    ]

    assert door.load(door.store("limits", longest))["content"] == longest
    assert [(one.status_code, one.json()["field"]) for one in refused] == [(422, "content")] * 2


@requirement("doors:miras-clients")
@pytest.mark.parametrize(("kind", "room"), ROOMS.items())
def test_a_memory_without_a_room_gets_that_of_its_type(door: Door, kind: str, room: str) -> None:
    placed = door.load(door.store("rooms", f"Placed by {kind}.", type=kind))
    kept = door.load(door.store("rooms", f"Kept, though {kind}.", type=kind, room="of-my-own"))

    assert (placed["type"], placed["room"]) == (kind, room)
    assert (kept["type"], kept["room"]) == (kind, "of-my-own")


@requirement("doors:miras-clients")
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The team decided to adopt Kubernetes for deployment.", "decision"),
        ("I prefer using Go over Python for this service.", "preference"),
        ("The database connection pool max is 100 connections.", "fact"),
        ("We had a good discussion about the roadmap today.", "session_note"),
    ],
)
def test_a_type_that_is_not_given_is_found_in_the_text(door: Door, text: str, kind: str) -> None:
    assert door.load(door.store("kinds", text))["type"] == kind


@requirement("doors:miras-clients")
def test_a_decision_gives_all_the_facts_that_it_tells(door: Door) -> None:
    facts = facts_of(door, "facts", SAMPLE)

    assert facts["type"] == "decision"
    assert "PostgreSQL" in str(facts["decision"])
    assert facts["rejected"] == ["MySQL", "MongoDB"]
    assert any("ACID" in reason for reason in facts["reasons"])  # type: ignore[attr-defined]  # a list of texts
    assert (facts["validator"], facts["assignee"]) == ("CTO", "Jean")


@requirement("doors:miras-clients")
def test_words_that_only_look_like_facts_give_none(door: Door) -> None:
    approved = facts_of(door, "facts", "The plan was approved and was deployed.")
    ports = facts_of(door, "facts", "The firewall lets ports 8080 through.")
    likely = door.load(door.store("facts", "It will likely rain on the roof."))

    assert (approved["validator"], approved["reasons"]) == ("", [])
    assert ports["deadline"] == ""
    assert likely["type"] != "preference"


@requirement("doors:miras-clients")
def test_entities_are_found_and_come_in_the_same_order_each_time(door: Door) -> None:
    addressed = "Ask anna@example.com, or read https://example.com/guide first."
    named = "Microsoft and Google are competing in Paris, where Élodie uses AWS and JWT."
    runs = [facts_of(door, f"order{run}", named)["entities"] for run in range(3)]

    assert {"anna@example.com", "https://example.com/guide"} <= set(
        facts_of(door, "addresses", addressed)["entities"]  # type: ignore[call-overload]  # a list of texts
    )
    assert {"Microsoft", "Paris", "Élodie", "AWS", "JWT"} <= set(runs[0])  # type: ignore[call-overload]
    assert runs[0] == runs[1] == runs[2]


@requirement("store:same-once", "doors:miras-clients")
def test_the_same_text_in_the_same_place_is_one_memory(door: Door) -> None:
    text = "The gate closes at ten."
    first, second = (door.ask("POST", "/memories", {"wing": "twice", "content": text}) for _ in range(2))
    elsewhere = door.store("once", text)
    listed = door.ask("GET", "/memories", wing="twice")["memories"]

    assert (first["duplicate"], second["duplicate"]) == (False, True)
    assert first["id"] == second["id"] != elsewhere
    assert [memory["id"] for memory in listed] == [first["id"]]
