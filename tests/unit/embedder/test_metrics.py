"""What the embedder counts of texts, batches and its cache."""

import asyncio

import pytest
from exposition import Growth, scrape
from unit.embedder.fakes import ScriptedSession, running_engine

from satchel.embedder.model import Priority, Role
from satchel.embedder.settings import EmbedderSettings
from satchel.runtime.errors import Overloaded


async def test_a_query_that_was_asked_before_is_a_hit_and_no_batch() -> None:
    before = await scrape()

    async with running_engine(ScriptedSession()) as engine:
        for texts in (["who?"], ["who?", "what?"]):
            await engine.embed(texts, role=Role.QUERY, priority=Priority.QUERY)

    grown = Growth(before, await scrape())
    assert grown.of("satchel_embedder_cache_lookups_total", result="hit") == 1
    assert grown.of("satchel_embedder_cache_lookups_total", result="miss") == 2
    assert grown.of("satchel_embedder_batch_rows_sum") == 2
    assert grown.of("satchel_embedder_texts_total", role="query") == 3
    assert grown.of("mira_embed_duration_seconds_count") == 2


async def test_a_batch_is_measured_by_rows_and_by_tokens_with_padding() -> None:
    session = ScriptedSession()
    before = await scrape()

    async with running_engine(session) as engine:
        await engine.embed(["one", "one two three"], role=Role.PASSAGE)

    grown = Growth(before, await scrape())
    assert grown.of("satchel_embedder_batch_rows_sum") == sum(len(batch.ids) for batch in session.batches)
    assert grown.of("satchel_embedder_batch_tokens_sum") == sum(batch.ids.size for batch in session.batches)
    assert grown.of("satchel_embedder_inference_seconds_count") == len(session.batches)
    assert grown.of("satchel_embedder_queue_seconds_count", lane="passages") == 1


async def test_a_full_queue_shows_its_texts_and_counts_what_it_refuses() -> None:
    session = ScriptedSession()
    session.hold()
    before = await scrape()

    async with (
        running_engine(session, EmbedderSettings(queue_texts=2)) as engine,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(engine.embed(["first", "second"], role=Role.PASSAGE))
        await session.started.wait()
        with pytest.raises(Overloaded):
            await engine.embed(["third"], role=Role.PASSAGE)
        full = await scrape()
        session.release()

    queue = {"queue": "embedder.passages"}
    assert Growth(before, full).of("satchel_queue_depth", **queue) == 2
    assert Growth(before, full).of("satchel_queue_rejections_total", **queue) == 1
