"""The commands of MIRA, with the options that scripts use."""

import json
from pathlib import Path

import pytest

from e2e.door import Door
from e2e.running import Running
from requirements import requirement

RECORD = {
    "id": "0190a6b2-8f1e-4c3d-9a4b-5e6f70818293",
    "content": "The mill grinds at night.",
    "wing": "mill",
    "room": "facts",
    "type": "fact",
    "created_at": "2025-01-02T03:04:05Z",
}
DOCTOR = {
    "version", "uptime", "config_file", "storage_path", "model", "mcp_transport", "mcp_address",
    "api_enabled", "api_address", "metrics_enabled", "prometheus_addr", "soul_enabled", "webhooks_enabled",
    "webhook_count", "hnsw_key_set", "stats", "models",
}  # fmt: skip


@requirement("cli:query", "doors:miras-clients")
def test_a_memory_is_stored_and_asked_for_with_miras_options(satchel: Running, door: Door) -> None:
    text = "The miller sleeps at noon."
    stored = satchel.cli("store", "--content", text, "-w", "cmd", "-r", "r", "-t", "fact", "--json")
    asked = satchel.cli("query", "-q", "When does the miller sleep?", "-w", "cmd", "-r", "r", "--json")
    wrong = satchel.cli("store", "--content", text, "-w", "cmd", "-t", "wish")
    answer = json.loads(asked.stdout)

    assert stored.returncode == asked.returncode == 0
    assert answer["receipt"]["budget"] == 2000
    assert [found["id"] for found in answer["memories"]] == [json.loads(stored.stdout)["id"]]
    assert door.load(json.loads(stored.stdout)["id"])["room"] == "r"
    assert wrong.returncode != 0
    assert "type" in wrong.stderr


@requirement("cli:query", "import:lossless", "import:repeatable")
def test_what_mira_exported_is_imported_with_its_ids_and_times(
    satchel: Running, door: Door, tmp_path: Path
) -> None:
    file = tmp_path / "mira.json"
    bare = {"content": "The mill has no wing."}
    file.write_text(json.dumps([RECORD, bare, {"content": ""}]), encoding="utf-8")
    tried = satchel.cli("import", "-f", str(file), "--dry-run")
    imported = satchel.cli("import", "-f", str(file), "--json")
    exported = satchel.cli("export", "-w", "mill", "-n", "1")
    kept = door.load(RECORD["id"])

    assert "nothing stored" in tried.stdout
    assert imported.returncode == 1
    told = json.loads(imported.stdout)
    assert (told["stored"], told["failed"]) == (2, 1)
    assert {name: kept[name] for name in RECORD} == RECORD
    assert json.loads(exported.stdout)["id"] == RECORD["id"]


@requirement("cli:query", "delete:gone")
def test_deleting_asks_and_force_does_not(satchel: Running, door: Door) -> None:
    kept = door.store("cmd-delete", "The mill is sold.")
    asked = satchel.cli("delete", kept, stdin="n\n")
    still = door.send("GET", f"/memories/{kept}").status_code
    forced = satchel.cli("delete", kept, "--force")

    assert asked.returncode != 0
    assert (still, forced.returncode) == (200, 0)
    assert door.send("GET", f"/memories/{kept}").status_code == 404


@requirement("doors:miras-clients")
def test_nothing_beside_the_data_folder_is_touched(satchel: Running) -> None:
    beside = satchel.data_dir.parent

    assert (beside / ".gitignore").read_text(encoding="utf-8") == "build\n"
    assert sorted(path.name for path in beside.iterdir()) == [".gitignore", "data", "data.log"]


@requirement("doors:miras-clients", "status:parts")
@pytest.mark.parametrize(
    ("command", "members"),
    [
        (("status", "--json"), {"stats", "models", "version", "uptime"}),
        (("doctor", "--json"), {"healthy", "checks", *DOCTOR}),
        (("config", "show", "--json"), set()),
        (("config", "validate"), None),
    ],
)
def test_the_state_is_told_to_programs(
    satchel: Running, command: tuple[str, ...], members: set[str] | None
) -> None:
    done = satchel.cli(*command)

    assert done.returncode in ({0, 1} if command[0] == "doctor" else {0}), done.stderr
    if members is not None:
        assert set(json.loads(done.stdout)) >= members


@requirement("doors:miras-clients", "status:parts")
def test_the_doctor_says_what_mira_says_and_the_same_as_the_status(satchel: Running) -> None:
    found = json.loads(satchel.cli("doctor", "--json").stdout)
    status = json.loads(satchel.cli("status", "--json").stdout)

    assert {name: found[name] for name in ("version", "stats", "models")} == {
        name: status[name] for name in ("version", "stats", "models")
    }
    assert found["model"] == found["models"][0] == "all-MiniLM-L6-v2"
    assert found["uptime"] > 0
    assert (found["mcp_transport"], found["api_enabled"], found["hnsw_key_set"]) == ("stdio", True, False)
