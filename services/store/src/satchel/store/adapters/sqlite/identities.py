"""The port `IdentityStore` on the SQLite file of the memories."""

import json
import sqlite3

from satchel.store.adapters.sqlite.connection import ReaderPool
from satchel.store.adapters.sqlite.group_commit import GroupCommit
from satchel.store.adapters.sqlite.requests import keep_answer, recall_answer
from satchel.store.adapters.sqlite.scoping import Conditions
from satchel.store.errors import IdentityNotFound
from satchel.store.identity.model import Cause, Snapshot
from satchel.store.identity.snapshots import dump_snapshot, load_snapshot
from satchel.store.identity_ports import Agent, Change, Evolved, Step
from satchel.store.model import RequestKey

_OF_AGENT = "identity_versions v JOIN identities i ON i.key = v.identity"


class SqliteIdentities:
    """See the port."""

    def __init__(self, writer: GroupCommit, readers: ReaderPool) -> None:
        self._writer = writer
        self._readers = readers

    async def evolve(
        self, agent: Agent, change: Change, *, key: RequestKey | None, now: int, keep: int
    ) -> Evolved:
        """See the port."""
        return await self._writer.run(lambda raw: _evolve(raw, agent, change, key=key, now=now, keep=keep))

    async def newest(
        self, agent: Agent, *, limit: int, before: int = 0, cause: Cause | None = None
    ) -> tuple[Snapshot, ...]:
        """See the port."""
        texts = await self._readers.run(lambda raw: _newest(raw, agent, limit, before, cause))
        return tuple(map(load_snapshot, texts))

    async def version(self, agent: Agent, version: int) -> Snapshot | None:
        """See the port."""
        return await self._readers.run(lambda raw: _version(raw, agent, version))

    async def steps(self, agent: Agent, *, limit: int) -> tuple[Step, ...]:
        """See the port."""
        return await self._readers.run(lambda raw: _steps(raw, agent, limit))

    async def count(self, agent: Agent) -> int:
        """See the port."""
        return await self._readers.run(lambda raw: _count(raw, agent))

    async def agents(self, project: str, *, after: str, limit: int) -> tuple[Snapshot, ...]:
        """See the port."""
        texts = await self._readers.run(lambda raw: _agents(raw, project, after, limit))
        return tuple(map(load_snapshot, texts))

    async def delete(self, agent: Agent, *, key: RequestKey | None, now: int) -> int:
        """See the port."""
        return await self._writer.run(lambda raw: _delete(raw, agent, key=key, now=now))


def _evolve(
    raw: sqlite3.Connection, agent: Agent, change: Change, *, key: RequestKey | None, now: int, keep: int
) -> Evolved:
    if (answer := recall_answer(raw, key, now)) is not None:
        return _answered(raw, agent, answer)
    texts = _newest(raw, agent, 1, 0, None)
    before = load_snapshot(texts[0]) if texts else None
    after = change(before)
    if after is not before:
        _insert(raw, agent, after, keep)
    answer = json.dumps({"version": after.version, "changed": after is not before})
    keep_answer(raw, key, answer, now)
    return Evolved(after, after is not before)


def _answered(raw: sqlite3.Connection, agent: Agent, answer: str) -> Evolved:
    """Return what a request was answered with; its id belongs to the request, so the agent is the same."""
    kept = json.loads(answer)
    snapshot = _version(raw, agent, kept["version"])
    if snapshot is None:
        raise IdentityNotFound(agent.agent_id, version=kept["version"])
    return Evolved(snapshot, kept["changed"])


def _insert(raw: sqlite3.Connection, agent: Agent, snapshot: Snapshot, keep: int) -> None:
    raw.execute("INSERT OR IGNORE INTO identities (project, agent_id) VALUES (?, ?)", agent)
    identity = _key(raw, agent)
    raw.execute(
        "INSERT INTO identity_versions (identity, version, created_at, cause, drift_score, snapshot)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            identity,
            snapshot.version,
            snapshot.created_at,
            int(snapshot.cause),
            snapshot.drift_score,
            dump_snapshot(snapshot),
        ),
    )
    raw.execute(
        "DELETE FROM identity_versions WHERE identity = ? AND version <= ?",
        (identity, snapshot.version - keep),
    )


def _newest(raw: sqlite3.Connection, agent: Agent, limit: int, before: int, cause: Cause | None) -> list[str]:
    wanted = Conditions()
    wanted.add("i.project = ? AND i.agent_id = ?", *agent)
    if before:
        wanted.add("v.version < ?", before)
    if cause is not None:
        wanted.add("v.cause = ?", int(cause))
    rows = raw.execute(
        f"SELECT v.snapshot FROM {_OF_AGENT} WHERE {wanted.sql} ORDER BY v.version DESC LIMIT ?",  # noqa: S608
        (*wanted.parameters, limit),
    )
    return [row[0] for row in rows]


def _version(raw: sqlite3.Connection, agent: Agent, version: int) -> Snapshot | None:
    row = raw.execute(
        f"SELECT v.snapshot FROM {_OF_AGENT} WHERE i.project = ? AND i.agent_id = ? AND v.version = ?",  # noqa: S608
        (*agent, version),
    ).fetchone()
    return None if row is None else load_snapshot(row[0])


def _steps(raw: sqlite3.Connection, agent: Agent, limit: int) -> tuple[Step, ...]:
    rows = raw.execute(
        f"SELECT v.version, v.drift_score FROM {_OF_AGENT} WHERE i.project = ? AND i.agent_id = ?"  # noqa: S608
        " ORDER BY v.version DESC LIMIT ?",
        (*agent, limit),
    )
    return tuple(Step(*row) for row in rows)


def _count(raw: sqlite3.Connection, agent: Agent) -> int:
    found: int = raw.execute(
        f"SELECT count(*) FROM {_OF_AGENT} WHERE i.project = ? AND i.agent_id = ?",  # noqa: S608
        agent,
    ).fetchone()[0]
    return found


def _agents(raw: sqlite3.Connection, project: str, after: str, limit: int) -> list[str]:
    rows = raw.execute(
        "SELECT (SELECT snapshot FROM identity_versions WHERE identity = i.key ORDER BY version DESC LIMIT 1)"
        " FROM identities i WHERE i.project = ? AND i.agent_id > ? ORDER BY i.agent_id LIMIT ?",
        (project, after, limit),
    )
    return [row[0] for row in rows]


def _delete(raw: sqlite3.Connection, agent: Agent, *, key: RequestKey | None, now: int) -> int:
    if (answer := recall_answer(raw, key, now)) is not None:
        return int(answer)
    versions = _count(raw, agent)
    if not versions:
        raise IdentityNotFound(agent.agent_id)
    raw.execute("DELETE FROM identities WHERE key = ?", (_key(raw, agent),))
    keep_answer(raw, key, str(versions), now)
    return versions


def _key(raw: sqlite3.Connection, agent: Agent) -> int:
    found: int = raw.execute(
        "SELECT key FROM identities WHERE project = ? AND agent_id = ?", agent
    ).fetchone()[0]
    return found
