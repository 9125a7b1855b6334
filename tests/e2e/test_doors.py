"""Every door gives the same answer, whichever way Satchel runs."""

import json
import subprocess
from pathlib import Path

import grpc
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from e2e.running import COMMAND, Running
from requirements import requirement
from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as allocator_rpc
from satchel.runtime.tokens import count_tokens

QUESTION = "At which temperature is the sourdough baked, and why?"
BUDGET = 300


def over_rest(satchel: Running) -> str:
    answer = httpx2.post(
        f"{satchel.http}/api/v1/memories/recall",
        json={"query": QUESTION, "budget": BUDGET, "wing": "kitchen"},
    )
    assert answer.status_code == 200, answer.text
    return str(answer.json()["context"])


def over_grpc(satchel: Running) -> str:
    with grpc.insecure_channel(satchel.allocator) as channel:
        request = allocator_pb.RecallRequest(query=QUESTION, budget=BUDGET, wing="kitchen")
        return str(allocator_rpc.AllocatorServiceStub(channel).Recall(request, timeout=30).context)


def over_command_line(satchel: Running) -> str:
    done = satchel.cli("recall", QUESTION, "--budget", str(BUDGET), "--wing", "kitchen")
    assert done.returncode == 0, done.stderr
    return done.stdout.removesuffix("\n")


async def over_mcp(client: Client) -> str:
    result = await client.call_tool("mira_recall", {"query": QUESTION, "budget": BUDGET, "wing": "kitchen"})
    assert not result.is_error
    assert result.structured_content is not None
    text = getattr(result.content[0], "text", "")
    assert text == result.structured_content["context"]
    return str(text)


@requirement("doors:same-bytes")
async def test_every_door_recalls_the_same_bytes(satchel: Running) -> None:
    rest = over_rest(satchel)
    async with Client(f"{satchel.http}/mcp") as client:
        mcp = await over_mcp(client)

    assert "245 degrees" in rest
    assert [rest, rest, rest] == [over_grpc(satchel), over_command_line(satchel), mcp]


@requirement("doors:same-bytes")
async def test_an_agent_that_starts_its_own_server_recalls_the_same_bytes(satchel: Running) -> None:
    place = ["--url", satchel.url] if satchel.url else ["--data-dir", str(satchel.data_dir)]
    server = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *place, "mcp"])
    async with Client(stdio_client(server)) as client:
        assert over_rest(satchel) == await over_mcp(client)


@requirement("recall:budget", "recall:explained")
def test_the_receipt_is_what_tiktoken_counts(satchel: Running) -> None:
    answer = httpx2.post(
        f"{satchel.http}/api/v1/memories/recall",
        json={"query": QUESTION, "budget": 64, "wing": "kitchen", "explain": True},
    ).json()

    counted = count_tokens(answer["context"])
    assert 0 < counted <= 64
    assert [counted, counted] == [answer["total_tokens"], answer["receipt"]["total_tokens"]]
    assert {row["id"] for row in answer["memories"]} <= {row["id"] for row in answer["explanations"]}


@requirement("doors:own-writes", "delete:gone")
def test_a_client_reads_its_own_writes_and_never_what_it_deleted(satchel: Running) -> None:
    api = f"{satchel.http}/api/v1/memories"
    stored = httpx2.post(
        api, json={"wing": "attic", "content": "The skylight key hangs behind the quartz lamp."}
    )
    question = {"query": "Where does the skylight key hang?", "wing": "attic", "budget": 200}
    before = httpx2.post(f"{api}/recall", json=question).json()
    deleted = httpx2.delete(f"{api}/T0:{stored.json()['id']}")
    after = httpx2.post(f"{api}/recall", json=question).json()
    found = httpx2.post(f"{api}/search", json={"query": "skylight key quartz", "wing": "attic"}).json()

    assert [stored.status_code, deleted.status_code] == [201, 204]
    assert "quartz lamp" in before["context"]
    assert [after["context"], after["memories"], found["results"]] == ["", [], []]
    assert httpx2.get(f"{api}/{stored.json()['id']}").status_code == 404


@requirement("rest:update", "update:derived")
def test_an_update_keeps_what_it_does_not_change(satchel: Running) -> None:
    api = f"{satchel.http}/api/v1/memories"
    stored = httpx2.post(
        api, json={"wing": "yard", "content": "The well is nine metres deep.", "type": "decision"}
    )
    changed = httpx2.put(
        f"{api}/{stored.json()['id']}", json={"content": "The well is eleven metres deep."}
    ).json()
    search = {"query": "how deep is the well in metres", "wing": "yard"}
    found = httpx2.post(f"{api}/search", json=search).json()["results"]

    assert [changed["type"], changed["version"]] == ["decision", 2]
    assert stored.json()["created_at"] == changed["created_at"]
    assert [row["content"] for row in found] == ["The well is eleven metres deep."]


@requirement("import:lossless")
def test_an_export_imported_elsewhere_exports_the_same_lines(satchel: Running, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    elsewhere = [*COMMAND, "--data-dir", str(tmp_path / "elsewhere")]
    assert satchel.cli("export", "--wing", "kitchen", "-o", str(first)).returncode == 0
    for arguments in (["import", str(first)], ["export", "-o", str(second)]):
        subprocess.run([*elsewhere, *arguments], check=True, capture_output=True, timeout=120)

    kept = [comparable(line) for line in first.read_text(encoding="utf-8").splitlines()]
    assert len(kept) == 8
    assert kept == [comparable(line) for line in second.read_text(encoding="utf-8").splitlines()]


def comparable(line: str) -> dict[str, object]:
    """Leave out what the other store numbers for itself."""
    return {name: value for name, value in json.loads(line).items() if name != "revision"}
