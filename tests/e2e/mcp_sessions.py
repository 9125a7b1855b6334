"""One session that every MCP client runs, and the clients that run it."""

import json
import re
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp_types import ElicitResult

from e2e.node_programs import installed
from e2e.running import COMMAND, Running

HERE = Path(__file__).resolve().parent
TRANSPORTS = ("stdio", "sse", "http")
REFERENCE = re.compile(r"\$(\d+)\.(\w+)")
DECISION = "We chose PostgreSQL for the ledger of Acme."
CONSEQUENCE = "Acme moved the ledger to a larger server."
RUN_LIMIT_S = 120

Step = tuple[str, dict[str, Any]]
Result = dict[str, Any]


def steps_of(wing: str) -> list[Step]:
    """Return the calls of a session in a wing of its own; ``$0.id`` is a member of what step 0 returned."""
    link = {"memory_id": "$0.id", "relation": "because"}
    return [
        ("mira_store", {"content": DECISION, "wing": wing}),
        ("mira_store", {"content": CONSEQUENCE, "wing": wing, "causal_links": [link]}),
        ("mira_recall", {"query": "Which database has the ledger?", "wing": wing, "budget": "300"}),
        ("mira_load", {"id": "T0:$0.id"}),
        ("mira_causal_chain", {"id": "$1.id"}),
        ("mira_timeline", {"wing": wing, "limit": "10"}),
        ("mira_archive", {"ids": ["$0.id"]}),
        ("mira_unarchive", {"batch_id": "$6.batch_id"}),
        ("mira_clear_memory", {"mode": "wing", "wing": wing, "confirm": True}),
        ("mira_timeline", {"wing": wing}),
    ]


def address(satchel: Running, transport: str) -> str:
    """Return the URL of a transport over HTTP."""
    return f"{satchel.http}/{'sse' if transport == 'sse' else 'mcp'}"


def command(satchel: Running) -> list[str]:
    """Return the command of a server on stdin and stdout, on the same data folder."""
    return [*COMMAND, "--data-dir", str(satchel.data_dir), "mcp"]


def filled(arguments: dict[str, Any], results: Sequence[Result]) -> dict[str, Any]:
    """Return arguments with what earlier steps returned in them."""

    def member(found: re.Match[str]) -> str:
        return str(results[int(found[1])]["structuredContent"][found[2]])

    made: dict[str, Any] = json.loads(REFERENCE.sub(member, json.dumps(arguments)))
    return made


async def run_python(satchel: Running, transport: str, steps: Sequence[Step]) -> list[Result]:
    """Run a session of the official Python SDK, whose user agrees."""

    async def agree(context: object, params: object) -> ElicitResult:
        del context, params
        return ElicitResult(action="accept", content={"confirm": True})

    program, *rest = command(satchel)
    servers: dict[str, Callable[[], Any]] = {
        "stdio": lambda: StdioServerParameters(command=program, args=rest),
        "sse": lambda: sse_client(address(satchel, "sse")),
        "http": lambda: address(satchel, "http"),
    }
    results: list[Result] = []
    async with Client(servers[transport](), elicitation_callback=agree) as client:
        for name, arguments in steps:
            result = await client.call_tool(name, filled(arguments, results))
            results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True))
    return results


def run_typescript(satchel: Running, transport: str, steps: Sequence[Step]) -> tuple[int, list[Result]]:
    """Run a session of the official TypeScript SDK; return how often its user was asked, and the results."""
    folder = installed(HERE / "conformance").parent.parent
    asked = {
        "transport": transport,
        "url": address(satchel, transport),
        "command": command(satchel),
        "steps": steps,
    }
    done = subprocess.run(  # a pinned program
        ["node", str(folder / "session.mjs")],  # noqa: S607  # Node.js as it is installed
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_LIMIT_S,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    return told["questions"], told["results"]


def run_inspector(satchel: Running, transport: str, steps: Sequence[Step]) -> list[Result]:
    """Run the steps through the Inspector's command line, which begins a session for each."""
    inspector = installed(HERE / "inspector") / "mcp-inspector"
    target = (
        command(satchel) if transport == "stdio" else [address(satchel, transport), "--transport", transport]
    )
    results: list[Result] = []
    for name, arguments in steps:
        given = [
            word
            for key, value in filled(arguments, results).items()
            for word in ("--tool-arg", f"{key}={value if isinstance(value, str) else json.dumps(value)}")
        ]
        done = subprocess.run(  # a pinned program
            [str(inspector), "--cli", *target, "--method", "tools/call", "--tool-name", name, *given],
            capture_output=True,
            text=True,
            check=False,
            timeout=RUN_LIMIT_S,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        results.append(json.loads(done.stdout))
    return results


def check(results: Sequence[Result]) -> None:
    """Hold the results of a session to what its steps are for."""
    for result in results:
        assert not result.get("isError"), result
    texts = [str(result["content"][0]["text"]) for result in results]
    found = [result["structuredContent"] for result in results]
    ids = [found[0]["id"], found[1]["id"]]
    assert DECISION in texts[2] == found[2]["context"]
    assert texts[3].endswith(f"\n\n{DECISION}")
    assert [node["id"] for node in found[4]["chain"]] == ids[:1]
    assert ids[::-1] == [item["id"] for item in found[5]["items"]]
    assert [found[6]["archived_count"], found[7]["unarchived_count"]] == [1, 1]
    assert (found[8]["deleted_count"], found[9]["items"]) == (2, [])
