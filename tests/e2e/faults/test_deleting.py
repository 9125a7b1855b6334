"""What is deleted is gone, from everywhere, and nothing else is."""

import itertools
import random
import sqlite3
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from e2e.door import Door, until
from e2e.running import Running
from requirements import requirement
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.index.v1 import index_service_pb2_grpc as index_rpc

LIMIT_S = 30.0
NAMES = ("a", "b")


def store_many(door: Door, memories: list[dict[str, Any]]) -> list[str]:
    """Store memories, 500 in a transaction, and return their ids."""
    ids: list[str] = []
    for start in range(0, len(memories), 500):
        answer = door.ask("POST", "/memories/batch", {"memories": memories[start : start + 500]})
        ids += [one["id"] for one in answer["memories"]]
    return ids


def all_of(door: Door, project: str) -> list[dict[str, Any]]:
    """List every memory of a project, page by page."""
    found: list[dict[str, Any]] = []
    token = ""
    while True:
        page = door.ask("GET", "/memories", project=project, page_size=1000, page_token=token)
        found += page["memories"]
        token = page.get("next_page_token", "")
        if not token:
            return found


@requirement("clear:scope", "store:projects")
@pytest.mark.parametrize("seed", range(3))
def test_whatever_scope_is_cleared_just_that_scope_goes_and_its_count_comes_back(
    door: Door, seed: int
) -> None:
    chance = random.Random(seed)
    projects = [f"scope-{seed}-{name}" for name in NAMES]
    places = list(itertools.product(projects, NAMES, NAMES, NAMES))
    store_many(
        door,
        [
            {"content": f"{tag} crate", "project": project, "wing": wing, "room": room, "tags": [tag]}
            for project, wing, room, tag in places
        ],
    )
    left = set(places)
    for _ in range(4):
        project, wing, room, tag = chance.choice(places)
        body: dict[str, Any] = chance.choice(
            (
                {"mode": "room", "wing": wing, "room": room},
                {"mode": "wing", "wing": wing},
                {"mode": "room", "wing": wing, "tags": [tag]},
                {"mode": "global", "tags": [tag, "crate"]},
            )
        )
        hit = {
            one
            for one in left
            if one[0] == project
            and one[1] in body.get("wing", one[1])
            and one[2] in body.get("room", one[2])
            and one[3] in body.get("tags", [one[3]])
        }
        answer = door.ask("DELETE", "/memories", body | {"project": project})
        left -= hit

        assert answer["deleted_count"] == len(hit)
    shown = {
        (name, memory["wing"], memory["room"], memory["given_tags"][0])
        for name in projects
        for memory in all_of(door, name)
    }
    assert shown == left


@requirement("clear:tags")
def test_deleting_by_tags_that_nothing_has_is_a_success_of_none(satchel: Running, door: Door) -> None:
    kept = door.store("tags", "Nobody tagged this.")
    command = satchel.cli("clear", "--global", "--tag", "no-such-tag", "--yes")
    answer = door.ask("DELETE", "/memories", {"mode": "global", "tags": ["no-such-tag"]})

    assert answer["deleted_count"] == 0
    assert (command.returncode, command.stderr.strip()) == (
        0,
        "Deleted 0 memories of default with no-such-tag.",
    )
    assert door.load(kept)["state"] == "active"


def remove_by_id(door: Door, one: str, project: str) -> None:
    assert door.send("DELETE", f"/memories/{one}", project=project).status_code == 204


def remove_by_clearing(door: Door, one: str, project: str) -> None:
    del one
    door.ask("DELETE", "/memories", {"mode": "global", "project": project, "tags": ["doomed"]})


@requirement("delete:gone", "clear:gone", "doors:own-writes")
@pytest.mark.parametrize("remove", [remove_by_id, remove_by_clearing])
def test_no_call_finds_what_the_call_before_deleted(
    door: Door, remove: Callable[[Door, str, str], None]
) -> None:
    project = remove.__name__.replace("_", "-")
    question = {"project": project, "wing": "w"}
    kept = door.store("w", "The tiger sleeps in the orchard.", project=project)
    for n in range(4):
        gone = door.store("w", f"The tiger number {n} hunts at night.", project=project, tags=["doomed"])
        door.ask("POST", "/causal/links", {"cause_id": kept, "effect_id": gone, "relation": "because"})
        remove(door, gone, project)

        assert door.recalled("Which tiger hunts at night?", **question) == [kept]
        assert door.found("tiger hunts night", **question) == [kept]
        assert door.found("tiger", tags=["doomed"], **question) == []
        assert [one["id"] for one in all_of(door, project)] == [kept]
        assert [one["id"] for one in door.ask("GET", "/timeline", project=project)["items"]] == [kept]
        assert door.ask("GET", f"/memories/{kept}/links")["links"] == []
        for path in ("", "/links", "/versions"):
            assert door.send("GET", f"/memories/{gone}{path}").status_code == 404


@requirement("delete:gone")
def test_a_deletion_leaves_neither_text_nor_vector_nor_link_in_the_database(
    satchel: Running, door: Door
) -> None:
    word = "xylotomous"
    before = door.ask("GET", "/status")["stats"]
    cause = door.store("erased", "The forester came first.")
    gone = door.store("erased", f"The {word} forester came because of the {word}.", tags=[word], title=word)
    door.ask("PUT", f"/memories/{gone}", {"content": f"The {word} forester left.", "summary": word})
    door.ask("POST", "/causal/links", {"cause_id": cause, "effect_id": gone, "relation": "because"})
    door.send("DELETE", f"/memories/{gone}")
    door.send("DELETE", f"/memories/{cause}")
    after = door.ask("GET", "/status")["stats"]
    with sqlite3.connect(f"file:{satchel.data_dir}/satchel.db?mode=ro", uri=True) as database:
        tables = database.execute(
            "SELECT name, type FROM pragma_table_list WHERE type IN ('table', 'virtual')"
        )
        names = [name for name, _ in tables if name != "sqlite_schema"]
        holders = {name for name in names if any(holds(row, word, gone) for row in rows_of(database, name))}
    database.close()

    counts = (
        "verbatim_count",
        "fingerprint_count",
        "embedding_count",
        "causal_node_count",
        "causal_edge_count",
    )
    assert [after[name] for name in counts] == [before[name] for name in counts]
    assert len(names) > 10
    # The feed of changes tells followers that this id is gone; nothing else of it is left.
    assert holders == {"tombstones"}


def rows_of(database: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    return database.execute(f'SELECT * FROM "{table}"').fetchall()  # noqa: S608  # a name of the schema


def holds(row: tuple[object, ...], word: str, memory_id: str) -> bool:
    number = bytes.fromhex(memory_id.replace("-", ""))
    for value in row:
        if isinstance(value, str) and (word in value.lower() or memory_id in value):
            return True
        if isinstance(value, bytes) and (word.encode() in value or number in value):
            return True
    return False


@requirement("store:projects", "delete:gone")
def test_the_same_text_elsewhere_outlives_a_deletion(door: Door) -> None:
    places = [("shared-1", "w"), ("shared-2", "w"), ("shared-1", "v")]
    text = "The well is deep."
    ids = [door.store(wing, text, project=project) for project, wing in places]
    door.ask("DELETE", "/memories", {"mode": "room", "wing": "w", "project": "shared-1"})

    assert door.send("GET", f"/memories/{ids[0]}").status_code == 404
    for one, (project, wing) in list(zip(ids, places, strict=True))[1:]:
        assert door.recalled("How deep is the well?", wing=wing, project=project) == [one]


@requirement("delete:gone", "store:same-once", "store:paths")
def test_what_was_deleted_or_archived_can_be_stored_again(door: Door) -> None:
    body = {"path": "Docs/Well.md", "session_id": "s", "occurred_at": "2024-01-01T00:00:00Z"}
    first = door.store("again", "The well is deep.", **body)
    door.send("DELETE", f"/memories/{first}")
    second = door.store("again", "The well is deep.", **body)
    archived = door.store("again", "The pond is shallow.")
    door.ask("POST", "/archive", {"ids": [archived]})
    revived = door.store("again", "The pond is shallow.")

    assert first != second
    assert door.load(second)["content"] == "The well is deep."
    assert set(door.recalled("How deep?", wing="again")) == {second, revived}


@requirement("read:bounded", "list:pages", "timeline:once", "clear:in-parts")
def test_a_thousand_memories_are_listed_to_the_end_and_deleted_in_one_call(door: Door) -> None:
    texts = [{"content": f"item {n}", "wing": "w", "project": "many"} for n in range(1010)]
    ids = store_many(door, texts)
    listed = [memory["id"] for memory in all_of(door, "many")]
    timed: list[str] = []
    cursor = ""
    while cursor or not timed:
        page = door.ask("GET", "/timeline", project="many", limit=400, cursor=cursor)
        timed += [item["id"] for item in page["items"]]
        cursor = page.get("next_cursor", "")
    cleared = door.ask("DELETE", "/memories", {"mode": "global", "project": "many"})

    assert sorted(listed) == sorted(timed) == sorted(ids)
    assert cleared["deleted_count"] == 1010
    assert all_of(door, "many") == []


def rebuild(satchel: Running) -> None:
    """Have the index made anew, and return when it is."""
    with grpc.insecure_channel(satchel.index) as channel:
        stub = index_rpc.IndexServiceStub(channel)
        stub.RebuildIndex(index_pb.RebuildIndexRequest(), timeout=LIMIT_S)
        until(
            lambda: stub.GetIndexStatus(index_pb.GetIndexStatusRequest()).state == index_pb.INDEX_STATE_READY
        )


@requirement("delete:gone", "search:stable-scores")
def test_an_index_made_anew_holds_just_what_the_store_holds(satchel: Running, door: Door) -> None:
    ids = [door.store("anew", f"The lamp number {n} is lit.") for n in range(6)]
    door.send("DELETE", f"/memories/{ids[0]}")
    door.ask("PUT", f"/memories/{ids[1]}", {"content": "The candle is out."})
    before = door.ask("POST", "/memories/search", {"query": "Which lamp is lit?", "wing": "anew"})["results"]
    rebuild(satchel)
    after = door.ask("POST", "/memories/search", {"query": "Which lamp is lit?", "wing": "anew"})["results"]
    status = door.ask("GET", "/status")

    assert after == before
    assert status["index"]["passage_count"] == status["stats"]["embedding_count"]
