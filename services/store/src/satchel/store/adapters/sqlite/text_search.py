"""Full-text search: BM25 on stems, a bonus for exact words, and hits by tags.

All words first; when that gives too few, any of the rarest words, as many as the number of list entries
allows: in a small store that is every word, in a large one an OR over common words would read most of the
index, and what they would add to the order is little. Text of the query is never FTS5 syntax: every term is
one quoted string.
"""

import math
import sqlite3
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from satchel.store.adapters.sqlite.rows import head_of, json_list
from satchel.store.adapters.sqlite.scoping import Conditions, conditions
from satchel.store.adapters.sqlite.tag_search import search_tags
from satchel.store.ports import Term, TextQuery
from satchel.store.scope import Scope, TextFound, TextHit

_MAX_TERMS = 64  # terms of a query that are looked at; more would make one statement too long
_WEIGHTS = "5.0, 2.0, 2.0, 1.0, 1.0"  # of title, tags, summary, body and typed fields
_EXACT_WEIGHT = 0.3  # best of 0.2 to 0.45 by recall at 5, 10 and 50 on the retrieval benchmark
_EXACT_CHARACTERS = 16_384  # of a text that are looked at for exact words
_MOST_COUNTED = 20_000  # a word in more memories than this says little, and counting them costs
_CACHED_COUNTS = 4096
_COUNTED_BITS = (
    3  # of the number of memories that are kept: counts are taken anew at 4, 5, 6, 7, 8, 10, 12, 14, 16
)
_LEAST_SHARE = 0.25  # of the store that a scope must hold for the whole store to be ranked first
_SPARE = 1.2  # what is ranked beyond the expected number, so that enough are in the scope
_LEAST_SCORE = 1e-9

# `bm25()` and a sort by SQLite take half the time of FTS5's own `ORDER BY rank`.
_OF_ALL = f"""
SELECT rowid, -bm25(stems, {_WEIGHTS}) AS score FROM stems WHERE stems MATCH ? ORDER BY score DESC LIMIT ?
"""  # noqa: S608
_OF_SCOPE = f"""
SELECT m.key, -bm25(stems, {_WEIGHTS}) AS score FROM stems CROSS JOIN memories m ON m.key = stems.rowid
WHERE stems MATCH ? AND {{where}} ORDER BY score DESC LIMIT ?
"""  # noqa: S608
_READ = f"""
SELECT m.key, m.id,
  ' ' || w.title || ' ' || w.tags || ' ' || w.summary || ' ' || w.fields || ' '
  || substr(w.body, 1, {_EXACT_CHARACTERS}) || ' '
FROM json_each(?) k CROSS JOIN memories m ON m.key = k.value CROSS JOIN words w ON w.memory = m.key
WHERE {{where}}
"""  # noqa: S608
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM stems WHERE stems MATCH ? AND rowid <= ? LIMIT ?)"
_SIZES = """
SELECT ifnull(sum(memories), 0), ifnull(sum(memories) FILTER (
  WHERE project = ? AND state IN (SELECT value FROM json_each(?))
), 0), (SELECT ifnull(max(key), 0) FROM memories), (SELECT words_removed FROM properties) FROM tallies
"""

_Scores: TypeAlias = dict[int, float]  # by the memory's key, best first


class _Sizes(NamedTuple):
    """How many memories the store holds, and how many in the scope's project and states; what counts rest on.

    ``newest`` is the greatest key of a memory, ``words_removed`` how often words were removed from the index.
    """

    total: int
    inside: int
    newest: int
    words_removed: int

    @property
    def counted(self) -> int:
        """The greatest key whose memory's words are counted."""
        spare = max(self.newest.bit_length() - _COUNTED_BITS, 0)
        return self.newest >> spare << spare

    @property
    def share(self) -> float:
        """About the share of the memories whose words are counted, in (0.75, 1]."""
        return self.counted / self.newest if self.newest else 1.0


class _Counts(NamedTuple):
    """By token how many of the memories up to a key hold a word, at a number of removals."""

    counted: int
    words_removed: int
    by_token: OrderedDict[str, int]


class _Ranking(NamedTuple):
    """How to rank: the scope, how many are wanted, and how many of the whole store may hold these.

    ``enough`` is `None` where the scope must be looked at before anything is ranked.
    """

    where: Conditions
    wanted: int
    enough: int | None


class TextSearch:
    """Searches by words; keeps how common words are, so that the next query knows the rare ones.

    ``max_entries`` is the number of list entries that the second pass may read. How common a word is follows
    from the database alone: it is counted in the memories up to a key that moves in steps, so that a count
    holds while memories are added, and goes when words are removed. So a restart changes no score. Used by
    several reader threads: the cache is only replaced or added to, and a lost update costs one more count.
    """

    def __init__(self, max_entries: int) -> None:
        self._max_entries = max_entries
        self._counts = _Counts(0, 0, OrderedDict())

    def search(self, raw: sqlite3.Connection, query: TextQuery) -> TextFound:
        """Return hits by words and by tags, and the revision that they reflect."""
        asked = query.terms[:_MAX_TERMS]
        terms = (*asked, *query.parts[:_MAX_TERMS])
        sizes = _sizes(raw, query.scope)
        counts = self._counts_of(raw, terms, sizes)
        rare = _rarest(terms, counts, math.floor(self._max_entries * sizes.share))
        ranking = _ranking(query, sizes.total, sizes.inside)
        hits = []
        if asked and sizes.inside:
            hits = _hits(raw, ranking, asked, rare, _weights(terms, counts, sizes.total * sizes.share))
        tag_hits = search_tags(
            raw, [term.text for term in rare], ranking.where, wanted=query.top_k, enough=ranking.enough
        )
        return TextFound(tuple(hits[: query.top_k]), tag_hits, head_of(raw))

    def _counts_of(self, raw: sqlite3.Connection, terms: Sequence[Term], sizes: _Sizes) -> Mapping[str, int]:
        """Return by token how many memories hold a word, of those that are counted now.

        A word that none of these holds is counted in the others, every time: that costs nothing.
        """
        cache, found = self._cache_of(sizes), dict[str, int]()
        for term in terms:
            count = cache.get(term.token)
            if count is None:
                count = _count(raw, term, sizes.counted)
                if count:
                    cache[term.token] = count
                else:
                    count = _count(raw, term, sizes.newest)
            found[term.token] = count
        while len(cache) > _CACHED_COUNTS:
            cache.popitem(last=False)
        return found

    def _cache_of(self, sizes: _Sizes) -> OrderedDict[str, int]:
        """Return the counts that hold for what is read now; a reader of another moment keeps its own."""
        counts = self._counts
        if counts[:2] != (sizes.counted, sizes.words_removed):
            self._counts = counts = _Counts(sizes.counted, sizes.words_removed, OrderedDict())
        return counts.by_token


def _sizes(raw: sqlite3.Connection, scope: Scope) -> _Sizes:
    return _Sizes(*raw.execute(_SIZES, (scope.project, json_list(map(int, scope.states)))).fetchone())


def _count(raw: sqlite3.Connection, term: Term, up_to: int) -> int:
    """Return how many memories hold a word, of those with a key of at most ``up_to``."""
    found: int = raw.execute(_COUNT, (_phrase(term), up_to, _MOST_COUNTED)).fetchone()[0]
    return found


def _rarest(terms: Sequence[Term], counts: Mapping[str, int], max_entries: int) -> list[Term]:
    """Return the rarest terms, as many as may be read together, at least one."""
    chosen: list[Term] = []
    entries = 0
    for term in sorted(terms, key=lambda term: counts[term.token]):
        entries += counts[term.token]
        if chosen and entries > max_entries:
            break
        chosen.append(term)
    return chosen


def _ranking(query: TextQuery, total: int, inside: int) -> _Ranking:
    """Decide what is cheaper: to rank the whole store and look at the scope then, or the other way."""
    enough = None
    if query.scope.is_wide and inside >= _LEAST_SHARE * total:
        spare = 1.0 if inside == total else _SPARE * total / max(inside, 1)
        enough = math.ceil(query.top_k * spare)
    return _Ranking(conditions(query.scope), query.top_k, enough)


def _weights(terms: Sequence[Term], counts: Mapping[str, int], total: float) -> list[tuple[str, float]]:
    """Return each word as it stands between spaces, and what a memory gains that holds it exactly.

    ``counts`` are of ``total`` memories.

    The weight is a part of the word's inverse document frequency as BM25 has it.
    """
    found = []
    for token in dict.fromkeys(term.token for term in terms):
        count = max(counts[token], 1)
        if count < _MOST_COUNTED and 2 * count < total:
            found.append((f" {token} ", _EXACT_WEIGHT * math.log((total - count + 0.5) / (count + 0.5))))
    return found


def _hits(
    raw: sqlite3.Connection,
    ranking: _Ranking,
    asked: Sequence[Term],
    rare: Sequence[Term],
    weights: Sequence[tuple[str, float]],
) -> list[TextHit]:
    """Return the hits in the scope, best first."""
    every = _ranked(raw, ranking, " AND ".join(map(_phrase, asked)))
    some: _Scores = {}
    if len(every) < ranking.wanted and (len(rare) > 1 or len(asked) > 1):
        some = _ranked(raw, ranking, " OR ".join(map(_phrase, rare)))
    keys = some | every
    sql = _READ.format(where=ranking.where.sql)
    read = raw.execute(sql, (json_list(keys), *ranking.where.parameters)).fetchall()
    inside = {row[0] for row in read}
    if any(_may_lack(scores, inside, ranking) for scores in (every, some)):
        return _hits(raw, ranking._replace(enough=None), asked, rare, weights)
    hits = []
    for key, memory_id, words in read:
        score = max(every.get(key, 0.0), some.get(key, 0.0), _LEAST_SCORE)
        for word, weight in weights:
            if word in words:
                score += weight
        hits.append(TextHit(memory_id, score, key in every))
    hits.sort(key=lambda hit: (-hit.score, hit.memory_id))
    return hits


def _may_lack(scores: _Scores, inside: set[int], ranking: _Ranking) -> bool:
    """Tell whether the scope may hold more than was ranked of the whole store, and too few were found."""
    if ranking.enough is None or len(scores) < ranking.enough:
        return False
    return len(inside & scores.keys()) < ranking.wanted


def _ranked(raw: sqlite3.Connection, ranking: _Ranking, match: str) -> _Scores:
    """Return the best: those of the whole store, whatever their scope, or those of the scope."""
    if ranking.enough is not None:
        return dict(raw.execute(_OF_ALL, (match, ranking.enough)))
    where = ranking.where
    return dict(raw.execute(_OF_SCOPE.format(where=where.sql), (match, *where.parameters, ranking.wanted)))


def _phrase(term: Term) -> str:
    return _quoted(term.token) + (" *" if term.prefix else "")


def _quoted(token: str) -> str:
    """Return a token as an FTS5 string. Source: sqlite.org/fts5.html, section 3.1."""
    doubled = token.replace('"', '""')
    return f'"{doubled}"'
