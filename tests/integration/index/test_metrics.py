"""What the index tells of itself."""

import dataclasses
from pathlib import Path

from exposition import Growth, scrape
from integration.index.test_service import SETTINGS, ask, serving
from unit.index.fakes import FakeFeed, delete, direction, until, upsert

from satchel.api.index.v1 import index_service_pb2 as pb


async def test_gauges_tell_how_far_the_index_is_and_what_it_holds() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0)), upsert(2, "b", direction(1)), delete(3, "b")])

    async with serving(feed) as service:
        await until(lambda: service.built.board.is_current)
        current = await scrape()
        feed.disconnect()
        await until(lambda: not service.built.board.is_connected)
        alone = await scrape()

    assert current.value("satchel_index_applied_revision") == 3
    assert current.value("satchel_index_head_revision") == 3
    assert current.value("satchel_index_lag_revisions") == 0
    assert current.value("satchel_index_passages") == 1
    assert current.value("satchel_index_memory_bytes") > 0
    assert current.value("satchel_index_state", state="ready") == 1
    assert alone.value("satchel_index_state", state="disconnected") == 1
    assert alone.value("satchel_index_state") == 1


async def test_who_answered_a_search_is_counted() -> None:
    feed = FakeFeed([upsert(1, "a", direction(0))])
    before = await scrape()

    async with serving(feed) as service:
        await until(lambda: service.built.board.is_current)
        await service.stub.SearchVectors(ask(1))
    feed.disconnect()
    async with serving(feed) as service:
        await service.stub.SearchVectors(ask(1))
        grown = Growth(before, await scrape())

    assert grown.of("satchel_index_answers_total", source="index") == 1
    assert grown.of("satchel_index_answers_total", source="store") == 1
    assert grown.of("satchel_index_search_seconds_count") == 1
    assert grown.of("satchel_index_compared_rows_sum") == 1


async def test_rebuilds_snapshots_and_changes_are_counted(tmp_path: Path) -> None:
    feed = FakeFeed([upsert(1, "a", direction(0)), upsert(2, "b", direction(1))])
    before = await scrape()

    async with serving(feed, settings=dataclasses.replace(SETTINGS, folder=tmp_path)) as service:
        await until(lambda: service.built.board.is_current)
        await service.stub.RebuildIndex(pb.RebuildIndexRequest())
        await until(lambda: service.built.board.rebuild_progress is None)
    grown = Growth(before, await scrape())

    assert grown.of("satchel_index_rebuilds_total") == 2
    assert grown.of("satchel_index_changes_total") == 2
    assert grown.of("satchel_index_snapshots_total", result="written") >= 1
    assert grown.of("satchel_index_snapshots_total", result="failed") == 0
