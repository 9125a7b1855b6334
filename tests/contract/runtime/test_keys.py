"""Keys at a server: what each may do, and in which projects; whoever has none learns nothing."""

# ruff: noqa: ANN401, ARG002, N802  # messages of any type; servicers with the contract's names

from collections.abc import AsyncIterator
from importlib import import_module
from pathlib import Path
from typing import Any

import grpc
import pytest
from contract.runtime.transports import Opener
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from requirements import requirement
from satchel import api
from satchel.api.embedder.v1 import embedder_service_pb2 as embedder_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2_grpc as rpc
from satchel.gateway.transcoder.descriptors import load_contract, message_class
from satchel.runtime.channels import open_channel
from satchel.runtime.errors import ServiceError
from satchel.runtime.interceptors import projects
from satchel.runtime.interceptors.auth import authenticator_of
from satchel.runtime.interceptors.projects import confined
from satchel.runtime.keys import Key, KeyRing, KeySettings, Principal
from satchel.runtime.methods import deletes, parse_method
from satchel.runtime.server import GrpcServer
from satchel.runtime.settings import Secret
from satchel.runtime.status import from_rpc_error

ID = "0190a6b2-8f1e-7c3d-9a4b-5e6f70818293"
RING = KeyRing(
    KeySettings(
        Secret("owner"),
        (
            Key("reader", Secret("read")),
            Key("keeper", Secret("keep"), "write", may_delete=False),
            Key("one", Secret("one"), "write", projects=("a",)),
            Key("two", Secret("two"), "write", projects=("a", "b")),
        ),
    )
)
Context = grpc.aio.ServicerContext[Any, Any]


class Memories(rpc.MemoryServiceServicer):
    """Answers anything with nothing, and keeps what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Any] = []

    def register(self, server: grpc.aio.Server) -> None:
        rpc.add_MemoryServiceServicer_to_server(self, server)

    async def GetStoreStatus(self, request: Any, context: Context) -> Any:
        self.requests.append(request)
        return pb.GetStoreStatusResponse()

    async def StoreMemory(self, request: Any, context: Context) -> Any:
        self.requests.append(request)
        return pb.StoreMemoryResponse()

    async def BatchStoreMemories(self, request: Any, context: Context) -> Any:
        self.requests.append(request)
        return pb.BatchStoreMemoriesResponse()

    async def DeleteMemory(self, request: Any, context: Context) -> Any:
        self.requests.append(request)
        return pb.DeleteMemoryResponse(id=ID)

    async def ExportMemories(self, request: Any, context: Context) -> AsyncIterator[Any]:
        self.requests.append(request)
        yield pb.ExportMemoriesResponse()

    async def ImportMemories(self, request_iterator: Any, context: Context) -> AsyncIterator[Any]:
        async for request in request_iterator:
            self.requests.append(request)
            yield pb.ImportMemoriesResponse()


async def sent(opener: Opener, token: str, name: str, request: Any) -> tuple[list[Any], ServiceError | None]:
    """Call a method of the store with a token; return what arrived there, and what refused it."""
    memories = Memories()  # type: ignore[abstract]  # only what is called here
    async with opener(authenticator_of(RING), more=[memories]) as reach:
        call = getattr(rpc.MemoryServiceStub(reach.channel), name)
        metadata = (("authorization", f"Bearer {token}"),)
        try:
            if name.startswith(("Import", "Export")):
                _ = [answer async for answer in call(request, metadata=metadata)]
            else:
                await call(request, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            return memories.requests, from_rpc_error(error)
    return memories.requests, None


def stored(project: str = "") -> pb.StoreMemoryRequest:
    return pb.StoreMemoryRequest(content="x", wing="w", project=project)


@requirement("keys:rights")
@pytest.mark.parametrize(
    ("token", "request_", "needed"),
    [
        ("read", stored(), "write"),
        ("read", pb.DeleteMemoryRequest(id=ID), "write"),
        ("keep", stored(), ""),
        ("keep", pb.DeleteMemoryRequest(id=ID), "delete"),
        ("owner", pb.DeleteMemoryRequest(id=ID), ""),
    ],
)
async def test_a_key_does_what_its_right_includes(
    opener: Opener, token: str, request_: Message, needed: str
) -> None:
    name = "StoreMemory" if isinstance(request_, pb.StoreMemoryRequest) else "DeleteMemory"

    arrived, error = await sent(opener, token, name, request_)

    assert ("" if error is None else error.metadata["needed"]) == needed
    assert len(arrived) == (0 if needed else 1)


@requirement("keys:rights")
def test_just_the_rpcs_with_a_route_that_deletes_need_the_right_to_delete() -> None:
    import_contracts()
    with_verb = [
        one for one in load_contract().rpcs.values() if any(rule.verb == "DELETE" for rule in one.http)
    ]
    named = [
        one for one in load_contract().rpcs.values() if one.name.startswith(("Clear", "Delete", "Purge"))
    ]

    assert [one.path for one in with_verb if not deletes(parse_method(one.path))] == []
    assert [one.path for one in named if not deletes(parse_method(one.path))] == []
    assert not deletes(parse_method("/satchel.api.store.v1.MemoryService/UpdateMemory"))


def import_contracts() -> None:
    """Import every contract, as a process does with those that it serves."""
    for root in map(Path, api.__path__):
        for file in root.rglob("*_pb2.py"):
            import_module(".".join(("satchel.api", *file.relative_to(root).with_suffix("").parts)))


@requirement("keys:rights")
@pytest.mark.parametrize("token", ["one", "two"])
async def test_a_key_reaches_its_projects_and_no_others(opener: Opener, token: str) -> None:
    own, none = await sent(opener, token, "StoreMemory", stored("a"))
    foreign, refused = await sent(opener, token, "StoreMemory", stored("c"))

    assert ([request.project for request in own], none, foreign) == (["a"], None, [])
    assert refused is not None
    assert refused.reason == "ERROR_REASON_PERMISSION_DENIED"


@requirement("keys:rights")
async def test_the_project_of_a_key_stands_in_where_none_is_named(opener: Opener) -> None:
    batch = pb.BatchStoreMemoriesRequest(memories=[stored(), stored("a")])

    (one,), _ = await sent(opener, "one", "StoreMemory", stored())
    (several,), _ = await sent(opener, "one", "BatchStoreMemories", batch)
    _, refused = await sent(opener, "two", "StoreMemory", stored())

    assert [one.project, *(memory.project for memory in several.memories)] == ["a", "a", "a"]
    assert refused is not None
    assert "'a', 'b'" in refused.message


@requirement("keys:rights")
async def test_no_part_of_a_request_reaches_another_project(opener: Opener) -> None:
    batch = pb.BatchStoreMemoriesRequest(memories=[stored("a"), stored("b")])
    everything = pb.ExportMemoriesRequest(all_projects=True)

    for name, request in (("BatchStoreMemories", batch), ("ExportMemories", everything)):
        arrived, refused = await sent(opener, "one", name, request)
        assert (arrived, getattr(refused, "reason", "")) == ([], "ERROR_REASON_PERMISSION_DENIED")


@requirement("keys:rights")
async def test_a_stream_ends_at_the_first_request_for_another_project(opener: Opener) -> None:
    async def requests() -> AsyncIterator[pb.ImportMemoriesRequest]:
        for project in ("", "b"):
            yield pb.ImportMemoriesRequest(new_memory=stored(project))

    arrived, refused = await sent(opener, "one", "ImportMemories", requests())

    assert [request.new_memory.project for request in arrived] == ["a"]
    assert refused is not None
    assert refused.reason == "ERROR_REASON_PERMISSION_DENIED"


@requirement("keys:rights")
def test_every_rpc_names_its_project_or_is_closed_to_keys_with_projects() -> None:
    """Where several messages come in one request, each of them names it: an empty list names none."""
    limited = Principal("one", projects=frozenset({"a"}))
    unnamed = []
    for found in load_contract().rpcs.values():
        request = message_class(found.input)()
        try:
            confined(request, limited, parse_method(found.path))
        except ServiceError:
            continue
        if 'project: "a"' not in str(request) and not found.path.startswith(projects._WITHOUT_MEMORIES):
            unnamed.append(found.input)

    inner = [[one for one in message.fields if one.message_type] for message in unnamed]
    assert [fields for fields in inner if not any(map(is_one_of_several, fields))] == []


def is_one_of_several(field: FieldDescriptor) -> bool:
    """Tell whether a message of a project may be there more than once, or instead of another."""
    inner = field.message_type
    is_several = field.is_repeated or field.containing_oneof is not None
    return inner is not None and is_several and "project" in inner.fields_by_name


@requirement("keys:rights")
def test_what_is_open_to_keys_with_projects_without_one_exists() -> None:
    paths = [found.path for found in load_contract().rpcs.values()]
    ours = [prefix for prefix in projects._WITHOUT_MEMORIES if prefix.startswith("/satchel.")]

    assert [prefix for prefix in ours if not any(path.startswith(prefix) for path in paths)] == []


@requirement("keys:rights")
def test_a_text_to_embed_belongs_to_no_project() -> None:
    limited = Principal("one", projects=frozenset({"a"}))
    request = embedder_pb.EmbedTextsRequest(texts=["x"])
    method = parse_method("/satchel.api.embedder.v1.EmbedderService/EmbedTexts")

    assert confined(request, limited, method) is request


@requirement("keys:asked-for")
@pytest.mark.parametrize("metadata", [(), (("authorization", "owner"),), (("authorization", "Bearer x"),)])
async def test_reflection_needs_a_key_and_health_does_not(metadata: tuple[tuple[str, str], ...]) -> None:
    server = GrpcServer(["127.0.0.1:0"], authenticator=authenticator_of(RING), grace_s=0.2)
    async with server, open_channel(f"127.0.0.1:{server.ports[0]}") as channel:
        healthy = await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
        known = [("authorization", "Bearer read")]
        listed = await first_answer(channel, known)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await first_answer(channel, list(metadata))

    assert healthy.status == health_pb2.HealthCheckResponse.SERVING
    assert "grpc.health.v1.Health" in [one.name for one in listed.list_services_response.service]
    assert from_rpc_error(caught.value).reason == "ERROR_REASON_UNAUTHENTICATED"


@requirement("keys:asked-for")
async def test_two_keys_in_one_call_are_none(opener: Opener) -> None:
    memories = Memories()  # type: ignore[abstract]  # only what is called here
    async with opener(authenticator_of(RING), more=[memories]) as reach:
        stub = rpc.MemoryServiceStub(reach.channel)
        twice = (("authorization", "Bearer read"), ("authorization", "Bearer owner"))
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.GetStoreStatus(pb.GetStoreStatusRequest(), metadata=twice)

    assert from_rpc_error(caught.value).reason == "ERROR_REASON_UNAUTHENTICATED"


async def first_answer(channel: Any, metadata: list[tuple[str, str]]) -> Any:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    call = stub.ServerReflectionInfo(
        iter([reflection_pb2.ServerReflectionRequest(list_services="")]), metadata=metadata, timeout=10
    )
    return await anext(aiter(call))
