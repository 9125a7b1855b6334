"""The same calls get the same answers from every backend, whatever their order."""

import random
import re
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from pathlib import Path

import grpc
import pytest
from contract.store.backends import BACKENDS, Backend
from contract.store.test_importing import import_all
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from unit.store import fakes
from unit.store.fakes import Client, vector

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import lifecycle_service_pb2 as life_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.api.types.v1 import memory_pb2, scope_pb2
from satchel.runtime.status import from_rpc_error

WORDS = [
    "running", "dogs", "ERR_4711-x", "東京", "café", "PostgreSQL", "MySQL", "decided", "blue", "whales",
    "because",
]  # fmt: skip
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
UNLIKE = {  # what follows from the bits of an id, from the backend, or from its way to rank and to round
    "store_id", "database_bytes", "schema_version", "header", "next_page_token", "next_cursor", "score",
    "passage",
}  # fmt: skip


class Program:
    """Calls chosen by chance from a seed, and what they answered, with each id as a number."""

    def __init__(self, client: Client, seed: int) -> None:
        self.client = client
        self.chance = random.Random(seed)
        self.ids: list[str] = []
        self.names: dict[str, str] = {}
        self.answers: list[object] = []

    async def run(self, steps: int) -> list[object]:
        for _ in range(steps):
            self.answers.append(await self.answer(self.change()))
            for call in self.questions():  # one after the other: a call begins when it is made
                self.answers.append(await self.answer(call))
        return self.answers

    async def answer(self, call: Awaitable[Message | list[Message]]) -> object:
        try:
            found = await call
        except grpc.aio.AioRpcError as error:
            refused = from_rpc_error(error)
            return self.plain([refused.reason, dict(refused.metadata)])
        messages = found if isinstance(found, list) else [found]
        return self.plain([MessageToDict(one, preserving_proto_field_name=True) for one in messages])

    def plain(self, value: object) -> object:
        """Return a value without what backends do not share."""
        if isinstance(value, dict):
            return {self.plain(key): self.plain(one) for key, one in value.items() if key not in UNLIKE}
        if isinstance(value, list):
            return [self.plain(one) for one in value]
        if not isinstance(value, str):
            return value
        return UUID.sub(lambda match: self.names.setdefault(match.group(), f"#{len(self.names)}"), value)

    def change(self) -> Awaitable[Message | list[Message]]:
        kinds: list[Callable[[], Awaitable[Message | list[Message]]]] = [
            self.store, self.store, self.store_batch, self.update, self.delete, self.import_, self.archive,
            self.unarchive, self.restore, self.clear,
        ]  # fmt: skip
        return self.chance.choice(kinds)()

    async def store(self) -> Message:
        stored = await self.client.memories.StoreMemory(self.new_memory())
        self.ids.append(stored.id)
        return stored

    async def store_batch(self) -> Message:
        batch = pb.BatchStoreMemoriesRequest(memories=[self.new_memory() for _ in range(3)])
        stored = await self.client.memories.BatchStoreMemories(batch)
        self.ids += [one.id for one in stored.memories]
        return stored

    async def update(self) -> Message:
        request = pb.UpdateMemoryRequest(
            id=self.some_id(), content=self.text(), expected_version=self.rarely(2)
        )
        request.path = self.chance.choice(["", "a", "B"])
        return await self.client.memories.UpdateMemory(request)

    async def delete(self) -> Message:
        request = pb.DeleteMemoryRequest(id=self.some_id(), expected_version=self.rarely(1))
        return await self.client.memories.DeleteMemory(request)

    async def import_(self) -> list[Message]:
        record = memory_pb2.Memory(
            id=f"01890a5d-ac96-774b-bcce-b302099a80{self.chance.randrange(8):02x}",
            content=self.text(),
            wing="w",
            path=self.chance.choice(["", "", "c"]),
            session_id=self.chance.choice(["", "s"]),
            session_order=self.chance.randrange(9),
            state=self.chance.choice([memory_pb2.MEMORY_STATE_ACTIVE, memory_pb2.MEMORY_STATE_ARCHIVED]),
            causal_links=self.links(),
        )
        record.created_at.seconds = self.chance.randrange(3)
        self.ids.append(record.id)
        return list(await import_all(self.client, [record]))

    async def archive(self) -> Message:
        asked = life_pb.ArchiveMemoriesRequest(dry_run=self.chance.random() < 0.2)
        if self.chance.random() < 0.5:
            asked.ids.extend(self.some_id() for _ in range(2))
        else:
            asked.wing = self.chance.choice(["", "w"])
        return self.in_order(await self.client.lifecycle.ArchiveMemories(asked))

    async def unarchive(self) -> Message:
        shelved = await self.client.memories.GetMemory(pb.GetMemoryRequest(id=self.some_id()))
        batch = shelved.memory.archive_batch_id
        asked = life_pb.UnarchiveMemoriesRequest(batch_id=batch, ids=[] if batch else [self.some_id()])
        return self.in_order(await self.client.lifecycle.UnarchiveMemories(asked))

    def in_order(
        self, answer: life_pb.ArchiveMemoriesResponse | life_pb.UnarchiveMemoriesResponse
    ) -> Message:
        """Name the ids in the order of the memories: that of the ids themselves differs by chance."""
        for field in ("archived_ids", "unarchived_ids"):
            if field in answer.DESCRIPTOR.fields_by_name:
                known = sorted(getattr(answer, field), key=self.ids.index)
                answer.ClearField(field)  # type: ignore[arg-type]  # a name of one of the two
                getattr(answer, field).extend(known)
        return answer

    async def restore(self) -> Message:
        request = life_pb.RestoreVersionRequest(
            id=self.some_id(), version=self.chance.randrange(1, 4), expected_version=self.rarely(2)
        )
        return await self.client.lifecycle.RestoreVersion(request)

    async def clear(self) -> Message:
        request = life_pb.ClearMemoriesRequest(
            mode=life_pb.CLEAR_MODE_ROOM,
            wing=self.chance.choice(["v", "w"]),
            room=self.chance.choice(["session", "session", "decisions", "facts"]),
        )
        if self.chance.random() < 0.7:
            request.expected_count = self.chance.randrange(3)
        return await self.client.lifecycle.ClearMemories(request)

    def questions(self) -> Iterator[Awaitable[Message | list[Message]]]:
        """Ask for everything that the change may have touched, in every form."""
        memories, ids = self.client.memories, [self.some_id() for _ in range(3)]
        scope = scope_pb2.MemoryFilter(
            wings=self.chance.choice([[], ["w"]]), tags=self.chance.choice([[], ["t"]])
        )
        words = self.text()
        yield memories.ListMemories(pb.ListMemoriesRequest(page_size=4))
        yield memories.ListTimeline(
            pb.ListTimelineRequest(limit=4, wing=self.chance.choice(["", "w"]), since=Timestamp(seconds=3))
        )
        yield self.client.lifecycle.ListVersions(life_pb.ListVersionsRequest(id=ids[0], page_size=2))
        yield memories.GetStoreStatus(
            pb.GetStoreStatusRequest(project=self.chance.choice(["", "default", "p"]))
        )
        yield memories.BatchGetMemories(
            pb.BatchGetMemoriesRequest(ids=ids, neighbor_count=2, include_vectors=True)
        )
        yield self.client.search.FetchCandidates(
            search_pb.FetchCandidatesRequest(ids=ids, neighbor_count=1, filter=scope, with_token_codes=True)
        )
        yield self.in_order_of_ids(
            self.client.search.SearchStoredVectors(
                search_pb.SearchStoredVectorsRequest(vector=vector(words), filter=scope, top_k=500)
            )
        )
        yield self.in_order_of_ids(
            self.client.search.SearchText(search_pb.SearchTextRequest(query=words, filter=scope, top_k=500))
        )
        yield self.feed(changes_pb.WatchChangesRequest(stop_at_head=True, batch_size=5, include_vectors=True))
        yield self.export(pb.ExportMemoriesRequest(all_projects=True))

    async def in_order_of_ids(
        self, call: Awaitable[search_pb.SearchTextResponse | search_pb.SearchStoredVectorsResponse]
    ) -> Message:
        found = await call
        found.hits.sort(key=lambda hit: hit.memory_id)
        return found

    async def feed(self, request: changes_pb.WatchChangesRequest) -> list[Message]:
        return [batch async for batch in self.client.changes.WatchChanges(request)]

    async def export(self, request: pb.ExportMemoriesRequest) -> list[Message]:
        return [one async for part in self.client.memories.ExportMemories(request) for one in part.memories]

    def new_memory(self) -> pb.StoreMemoryRequest:
        occurred = self.chance.choice([None, None, Timestamp(seconds=self.chance.randrange(9))])
        return pb.StoreMemoryRequest(
            content=self.text(),
            wing=self.chance.choice(["w", "v"]),
            project=self.chance.choice(["", "", "", "p"]),
            session_id=self.chance.choice(["", "s", "t"]),
            tags=self.chance.sample(["t", "Café", "blue"], self.chance.randrange(3)),
            path=self.chance.choice(["", "", "", "A"]),
            occurred_at=occurred,
            causal_links=self.links(),
        )

    def links(self) -> list[memory_pb2.CausalLink]:
        if self.chance.random() < 0.8:
            return []
        relation = memory_pb2.CAUSAL_RELATION_UPDATES
        return [memory_pb2.CausalLink(memory_id=self.some_id(), relation=relation)]

    def text(self) -> str:
        words = self.chance.choices(WORDS, k=self.chance.randrange(1, 5))
        return self.chance.choice([" ", "\n\n"]).join(words)

    def some_id(self) -> str:
        return self.chance.choice([*self.ids[-12:], "01890a5d-ac96-774b-bcce-b302099a8000"])

    def rarely(self, version: int) -> int:
        return version if self.chance.random() < 0.2 else 0


async def answers_of(backend: Backend, folder: Path, seed: int) -> list[object]:
    ticks = count(1_700_000_000_000_000, 1000)
    url = backend.url(folder / backend.name)
    settings = dict(backend.settings)
    async with fakes.running_store(folder, url=url, clock=lambda: next(ticks), **settings) as client:  # type: ignore[arg-type]
        return await Program(client, seed).run(50)


@requirement("backend:conformance")
@pytest.mark.parametrize("seed", range(2))
async def test_the_same_calls_get_the_same_answers_from_every_backend(tmp_path: Path, seed: int) -> None:
    first, *others = [await answers_of(backend, tmp_path, seed) for backend in BACKENDS]

    for other in others:
        for expected, actual in zip(first, other, strict=True):
            assert actual == expected
