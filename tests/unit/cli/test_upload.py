import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, cast

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1.memory_pb2 import MEMORY_TYPE_FACT, Memory
from satchel.cli.importing.records import Draft, Exported, Record, Refused, Skipped, Turn
from satchel.cli.importing.upload import SOURCE, Defaults, Outcome, to_request, turn_id, upload
from satchel.runtime.errors import InvalidRequest


class FakeStore:
    """Keeps what is imported by text; loses the connection before each sequence in ``breaks``, once."""

    def __init__(self, breaks: tuple[int, ...] = ()) -> None:
        self.memories: list[Memory] = []
        self._breaks = set(breaks)

    async def ImportMemories(  # noqa: N802
        self, requests: AsyncIterator[pb.ImportMemoriesRequest]
    ) -> AsyncIterator[pb.ImportMemoriesResponse]:
        async for request in requests:
            if request.sequence in self._breaks:
                self._breaks.remove(request.sequence)
                raise grpc.aio.AioRpcError(
                    grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata(), "gone"
                )
            yield self._store(request)

    def _store(self, request: pb.ImportMemoriesRequest) -> pb.ImportMemoriesResponse:
        response = pb.ImportMemoriesResponse(sequence=request.sequence)
        if request.HasField("memory"):
            self._keep(request.memory, response)
            return response
        new = request.new_memory
        same = [memory for memory in self.memories if memory.content == new.content]
        taken = [memory for memory in self.memories if new.path and memory.path == new.path]
        if same:
            response.stored.duplicate = True
        elif taken:
            response.error.CopyFrom(refusal("ERROR_REASON_PATH_TAKEN", taken[0].id))
        else:
            stored = Memory(id=str(len(self.memories)), content=new.content, wing=new.wing, path=new.path)
            stored.source = new.source
            self.memories.append(stored)
            response.stored.id = stored.id
        return response

    def _keep(self, memory: Memory, response: pb.ImportMemoriesResponse) -> None:
        same = [known for known in self.memories if known.id == memory.id]
        response.stored.duplicate = bool(same)
        if same and same[0].content != memory.content:
            response.error.CopyFrom(refusal("ERROR_REASON_MEMORY_ID_TAKEN", memory.id))
        elif not same:
            self.memories.append(memory)

    async def GetMemory(self, request: pb.GetMemoryRequest) -> pb.GetMemoryResponse:  # noqa: N802
        return pb.GetMemoryResponse(memory=self.memories[int(request.id)])

    async def UpdateMemory(self, request: pb.UpdateMemoryRequest) -> pb.UpdateMemoryResponse:  # noqa: N802
        self.memories[int(request.id)].content = request.content
        return pb.UpdateMemoryResponse()


def refusal(reason: str, memory_id: str) -> status_pb2.Status:
    status = status_pb2.Status(code=6, message="It is taken.")
    info = error_details_pb2.ErrorInfo(reason=reason, domain="satchel")
    info.metadata["memory_id"] = memory_id
    status.details.add().Pack(info)
    return status


async def outcomes(store: FakeStore, *records: Record) -> list[Outcome]:
    return [item async for item in upload(cast("Any", store), iter(records), Defaults(), "")]


async def test_each_record_gets_an_outcome() -> None:
    refused = Refused("d", "It is bad.")

    assert await outcomes(FakeStore(), Draft("a", "one"), Draft("b", "two"), Draft("c", "one"), refused) == [
        Outcome("a", "stored"),
        Outcome("b", "stored"),
        Outcome("c", "duplicate"),
        Outcome("d", "failed", "ERROR_REASON_MALFORMED_MESSAGE", "It is bad."),
    ]


async def test_what_was_not_answered_is_sent_again_after_a_lost_connection() -> None:
    store = FakeStore(breaks=(1, 3, 7))
    drafts = [Draft(str(number), f"text {number}") for number in range(10)]

    found = await outcomes(store, *drafts)

    assert [outcome.kind for outcome in found] == ["stored"] * 10
    assert [memory.content for memory in store.memories] == [draft.content for draft in drafts]


def turn(number: int, content: str) -> Draft:
    return Draft(f"turn {number}", content, session_id="talk", turn=Turn(number, number))


async def test_turns_of_the_same_words_are_all_kept_and_a_second_import_changes_nothing() -> None:
    store = FakeStore()
    turns = [turn(1, "yes"), turn(2, "Sure?"), turn(3, "yes")]

    first = [outcome.kind for outcome in await outcomes(store, *turns)]
    second = [outcome.kind for outcome in await outcomes(store, *turns)]

    assert (first, second) == (["stored"] * 3, ["duplicate"] * 3)
    kept = [(memory.content, memory.session_order) for memory in store.memories]
    assert kept == [("yes", 1), ("Sure?", 2), ("yes", 3)]


async def test_a_turn_with_another_text_is_left_alone_and_told() -> None:
    store = FakeStore()
    await outcomes(store, turn(1, "yes"))

    (outcome,) = await outcomes(store, turn(1, "no"))

    assert (outcome.kind, outcome.reason) == ("failed", "ERROR_REASON_MEMORY_ID_TAKEN")
    assert "another conversation" in outcome.message
    assert store.memories[0].id in outcome.message
    assert store.memories[0].content == "yes"


async def test_what_has_no_text_is_counted_as_skipped() -> None:
    assert await outcomes(FakeStore(), Skipped("a")) == [Outcome("a", "skipped")]


def test_the_id_of_a_turn_is_told_by_its_place_alone() -> None:
    places = [("", "w", "s", Turn(1, 1)), ("p", "w", "s", Turn(1, 1)), ("", "v", "s", Turn(1, 1))]
    places += [("", "w", "t", Turn(1, 1)), ("", "w", "s", Turn(2, 1)), ("", "w", "s", Turn(1, 1, part=1))]

    ids = [turn_id(*place) for place in places]

    assert len(set(ids)) == len(ids)
    assert turn_id("default", "w", "s", Turn(1, 9)) == ids[0]
    assert {uuid.UUID(found).version for found in ids} == {8}


def test_a_turn_has_the_type_and_the_tags_of_the_command_line() -> None:
    memory = to_request(turn(1, "yes"), Defaults(type="fact", tags=("a",)), "").memory

    assert (memory.type, memory.type_declared) == (MEMORY_TYPE_FACT, True)
    assert list(memory.given_tags) == ["a"]


async def test_a_document_that_changed_is_updated() -> None:
    store = FakeStore()
    await outcomes(store, Draft("a#1", "old", path="a#1"))

    assert await outcomes(store, Draft("a#1", "new", path="a#1")) == [Outcome("a#1", "updated")]
    assert [memory.content for memory in store.memories] == ["new"]


async def test_a_path_of_a_memory_that_no_import_stored_is_left_alone() -> None:
    store = FakeStore()
    store.memories.append(Memory(id="0", content="mine", path="a#1", wing="general", source="me"))

    (outcome,) = await outcomes(store, Draft("a#1", "new", path="a#1"))

    assert (outcome.kind, outcome.reason) == ("failed", "ERROR_REASON_PATH_TAKEN")
    assert store.memories[0].content == "mine"


async def test_a_store_that_is_lost_again_and_again_ends_the_import() -> None:
    class LostStore(FakeStore):
        def _store(self, request: pb.ImportMemoriesRequest) -> pb.ImportMemoriesResponse:
            assert request.sequence == 1
            raise grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, grpc.aio.Metadata(), grpc.aio.Metadata())

    with pytest.raises(grpc.aio.AioRpcError):
        await outcomes(LostStore(), Draft("a", "one"))


def test_a_draft_becomes_a_new_memory_in_the_wing_of_the_command_line_first() -> None:
    draft = Draft("a", "text", wing="own", occurred_at=datetime(2024, 5, 8, tzinfo=UTC), metadata={"turn": 1})

    own = to_request(draft, Defaults(room="r", tags=("t",)), "p").new_memory
    forced = to_request(draft, Defaults(wing="forced"), "").new_memory

    assert (own.wing, own.room, own.project, list(own.tags), own.source) == ("own", "r", "p", ["t"], SOURCE)
    assert own.occurred_at.seconds == 1715126400
    assert own.metadata["turn"] == 1
    assert forced.wing == "forced"


def test_an_exported_memory_keeps_its_id_and_a_new_record_gets_one() -> None:
    exported = Exported("a", {"id": "0190b2c8-3b5e-7cc0-9a55-2b4c6d7e8f90", "content": "x", "wing": "w"})

    assert to_request(exported, Defaults(), "").memory.wing == "w"
    assert to_request(Exported("b", {"content": "x"}), Defaults(), "").new_memory.wing == "general"


def test_a_record_with_an_unknown_field_is_refused_by_name() -> None:
    with pytest.raises(InvalidRequest, match="colour"):
        to_request(Exported("a", {"content": "x", "colour": "red"}), Defaults(), "")
