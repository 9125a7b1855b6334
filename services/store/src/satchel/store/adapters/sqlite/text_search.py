"""Full-text search: BM25 on stems, a bonus for exact words, and hits by tags.

All words first; when that gives too few, any of the words: all of them in a small store, the rarest in a
large one, where an OR over common words would read most of the index. Text of the query is never FTS5
syntax: every term is one quoted string.
"""

import math
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from satchel.store.adapters.sqlite.rows import head_of, json_list
from satchel.store.adapters.sqlite.scoping import conditions
from satchel.store.ports import Term, TextQuery
from satchel.store.scope import Scope, TagHit, TextFound, TextHit

_MAX_TERMS = 64  # terms of a query that are looked at; more would make one statement too long
_EXACT_WEIGHT = 0.25  # best of 0, 0.1, 0.2, 0.3, 0.5 by recall at 5 to 20 on the retrieval benchmark
_EXACT_ROWS = 2000  # a word in more memories than this says little, and reading its list costs
_RARE_TERMS = 8
_CACHED_TERMS = 4096
_GROWTH = 1.25  # counts are taken anew when the store has grown by this factor
_LEAST_SCORE = 1e-9

_RANKED = """
SELECT m.id, m.key, -stems.rank
FROM stems JOIN memories m ON m.key = stems.rowid
WHERE stems MATCH ? AND {where}
ORDER BY stems.rank LIMIT ?
"""
_TAGGED = """
SELECT m.id, count(*) AS matches
FROM memory_tags q JOIN memories m ON m.key = q.memory
WHERE q.tag IN (SELECT value FROM json_each(?)) AND {where}
GROUP BY m.key ORDER BY matches DESC, m.id LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A memory that matched: its id, its internal key, and its BM25 score."""

    id: str
    key: int
    score: float


class TextSearch:
    """Searches by words; keeps how common words are, so that the next query knows the rare ones.

    ``small_store`` is the number of memories up to which every word of a query is used, and also the
    number of list entries that a query on a larger store may read. Used by several reader threads: the
    cache is only replaced or added to, and a lost update costs one more count.
    """

    def __init__(self, small_store: int) -> None:
        self._small_store = small_store
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._counted_at = 0

    def search(self, raw: sqlite3.Connection, query: TextQuery) -> TextFound:
        """Return hits by words and by tags, and the revision that they reflect."""
        asked, parts = query.terms[:_MAX_TERMS], query.parts[:_MAX_TERMS]
        hits = self._by_words(raw, query, asked, parts)
        return TextFound(hits, _by_tags(raw, query), head_of(raw))

    def _by_words(
        self, raw: sqlite3.Connection, query: TextQuery, asked: Sequence[Term], parts: Sequence[Term]
    ) -> tuple[TextHit, ...]:
        if not asked:
            return ()
        total: int = raw.execute("SELECT ifnull(sum(memories), 0) FROM tallies").fetchone()[0]
        every = _ranked(raw, _all_of(asked), query.scope, query.top_k)
        found = {one.key: one for one in every}
        if len(every) < query.top_k and len(asked) + len(parts) > 1:
            some = self._worth_asking(raw, (*asked, *parts), total)
            for one in _ranked(raw, _any_of(some), query.scope, query.top_k):
                known = found.get(one.key)
                if known is None or known.score < one.score:
                    found[one.key] = one
        bonus = self._exact_bonus(raw, (*asked, *parts), total, found) if len(found) > 1 else {}
        full = {one.key for one in every}
        hits = [
            TextHit(one.id, max(one.score + bonus.get(key, 0.0), _LEAST_SCORE), key in full)
            for key, one in found.items()
        ]
        return tuple(sorted(hits, key=lambda hit: (-hit.score, hit.memory_id))[: query.top_k])

    def _worth_asking(self, raw: sqlite3.Connection, terms: Sequence[Term], total: int) -> Sequence[Term]:
        """Return the terms of the second pass: all in a small store, else the rarest that are cheap to read."""
        if total <= self._small_store:
            return terms
        counts = self._counts_of(raw, [term.token for term in terms], total)
        rarest = sorted(terms, key=lambda term: counts.get(term.token, 0))
        chosen, entries = [], 0
        for term in rarest[:_RARE_TERMS]:
            entries += counts.get(term.token, 0)
            if chosen and entries > self._small_store:
                break
            chosen.append(term)
        return chosen

    def _exact_bonus(
        self, raw: sqlite3.Connection, terms: Sequence[Term], total: int, found: Mapping[int, _Ranked]
    ) -> dict[int, float]:
        """Return by key what the memories gain by words that stand there exactly as in the query."""
        counts = self._counts_of(raw, [term.token for term in terms], total)
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

    def _counts_of(self, raw: sqlite3.Connection, tokens: Sequence[str], total: int) -> Mapping[str, int]:
        """Return in how many memories each exact word occurs; some may be as old as a quarter of the store."""
        if total > self._counted_at * _GROWTH or total < self._counted_at / _GROWTH:
            self._counts, self._counted_at = OrderedDict(), total
        counts = self._counts
        unknown = [token for token in dict.fromkeys(tokens) if token not in counts]
        if unknown:
            counts.update(dict.fromkeys(unknown, 0))
            counts.update(
                raw.execute(
                    "SELECT term, doc FROM term_counts WHERE term IN (SELECT value FROM json_each(?))",
                    (json_list(unknown),),
                ).fetchall()
            )
        while len(counts) > _CACHED_TERMS:
            counts.popitem(last=False)
        return counts


def _ranked(raw: sqlite3.Connection, match: str, scope: Scope, limit: int) -> list[_Ranked]:
    where = conditions(scope)
    rows = raw.execute(_RANKED.format(where=where.sql), (match, *where.parameters, limit))
    return [_Ranked(*row) for row in rows]


def _by_tags(raw: sqlite3.Connection, query: TextQuery) -> tuple[TagHit, ...]:
    words = list(dict.fromkeys(term.text for term in (*query.terms, *query.parts)))[:_MAX_TERMS]
    if not words:
        return ()
    where = conditions(query.scope)
    rows = raw.execute(_TAGGED.format(where=where.sql), (json_list(words), *where.parameters, query.top_k))
    return tuple(TagHit(*row) for row in rows)


def _all_of(terms: Iterable[Term]) -> str:
    return " AND ".join(_phrase(term) for term in terms)


def _any_of(terms: Iterable[Term]) -> str:
    return " OR ".join(_phrase(term) for term in terms)


def _phrase(term: Term) -> str:
    return _quoted(term.token) + (" *" if term.prefix else "")


def _quoted(token: str) -> str:
    """Return a token as an FTS5 string. Source: sqlite.org/fts5.html, section 3.1."""
    doubled = token.replace('"', '""')
    return f'"{doubled}"'
