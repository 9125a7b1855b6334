"""What was acknowledged is there, however many write at once, and what is read changes nothing."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from mcp import Client

from e2e.door import Door
from e2e.running import Running
from requirements import requirement

WRITERS = 8
EACH = 8


@requirement("store:acknowledged-is-durable", "doors:own-writes", "status:counts")
def test_as_many_are_there_as_were_acknowledged_to_writers_at_the_same_time(
    satchel: Running, door: Door
) -> None:
    def write(writer: int) -> list[str]:
        texts = (f"Writer {writer} wrote page {page}." for page in range(EACH))
        return [door.store(f"w{writer % 2}", text, project="writers") for text in texts]

    with ThreadPoolExecutor(WRITERS + 2) as pool:
        commands = [
            pool.submit(satchel.cli, "-p", "writers", "store", f"A command {n} wrote.", "-w", "w0")
            for n in range(2)
        ]
        written = [one for ids in pool.map(write, range(WRITERS)) for one in ids]
        written += [command.result().stdout.split()[0] for command in commands]
    listed = door.ask("GET", "/memories", project="writers", page_size=1000)["memories"]

    assert len(set(written)) == WRITERS * EACH + 2
    assert {memory["id"] for memory in listed} == set(written)
    assert door.ask("GET", "/status", project="writers")["stats"]["verbatim_count"] == len(written)


@requirement("update:concurrent", "update:version")
def test_of_changes_at_the_same_time_each_that_was_acknowledged_made_a_version(door: Door) -> None:
    kept = door.store("edited", "Edited by nobody.")

    def edit(writer: int) -> int:
        body = {"content": f"Edited by {writer}.", "expected_version": 1 if writer % 2 else 0}
        return door.send("PUT", f"/memories/{kept}", body).status_code

    with ThreadPoolExecutor(WRITERS) as pool:
        codes = list(pool.map(edit, range(WRITERS)))
    versions = door.ask("GET", f"/memories/{kept}/versions")["versions"]

    assert set(codes) <= {200, 409, 412}
    assert [one["memory"]["version"] for one in versions] == list(range(len(versions), 0, -1))
    assert len(versions) == 1 + codes.count(200)


@requirement("recall:filters", "recall:deterministic")
def test_a_recall_is_scoped_and_changes_nothing_however_often_it_is_asked(door: Door) -> None:
    for project in ("asked-1", "asked-2"):
        for wing in ("w", "v"):
            door.store(wing, f"The anchor of {project} and {wing} is rusty.", project=project)
    revision = door.ask("GET", "/status")["revision"]
    question = {"project": "asked-1", "wing": "w", "reference_time": "2030-01-01T00:00:00Z"}
    answers = [door.recall("Which anchor is rusty?", **question) for _ in range(3)]

    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]["memories"]) == 1
    assert door.ask("GET", "/status")["revision"] == revision


@requirement("recall:relevant", "mcp:derived")
async def test_tools_have_names_of_their_own_and_what_is_recalled_has_its_text(door: Door) -> None:
    kept = [door.store("texts", f"The mast number {n} is oak.") for n in range(3)]
    result = await door.tool("mira_recall", query="Which mast is oak?", wing="texts")
    async with Client(f"{door.http}/mcp") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    shown: list[dict[str, Any]] = result.structured_content["memories"]

    assert [name for name in names if not name.startswith(("mira_", "soul_"))] == []
    assert len(names) == len(set(names))
    assert {one["id"] for one in shown} == set(kept)
    assert all(one["rendered"] in result.structured_content["context"] for one in shown)
    assert all("mast number" in one["rendered"] for one in shown)


@requirement("mcp:protocol")
@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/cancelled", "notifications/odd"]
)
def test_a_notification_is_answered_by_202_and_nothing_else(door: Door, method: str) -> None:
    frame = {"jsonrpc": "2.0", "method": method, "params": {"requestId": 7} if "cancel" in method else {}}
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
        "mcp-protocol-version": "2025-06-18",
    }
    answer = httpx2.post(f"{door.http}/mcp", content=json.dumps(frame), headers=headers)

    assert (answer.status_code, answer.content) == (202, b"")
