"""The codes of tokens that the engine gives beside vectors."""

import asyncio

import numpy as np
from unit.embedder.fakes import ScriptedSession, codes_of_words, running_engine

from satchel.embedder.model import Codes, Priority, Role, TokenCodes
from satchel.embedder.settings import EmbedderSettings


def parts_of(found: TokenCodes | None) -> list[list[int]]:
    """Return the codes of each row; a code of the scripted model is one byte."""
    assert found is not None
    return [part[:, 0].tolist() for part in np.split(found.codes, np.cumsum(found.counts)[:-1])]


def listed(codes: Codes) -> list[int]:
    return [int(code) for code in codes[:, 0]]


async def test_each_row_has_the_codes_of_its_content_tokens_in_order() -> None:
    texts = ["a whale sings", "it is", "x y", ""]
    async with running_engine(ScriptedSession()) as engine:
        found = await engine.embed(texts, role=Role.PASSAGE, with_codes=True)

    expected = [codes_of_words("whale", "sings"), codes_of_words("it", "is"), codes_of_words("x", "y")]
    assert parts_of(found.codes) == [*map(listed, expected), []]


async def test_codes_come_passage_by_passage_or_together_with_the_mean() -> None:
    texts = ["aa bb cc dd ee", "ff"]
    async with running_engine(ScriptedSession(), EmbedderSettings(overlap_tokens=0), max_tokens=5) as engine:
        rows = await engine.embed(texts, role=Role.PASSAGE, split=True, with_codes=True)
        whole = await engine.embed(texts, role=Role.PASSAGE, with_codes=True)

    assert [len(part) for part in parts_of(rows.codes)] == [3, 2, 1]
    assert [len(part) for part in parts_of(whole.codes)] == [5, 1]
    assert rows.codes is not None
    assert whole.codes is not None
    assert rows.codes.codes.tobytes() == whole.codes.codes.tobytes()


async def test_requests_with_and_without_codes_share_a_batch() -> None:
    session = ScriptedSession()
    session.hold()
    async with running_engine(session) as engine, asyncio.TaskGroup() as group:
        first = group.create_task(engine.embed(["wait"], role=Role.PASSAGE))
        await session.started.wait()
        plain = group.create_task(engine.embed(["one two", "three"], role=Role.PASSAGE))
        coded = group.create_task(engine.embed(["seven eleven", "to"], role=Role.PASSAGE, with_codes=True))
        while engine.waiting_texts(is_query=False) < 5:  # noqa: ASYNC110  # the engine's own count
            await asyncio.sleep(0)
        session.release()

    assert len(session.batches) == 2
    assert first.result().codes is plain.result().codes is None
    assert parts_of(coded.result().codes) == [
        listed(codes_of_words("seven", "eleven")),
        listed(codes_of_words("to")),
    ]


async def test_a_query_is_cached_with_its_codes_whether_they_were_wanted_or_not() -> None:
    session = ScriptedSession()
    async with running_engine(session) as engine:
        first = await engine.embed(["which whale"], role=Role.QUERY, priority=Priority.QUERY)
        again = await engine.embed(
            ["new", "which whale"], role=Role.QUERY, priority=Priority.QUERY, with_codes=True
        )

    assert first.codes is None
    assert again.cached_count == 1
    assert sum(len(batch.ids) for batch in session.batches) == 2
    assert parts_of(again.codes) == [listed(codes_of_words("new")), listed(codes_of_words("which", "whale"))]


async def test_a_model_that_pools_by_itself_has_no_codes() -> None:
    async with running_engine(ScriptedSession(has_token_states=False)) as engine:
        query = await engine.embed(["one"], role=Role.QUERY, with_codes=True)
        again = await engine.embed(["one"], role=Role.QUERY, with_codes=True)
        passage = await engine.embed(["one"], role=Role.PASSAGE, with_codes=True)

    assert query.codes is again.codes is passage.codes is None
    assert again.cached_count == 1
