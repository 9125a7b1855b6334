"""A Satchel with keys, set by its configuration file: every door asks, and what belongs to it goes on."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import grpc
import pytest
from integration.cli.programs import Server, command, environment, satchel
from integration.cli.test_apart import SERVICES, free_addresses
from mcp import ClientSession, StdioServerParameters, stdio_client

from requirements import requirement
from satchel.api.store.v1 import memory_service_pb2, memory_service_pb2_grpc
from satchel.gateway.data_folder import DataFolder

OWNER, READER = "sk_owner", "sk_reader"
FILE = f"""\
api:
  auth_token: {OWNER}
  wing_tokens:
    {READER}: [read]
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guarded") / "satchel.yaml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def folder(file: Path) -> Path:
    return file.parent / "data"


@pytest.fixture(scope="module")
def guarded(file: Path, folder: Path) -> Iterator[Server]:
    addresses = free_addresses(2)
    arguments = ["-c", str(file), "-d", str(folder), "up", "--grpc", addresses[0], "--http", addresses[1]]
    server = Server(folder.with_suffix(".log"), *arguments, ready="gRPC").wait()
    yield server
    assert server.stop() == 0


def asked(url: str, token: str = "", body: object = None) -> tuple[int, dict[str, object]]:
    """Ask a REST path and return the status and the answer."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(  # noqa: S310  # of this machine
        url, data, {**headers, "Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  # the same
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


@requirement("keys:asked-for", "keys:rights")
def test_rest_and_grpc_ask_for_a_key_and_hold_to_its_right(guarded: Server) -> None:
    memories = f"{guarded.address('REST')}/memories"
    memory = {"content": "The gate is locked at nine.", "wing": "gate"}

    assert asked(memories)[0] == 401
    assert asked(memories, READER)[0] == 200
    assert asked(memories, READER, memory)[0] == 403
    assert asked(memories, OWNER, memory)[0] == 201
    assert grpc_code(guarded.address("gRPC"), "") is grpc.StatusCode.UNAUTHENTICATED
    assert grpc_code(guarded.address("gRPC"), READER) is grpc.StatusCode.OK


def grpc_code(address: str, token: str) -> grpc.StatusCode:
    metadata = (("authorization", f"Bearer {token}"),) if token else ()
    with grpc.insecure_channel(address) as channel:
        stub = memory_service_pb2_grpc.MemoryServiceStub(channel)
        try:
            stub.GetStoreStatus(memory_service_pb2.GetStoreStatusRequest(), timeout=10, metadata=metadata)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


@requirement("keys:inside")
def test_a_command_on_the_data_folder_needs_no_key_and_one_at_the_address_does(
    guarded: Server, folder: Path
) -> None:
    stored = satchel("-d", str(folder), "store", "The key hangs behind the door.", "-w", "gate")
    at_address = ["--url", guarded.address("gRPC")]
    refused = satchel(*at_address, "recall", "Where is the key?")
    given = satchel(*at_address, "--token", READER, "recall", "Where is the key?")
    by_variable = satchel(*at_address, "recall", "Where is the key?", SATCHEL_TOKEN=READER)

    assert (stored.code, refused.code, given.code) == (0, 1, 0)
    assert "API key" in refused.err
    assert b"behind the door" in given.out
    assert given.out == by_variable.out


@asynccontextmanager
async def agent(*arguments: str) -> AsyncIterator[ClientSession]:
    program, *rest = command(*arguments)
    parameters = StdioServerParameters(command=program, args=rest, env=environment())
    async with AsyncExitStack() as stack:
        streams = await stack.enter_async_context(stdio_client(parameters))
        session = await stack.enter_async_context(ClientSession(*streams))
        await session.initialize()
        yield session


@requirement("keys:inside")
async def test_an_agent_on_the_data_folder_needs_no_key(guarded: Server, folder: Path) -> None:
    assert DataFolder(folder).owner() is not None
    async with agent("-d", str(folder), "mcp") as session:
        answer = await session.call_tool("mira_store", {"content": "The dog is called Rex.", "wing": "gate"})

    assert not answer.is_error, answer
    assert guarded.is_running


@requirement("config:found")
def test_status_and_doctor_name_the_configuration_file(guarded: Server, file: Path, folder: Path) -> None:
    place = ["-c", str(file), "-d", str(folder)]
    status = satchel(*place, "status", "--json")
    doctor = satchel(*place, "doctor", "--json")

    assert guarded.is_running
    assert json.loads(status.text)["config_file"] == json.loads(doctor.text)["config_file"] == str(file)
    assert f"config    {file} (--config)" in satchel(*place, "status").text


@requirement("cli:migrate")
def test_migrate_is_refused_beside_a_satchel_that_runs(guarded: Server, folder: Path) -> None:
    refused = satchel("-d", str(folder), "migrate")

    assert (refused.code, "Stop it" in refused.err, str(guarded.pid) in refused.err) == (4, True, True)


@requirement("cli:migrate")
def test_migrate_makes_and_renews_a_database_and_tells_what_it_did(tmp_path: Path) -> None:
    first = json.loads(satchel("-d", str(tmp_path), "migrate", "--json").text)
    again = json.loads(satchel("-d", str(tmp_path), "migrate", "--json").text)

    assert (first["before"], len(first["applied"]), first["database"]) == (
        0,
        first["after"],
        str(DataFolder(tmp_path).database),
    )
    assert (again["before"], again["after"], again["applied"]) == (first["after"], first["after"], [])
    assert "nothing was to be done" in satchel("-d", str(tmp_path), "migrate").text
    assert satchel("--url", "127.0.0.1:1", "migrate").code == 2


@requirement("keys:network")
@pytest.mark.parametrize(
    "arguments",
    [
        ["up", "--http", "0.0.0.0:0"],
        ["up", "--grpc", "0.0.0.0:0"],
        ["serve", "store", "--listen", "0.0.0.0:0"],
        ["serve", "gateway", "--listen", "0.0.0.0:0"],
        ["server", "--transport", "http", "--mcp-addr", "0.0.0.0:0"],
    ],
)
def test_nothing_listens_where_others_reach_it_without_a_token(tmp_path: Path, arguments: list[str]) -> None:
    refused = satchel("-d", str(tmp_path), *arguments)

    assert refused.code == 2
    assert "SATCHEL_AUTH_TOKEN" in refused.err


def until_whole(url: str, question: Mapping[str, object]) -> tuple[int, dict[str, object]]:
    """Ask until the index, which follows the store in its own time, answers too; at most 30 s."""
    deadline = time.monotonic() + 30
    while True:
        answer = asked(url, READER, question)
        if not answer[1]["receipt"]["degraded"] or time.monotonic() > deadline:  # type: ignore[index]
            return answer


@requirement("keys:inside", "keys:rights")
def test_services_apart_find_each_other_and_follow_with_one_token(file: Path, tmp_path: Path) -> None:
    addresses = dict(zip(SERVICES, free_addresses(len(SERVICES)), strict=True))
    peers = [part for name in SERVICES[:-1] for part in (f"--{name}", addresses[name])]
    place = ["-c", str(file), "-d", str(tmp_path / "data"), "serve"]
    servers = [
        Server(
            tmp_path / f"{name}.log",
            *(*place, name, "--listen", addresses[name], *peers),
            ready="started",
            log_level="INFO",
        )
        for name in SERVICES
    ]
    try:
        for server in servers:
            server.wait()
        api = f"http://{addresses['gateway']}"
        stored = asked(
            f"{api}/api/v1/memories", OWNER, {"content": "The ferry leaves at six.", "wing": "sea"}
        )
        question = {"query": "When does the ferry leave?", "wing": "sea"}
        recalled = until_whole(f"{api}/api/v1/memories/recall", question)
        statuses = [asked(f"{api}/api/v1/status")[0], asked(f"{api}/health/ready")[0]]
    finally:
        for server in servers:
            server.ask_to_stop()
        codes = [server.stop() for server in reversed(servers)]

    assert (stored[0], statuses) == (201, [401, 200])
    assert "ferry leaves at six" in str(recalled[1]["context"])
    assert recalled[1]["receipt"]["degraded"] == []  # type: ignore[index]  # an object
    assert codes == [0] * len(SERVICES)


@requirement("cli:server")
def test_server_serves_each_door_at_the_address_of_its_option(tmp_path: Path) -> None:
    mcp, api, metrics, own_grpc = free_addresses(4)
    server = Server(
        tmp_path / "server.log",
        *("-d", str(tmp_path / "data"), "server", "--transport", "http", "--with-api", "--api-token", OWNER),
        *("--mcp-addr", mcp, "--api-addr", api, "--prometheus-addr", metrics),
        ready="gRPC",
        SATCHEL_GRPC=own_grpc,
    ).wait()
    try:
        found = {
            (name, path): asked(f"http://{address}{path}", OWNER)[0]
            for name, address in (("mcp", mcp), ("api", api))
            for path in ("/mcp", "/api/v1/status", "/health/live")
        }
        refused = asked(f"http://{api}/api/v1/status")[0]
        shown = urllib.request.Request(  # of this machine
            f"http://{metrics}/metrics", headers={"Authorization": f"Bearer {OWNER}"}
        )
        with urllib.request.urlopen(shown, timeout=30) as answer:  # noqa: S310  # the same
            exposition = answer.read()
    finally:
        code = server.stop()

    assert found == {
        ("mcp", "/mcp"): 405,  # it takes POST
        ("mcp", "/api/v1/status"): 404,
        ("mcp", "/health/live"): 200,
        ("api", "/mcp"): 404,
        ("api", "/api/v1/status"): 200,
        ("api", "/health/live"): 200,
    }
    assert (refused, code) == (401, 0)
    assert b"mira_memory_count" in exposition


@requirement("cli:server")
async def test_server_speaks_mcp_on_stdin_and_stdout_and_rest_beside_it(tmp_path: Path) -> None:
    (api,) = free_addresses(1)
    options = ["server", "--with-api", "--api-addr", api, "--no-metrics"]
    async with agent("-d", str(tmp_path / "data"), *options) as session:
        answer = await session.call_tool("mira_store", {"content": "The well is deep.", "wing": "yard"})
        status, shown = asked(f"http://{api}/api/v1/memories")

    assert not answer.is_error
    assert (status, "The well is deep." in str(shown)) == (200, True)
