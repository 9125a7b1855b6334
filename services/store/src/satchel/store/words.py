"""Words of a text for full-text search and for tags.

One analysis serves both sides: `index_text` writes what the full-text table keeps, `query_terms` what a
search asks for. Letters are folded (compatibility form, no case, no accents: "Règles" is "regles").

Identifiers are kept whole and in parts: ``ERR_4711-x`` also gives ``err``, ``4711`` and ``x``. FTS5 would
split them at their joiners, so each term is *encoded* before it reaches SQLite: every code point that is no
letter and no number becomes the private-use code point U+F0000 + itself, which the tokenizer counts as part
of a token (category Co). The table needs no token characters of its own:
``tokenize = "unicode61 remove_diacritics 2"``, or ``"porter unicode61 remove_diacritics 2"`` for stems.
Source: https://www.sqlite.org/fts5.html, section 4.3.1; checked over all code points with SQLite 3.40.

Scripts written without spaces (Han, Kana, Hangul, Thai, Lao, Khmer, Burmese) become pairs of characters, as
in Lucene's CJKAnalyzer.
"""

import functools
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from satchel.store.extraction.fingerprint import Fingerprint
from satchel.store.extraction.normal import letters, normalise
from satchel.store.stopwords import stop_words

MAX_TAGS = 32
_MAX_TERM = 128  # code points; a longer term is cut, on both sides alike
_MIN_TAG_WORD = 4
_PRIVATE = 0xF0000
_CACHED_CHUNKS = 8192
_CACHED_LENGTH = 24  # code points; what is longer seldom comes twice

_UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u109f\u1780-\u17d3\u3005-\u3007\u3041-\u3096\u3099\u309a"
    "\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_MARKS = letters(lambda point: unicodedata.category(point) in {"Mn", "Mc"}, 0x300, 0x1D00) + "\u20d0-\u20f0"
_RUN = rf"(?:[^\W_{_UNSPACED}]++[{_MARKS}]*+)++"
_PART = rf"(?:{_RUN}|_++)"
_TOKEN = re.compile(
    rf"(?P<unspaced>[{_UNSPACED}]++)"
    r"|(?P<url>\b[a-zA-Z][a-zA-Z+]{1,9}://[^\s<>\"'`|\\^{}]++)"
    r"|(?P<email>(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,6})"
    rf"|(?P<elided>\b(?:[ldjnstmcLDJNSTMC]|[qQ]u)['\u2019](?=\w))"
    rf"|(?P<word>{_PART}++(?:(?:[-./\\@]|::){_PART}++)*+)(?:(?P<sign>\+\+|\#)(?!\w)|['\u2019](?i:s|t|re|ve|ll|d|m)\b)?"
)
_INNER = re.compile(_RUN)
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z]{2})|[A-Z]?[a-z]+\d*|[A-Z]+\d*|\d+")
_LONE = re.compile(f"[{_UNSPACED}]")
_HUMP = re.compile(r"[a-z\d][A-Z]|[A-Z]{2}[a-z]{2}")
_VERSION = re.compile(r"[vV](\d+(?:\.\d+)+)")
_PATH = re.compile(r"[/\\]")
_DIGIT = re.compile(r"\d")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_LIGATURES = str.maketrans(
    {"œ": "oe", "æ": "ae", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "\u0131": "i"}
)
_SPECIAL = re.compile(r"[^a-z0-9 ]")
_TRAILING = ".,;:!?)]}*_"


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


@dataclass(frozen=True, slots=True)
class _Token:
    """``whole`` is the term; ``parts`` follow it in the index; ``code`` marks an identifier."""

    whole: str
    parts: tuple[str, ...] = ()
    code: bool = False


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
    return [term for token in _tokens(normalise(text, "NFKC")) for term in (token.whole, *token.parts)]


def index_text(text: str) -> str:
    """Return the encoded terms joined by spaces: the full-text column, one FTS5 token each."""
    return " ".join([chunk.indexed for chunk in _chunks(text) if chunk.indexed])


def query_terms(text: str) -> QueryTerms:
    """Return what to search for; if the query holds only stop words, they are the terms."""
    tokens = list(_tokens(normalise(text, "NFKC")))
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


def fold(text: str) -> str:
    """Return ``text`` in compatibility form, without case and without accents."""
    if text.isascii():
        return text.lower()
    folded = normalise(normalise(text, "NFKC").casefold(), "NFKD")
    return normalise(_ACCENTS.sub("", folded).translate(_LIGATURES))


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


def _asked(token: _Token) -> Iterator[QueryTerm]:
    """Yield the terms that a query needs of one token; a hyphenated word is needed in its parts."""
    if token.parts and not token.code:
        yield from (QueryTerm(part) for part in token.parts)
    else:
        yield QueryTerm(token.whole, exact=token.code, prefix=bool(_LONE.fullmatch(token.whole)))


def _chunks(text: str) -> Iterator[_Chunk]:
    """Read a text by what stands between white space, which no token crosses; most chunks come often."""
    for chunk in normalise(text, "NFKC").split():
        yield _read_cached(chunk) if len(chunk) <= _CACHED_LENGTH else _read(chunk)


def _read(chunk: str) -> _Chunk:
    read = [term for token in _tokens(chunk) for term in (token.whole, *token.parts)]
    return _Chunk(encode(" ".join(read)), tuple(map(_plain, _plain_words(chunk))))


_read_cached = functools.lru_cache(maxsize=_CACHED_CHUNKS)(_read)


def _plain(word: str) -> _Plain:
    return _Plain(word, fold(word), len(word) >= _MIN_TAG_WORD and not word.isdecimal())


def _plain_words(text: str) -> Iterator[str]:
    """Yield words of normal text without case, accents kept, addresses and pairs of characters left out."""
    for match in _TOKEN.finditer(text):
        if (word := match["word"]) is not None:
            yield from (piece.casefold() for piece in _INNER.findall(word))


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of normal text."""
    for match in _TOKEN.finditer(text):
        if (word := match["word"]) is not None:
            yield from _word(word, match["sign"])
        elif (run := match["unspaced"]) is not None:
            yield from (_Token(pair) for pair in _pairs(run))
        elif match["elided"] is None:
            yield _address(match.group().rstrip(_TRAILING))


def _pairs(run: str) -> Iterable[str]:
    return map("".join, itertools.pairwise(run)) if len(run) > 1 else (run,)


def _word(word: str, sign: str | None) -> Iterator[_Token]:
    """Read one word, or several that are joined without spaces; underscores alone are no word."""
    pieces = _INNER.findall(word)
    if sign:
        yield _Token(_fold_short(word + sign), (_fold_short(word),), code=True)
    elif len(pieces) == 1 and pieces[0] == word:
        humps = _humps(word)
        yield _Token(_fold_short(word), humps, code=bool(humps or _DIGIT.search(word)))
    elif pieces:
        code = not _HYPHENATED.fullmatch(word)
        yield _Token(_fold_short(word), _unique([*_tails(word), *_split(pieces)], word), code=code)


def _tails(word: str) -> Iterator[str]:
    """Yield a version without its ``v`` and the last name of a path."""
    if version := _VERSION.fullmatch(word):
        yield version[1]
    yield _PATH.split(word)[-1]


def _address(address: str) -> _Token:
    """Read a URL or an e-mail address: the whole, host or domain, local part, and the words of it all."""
    rest = address.partition("://")[2] or address
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    ends = host.split("@") if "@" in host else [host]
    return _Token(_fold_short(address), _unique([*ends, *_split(_INNER.findall(rest))], address), code=True)


def _split(pieces: Iterable[str]) -> Iterator[str]:
    for piece in pieces:
        yield piece
        yield from _humps(piece)


def _humps(piece: str) -> tuple[str, ...]:
    """Return the folded words of a camelCase word; empty if it is none."""
    return (
        tuple(hump.lower() for hump in _CAMEL.findall(piece))
        if _HUMP.search(piece) and piece.isascii()
        else ()
    )


def _unique(pieces: Iterable[str], whole: str) -> tuple[str, ...]:
    folded = dict.fromkeys(_fold_short(piece) for piece in pieces if piece)
    folded.pop(_fold_short(whole), None)
    return tuple(folded)


def _fold_short(term: str) -> str:
    return term[:_MAX_TERM].lower() if term.isascii() else _fold_cached(term[:_MAX_TERM])


_fold_cached = functools.lru_cache(maxsize=8192)(fold)
