"""Vectors for another model in a real database file."""

import sqlite3
import struct
from pathlib import Path

from unit.store.fakes import MODEL, OTHER_MODEL, FakeEmbedder, running_store, vector

from satchel.api.store.v1 import maintenance_service_pb2 as pb
from satchel.api.store.v1 import search_service_pb2 as search_pb
from satchel.store.adapters.sqlite.migrations import migrate, packaged
from satchel.store.adapters.sqlite.reembedding import UNCODED

NOW = 1_700_000_000_000_000
MEMORY = """
INSERT INTO memories (id, project, wing, room, type, declared, created_at, updated_at, effective_at,
  sensitivity, state, version, revision, content_hash, verbatim_tokens, fingerprint_tokens, header_tokens,
  fact_count, passage_count)
VALUES ('01890a5d-ac96-774b-bcce-b302099a805' || ?2, 'default', 'w', 'facts', 2, 0, ?1, ?1, ?1,
  1, 1, 1, ?2, x'00', 1, 1, 1,
  1, 1)
"""


def make_old_database(path: Path) -> None:
    """Make a database of the schema before, with one memory and its vectors."""
    raw = sqlite3.connect(path, isolation_level=None)
    migrate(raw, NOW, packaged()[:7])
    raw.execute(MEMORY, (NOW, 1))
    raw.execute("INSERT INTO documents (memory, body, hidden, fingerprint) VALUES (1, 'elephants', 0, '{}')")
    raw.execute(
        "INSERT INTO models VALUES (?, ?, ?, ?, ?)", (MODEL.sha256, "words", "1", MODEL.dimension, 256)
    )
    raw.execute("INSERT INTO embeddings VALUES (1, ?, ?)", (struct.pack("<2i", 0, 9), vector("elephants")))
    raw.execute("UPDATE head SET revision = 1")
    raw.close()


async def test_vectors_of_a_database_of_before_are_found_and_can_be_made_anew(tmp_path: Path) -> None:
    make_old_database(tmp_path / "store.db")
    question = search_pb.SearchStoredVectorsRequest(vector=vector("elephants"), top_k=1)
    embedder = FakeEmbedder()
    async with running_store(tmp_path, embedder=embedder) as client:
        before = await client.search.SearchStoredVectors(question)
        embedder.model = OTHER_MODEL
        told = [
            one async for one in client.maintenance.ReembedMemories(pb.ReembedMemoriesRequest(), timeout=20)
        ]
        after = await client.search.SearchStoredVectors(question)

    assert (len(before.hits), before.model.sha256) == (1, MODEL.sha256)
    assert told[-1].reembedding.state == pb.REEMBEDDING_STATE_DONE
    assert (after.hits[0].memory_id, after.model.sha256) == (before.hits[0].memory_id, OTHER_MODEL.sha256)


async def test_a_reembedding_leaves_no_trace_of_the_former_model(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    async with running_store(tmp_path, embedder=embedder) as client:
        for number in range(40):
            await client.store(f"elephant {number}")
        embedder.model = OTHER_MODEL
        told = [
            one async for one in client.maintenance.ReembedMemories(pb.ReembedMemoriesRequest(), timeout=20)
        ]
    raw = sqlite3.connect(tmp_path / "store.db")
    former = raw.execute("SELECT count(*) FROM former_models").fetchone()[0]
    models = raw.execute("SELECT sha256, number FROM models").fetchall()
    numbers = raw.execute("SELECT model, count(*) FROM stored_embeddings GROUP BY model").fetchall()
    raw.close()

    assert told[-1].reembedding.done_count == 40
    assert (former, models, numbers) == (0, [(OTHER_MODEL.sha256, 2)], [(2, 40)])


def test_a_memory_and_its_vectors_are_found_by_the_memory_and_not_by_the_model(tmp_path: Path) -> None:
    raw = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    migrate(raw, NOW)
    plan = raw.execute(
        "EXPLAIN QUERY PLAN SELECT e.vectors FROM memories m JOIN embeddings e ON e.memory = m.key "
        "WHERE m.project = 'default' AND m.wing = 'w'"
    ).fetchall()
    raw.close()

    steps = [row[3] for row in plan]
    assert any("SEARCH stored_embeddings USING INTEGER PRIMARY KEY" in step for step in steps), steps
    assert not any("stored_embeddings_by_model" in step for step in steps), steps


async def test_a_database_from_before_token_codes_knows_which_memories_have_none(tmp_path: Path) -> None:
    embedder = FakeEmbedder()
    make_old_database(tmp_path / "store.db")
    raw = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    migrate(raw, NOW, packaged()[:9])
    raw.execute(MEMORY, (NOW, 2))
    raw.execute("INSERT INTO documents (memory, body, hidden, fingerprint) VALUES (2, 'giraffes', 0, '{}')")
    raw.execute(
        "INSERT INTO stored_embeddings (memory, spans, vectors) VALUES (2, ?, ?)",
        (struct.pack("<2i", 0, 8), vector("giraffes")),
    )
    raw.execute("INSERT INTO token_codes VALUES (2, ?, x'00')", (struct.pack("<i", 1),))
    raw.execute("UPDATE head SET revision = 2")
    raw.close()
    async with running_store(tmp_path, embedder=embedder) as client:
        before = (await client.maintenance.GetReembedding(pb.GetReembeddingRequest())).reembedding
        told = [
            one async for one in client.maintenance.ReembedMemories(pb.ReembedMemoriesRequest(), timeout=20)
        ]

    assert (before.state, before.uncoded_count) == (pb.REEMBEDDING_STATE_INCOMPLETE, 1)
    assert (told[-1].reembedding.state, told[-1].reembedding.uncoded_count) == (pb.REEMBEDDING_STATE_DONE, 0)
    assert embedder.texts == ["elephants"]


def test_memories_without_codes_are_taken_without_passing_over_those_that_have_some(tmp_path: Path) -> None:
    raw = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    migrate(raw, NOW)
    plan = raw.execute(f"EXPLAIN QUERY PLAN {UNCODED}", (8,)).fetchall()
    raw.close()

    steps = [row[3] for row in plan]
    assert steps[0] == "SCAN w"
    assert not any("TEMP B-TREE" in step for step in steps), steps
