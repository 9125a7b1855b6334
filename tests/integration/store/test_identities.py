"""What the database itself holds of identities."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from unit.store.fakes import FakeEmbedder

from satchel.store.identity.editing import set_level
from satchel.store.identity.evolving import Origin, follow
from satchel.store.identity.model import Cause
from satchel.store.identity_ports import Agent
from satchel.store.main import build
from satchel.store.settings import StoreSettings

AGENT = Agent("p", "clara")


async def keep_versions(path: Path, count: int) -> None:
    """Make a database with versions of one identity."""
    origin = Origin(agent_id="clara", project="p", cause=Cause.PATCH, now=1)
    async with build(StoreSettings(url=f"sqlite:{path}"), embedder=FakeEmbedder()) as built:
        for number in range(count):
            change = set_level("voice.humor", number / 10)
            await built.store.identities.evolve(
                AGENT,
                lambda previous, change=change: follow(previous, change, origin),  # type: ignore[misc]
                key=None,
                now=1,
                keep=100,
            )


async def test_the_database_refuses_to_edit_a_version(tmp_path: Path) -> None:
    await keep_versions(tmp_path / "a.db", 2)

    with (
        closing(sqlite3.connect(tmp_path / "a.db")) as raw,
        pytest.raises(sqlite3.IntegrityError, match="never edited"),
    ):
        raw.execute("UPDATE identity_versions SET snapshot = '{}' WHERE version = 1")


async def test_a_deletion_leaves_no_text_of_the_identity_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    origin = Origin(agent_id="clara", project="p", cause=Cause.PATCH, now=1)
    async with build(StoreSettings(url=f"sqlite:{path}"), embedder=FakeEmbedder()) as built:
        store = built.store.identities
        await store.evolve(
            AGENT,
            lambda previous: follow(
                previous, set_level("voice.humor", 1.0), replace(origin, reason="unmistakable")
            ),
            key=None,
            now=1,
            keep=100,
        )
        await store.delete(AGENT, key=None, now=2)

    assert b"unmistakable" not in path.read_bytes()


async def test_a_change_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    async with build(StoreSettings(url=f"sqlite:{tmp_path / 'a.db'}"), embedder=FakeEmbedder()) as built:
        store = built.store.identities

        def fail(_: object) -> None:
            raise RuntimeError("a fault")

        with pytest.raises(RuntimeError, match="a fault"):
            await store.evolve(AGENT, fail, key=None, now=1, keep=100)  # type: ignore[arg-type]
        assert await store.newest(AGENT, limit=1) == ()
        assert await store.agents("p", after="", limit=10) == ()
