"""What a recall needs of many memories, as columns."""

from collections.abc import Iterable
from dataclasses import replace

from satchel.store.adapters.memory.entries import Entry, is_inside
from satchel.store.adapters.memory.sessions import Sessions
from satchel.store.adapters.memory.sizing import leading, passage_bytes
from satchel.store.adapters.memory.tables import Tables
from satchel.store.candidates import CandidateQuery, Candidates
from satchel.store.model import MemoryState

_INT_BYTES = 4


def fetch_candidates(tables: Tables, query: CandidateQuery) -> Candidates:
    """Return the candidates that exist, in the order of the ids, then their neighbours."""
    wanted = tuple(dict.fromkeys(query.ids))
    states = query.scope.states or tuple(MemoryState)
    there = [one for one in tables.by_id(wanted, query.scope.project) if one.memory.state in states]
    asked = _fitting(there, query)
    late = there[len(asked) :]
    beside = _fitting(_beside(tables, asked, query), query)
    found = _columns(
        tables,
        [*asked, *beside],
        asked_count=len(asked),
        in_filter=[True] * len(asked) + [is_inside(entry, query.scope) for entry in beside],
        remaining=wanted[wanted.index(late[0].id) :] if late else (),
    )
    return _with_codes(found, [*asked, *beside]) if query.with_codes else found


def _fitting(entries: list[Entry], query: CandidateQuery) -> list[Entry]:
    sized = ((entry, _size(entry, with_codes=query.with_codes)) for entry in entries)
    return leading(sized, max_bytes=query.max_bytes, limit=len(entries))[0]


def _size(entry: Entry, *, with_codes: bool) -> int:
    codes = entry.passages.codes if with_codes and entry.passages is not None else b""
    return 4 * len(entry.memory.content) + passage_bytes(entry) + len(codes)


def _with_codes(found: Candidates, entries: Iterable[Entry]) -> Candidates:
    passages = [entry.passages for entry in entries if entry.passages is not None]
    return replace(
        found,
        code_counts=b"".join(one.code_counts or bytes(_INT_BYTES * one.count) for one in passages),
        codes=b"".join(one.codes for one in passages),
    )


def _beside(tables: Tables, asked: list[Entry], query: CandidateQuery) -> list[Entry]:
    """Return the neighbours of the first candidates that were not asked for themselves."""
    sessions, own = Sessions(tables.entries.values() if query.neighbors else ()), {one.id for one in asked}
    near = sessions.around(asked[: query.neighbors_of_first or None], query.neighbors)
    return [entry for entry in near if entry.id not in own]


def _columns(
    tables: Tables,
    entries: list[Entry],
    *,
    asked_count: int,
    in_filter: list[bool],
    remaining: tuple[str, ...],
) -> Candidates:
    shown = [entry.shown((), with_details=False) for entry in entries]
    passages = [entry.passages for entry in entries if entry.passages is not None]
    return Candidates(
        asked_count=asked_count,
        ids=tuple(memory.id for memory in shown),
        contents=tuple(memory.content for memory in shown),
        fingerprints=tuple("" if entry.hidden else entry.memory.fingerprint for entry in entries),
        wings=tuple(memory.wing for memory in shown),
        rooms=tuple(memory.room for memory in shown),
        session_ids=tuple(memory.session_id for memory in shown),
        session_orders=tuple(memory.session_order for memory in shown),
        types=tuple(memory.type for memory in shown),
        created=tuple(memory.created_at for memory in shown),
        effective=tuple(entry.effective_at for entry in entries),
        occurred=tuple(memory.occurred_at is not None for memory in shown),
        versions=tuple(memory.version for memory in shown),
        token_counts=tuple(memory.costs.verbatim for memory in shown),
        fact_counts=tuple(memory.fact_count for memory in shown),
        in_filter=in_filter,
        passage_counts=[memory.passage_count for memory in shown],
        spans=b"".join(one.spans for one in passages),
        vectors=b"".join(one.vectors for one in passages),
        dimension=tables.model.dimension if tables.model is not None and passages else 0,
        links=_links(tables, entries),
        remaining=remaining,
    )


def _links(tables: Tables, entries: Iterable[Entry]) -> dict[int, tuple[str, ...]]:
    linked = ((place, tables.links.of(entry.id)) for place, entry in enumerate(entries))
    return {place: tuple(sorted({link.memory_id for link in links})) for place, links in linked if links}
