"""Every tool of MIRA, with the arguments that its clients send and what they read."""

import json
import re
from typing import Any

import pytest
from mcp import Client

from e2e.door import Door, text_of
from requirements import requirement

TEXT = "We chose PostgreSQL for the ledger of Acme because it needs ACID."
PARAMETERS: dict[str, set[str]] = {
    "mira_store": {"content", "wing", "room", "type", "metrics"},
    "mira_recall": {"query", "budget", "wing", "room", "fallback_wings", "session_id"},
    "mira_load": {"id"},
    "mira_causal_chain": {"id", "max_depth", "include_consequences"},
    "mira_status": set(),
    "mira_health": set(),
    "mira_timeline": {"wing", "room", "type", "since", "until", "limit", "cursor"},
    "mira_archive": set(),
    "mira_clear_memory": {"mode", "wing", "room"},
    "mira_update": {"id", "content"},
    "mira_search": {"query", "top_k", "threshold", "wing"},
    "mira_consolidate": {"wing", "similarity_threshold"},
    "mira_ingest": {"messages", "dry_run"},
}
REQUIRED = {"mira_store": {"content", "wing"}, "mira_recall": {"query"}, "mira_load": {"id"}}
SOUL = {"capture", "recall", "drift", "swap", "status", "history", "update", "patch"}


@requirement("mcp:derived", "doors:miras-clients", "soul:tools")
async def test_every_tool_of_mira_is_listed_with_its_arguments_and_their_limits(door: Door) -> None:
    async with Client(f"{door.http}/mcp") as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    schemas: dict[str, dict[str, Any]] = {name: tool.input_schema for name, tool in tools.items()}

    assert set(tools) >= set(PARAMETERS) | {f"soul_{name}" for name in SOUL}
    for name, parameters in PARAMETERS.items():
        assert set(schemas[name].get("properties", {})) >= parameters, name
    for name, required in REQUIRED.items():
        assert set(schemas[name]["required"]) == required, name
    assert schemas["mira_store"]["properties"]["content"]["maxLength"] == 65_536
    assert "decision" in json.dumps(schemas["mira_store"])


@requirement("doors:miras-clients", "mcp:texts")
async def test_what_mira_sends_is_understood_and_what_it_reads_is_told(door: Door) -> None:
    stored = await door.tool("mira_store", content=TEXT, wing="tools", metrics='{"score": 1}')
    kept = stored.structured_content["id"]
    recalled = await door.tool("mira_recall", query="Which database?", wing="tools", budget="750")
    loaded = text_of(await door.tool("mira_load", id=f"ID: T0:{kept}"))
    lines = text_of(await door.tool("mira_timeline", wing="tools")).splitlines()
    status = text_of(await door.tool("mira_status"))

    assert kept in text_of(stored)
    assert recalled.structured_content["receipt"]["budget"] == 750
    assert TEXT in text_of(recalled)
    assert loaded.endswith(f"\n\n{TEXT}")
    assert all(part in loaded.splitlines()[0] for part in (kept, "tools/decisions", "decision"))
    assert f"ID: T0:{kept}" in lines[1]
    assert not lines[-1].startswith("Next cursor")
    assert re.search(r"Memories: \d+ \(.*decision \d+", status)
    assert door.load(kept)["metadata"]["metrics"] == {"score": 1}


@requirement("doors:miras-clients", "update:derived", "mcp:texts")
async def test_a_memory_is_changed_searched_and_consolidated_by_tools(door: Door) -> None:
    kept = door.store("tools-2", TEXT, type="session_note")
    await door.tool("mira_update", id=kept, content="We chose SQLite for the ledger of Acme.")
    found = await door.tool("mira_search", query="ledger", wing="tools-2", top_k=3, threshold=0.1)
    merged = await door.tool("mira_consolidate", wing="tools-2", similarity_threshold=0.95, dry_run=True)
    said = [{"role": "user", "content": "The oven of the bakery is brand new."}]
    ingested = await door.tool("mira_ingest", messages=said, wing="tools-2", dry_run=True)

    assert [one["content"] for one in found.structured_content["results"]] == [
        "We chose SQLite for the ledger of Acme."
    ]
    assert not merged.is_error
    assert not ingested.is_error
    assert len(door.ask("GET", "/memories", wing="tools-2")["memories"]) == 1


@requirement("mcp:errors", "doors:miras-clients")
@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("mira_store", {"content": "x"}, "wing"),
        ("mira_store", {"content": "x", "wing": "w", "type": "wish"}, "type"),
        ("mira_store", {"content": "x", "wing": "w", "metrics": "no json"}, "metrics"),
        ("mira_recall", {"query": " "}, "query"),
        ("mira_recall", {"query": "x", "budget": "100001"}, "budget"),
        ("mira_recall", {"query": "x", "budget": "-5"}, "budget"),
        ("mira_load", {"id": "T0:0190a6b2"}, "id"),
        ("mira_causal_chain", {"id": ""}, "id"),
        ("mira_timeline", {"wing": "w", "type": "wish"}, "type"),
        ("mira_timeline", {"wing": "w", "since": "yesterday"}, "since"),
        ("mira_clear_memory", {"mode": "some"}, "mode"),
    ],
)
async def test_a_wrong_argument_is_named_with_the_remedy(
    door: Door, tool: str, arguments: dict[str, object], field: str
) -> None:
    result = await door.tool(tool, **arguments)

    assert result.is_error
    assert result.structured_content["field"] == field
    assert result.structured_content["remedy"] in text_of(result)


@requirement("mcp:confirmed", "clear:counted-first", "doors:miras-clients")
async def test_clearing_by_tool_needs_a_yes_and_says_how_many(door: Door) -> None:
    for n in range(2):
        door.store("tools-3", f"Chair {n}.")
    asked = {"mode": "room", "wing": "tools-3"}
    refused = await door.tool("mira_clear_memory", **asked)
    done = await door.tool("mira_clear_memory", **asked, confirm=True)

    assert refused.is_error
    assert "2 memories" in text_of(refused)
    assert done.structured_content["deleted_count"] == 2
