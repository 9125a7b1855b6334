"""Full-text search: BM25 on stems, a bonus for exact words, and hits by tags.

All words first; when that gives too few, any of the rarest words, as many as the number of list entries
allows: in a store of some ten thousand memories that is every word, in a larger one an OR over common words
would read most of the index. Text of the query is never FTS5 syntax: every term is one quoted string.
"""

import math
import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from satchel.store.adapters.sqlite.rows import head_of, json_list
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.ports import Term, TextQuery
from satchel.store.scope import Scope, TagHit, TextFound, TextHit

_MAX_TERMS = 64  # terms of a query that are looked at; more would make one statement too long
_WEIGHTS = "5.0, 2.0, 2.0, 1.0, 1.0"  # of title, tags, summary, body and typed fields
_EXACT_WEIGHT = 0.25  # best of 0, 0.1, 0.2, 0.3, 0.5 by recall at 5 to 20 on the retrieval benchmark
_EXACT_ROWS = 2000  # a word in more memories than this says little, and reading its list costs
_CACHED_TERMS = 4096
_GROWTH = 1.25  # counts are taken anew when the store has grown by this factor
_SPARE = 4  # hits that are ranked for one that is wanted, before the scope is looked at
_LEAST_SCORE = 1e-9

# The best of the whole store, of which those in the scope are kept: cheap, and enough in a wide scope.
# `bm25()` and a sort by SQLite take half the time of FTS5's own `ORDER BY rank`.
_BEST_FIRST = f"""
SELECT m.id, m.key, -r.score
FROM (
  SELECT rowid AS key, bm25(stems, {_WEIGHTS}) AS score FROM stems WHERE stems MATCH ? ORDER BY score LIMIT ?
) r CROSS JOIN memories m ON m.key = r.key
WHERE {{where}}
ORDER BY r.score LIMIT ?
"""  # noqa: S608
_SCOPE_FIRST = f"""
SELECT m.id, m.key, -bm25(stems, {_WEIGHTS}) AS score
FROM stems CROSS JOIN memories m ON m.key = stems.rowid
WHERE stems MATCH ? AND {{where}}
ORDER BY score DESC LIMIT ?
"""  # noqa: S608
_TAGGED = """
SELECT m.id, t.matches
FROM (
  SELECT memory, count(*) AS matches FROM memory_tags WHERE tag IN (SELECT value FROM json_each(?))
  GROUP BY memory ORDER BY matches DESC, memory LIMIT ?
) t CROSS JOIN memories m ON m.key = t.memory
WHERE {where}
ORDER BY t.matches DESC, m.id LIMIT ?
"""
_COUNTS = "SELECT term, doc FROM term_counts WHERE term IN (SELECT value FROM json_each(?))"
_EVERY = -1  # no limit, as SQLite writes it


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A memory that matched: its id, its internal key, and its BM25 score."""

    id: str
    key: int
    score: float


class TextSearch:
    """Searches by words; keeps how common words are, so that the next query knows the rare ones.

    ``max_entries`` is the number of list entries that the second pass may read. Used by several reader
    threads: the cache is only replaced or added to, and a lost update costs one more count.
    """

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._counted_at = 0

    def search(self, raw: sqlite3.Connection, query: TextQuery) -> TextFound:
        """Return hits by words and by tags, and the revision that they reflect."""
        asked = query.terms[:_MAX_TERMS]
        terms = (*asked, *query.parts[:_MAX_TERMS])
        total: int = raw.execute("SELECT ifnull(sum(memories), 0) FROM tallies").fetchone()[0]
        counts = self._counts_of(raw, terms, total)
        rare = self._rarest(terms, counts)
        found, full = _both_passes(raw, query, asked, rare)
        bonus = _exact_bonus(raw, rare, counts, total, found) if len(found) > 1 else {}
        hits = [
            TextHit(one.id, max(one.score + bonus.get(key, 0.0), _LEAST_SCORE), key in full)
            for key, one in found.items()
        ]
        hits.sort(key=lambda hit: (-hit.score, hit.memory_id))
        return TextFound(tuple(hits[: query.top_k]), _by_tags(raw, query, rare), head_of(raw))

    def _rarest(self, terms: Sequence[Term], counts: Mapping[str, int]) -> list[Term]:
        """Return the rarest terms, as many as may be read together, at least one."""
        chosen: list[Term] = []
        entries = 0
        for term in sorted(terms, key=lambda term: counts.get(term.token, 0)):
            entries += counts.get(term.token, 0)
            if chosen and entries > self._max_entries:
                break
            chosen.append(term)
        return chosen

    def _counts_of(self, raw: sqlite3.Connection, terms: Sequence[Term], total: int) -> Mapping[str, int]:
        """Return in how many memories each exact word occurs, as of when it was last counted."""
        if total > self._counted_at * _GROWTH or total < self._counted_at / _GROWTH:
            self._counts, self._counted_at = OrderedDict(), total
        counts = self._counts
        unknown = [term.token for term in terms if term.token not in counts]
        if unknown:
            found = dict(raw.execute(_COUNTS, (json_list(unknown),)).fetchall())
            counts.update({token: found.get(token, 0) for token in unknown})
        while len(counts) > _CACHED_TERMS:
            counts.popitem(last=False)
        return counts


def _both_passes(
    raw: sqlite3.Connection, query: TextQuery, asked: Sequence[Term], rare: Sequence[Term]
) -> tuple[dict[int, _Ranked], set[int]]:
    """Return what matched by key, each with its greater score, and the keys of those with all the words."""
    if not asked:
        return {}, set()
    every = _ranked(raw, " AND ".join(map(_phrase, asked)), query.scope, query.top_k)
    found = {one.key: one for one in every}
    if len(every) < query.top_k and (len(rare) > 1 or len(asked) > 1):
        for one in _ranked(raw, " OR ".join(map(_phrase, rare)), query.scope, query.top_k):
            known = found.get(one.key)
            if known is None or known.score < one.score:
                found[one.key] = one
    return found, {one.key for one in every}


def _exact_bonus(
    raw: sqlite3.Connection,
    terms: Sequence[Term],
    counts: Mapping[str, int],
    total: int,
    found: Mapping[int, _Ranked],
) -> dict[int, float]:
    """Return by key what the memories gain by words that stand there exactly as in the query."""
    bonus: dict[int, float] = {}
    for token in dict.fromkeys(term.token for term in terms):
        count = counts.get(token, 0)
        if not 0 < count <= _EXACT_ROWS:
            continue
        weight = _EXACT_WEIGHT * max(0.0, math.log((total - count + 0.5) / (count + 0.5)))
        for (key,) in raw.execute("SELECT rowid FROM terms WHERE terms MATCH ?", (_quoted(token),)):
            if key in found:
                bonus[key] = bonus.get(key, 0.0) + weight
    return bonus


def _ranked(raw: sqlite3.Connection, match: str, scope: Scope, limit: int) -> list[_Ranked]:
    """Return the best in the scope, best first."""
    where = conditions(scope)
    if scope.is_wide:
        enough = limit * _SPARE
        rows = raw.execute(
            _BEST_FIRST.format(where=where.sql), (match, enough, *where.parameters, enough)
        ).fetchall()
        if len(rows) >= limit or _has_fewer(raw, match, enough):
            return [_Ranked(*row) for row in rows[:limit]]
    rows = raw.execute(_SCOPE_FIRST.format(where=where.sql), (match, *where.parameters, limit)).fetchall()
    return [_Ranked(*row) for row in rows]


def _has_fewer(raw: sqlite3.Connection, match: str, number: int) -> bool:
    """Tell whether fewer memories match than that, so that none was left out."""
    sql = "SELECT count(*) FROM (SELECT 1 FROM stems WHERE stems MATCH ? LIMIT ?)"
    found: int = raw.execute(sql, (match, number)).fetchone()[0]
    return found < number


def _by_tags(raw: sqlite3.Connection, query: TextQuery, terms: Sequence[Term]) -> tuple[TagHit, ...]:
    if not terms:
        return ()
    where = conditions(query.scope)
    words = json_list(dict.fromkeys(term.text for term in terms))
    enough = query.top_k * _SPARE if query.scope.is_wide else _EVERY
    sql = _TAGGED.format(where=where.sql)
    rows = raw.execute(sql, (words, enough, *where.parameters, query.top_k)).fetchall()
    return tuple(TagHit(*row) for row in rows)


def _phrase(term: Term) -> str:
    return _quoted(term.token) + (" *" if term.prefix else "")


def _quoted(token: str) -> str:
    """Return a token as an FTS5 string. Source: sqlite.org/fts5.html, section 3.1."""
    doubled = token.replace('"', '""')
    return f'"{doubled}"'
