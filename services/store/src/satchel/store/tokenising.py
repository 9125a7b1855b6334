"""Tokens of a text: words, identifiers with their parts, addresses, and pairs of unspaced characters.

Letters are folded (compatibility form, no case, no accents: "Règles" is "regles"). Identifiers are kept
whole and in parts: ``ERR_4711-x`` also gives ``err``, ``4711``, ``x``. Scripts without spaces (Han, Kana,
Hangul, Thai, Lao, Khmer, Burmese) become pairs of characters, as in Lucene's CJKAnalyzer.
"""

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from satchel.runtime.folding import fold
from satchel.store.extraction.normal import letters

_MAX_TERM = 128  # code points; a longer term is cut, on both sides alike

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
_TRAILING = ".,;:!?)]}*_"


@dataclass(frozen=True, slots=True)
class Token:
    """``whole`` is the term; ``parts`` follow it in the index; ``code`` marks an identifier.

    ``last`` is the character that ends a run of an unspaced script. It begins no pair, so the index holds it
    alone: a search for one character looks for what begins with it.
    """

    whole: str
    parts: tuple[str, ...] = ()
    code: bool = False
    last: str = ""

    @property
    def indexed(self) -> tuple[str, ...]:
        """What the index holds of it, in order."""
        return (self.whole, *self.parts, self.last) if self.last else (self.whole, *self.parts)


def is_lone(term: str) -> bool:
    """Tell whether a term is a single character of an unspaced script."""
    return bool(_LONE.fullmatch(term))


def plain_words(text: str) -> Iterator[str]:
    """Yield words of normal text without case, accents kept, addresses and pairs of characters left out."""
    for match in _TOKEN.finditer(text):
        if (word := match["word"]) is not None:
            yield from (piece.casefold() for piece in _INNER.findall(word))


def tokens_of(text: str) -> Iterator[Token]:
    """Yield the tokens of normal text."""
    for match in _TOKEN.finditer(text):
        if (word := match["word"]) is not None:
            yield from _word(word, match["sign"])
        elif (run := match["unspaced"]) is not None:
            yield from _pairs(run)
        elif match["elided"] is None:
            yield _address(match.group().rstrip(_TRAILING))


def _pairs(run: str) -> Iterator[Token]:
    if len(run) == 1:
        yield Token(run)
        return
    yield from (Token(one + other) for one, other in itertools.pairwise(run[:-1]))
    yield Token(run[-2:], last=run[-1])


def _word(word: str, sign: str | None) -> Iterator[Token]:
    """Read one word, or several that are joined without spaces; underscores alone are no word."""
    pieces = _INNER.findall(word)
    if sign:
        yield Token(_fold_short(word + sign), (_fold_short(word),), code=True)
    elif len(pieces) == 1 and pieces[0] == word:
        humps = _humps(word)
        yield Token(_fold_short(word), humps, code=bool(humps or _DIGIT.search(word)))
    elif pieces:
        code = not _HYPHENATED.fullmatch(word)
        yield Token(_fold_short(word), _unique([*_tails(word), *_split(pieces)], word), code=code)


def _tails(word: str) -> Iterator[str]:
    """Yield a version without its ``v`` and the last name of a path."""
    if version := _VERSION.fullmatch(word):
        yield version[1]
    yield _PATH.split(word)[-1]


def _address(address: str) -> Token:
    """Read a URL or an e-mail address: the whole, host or domain, local part, and the words of it all."""
    rest = address.partition("://")[2] or address
    host = re.split(r"[/?#]", rest, maxsplit=1)[0]
    ends = host.split("@") if "@" in host else [host]
    return Token(_fold_short(address), _unique([*ends, *_split(_INNER.findall(rest))], address), code=True)


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
