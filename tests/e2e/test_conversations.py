"""A conversation is ingested through every door, and is one conversation for all of them."""

import json
from pathlib import Path

import httpx2

from e2e.running import Running
from requirements import requirement

TALK = [
    {"role": "system", "content": "You help people who keep lighthouses."},
    {"role": "user", "name": "Ana", "content": "The lamp of the north tower is changed in April."},
    {"role": "assistant", "content": "I will remind you of the lamp in April."},
    {"role": "user", "content": "The keeper of the south tower is Bo."},
]


@requirement("ingest:command", "ingest:again")
def test_rest_mcp_and_the_command_line_ingest_the_same_conversation_once(
    satchel: Running, tmp_path: Path
) -> None:
    file = tmp_path / "towers.json"
    file.write_text(json.dumps(TALK))
    looked = satchel.cli("ingest", str(file), "-w", "towers", "--dry-run")
    stored = satchel.cli("ingest", str(file), "-w", "towers", "--json")
    body = {"wing": "towers", "session_id": "towers", "messages": TALK, "include_assistant": True}
    rest = httpx2.post(f"{satchel.http}/api/v1/memories/ingest", json=body, timeout=60)
    call = {"name": "mira_ingest", "arguments": body}
    mcp = httpx2.post(
        f"{satchel.http}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
        headers={"Accept": "application/json, text/event-stream"},
        timeout=60,
    )

    assert (looked.returncode, looked.stdout) == (
        0,
        "2 stored, 0 duplicate, 2 skipped; nothing was changed\n",
    )
    assert [one["outcome"] for one in json.loads(stored.stdout)["results"]] == [
        "skipped_role", "stored", "skipped_role", "stored",
    ]  # fmt: skip
    assert rest.status_code == 201
    assert [rest.json()[f"{kind}_count"] for kind in ("stored", "duplicate", "skipped")] == [1, 2, 1]
    assert "Stored: 0\\nAlready stored: 3\\nSkipped: 1" in mcp.text


@requirement("ingest:turns")
def test_what_was_ingested_is_recalled_with_who_said_it(satchel: Running, tmp_path: Path) -> None:
    file = tmp_path / "harbour.json"
    file.write_text(json.dumps({"id": "h1", "messages": TALK[3:]}))
    done = satchel.cli("ingest", str(file), "-w", "harbour")
    recalled = satchel.cli("recall", "Who keeps the south tower?", "-w", "harbour", "-b", "200")

    assert (done.returncode, done.stdout) == (0, "1 stored, 0 duplicate, 0 skipped\n")
    assert "user: The keeper of the south tower is Bo." in recalled.stdout
    assert satchel.cli("ingest", str(tmp_path / "none.json")).returncode == 2
