import asyncio

import numpy as np
import pytest
from unit.embedder.fakes import ScriptedSession, running_engine, vector_of_text

from satchel.embedder import lane
from satchel.embedder.model import Priority, Role
from satchel.embedder.settings import EmbedderSettings
from satchel.runtime.errors import Overloaded, ShuttingDown

pytestmark = pytest.mark.timeout(10)


def words(count: int) -> str:
    return "w " * (count - 1) + "w"


async def settle() -> None:
    """Let every task go as far as it can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_rows_come_back_in_the_order_of_the_texts() -> None:
    texts = [words(9), "a", words(30), "bb cc", words(10)]
    async with running_engine(ScriptedSession()) as engine:
        found = await engine.embed(texts, role=Role.PASSAGE)

    assert pytest.approx(np.stack([vector_of_text(text) for text in texts])) == found.vectors
    assert list(range(5)) == [span.text_index for span in found.spans]


async def test_what_arrives_while_a_batch_runs_forms_the_next_batch() -> None:
    session = ScriptedSession()
    session.hold()
    async with running_engine(session) as engine, asyncio.TaskGroup() as group:
        group.create_task(engine.embed(["first"], role=Role.PASSAGE))
        await session.started.wait()
        for text in ("one", "two", "three"):
            group.create_task(engine.embed([text], role=Role.PASSAGE))
        await settle()
        session.release()

    assert [len(batch.ids) for batch in session.batches] == [1, 3]


async def test_no_batch_exceeds_the_token_budget() -> None:
    session = ScriptedSession()
    async with running_engine(session, EmbedderSettings(batch_tokens=64)) as engine:
        await engine.embed([words(14)] * 10, role=Role.PASSAGE)

    assert [len(batch.ids) for batch in session.batches] == [4, 4, 2]


async def test_query_runs_while_bulk_work_holds_its_lane() -> None:
    bulk = ScriptedSession()
    bulk.hold()
    async with running_engine(bulk) as engine, asyncio.TaskGroup() as group:
        group.create_task(engine.embed([words(50)] * 100, role=Role.PASSAGE, priority=Priority.BULK))
        await bulk.started.wait()
        group.create_task(engine.embed(["who?"], role=Role.QUERY, priority=Priority.QUERY))
        await settle()
        running = [len(batch.ids) for batch in bulk.batches]
        bulk.release()

    assert running == [14, 1]


async def test_as_many_batches_run_at_once_as_there_are_threads() -> None:
    session = ScriptedSession()
    session.hold()
    settings = EmbedderSettings(batch_tokens=64)
    async with running_engine(session, settings, threads=2) as engine, asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(engine.embed([words(14)] * 6, role=Role.PASSAGE, priority=Priority.BULK))
        await session.started.wait()
        await settle()
        running = [len(batch.ids) for batch in session.batches]
        session.release()

    assert running == [4, 4]
    assert sum(len(batch.ids) for batch in session.batches) == 12


async def test_single_passage_is_in_the_next_but_one_batch_behind_bulk_work() -> None:
    session = ScriptedSession()
    session.hold()
    async with (
        running_engine(session, EmbedderSettings(batch_tokens=64)) as engine,
        asyncio.TaskGroup() as group,
    ):
        for _ in range(3):
            group.create_task(engine.embed([words(30)] * 20, role=Role.PASSAGE, priority=Priority.BULK))
        await session.started.wait()
        single = group.create_task(engine.embed([words(5)], role=Role.PASSAGE))
        await settle()
        session.release()
        await single
        position = [batch.ids.shape for batch in session.batches].index((1, 7))

    assert position <= 2


async def test_cancelled_caller_takes_its_waiting_texts_with_it() -> None:
    session = ScriptedSession()
    session.hold()
    async with running_engine(session) as engine, asyncio.TaskGroup() as group:
        group.create_task(engine.embed(["first"], role=Role.PASSAGE))
        await session.started.wait()
        gone = group.create_task(engine.embed(["never wanted"], role=Role.PASSAGE))
        await settle()
        gone.cancel()
        await settle()
        session.release()
        await engine.embed(["last"], role=Role.PASSAGE)

    assert [batch.ids.shape[1] for batch in session.batches] == [3, 3]


async def test_caller_cancelled_during_its_batch_harms_no_other() -> None:
    session = ScriptedSession()
    session.hold()
    async with running_engine(session) as engine, asyncio.TaskGroup() as group:
        gone = group.create_task(engine.embed(["first"], role=Role.PASSAGE))
        await session.started.wait()
        kept = group.create_task(engine.embed(["second"], role=Role.PASSAGE))
        gone.cancel()
        await settle()
        session.release()

    assert pytest.approx(vector_of_text("second")) == kept.result().vectors[0]


async def test_full_queue_refuses_and_frees_its_places_afterwards() -> None:
    session = ScriptedSession()
    session.hold()
    async with (
        running_engine(session, EmbedderSettings(queue_texts=2)) as engine,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(engine.embed(["one", "two"], role=Role.PASSAGE))
        await session.started.wait()
        with pytest.raises(Overloaded):
            await engine.embed(["three"], role=Role.PASSAGE)
        session.release()
        await settle()
        await engine.embed(["three"], role=Role.PASSAGE)


async def test_bulk_that_fills_its_queue_leaves_room_for_queries() -> None:
    session = ScriptedSession()
    session.hold()
    async with (
        running_engine(session, EmbedderSettings(queue_texts=1)) as engine,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(engine.embed(["one"], role=Role.PASSAGE))
        await session.started.wait()
        query = group.create_task(engine.embed(["who?"], role=Role.QUERY, priority=Priority.QUERY))
        await settle()
        session.release()

    assert len(query.result().vectors) == 1


async def test_failed_batch_fails_its_callers_and_not_the_engine() -> None:
    session = ScriptedSession()
    session.failure = RuntimeError("broken")
    async with running_engine(session) as engine:
        with pytest.raises(RuntimeError, match="broken"):
            await engine.embed(["one"], role=Role.PASSAGE)
        session.failure = None

        assert len((await engine.embed(["one"], role=Role.PASSAGE)).vectors) == 1


async def test_repeated_query_comes_from_the_cache_bit_for_bit() -> None:
    session = ScriptedSession()
    async with running_engine(session) as engine:
        first = await engine.embed(["who?", "when?"], role=Role.QUERY, priority=Priority.QUERY)
        again = await engine.embed(["when?", "new", "who?"], role=Role.QUERY, priority=Priority.QUERY)

    assert (first.cached_count, again.cached_count) == (0, 2)
    assert first.vectors[0].tobytes() == again.vectors[2].tobytes()
    assert first.spans[1].token_count == again.spans[0].token_count
    assert sum(len(batch.ids) for batch in session.batches) == 3


async def test_passages_are_not_cached() -> None:
    session = ScriptedSession()
    async with running_engine(session) as engine:
        await engine.embed(["same"], role=Role.PASSAGE)
        await engine.embed(["same"], role=Role.PASSAGE)

    assert len(session.batches) == 2


async def test_long_text_has_a_row_for_each_passage_or_their_mean() -> None:
    text = "a b c d e f"
    async with running_engine(ScriptedSession(), EmbedderSettings(overlap_tokens=0), max_tokens=5) as engine:
        rows = await engine.embed([text, "g"], role=Role.PASSAGE, split=True)
        whole = await engine.embed([text, "g"], role=Role.PASSAGE)

    assert [(s.text_index, s.start, s.end) for s in rows.spans] == [(0, 0, 6), (0, 6, 11), (1, 0, 1)]
    mean = rows.vectors[:2].mean(axis=0)
    assert pytest.approx(mean / np.linalg.norm(mean)) == whole.vectors[0]
    assert [(s.text_index, s.start, s.end) for s in whole.spans] == [(0, 0, 11), (1, 0, 1)]


async def test_text_too_long_to_read_at_once_gives_the_same_rows() -> None:
    text = words(3000)
    async with running_engine(ScriptedSession()) as engine:
        found = await engine.embed([text], role=Role.PASSAGE, split=True)

    assert (0, len(text)) == (found.spans[0].start, found.spans[-1].end)
    assert pytest.approx(vector_of_text(words(254))) == found.vectors[0]


async def test_engine_rests_when_idle_and_serves_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lane, "_IDLE_S", 0.001)
    session = ScriptedSession()
    async with running_engine(session) as engine:
        await engine.embed(["one"], role=Role.PASSAGE)
        await session.rested.wait()

        assert len((await engine.embed(["two"], role=Role.PASSAGE)).vectors) == 1


async def test_model_that_cannot_rest_goes_on_serving(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(lane, "_IDLE_S", 0.001)
    session = ScriptedSession()
    session.rest_failure = OSError("no memory to give back")
    async with running_engine(session) as engine:
        await engine.embed(["one"], role=Role.PASSAGE)
        await session.rested.wait()

        assert len((await engine.embed(["two"], role=Role.PASSAGE)).vectors) == 1
    assert "embedder.rest_failed" in caplog.messages


async def test_stopped_engine_refuses_what_waits_and_what_comes() -> None:
    session = ScriptedSession()
    session.hold()
    async with asyncio.TaskGroup() as group:
        async with running_engine(session) as engine:
            running = group.create_task(_refusal(engine.embed(["first"], role=Role.PASSAGE)))
            await session.started.wait()
            waiting = group.create_task(_refusal(engine.embed([words(90)], role=Role.PASSAGE)))
            await settle()
        late = group.create_task(_refusal(engine.embed(["late"], role=Role.PASSAGE)))

    assert [running.result(), waiting.result(), late.result()] == [True, True, True]


async def _refusal(call: object) -> bool:
    with pytest.raises(ShuttingDown):
        await call  # type: ignore[misc]
    return True


async def test_error_of_the_block_leaves_build_as_it_was_raised() -> None:
    with pytest.raises(ValueError, match="mine"):
        async with running_engine(ScriptedSession()):
            raise ValueError("mine")
