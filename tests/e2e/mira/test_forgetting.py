"""What a client of MIRA archives, clears and consolidates, and gets back."""

import json
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from e2e.door import Door
from e2e.running import Running
from requirements import requirement

AGED = {
    "note of 31 days": ("session_note", 31),
    "note of 29 days": ("session_note", 29),
    "log of 8 days": ("debug_log", 8),
    "log of 6 days": ("debug_log", 6),
    "decision of 400 days": ("decision", 400),
}
PARKING = (
    "We looked at the parking space of the new office again.",
    "We looked at the parking space of the new office again today.",
    "We looked again at the parking space of the new office.",
)


def import_aged(satchel: Running, wing: str) -> dict[str, str]:
    """Import memories of several ages, as an export would have them; return their ids by text."""
    ids = {text: str(uuid4()) for text in AGED}
    now = datetime.now(UTC)
    lines = [
        json.dumps(
            {
                "id": ids[text],
                "content": f"This is a {text}.",
                "wing": wing,
                "room": "aged",
                "type": kind,
                "created_at": (now - timedelta(days=days)).isoformat(),
            }
        )
        for text, (kind, days) in AGED.items()
    ]
    done = satchel.cli("import", "-", stdin="\n".join(lines))
    assert done.returncode == 0, done.stderr
    return ids


@requirement("archive:by-age", "archive:never-found", "archive:undone", "doors:miras-clients")
def test_old_notes_and_logs_are_archived_and_can_be_brought_back(satchel: Running, door: Door) -> None:
    ids = import_aged(satchel, "aged")
    gone = [ids["note of 31 days"], ids["log of 8 days"]]
    freed = sum(door.load(one)["token_count"] for one in gone)
    archived = door.ask("POST", "/archive", {"wing": "aged"})
    left = set(door.recalled("note, log or decision of days", wing="aged"))
    again = door.ask("POST", "/archive", {"wing": "aged"})
    door.ask("POST", "/unarchive", {"batch_id": archived["batch_id"]})
    back = set(door.recalled("note, log or decision of days", wing="aged"))

    assert archived["result"] == {"session_notes": 1, "debug_logs": 1, "tokens_freed": freed}
    assert left == set(ids.values()) - set(gone)
    assert again["result"] == {"session_notes": 0, "debug_logs": 0, "tokens_freed": 0}
    assert back == set(ids.values())


@requirement("doors:same-errors", "doors:miras-clients")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"mode": "everything"},
        {"mode": "room"},
        {"mode": "room", "room": "r"},
        {"mode": "global", "wing": "kept"},
    ],
)
def test_to_clear_without_a_clear_scope_is_refused_and_clears_nothing(
    door: Door, body: dict[str, str]
) -> None:
    kept = door.store("kept", "What nobody cleared.", project="cleared-wrongly")
    answer = door.send("DELETE", "/memories", body | {"project": "cleared-wrongly"})

    assert answer.status_code == 422
    assert door.load(kept)["content"] == "What nobody cleared."


@requirement("clear:scope", "doors:miras-clients")
def test_clearing_a_room_or_a_wing_takes_just_that_and_counts_it(door: Door) -> None:
    place = {"red": "r1", "blue": "r1", "green": "r2"}
    ids = {name: door.store("cleared", f"The {name} chair.", room=room) for name, room in place.items()}
    beside = door.store("cleared-not", "The red chair.", room="r1")
    room = door.ask("DELETE", "/memories", {"mode": "room", "wing": "cleared", "room": "r1"})
    left = door.found("chair", wing="cleared")
    wing = door.ask("DELETE", "/memories", {"mode": "room", "wing": "cleared"})

    assert (room["deleted_count"], room["mode"], left) == (2, "room", [ids["green"]])
    assert wing["deleted_count"] == 1
    assert door.found("chair", wing="cleared") == []
    assert door.found("chair", wing="cleared-not") == [beside]


@requirement("clear:gone", "doors:own-writes", "doors:miras-clients")
@pytest.mark.parametrize("mode", ["global", "all"])
def test_after_clearing_everything_the_next_call_stores_and_recalls(door: Door, mode: str) -> None:
    project = f"emptied-{mode}"
    for n in range(3):
        door.store("w", f"Chair {n}.", project=project)
    cleared = door.ask("DELETE", "/memories", {"mode": mode, "project": project})
    empty = door.ask("GET", "/status", project=project)["stats"]
    new = door.store("w", "The table is new.", project=project)

    assert cleared["deleted_count"] == 3
    assert (empty["verbatim_count"], empty["embedding_count"], empty["active_wings"]) == (0, 0, [])
    assert door.recalled("What is new?", project=project) == [new]


@requirement("merge:similar", "merge:keeps-everything", "merge:undone", "doors:miras-clients")
def test_notes_that_repeat_each_other_become_one_fact_that_can_be_undone(door: Door) -> None:
    wing = "merged"
    notes = [door.store(wing, text, type="session_note") for text in PARKING]
    other = door.store(wing, "The printer on the second floor was repaired by Tom.", type="session_note")
    done = door.ask("POST", "/memories/consolidate", {"wing": wing})
    made = door.load(done["clusters"][0]["id"])
    again = door.ask("POST", "/memories/consolidate", {"wing": wing})
    shown = door.recalled("What of the parking space?", wing=wing)
    door.ask("POST", "/unarchive", {"batch_id": done["batch_id"]})

    assert (done["consolidated_count"], done["removed_count"]) == (1, 3)
    assert (again["consolidated_count"], again["removed_count"]) == (0, 0)
    assert (made["type"], made["room"]) == ("fact", "consolidated")
    assert all(text in made["content"] for text in PARKING)
    assert (shown[0], set(shown) & set(notes)) == (made["id"], set())
    assert door.load(other)["state"] == "active"
    assert set(notes) <= set(door.recalled("What of the parking space?", wing=wing))


@requirement("doors:same-errors", "doors:miras-clients")
def test_to_consolidate_needs_a_wing(door: Door) -> None:
    answer = door.send("POST", "/memories/consolidate", {})

    assert (answer.status_code, answer.json()["field"]) == (422, "wing")
