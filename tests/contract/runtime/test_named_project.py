"""The project that the metadata of a call names stands in wherever its request leaves its own empty."""

# ruff: noqa: ANN401, N802  # requests of any type; the contract's names

from collections.abc import AsyncIterator
from typing import Any

import grpc
import pytest
from contract.runtime.transports import Opener

from requirements import requirement
from satchel.api.options.v1 import options_pb2
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2_grpc as rpc
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.store.v1 import search_service_pb2_grpc as search_rpc
from satchel.runtime.errors import Code, ServiceError
from satchel.runtime.interceptors import Principal
from satchel.runtime.interceptors.auth import local_owner
from satchel.runtime.interceptors.named_project import NamedProjectInterceptor
from satchel.runtime.methods import parse_method
from satchel.runtime.outgoing import OutgoingChannel
from satchel.runtime.propagation import Metadatum
from satchel.runtime.status import from_rpc_error

ALPHA: tuple[Metadatum, ...] = (("satchel-project", "alpha"),)
WHALES: tuple[Metadatum, ...] = (("satchel-project-bin", "Größe 🐋".encode()),)


class Store(rpc.MemoryServiceServicer, search_rpc.SearchServiceServicer):
    """Notes what it is asked. Counting asks on, over the channel in ``behind``."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        self.behind: grpc.aio.Channel | None = None

    def register(self, server: grpc.aio.Server) -> None:
        rpc.add_MemoryServiceServicer_to_server(self, server)
        search_rpc.add_SearchServiceServicer_to_server(self, server)

    async def ListMemories(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        self.seen.append(request)
        return pb.ListMemoriesResponse()

    async def GetStoreStatus(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        self.seen.append(request)
        assert self.behind is not None
        await rpc.MemoryServiceStub(self.behind).ListMemories(pb.ListMemoriesRequest())
        return pb.GetStoreStatusResponse()

    async def BatchStoreMemories(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        self.seen.append(request)
        return pb.BatchStoreMemoriesResponse()

    async def ExportMemories(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: ARG002
        self.seen.append(request)
        yield pb.ExportMemoriesResponse()

    async def ImportMemories(self, requests: Any, context: Any) -> AsyncIterator[Any]:  # noqa: ARG002
        async for request in requests:
            self.seen.append(request)
            yield pb.ImportMemoriesResponse()

    async def SearchText(self, request: Any, context: Any) -> Any:  # noqa: ARG002
        self.seen.append(request)
        return search_pb.SearchTextResponse()


def made() -> Store:
    return Store()  # type: ignore[abstract]  # only what is called here


def limited_to(*projects: str) -> Any:
    async def authenticate(_: object) -> Principal:
        return Principal("key", options_pb2.ACCESS_WRITE, projects=frozenset(projects))

    return authenticate


def memory(project: str = "") -> pb.StoreMemoryRequest:
    return pb.StoreMemoryRequest(content="text", wing="w", project=project)


async def listing_refused(
    opener: Opener,
    request: pb.ListMemoriesRequest,
    metadata: tuple[Metadatum, ...] = (),
    who: Any = local_owner,
) -> ServiceError:
    async with opener(who, more=[made()]) as reach:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await rpc.MemoryServiceStub(reach.channel).ListMemories(request, metadata=metadata)
    return from_rpc_error(caught.value)


@requirement("rpc:project")
@pytest.mark.parametrize(("metadata", "named"), [(ALPHA, "alpha"), (WHALES, "Größe 🐋"), ((), "")])
async def test_the_named_project_stands_in_for_an_empty_one(
    opener: Opener, metadata: tuple[Metadatum, ...], named: str
) -> None:
    store = made()
    async with opener(more=[store]) as reach:
        memories, search = rpc.MemoryServiceStub(reach.channel), search_rpc.SearchServiceStub(reach.channel)
        await memories.ListMemories(pb.ListMemoriesRequest(), metadata=metadata)
        await search.SearchText(search_pb.SearchTextRequest(query="q"), metadata=metadata)
        batch = pb.BatchStoreMemoriesRequest(memories=[memory(), memory("beta")])
        await memories.BatchStoreMemories(batch, metadata=metadata)
        records = [pb.ImportMemoriesRequest(new_memory=memory(name)) for name in ("", "beta")]
        await anext(aiter(memories.ImportMemories(iter(records), metadata=metadata)))

    listed, searched, stored, imported = store.seen[:4]
    assert (listed.project, searched.filter.project) == (named, named)
    assert [one.project for one in stored.memories] == [named, "beta"]
    assert imported.new_memory.project == named


@requirement("rpc:project")
async def test_a_request_that_names_a_project_or_wants_all_of_them_is_left_alone(opener: Opener) -> None:
    store = made()
    async with opener(more=[store]) as reach:
        memories = rpc.MemoryServiceStub(reach.channel)
        await memories.ListMemories(pb.ListMemoriesRequest(project="beta"), metadata=ALPHA)
        export = memories.ExportMemories(pb.ExportMemoriesRequest(all_projects=True), metadata=ALPHA)
        assert len([one async for one in export]) == 1

    assert [one.project for one in store.seen] == ["beta", ""]


@requirement("rpc:project")
@pytest.mark.parametrize("name", [" ", "x" * 201, "a\0b"])
async def test_a_name_that_is_no_project_is_refused_as_if_the_request_held_it(
    opener: Opener, name: str
) -> None:
    told = await listing_refused(opener, pb.ListMemoriesRequest(project=name))
    named = await listing_refused(opener, pb.ListMemoriesRequest(), (("satchel-project-bin", name.encode()),))

    assert named.metadata["field"] == "project"
    assert (named.reason, named.message, named.metadata) == (told.reason, told.message, told.metadata)


@requirement("rpc:project")
async def test_a_name_that_is_not_utf8_is_refused(opener: Opener) -> None:
    refused = await listing_refused(opener, pb.ListMemoriesRequest(), (("satchel-project-bin", b"\xff"),))

    assert (refused.code, refused.reason) == (Code.INVALID_ARGUMENT, "ERROR_REASON_FIELD_INVALID_CHARACTER")
    assert refused.metadata["field"] == "project"


@requirement("rpc:project")
async def test_the_named_project_goes_on_to_the_calls_behind(opener: Opener) -> None:
    store = made()
    async with opener(more=[store]) as reach:
        store.behind = OutgoingChannel(reach.channel)
        await rpc.MemoryServiceStub(reach.channel).GetStoreStatus(pb.GetStoreStatusRequest(), metadata=ALPHA)

    assert [one.project for one in store.seen] == ["alpha", "alpha"]


@requirement("rpc:project")
async def test_a_key_for_several_projects_reaches_the_named_one_and_no_other(opener: Opener) -> None:
    store, who = made(), limited_to("alpha", "beta")
    async with opener(who, more=[store]) as reach:
        await rpc.MemoryServiceStub(reach.channel).ListMemories(pb.ListMemoriesRequest(), metadata=ALPHA)
    unnamed = await listing_refused(opener, pb.ListMemoriesRequest(), who=who)
    foreign = await listing_refused(opener, pb.ListMemoriesRequest(), (("satchel-project", "gamma"),), who)

    assert [one.project for one in store.seen] == ["alpha"]
    assert [one.code for one in (unnamed, foreign)] == [Code.PERMISSION_DENIED] * 2


@requirement("rpc:project")
def test_calls_without_a_project_in_their_request_are_not_even_looked_at() -> None:
    names = ("store.v1.MemoryService/ListMemories", "embedder.v1.EmbedderService/EmbedTexts")
    looks = [NamedProjectInterceptor().concerns(parse_method(f"/satchel.api.{name}")) for name in names]

    assert looks == [True, False]
