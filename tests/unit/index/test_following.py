"""The index as a whole over fakes of the store: following, rebuilding, falling back."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import numpy as np
import pytest
from unit.index.fakes import (
    DIMENSION,
    MODEL,
    FakeExact,
    FakeFeed,
    NumpyLibrary,
    delete,
    direction,
    ids,
    unit_rows,
    until,
    upsert,
)

from satchel.index.board import State
from satchel.index.contents import count_contents
from satchel.index.errors import (
    ChangeGap,
    DimensionMismatch,
    IndexNotReady,
    ModelMismatch,
    RevisionNotReached,
    RevisionUnknown,
)
from satchel.index.main import Built, build
from satchel.index.model import Filter, Model, Query
from satchel.index.ports import Maintenance
from satchel.index.settings import IndexSettings

SETTINGS = IndexSettings(
    first_retry_s=0.001, longest_retry_s=0.01, revision_wait_s=0.05, quiet_s=0.01, crossover=16
)
QUERY = Query(direction(0)[0])
OTHER_MODEL = Model("b" * 64, DIMENSION, "other")


@asynccontextmanager
async def running(
    feed: FakeFeed,
    exact: FakeExact | None = None,
    settings: IndexSettings = SETTINGS,
    maintenance: Maintenance | None = None,
) -> AsyncIterator[Built]:
    async with (
        grpc.aio.insecure_channel("127.0.0.1:1") as unused,
        build(
            settings,
            store_channel=unused,
            feed=feed,
            exact=exact or FakeExact(feed),
            library=NumpyLibrary(),
            maintenance=maintenance,
        ) as built,
    ):
        yield built


async def current(built: Built, revision: int) -> None:
    """Wait until the index answers by itself at a revision."""
    async with asyncio.timeout(10):
        await built.board.wait_for(revision, 10)
        await until(lambda: built.board.is_current)


async def test_changes_of_the_store_are_found_and_deletions_are_not() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0)), upsert(2, "b", direction(1)), upsert(3, "c", None)])
    async with running(feed) as built:
        await current(built, 3)
        feed.add(delete(4, "a"), upsert(5, "d", direction(0, 1)))

        answer = await built.engine.search(dataclasses.replace(QUERY, min_revision=5))

    assert ids(answer.hits) == ["d", "b"]
    assert (answer.applied_revision, answer.degraded, answer.model) == (5, False, MODEL)


async def test_store_answers_while_the_index_is_not_current() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    exact = FakeExact(feed)
    feed.disconnect()
    async with running(feed, exact) as built:
        answer = await built.engine.search(QUERY)
        status = await built.engine.status()

    assert (ids(answer.hits), answer.degraded) == (["a"], True)
    assert status.state in {State.LOADING, State.REBUILDING}


async def test_index_that_is_not_current_says_so_when_the_store_does_not_answer() -> None:
    feed = FakeFeed()
    exact = FakeExact(feed)
    feed.disconnect()
    exact.is_reachable = False
    async with running(feed, exact) as built:
        with pytest.raises(IndexNotReady):
            await built.engine.search(QUERY)
        with pytest.raises(RevisionNotReached):
            await built.engine.search(dataclasses.replace(QUERY, min_revision=7))


async def test_lost_store_is_answered_for_from_what_is_there_and_followed_again_when_it_returns() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    exact = FakeExact(feed)
    async with running(feed, exact) as built:
        await current(built, 1)
        feed.disconnect()
        exact.is_reachable = False
        await until(lambda: not built.board.is_connected)
        assert (await built.engine.status()).state is State.DISCONNECTED
        assert ids((await built.engine.search(QUERY)).hits) == ["a"]

        feed.is_reachable = True
        feed.add(upsert(2, "b", direction(0, 1)))
        await current(built, 2)
        assert ids((await built.engine.search(QUERY)).hits) == ["a", "b"]

    assert feed.starts[0] == 0
    assert set(feed.starts[1:]) == {1}


async def test_revision_beyond_reach_is_answered_by_the_store_or_refused() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    async with running(feed) as built:
        await current(built, 1)
        with pytest.raises(RevisionUnknown) as caught:
            await built.engine.search(dataclasses.replace(QUERY, min_revision=9))
        feed.head = 9

        answer = await built.engine.search(dataclasses.replace(QUERY, min_revision=9))

    assert caught.value.metadata["field"] == "min_revision"
    assert caught.value.metadata["limit"] == "at most 1"
    assert (answer.applied_revision, answer.degraded) == (9, True)


async def test_replaced_store_is_noticed_and_read_anew() -> None:
    feed = FakeFeed([upsert(n, f"old{n}", direction(0)) for n in range(1, 9)])
    async with running(feed) as built:
        await current(built, 8)
        feed.replace([upsert(1, "new", direction(0))])
        feed.disconnect()
        await until(lambda: not built.board.is_connected)
        feed.is_reachable = True
        await until(lambda: built.board.view.revision == 1 and built.board.is_current)

        answer = await built.engine.search(QUERY)
        status = await built.engine.status()

    assert ids(answer.hits) == ["new"]
    assert "replaced" in status.rebuild_reason


async def test_store_of_another_id_is_read_anew_even_when_it_is_further_on() -> None:
    feed = FakeFeed([upsert(1, "old", direction(0))], store_id="one")
    async with running(feed) as built:
        await current(built, 1)
        assert built.board.store_id == "one"
        feed.disconnect()
        await until(lambda: not built.board.is_connected)
        feed.replace([upsert(n, f"new{n}", direction(0, n)) for n in range(1, 5)], store_id="two")
        feed.is_reachable = True
        await until(lambda: built.board.view.revision == 4 and built.board.is_current)

        answer = await built.engine.search(QUERY)
        status = await built.engine.status()

    assert ids(answer.hits) == ["new1", "new2", "new3", "new4"]
    assert built.board.store_id == "two"
    assert status.rebuild_reason == "The store was replaced: it is the database two, the index holds one."


async def test_unknown_id_of_the_store_is_no_reason_to_rebuild() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    async with running(feed) as built:
        await current(built, 1)
        reason = (await built.engine.status()).rebuild_reason
        for revision, store_id in ((2, "one"), (3, "")):
            feed.store_id = store_id
            feed.add(upsert(revision, f"m{revision}", direction(0)))
            await current(built, revision)

        assert built.board.store_id == "one"
        assert (await built.engine.status()).rebuild_reason == reason


async def test_index_is_loading_until_it_has_tried_to_reach_the_store() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    feed.disconnect()
    states = []
    async with running(feed) as built:
        async with asyncio.timeout(10):
            while not feed.starts:
                states.append(built.board.state)
                await asyncio.sleep(0)
        await until(lambda: built.board.state is not State.LOADING)

    assert set(states) == {State.LOADING}


async def test_new_model_of_the_store_rebuilds_the_index() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    async with running(feed) as built:
        await current(built, 1)
        feed.model = OTHER_MODEL
        feed.add(dataclasses.replace(upsert(2, "a", direction(1)), model_sha256=OTHER_MODEL.sha256))
        await current(built, 2)

        answer = await built.engine.search(Query(direction(1)[0], model_sha256=OTHER_MODEL.sha256))
        with pytest.raises(ModelMismatch):
            await built.engine.search(dataclasses.replace(QUERY, model_sha256=MODEL.sha256))

    assert (ids(answer.hits), answer.model) == (["a"], OTHER_MODEL)


async def test_answers_are_degraded_while_the_store_makes_vectors_anew_and_hold_no_old_ones() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0)), upsert(2, "b", direction(1))])
    async with running(feed) as built:
        await current(built, 2)
        feed.model, feed.changes = OTHER_MODEL, {"a": upsert(1, "a", None), "b": upsert(2, "b", None)}
        feed.tell(reembedding=True)
        await current(built, 3)
        question = Query(direction(1)[0], model_sha256=OTHER_MODEL.sha256)
        before = await built.engine.search(question)
        feed.add(dataclasses.replace(upsert(4, "a", direction(1)), model_sha256=OTHER_MODEL.sha256))
        during = await built.engine.search(dataclasses.replace(question, min_revision=4))
        feed.tell(reembedding=False)
        after = await built.engine.search(dataclasses.replace(question, min_revision=5))

    assert (ids(before.hits), before.degraded) == ([], True)
    assert (ids(during.hits), during.degraded, during.model) == (["a"], True, OTHER_MODEL)
    assert (ids(after.hits), after.degraded) == (["a"], False)


async def test_rebuild_that_was_asked_for_ends_at_the_head_and_answers_meanwhile() -> None:
    rows = unit_rows(np.random.default_rng(1), 40)
    feed = FakeFeed([upsert(n + 1, f"m{n}", row[None]) for n, row in enumerate(rows)])
    async with running(feed) as built:
        await current(built, 40)
        before = await built.engine.search(QUERY)

        target = await built.engine.rebuild()
        during = await built.engine.search(QUERY)
        state = (await built.engine.status()).state
        await until(lambda: built.board.rebuild_progress is None)
        after = await built.engine.search(QUERY)
        feed.add(delete(41, before.hits[0].memory_id))
        later = await built.engine.search(dataclasses.replace(QUERY, min_revision=41))

    assert target == 40
    assert state is State.REBUILDING
    assert before.hits == during.hits == after.hits
    assert not during.degraded
    assert before.hits[0].memory_id not in ids(later.hits)


async def test_graphs_are_built_behind_the_scenes() -> None:
    rows = unit_rows(np.random.default_rng(1), 200)
    feed = FakeFeed([upsert(n + 1, f"m{n}", row[None]) for n, row in enumerate(rows)])
    async with running(feed) as built:
        await current(built, 200)
        await until(lambda: count_contents(built.board.view).partitions[0].graph)
        answer = await built.engine.search(dataclasses.replace(QUERY, top_k=20))

    assert len(answer.hits) == 20


async def test_query_of_another_length_is_refused() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    async with running(feed) as built:
        await current(built, 1)
        with pytest.raises(DimensionMismatch):
            await built.engine.search(Query(np.ones(3, np.float32)))


async def test_pushed_changes_must_follow_and_may_be_repeated() -> None:
    settings = dataclasses.replace(SETTINGS, follow=False)
    async with running(FakeFeed(), settings=settings) as built:
        changes = [upsert(1, "a", direction(0)), upsert(2, "b", direction(1))]

        assert await built.engine.push(changes) == 2
        assert await built.engine.push([*changes, delete(3, "a")]) == 3
        with pytest.raises(ChangeGap) as caught:
            await built.engine.push([upsert(5, "c", direction(0))])
        with pytest.raises(ModelMismatch):
            await built.engine.push(
                [dataclasses.replace(upsert(4, "c", direction(0)), model_sha256="c" * 64)]
            )
        with pytest.raises(DimensionMismatch):
            await built.engine.push([upsert(4, "c", np.ones((1, 3), np.float32))])
        answer = await built.engine.search(QUERY)

    assert caught.value.metadata == {"expected_revision": "4", "actual_revision": "5"}
    assert (ids(answer.hits), answer.applied_revision) == (["b"], 3)


async def test_pushed_changes_may_have_gaps_that_their_start_covers() -> None:
    settings = dataclasses.replace(SETTINGS, follow=False)
    async with running(FakeFeed(), settings=settings) as built:
        await built.engine.push([upsert(1, "a", direction(0)), upsert(2, "b", direction(1))])
        later = [delete(4, "a"), upsert(9, "c", direction(0))]

        with pytest.raises(ChangeGap) as beyond:
            await built.engine.push(later, after_revision=3)
        with pytest.raises(ChangeGap) as disordered:
            await built.engine.push(later[::-1], after_revision=2)
        assert await built.engine.push(later, after_revision=1) == 9
        assert await built.engine.push(later, after_revision=2) == 9
        answer = await built.engine.search(QUERY)

    assert beyond.value.metadata == {"expected_revision": "3", "actual_revision": "4"}
    assert disordered.value.metadata == {"expected_revision": "10", "actual_revision": "4"}
    assert (ids(answer.hits), answer.applied_revision) == (["c", "b"], 9)


async def test_empty_store_gives_no_hits_and_is_current() -> None:
    feed = FakeFeed(model=None)
    async with running(feed) as built:
        await current(built, 0)
        answer = await built.engine.search(dataclasses.replace(QUERY, filter=Filter(wings=("none",))))

    assert (answer.hits, answer.degraded, answer.model) == ((), False, None)


async def test_memory_that_is_updated_again_and_again_is_found_at_every_moment() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0)), upsert(2, "b", direction(1))])
    async with running(feed) as built:
        await current(built, 2)
        for revision in range(3, 300):
            feed.add(upsert(revision, "a", direction(0), room=f"room{revision % 3}"))
            answer = await built.engine.search(QUERY)
            assert ids(answer.hits) == ["a", "b"]
        answer = await built.engine.search(dataclasses.replace(QUERY, min_revision=299))

    assert ids(answer.hits) == ["a", "b"]


class Notes:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, int]] = []

    async def note(self, action: str, *, passages: int, seconds: float, revision: int) -> None:
        assert seconds >= 0
        self.told.append((action, passages, revision))


async def test_rebuilds_and_new_graphs_are_told() -> None:
    notes = Notes()
    feed = FakeFeed([upsert(number, f"m{number}", direction(number % DIMENSION)) for number in range(1, 301)])
    async with running(feed, maintenance=notes) as built:
        await current(built, 300)
        await until(lambda: {action for action, *_ in notes.told} == {"rebuild", "graph"})
        notes.told.clear()
        await built.engine.rebuild()
        await until(lambda: ("rebuild", 300, 300) in notes.told)

    assert [told for told in notes.told if told[0] == "rebuild"] == [("rebuild", 300, 300)]
