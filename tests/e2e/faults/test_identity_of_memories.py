"""A memory is known by all of its text, under one id that every door takes, and kept once."""

import json
from collections import Counter
from pathlib import Path
from uuid import UUID

import pytest

from e2e.door import Door, text_of
from e2e.running import Running
from requirements import requirement

TALK = [
    {"role": "user", "content": "The harbour was frozen for the whole of January."},
    {"role": "assistant", "content": "Then the ferries could not leave the harbour for weeks."},
    {"role": "user", "content": "They went to the southern harbour, which never freezes."},
]


@requirement("store:same-once", "store:whole")
@pytest.mark.parametrize("alike", [100, 1_000, 65_535])
def test_texts_that_differ_only_at_their_end_are_two_memories(door: Door, alike: int) -> None:
    texts = ["h" * alike + end for end in "ab"]
    ids = [door.store("ends", text, project=f"ends-{alike}") for text in texts]

    assert ids[0] != ids[1]
    assert [door.load(one)["content"] for one in ids] == texts


@requirement("doors:miras-clients", "delete:gone")
async def test_every_id_that_is_shown_anywhere_can_be_loaded_changed_and_deleted(
    satchel: Running, door: Door
) -> None:
    text = "The lighthouse is at the end of the pier."
    question = {"query": "Where is the lighthouse?", "wing": "ids"}
    stored = door.ask("POST", "/memories", {"wing": "ids", "content": text})
    shown = {
        "store": stored["id"],
        "store of mira": stored["fingerprint_id"],
        **{
            name: door.recall(**question)["memories"][0][name]
            for name in ("id", "candidate_id", "verbatim_id")
        },
        "search": door.ask("POST", "/memories/search", question)["results"][0]["id"],
        "list": door.ask("GET", "/memories", wing="ids")["memories"][0]["id"],
        "timeline": door.ask("GET", "/timeline", wing="ids")["items"][0]["id"],
        "export": json.loads(satchel.cli("export", "--wing", "ids").stdout)["id"],
        "tool": text_of(await door.tool("mira_search", **question)).partition("T0:")[2].split()[0],
    }

    assert {UUID(one) for one in shown.values()} == {UUID(stored["id"])}
    for one in shown.values():
        for form in (one, f"T0:{one}", one.upper(), f"ID: T0:{one}"):
            assert door.load(form)["content"] == text, form
    assert door.ask("PUT", f"/memories/T0:{stored['id']}", {"title": "Pier"})["title"] == "Pier"
    assert door.send("DELETE", f"/memories/T0:{stored['id']}").status_code == 204


@requirement("ingest:again", "import:repeatable", "import:lossless")
def test_what_comes_again_changes_nothing(satchel: Running, door: Door, tmp_path: Path) -> None:
    chat, notes = tmp_path / "chat.json", tmp_path / "notes"
    chat.write_text(json.dumps(TALK), encoding="utf-8")
    notes.mkdir()
    (notes / "harbour.md").write_text(
        "# Harbour\n\nIt is deep.\n\n## Pier\n\nIt is long.\n", encoding="utf-8"
    )
    kept = tmp_path / "kept.jsonl"
    ingested = {"wing": "ingested", "session_id": "s", "messages": TALK, "project": "again"}
    ways = [("import", str(chat), "--format", "chat", "--wing", "talk"), ("import", str(notes))]

    def repeat(*more: tuple[str, ...]) -> None:
        for way in (*ways, *more):
            assert satchel.cli("-p", "again", *way).returncode == 0
        door.ask("POST", "/memories/ingest", ingested)

    repeat(("export", "-o", str(kept)))
    before = door.ask("GET", "/status", project="again")
    repeat(("import", str(kept)))
    door.recall("Which harbour freezes?", project="again")
    after = door.ask("GET", "/status", project="again")

    assert (before["stats"], before["revision"]) == (after["stats"], after["revision"])
    assert before["stats"]["verbatim_count"] == 3 + 2 + 2


@requirement("store:same-once", "recall:duplicates", "metrics:parts")
def test_repetitions_are_kept_once_and_told(door: Door) -> None:
    texts = ["The tide comes twice a day.", "The moon pulls the sea."] * 25
    memories = [{"wing": "tide", "content": text} for text in texts]
    stored = door.ask("POST", "/memories/batch", {"memories": memories})["memories"]

    assert Counter(one["duplicate"] for one in stored) == {True: 48, False: 2}
    assert len({one["id"] for one in stored}) == 2
    assert len(door.ask("GET", "/memories", wing="tide")["memories"]) == 2
    assert len(door.recalled("What does the tide do?", wing="tide")) == 2
