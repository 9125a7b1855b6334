"""The index behind its real door, against a store behind real stubs, with FAISS and files."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import numpy as np
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from integration.index.store import StoreChanges, StoreSearches, encode_change
from unit.index.fakes import MODEL, FakeExact, FakeFeed, delete, direction, unit_rows, until, upsert

from satchel.api.index.v1 import index_service_pb2 as pb
from satchel.api.index.v1 import index_service_pb2_grpc as rpc
from satchel.api.store.v1 import change_service_pb2_grpc, search_service_pb2_grpc
from satchel.api.types.v1 import memory_pb2, scope_pb2
from satchel.index.main import Built, build
from satchel.index.settings import IndexSettings
from satchel.runtime.errors import ServiceError
from satchel.runtime.inprocess import InProcessChannel, InProcessServer
from satchel.runtime.interceptors import default_chain
from satchel.runtime.interceptors.auth import authenticator_of
from satchel.runtime.keys import Key, KeyRing, KeySettings
from satchel.runtime.settings import Secret
from satchel.runtime.status import from_rpc_error

SETTINGS = IndexSettings(
    first_retry_s=0.001, longest_retry_s=0.01, quiet_s=0.01, crossover=50, snapshot_every=5
)


@dataclass(frozen=True)
class Service:
    stub: "rpc.IndexServiceAsyncStub"
    built: Built


@asynccontextmanager
async def serving(
    feed: FakeFeed, exact: FakeExact | None = None, settings: IndexSettings = SETTINGS
) -> AsyncIterator[Service]:
    server = InProcessServer()
    change_service_pb2_grpc.add_ChangeServiceServicer_to_server(StoreChanges(feed), server)
    search_service_pb2_grpc.add_SearchServiceServicer_to_server(
        StoreSearches(exact or FakeExact(feed)),  # type: ignore[abstract]  # its other methods are not called
        server,
    )
    async with InProcessChannel(server) as channel, build(settings, store_channel=channel) as built:
        built.register(server)
        yield Service(rpc.IndexServiceStub(channel), built)


def ask(revision: int = 0, axis: int = 0, **fields: object) -> pb.SearchVectorsRequest:
    return pb.SearchVectorsRequest(vector=direction(axis).tobytes(), min_revision=revision, **fields)  # type: ignore[arg-type]


def found(response: pb.SearchVectorsResponse) -> list[str]:
    return [hit.memory_id for hit in response.hits]


async def failure(call: object) -> ServiceError:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call  # type: ignore[misc]
    return from_rpc_error(caught.value)


def damage(folder: Path) -> None:
    for path in folder.iterdir():
        path.write_bytes(path.read_bytes()[:-1] + b"!")


async def test_writes_are_found_and_deletions_gone_at_the_next_call() -> None:
    feed = FakeFeed(
        [upsert(1, "a", np.concatenate([direction(1), direction(0)])), upsert(2, "b", direction(0, 1))]
    )
    async with serving(feed) as service:
        await until(lambda: service.built.board.is_current)
        first = await service.stub.SearchVectors(ask(2))
        feed.add(delete(3, "a"))
        second = await service.stub.SearchVectors(ask(3))
        status = await service.stub.GetIndexStatus(pb.GetIndexStatusRequest())

    assert [(hit.memory_id, hit.score, hit.passage) for hit in first.hits] == [
        ("a", 1.0, 1),
        ("b", pytest.approx(0.707107), 0),
    ]
    assert first.model.name == "test-model"
    assert (found(second), second.applied_revision, second.degraded) == (["b"], 3, False)
    assert (status.state, status.lag, status.memory_count) == (pb.INDEX_STATE_READY, 0, 1)


async def test_a_key_of_one_project_sees_its_partitions_alone() -> None:
    feed = FakeFeed(
        [upsert(1, "a", direction(0), project="mine"), upsert(2, "b", direction(1), project="theirs")]
    )
    keys = KeyRing(KeySettings(keys=(Key("one", Secret("sk_one"), "read", projects=("mine",)),)))
    async with serving(feed) as service:
        await until(lambda: service.built.board.is_current)
        guarded = InProcessServer(default_chain(authenticator=authenticator_of(keys)))
        service.built.register(guarded)
        key = (("authorization", "Bearer sk_one"),)
        own = await rpc.IndexServiceStub(InProcessChannel(guarded)).GetIndexStatus(
            pb.GetIndexStatusRequest(), metadata=key
        )
        every = await service.stub.GetIndexStatus(pb.GetIndexStatusRequest())

    assert [one.project for one in own.partitions] == ["mine"]
    assert {one.project for one in every.partitions} == {"mine", "theirs"}


async def test_filter_has_every_condition_of_the_contract() -> None:
    tuesday = 1_700_000_000_000_000
    match = upsert(
        1,
        "match",
        direction(0),
        room="plans",
        type=memory_pb2.MEMORY_TYPE_DECISION,
        state=memory_pb2.MEMORY_STATE_ARCHIVED,
        session_id="s1",
        tags=("x", "y"),
        effective_us=tuesday,
    )
    wanted = scope_pb2.MemoryFilter(
        wings=["work"],
        rooms=["plans"],
        types=[memory_pb2.MEMORY_TYPE_DECISION],
        states=[memory_pb2.MEMORY_STATE_ARCHIVED],
        session_ids=["s1"],
        tags=["y", "x"],
        since=Timestamp(seconds=1_700_000_000),
        until=Timestamp(seconds=1_700_000_001),
    )
    differing = {
        "project": "other",
        "wing": "home",
        "room": "other",
        "type": 2,
        "state": 1,
        "session_id": "",
        "tags": ("x",),
        "effective_us": tuesday + 1_000_000,
    }
    others = [
        dataclasses.replace(match, revision=n + 2, memory_id=field, **{field: value})  # type: ignore[arg-type]
        for n, (field, value) in enumerate(differing.items())
    ]
    async with serving(FakeFeed([match, *others])) as service:
        await until(lambda: service.built.board.is_current)
        answer = await service.stub.SearchVectors(ask(filter=wanted))

    assert found(answer) == ["match"]


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (pb.SearchVectorsRequest(vector=b"123"), "ERROR_REASON_VECTOR_MALFORMED"),
        (pb.SearchVectorsRequest(vector=np.ones(8, np.float32).tobytes()), "ERROR_REASON_VECTOR_MALFORMED"),
        (pb.SearchVectorsRequest(vector=direction(0)[0, :4].tobytes()), "ERROR_REASON_DIMENSION_MISMATCH"),
        (ask(model_sha256="f" * 64), "ERROR_REASON_MODEL_MISMATCH"),
        (ask(top_k=1001), "ERROR_REASON_FIELD_OUT_OF_RANGE"),
    ],
)
async def test_bad_queries_are_refused_with_their_reason(
    request_: pb.SearchVectorsRequest, reason: str
) -> None:
    async with serving(FakeFeed([upsert(1, "a", direction(0))])) as service:
        await until(lambda: service.built.board.is_current)

        assert (await failure(service.stub.SearchVectors(request_))).reason == reason


async def test_store_answers_in_the_place_of_an_index_that_is_behind() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0)), upsert(2, "b", direction(0, 1))])
    feed.disconnect()
    async with serving(feed) as service:
        answer = await service.stub.SearchVectors(ask(2, min_score=0.9))

    assert (found(answer), answer.degraded, answer.applied_revision) == (["a"], True, 2)


async def test_restart_continues_from_the_snapshot(tmp_path: Path) -> None:
    rows = unit_rows(np.random.default_rng(6), 200)
    feed = FakeFeed([upsert(n + 1, f"m{n:03d}", row[None]) for n, row in enumerate(rows)])
    settings = dataclasses.replace(SETTINGS, folder=tmp_path / "index")
    async with serving(feed, settings=settings) as service:
        await service.built.board.wait_for(200, 10)
    feed.add(delete(201, "m003"), upsert(202, "new", direction(0)))
    feed.starts.clear()

    async with serving(feed, settings=settings) as service:
        await until(lambda: service.built.board.is_current)
        answer = await service.stub.SearchVectors(ask(202, top_k=300))
        status = await service.stub.GetIndexStatus(pb.GetIndexStatusRequest())

    assert feed.starts == [200]
    assert found(answer)[0] == "new"
    assert "m003" not in found(answer)
    assert len(answer.hits) == 200
    assert status.rebuild_reason == ""


async def test_damaged_snapshot_is_rebuilt_with_its_reason(tmp_path: Path) -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    settings = dataclasses.replace(SETTINGS, folder=tmp_path)
    async with serving(feed, settings=settings) as service:
        await service.built.board.wait_for(1, 10)
    damage(tmp_path)

    async with serving(feed, settings=settings) as service:
        await until(lambda: service.built.board.is_current)
        status = await service.stub.GetIndexStatus(pb.GetIndexStatusRequest())
        answer = await service.stub.SearchVectors(ask())

    assert "damaged" in status.rebuild_reason
    assert (found(answer), answer.degraded) == (["a"], False)


async def test_snapshot_far_behind_is_not_caught_up(tmp_path: Path) -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    settings = dataclasses.replace(SETTINGS, folder=tmp_path, most_lag=10)
    async with serving(feed, settings=settings) as service:
        await service.built.board.wait_for(1, 10)
    feed.add(*(upsert(n, f"m{n}", direction(1)) for n in range(2, 30)))

    async with serving(feed, settings=settings) as service:
        await until(lambda: service.built.board.is_current)
        status = await service.stub.GetIndexStatus(pb.GetIndexStatusRequest())

    assert "28 revisions behind" in status.rebuild_reason
    assert (status.applied_revision, status.memory_count) == (29, 29)


async def test_unusable_vectors_in_the_feed_leave_that_memory_out() -> None:
    feed = FakeFeed([upsert(1, "bad", direction(0) * 3), upsert(2, "good", direction(0, 1))])
    async with serving(feed) as service:
        await until(lambda: service.built.board.is_current)
        answer = await service.stub.SearchVectors(ask(2))

    assert found(answer) == ["good"]


async def test_pushed_changes_are_applied_without_a_feed() -> None:
    settings = dataclasses.replace(SETTINGS, follow=False)
    changes = [encode_change(upsert(1, "a", direction(0))), encode_change(delete(2, "b"))]
    async with serving(FakeFeed(), settings=settings) as service:
        applied = await service.stub.ApplyChanges(pb.ApplyChangesRequest(changes=changes))
        answer = await service.stub.SearchVectors(ask(2))
        gap = await failure(
            service.stub.ApplyChanges(pb.ApplyChangesRequest(changes=[encode_change(delete(9, "a"))]))
        )

    assert applied.applied_revision == 2
    assert found(answer) == ["a"]
    assert answer.model.sha256 == MODEL.sha256
    assert gap.reason == "ERROR_REASON_CHANGE_GAP"


async def test_pushed_changes_with_a_covered_gap_are_applied() -> None:
    settings = dataclasses.replace(SETTINGS, follow=False)
    first, later = encode_change(upsert(1, "a", direction(0))), encode_change(upsert(7, "b", direction(0, 1)))
    async with serving(FakeFeed(), settings=settings) as service:
        await service.stub.ApplyChanges(pb.ApplyChangesRequest(changes=[first]))
        applied = await service.stub.ApplyChanges(pb.ApplyChangesRequest(changes=[later], after_revision=1))
        gap = await failure(
            service.stub.ApplyChanges(pb.ApplyChangesRequest(changes=[later], after_revision=8))
        )

    assert applied.applied_revision == 7
    assert gap.reason == "ERROR_REASON_CHANGE_GAP"


async def test_snapshot_of_another_store_is_rebuilt(tmp_path: Path) -> None:
    settings = dataclasses.replace(SETTINGS, folder=tmp_path)
    async with serving(
        FakeFeed([upsert(1, "a", direction(0))], store_id="one"), settings=settings
    ) as service:
        await service.built.board.wait_for(1, 10)
    other = FakeFeed([upsert(1, "x", direction(0)), upsert(2, "b", direction(0, 1))], store_id="two")

    async with serving(other, settings=settings) as service:
        await until(lambda: service.built.board.is_current)
        status = await service.stub.GetIndexStatus(pb.GetIndexStatusRequest())
        answer = await service.stub.SearchVectors(ask(2))

    assert status.rebuild_reason.startswith("The store was replaced")
    assert found(answer) == ["x", "b"]


async def test_rebuild_reports_its_target() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    async with serving(feed) as service:
        await until(lambda: service.built.board.is_current)
        answer = await service.stub.RebuildIndex(pb.RebuildIndexRequest())
        await until(lambda: service.built.board.rebuild_progress is None)
        status = await service.stub.GetIndexStatus(pb.GetIndexStatusRequest())

    assert answer.target_revision == 1
    assert (status.state, status.rebuild_progress) == (pb.INDEX_STATE_READY, 1.0)
