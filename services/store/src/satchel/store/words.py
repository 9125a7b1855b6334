"""Words of a text for full-text search and for tags.

One analysis serves both sides: `index_text` writes what the full-text table keeps, `query_terms` what a
search asks for. FTS5 would split identifiers at their joiners, so each term is *encoded* before it reaches
SQLite: every code point that is no letter and no number becomes the private-use code point U+F0000 + itself,
which the tokenizer counts as part of a token (category Co). The table needs no token characters of its own:
``tokenize = "unicode61 remove_diacritics 2"``, or ``"porter unicode61 remove_diacritics 2"`` for stems.
Source: https://www.sqlite.org/fts5.html, section 4.3.1; checked over all code points with SQLite 3.40.
"""

import functools
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from satchel.runtime.folding import fold, normalise
from satchel.runtime.stopwords import stop_words
from satchel.store.extraction.fingerprint import Fingerprint
from satchel.store.tokenising import Token, is_lone, plain_words, tokens_of

MAX_TAGS = 32
_MIN_TAG_WORD = 4
_PRIVATE = 0xF0000
_CACHED_CHUNKS = 8192
_CACHED_LENGTH = 24  # code points; what is longer seldom comes twice
_SPECIAL = re.compile(r"[^a-z0-9 ]")


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One folded term of a query.

    ``exact`` marks an identifier, to be matched as it stands (not stemmed). ``prefix`` marks a single
    character of an unspaced script, which matches every pair that begins with it.
    """

    text: str
    exact: bool = False
    prefix: bool = False

    @property
    def token(self) -> str:
        """The term as the full-text table holds it; free of FTS5 syntax once in double quotes."""
        return encode(self.text)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query asks for.

    ``terms`` are the words and whole identifiers, stop words left out: a text about all of them is the best
    answer. ``parts`` are pieces of identifiers, for a second and looser attempt. Both without duplicates,
    in the order of the query; no part is also a term.
    """

    terms: tuple[QueryTerm, ...] = ()
    parts: tuple[QueryTerm, ...] = ()


class _Plain(NamedTuple):
    """A word without case, the same without accents, and whether it may be a tag."""

    text: str
    folded: str
    may_be_tag: bool


class _Chunk(NamedTuple):
    """What stands between two white spaces: its terms as the index holds them, and its words."""

    indexed: str
    plain: tuple[_Plain, ...]


def terms(text: str) -> list[str]:
    """Return the folded terms of ``text`` in order, repeats kept; an identifier stands before its parts."""
    return [term for token in tokens_of(normalise(text, "NFKC")) for term in token.indexed]


def index_text(text: str) -> str:
    """Return the encoded terms joined by spaces: the full-text column, one FTS5 token each."""
    return " ".join([chunk.indexed for chunk in _chunks(text) if chunk.indexed])


def query_terms(text: str) -> QueryTerms:
    """Return what to search for; if the query holds only stop words, they are the terms."""
    tokens = list(tokens_of(normalise(text, "NFKC")))
    stops = stop_words(frozenset(token.whole for token in tokens))
    wanted = [term for token in tokens for term in _asked(token)]
    content = [term for term in wanted if term.exact or term.text not in stops] or wanted
    asked = {term.text: term for term in reversed(content)}
    pieces = dict.fromkeys(piece for token in tokens for piece in (token.whole, *token.parts))
    loose = (QueryTerm(piece) for piece in pieces if piece not in asked and piece not in stops)
    return QueryTerms(tuple(reversed(asked.values())), tuple(loose))


def tags(text: str, fingerprint: Fingerprint) -> list[str]:
    """Return at most 32 distinct tags, without case: entities, subjects, then words by frequency.

    Words have at least four letters and are no stop words; equally frequent ones come in text order. Tags
    keep their accents; compare them through `fold`.
    """
    written = [word for chunk in _chunks(text) for word in chunk.plain]
    stops = stop_words(frozenset([word.folded for word in written]))
    counts = Counter([word for word in written if word.may_be_tag and word.folded not in stops])
    named = (normalise(name, "NFKC").casefold() for name in (*fingerprint.entities, *fingerprint.subjects))
    chosen: dict[str, str] = {}
    for tag in named:
        chosen.setdefault(fold(tag), tag)
    for word, _ in counts.most_common(MAX_TAGS):
        chosen.setdefault(word.folded, word.text)
    return list(itertools.islice(chosen.values(), MAX_TAGS))


def encode(text: str) -> str:
    """Return folded ``text`` so that FTS5's unicode61 keeps each space-separated term in one token."""
    return _SPECIAL.sub(lambda match: _encode_point(match.group()), text)


@functools.lru_cache(maxsize=4096)
def _encode_point(point: str) -> str:
    """Map what unicode61 would split at into plane 15; other letters and numbers stay."""
    kept = unicodedata.category(point)[0] in "LN" and not (
        "\u19b0" <= point <= "\u19c9" or point in "\u1cf2\u1cf3"
    )
    return point if kept else chr(_PRIVATE + ord(point) % 0xFFFE)


def _asked(token: Token) -> Iterator[QueryTerm]:
    """Yield the terms that a query needs of one token; a hyphenated word is needed in its parts."""
    if token.parts and not token.code:
        yield from (QueryTerm(part) for part in token.parts)
    else:
        yield QueryTerm(token.whole, exact=token.code, prefix=is_lone(token.whole))


def _chunks(text: str) -> Iterator[_Chunk]:
    """Read a text by what stands between white space, which no token crosses; most chunks come often."""
    for chunk in normalise(text, "NFKC").split():
        yield _read_cached(chunk) if len(chunk) <= _CACHED_LENGTH else _read(chunk)


def _read(chunk: str) -> _Chunk:
    read = [term for token in tokens_of(chunk) for term in token.indexed]
    return _Chunk(encode(" ".join(read)), tuple(map(_plain, plain_words(chunk))))


_read_cached = functools.lru_cache(maxsize=_CACHED_CHUNKS)(_read)


def _plain(word: str) -> _Plain:
    return _Plain(word, fold(word), len(word) >= _MIN_TAG_WORD and not word.isdecimal())
