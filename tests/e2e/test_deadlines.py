"""A client of a real server learns why its call took too long, and what was answered before is kept."""

import queue
from collections.abc import Iterator

import grpc
import pytest
from google.rpc import error_details_pb2, status_pb2

from e2e.running import Running
from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes
from satchel.api.store.v1 import change_service_pb2_grpc as changes_grpc
from satchel.api.store.v1 import memory_service_pb2 as memories
from satchel.api.store.v1 import memory_service_pb2_grpc as memories_grpc
from satchel.runtime.status import DETAILS_KEY, DOMAIN

DEADLINE_S = 2.0
PROJECT = "deadlines"


@pytest.fixture
def channel(satchel: Running) -> Iterator[grpc.Channel]:
    """Reach the store with nothing of ours between."""
    with grpc.insecure_channel(satchel.store) as opened:
        yield opened


def reason_of(error: grpc.RpcError) -> tuple[str, str]:
    """Return reason and domain of the error's only detail."""
    assert error.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    details = next(pair.value for pair in error.trailing_metadata() if pair.key == DETAILS_KEY)
    status = status_pb2.Status.FromString(details)
    info = error_details_pb2.ErrorInfo()
    (detail,) = status.details
    assert detail.Unpack(info)
    return info.reason, info.domain


@requirement("rpc:deadlines")
def test_feed_with_a_deadline_ends_with_its_reason(channel: grpc.Channel) -> None:
    request = changes.WatchChangesRequest(project=PROJECT)
    feed = changes_grpc.ChangeServiceStub(channel).WatchChanges(request, timeout=DEADLINE_S)

    with pytest.raises(grpc.RpcError) as caught:
        list(feed)

    assert reason_of(caught.value) == ("ERROR_REASON_DEADLINE_EXCEEDED", DOMAIN)


@requirement("rpc:deadlines")
def test_records_that_were_answered_before_the_deadline_are_kept_whole(channel: grpc.Channel) -> None:
    stub = memories_grpc.MemoryServiceStub(channel)
    sent = queue.SimpleQueue[memories.ImportMemoriesRequest | None]()
    for number in (1, 2):
        record = memories.StoreMemoryRequest(
            content=f"Tray {number} is on the rack.", wing="w", project=PROJECT
        )
        sent.put(memories.ImportMemoriesRequest(sequence=number, new_memory=record))
    answers = stub.ImportMemories(iter(sent.get, None), timeout=DEADLINE_S)

    stored = [next(answers).stored.id for _ in (1, 2)]
    with pytest.raises(grpc.RpcError) as caught:
        next(answers)
    sent.put(None)

    assert reason_of(caught.value) == ("ERROR_REASON_DEADLINE_EXCEEDED", DOMAIN)
    listed = stub.ListMemories(memories.ListMemoriesRequest(project=PROJECT))
    assert sorted(memory.id for memory in listed.memories) == sorted(stored)
