r"""Splits a long text into passages that the model can read, at sentence borders and with overlap.

Pure and linear in the text: each border is found by one bounded match, and each passage begins at least
a quarter of the limit after the one before it. Every code point lies in some passage.
"""

import re

import numpy as np
from numpy.typing import NDArray

from satchel.embedder.model import Encoding, Passage

# A sentence ends at a full stop, mark or ellipsis before white space, at an ideographic, Arabic or Indic
# stop with or without white space, or at the end of a line. Closing quotes and brackets belong to the
# sentence that they close. Each repetition is bounded, so that a run of marks costs linear time.
# Source: Unicode Standard Annex 29, section 5, Sentence_Break values ATerm, STerm, Close and ParaSep.
_SENTENCE_END = re.compile(
    r"[.!?…][\"'”’»)\]}]{0,3}(?=\s)"  # noqa: RUF001  # typographic quotes are meant
    r"|[。！？｡．؟۔।॥።][」』”’）】》]{0,3}"  # noqa: RUF001  # full-width forms are meant
    r"|[\n\r\v\f\x85\u2028\u2029]"
)


def split(text: str, encoding: Encoding, *, limit: int, overlap: int) -> list[Passage]:
    """Return the passages of a text in order, each of at most ``limit`` tokens.

    A text of at most ``limit`` tokens is one passage. A longer one is cut after the last sentence that
    ends in the second half of what fits; without one, between words; without any, at the limit. The next
    passage begins with the sentences (or words) of about ``overlap`` tokens before the cut. ``overlap``
    is taken as at most a quarter of ``limit``.
    """
    count = len(encoding.ids)
    if count <= limit:
        return [Passage(0, len(text), 0, count)]
    sentences, words = _sentence_borders(text, encoding), _word_borders(encoding)
    overlap = min(overlap, limit // 4)
    passages, first, start = [], 0, 0
    while count - first > limit:
        last = _cut(sentences, words, first + limit // 2, first + limit)
        end = max(int(encoding.starts[last]), int(encoding.ends[last - 1]))
        passages.append(Passage(start, end, first, last))
        first = _resume(sentences, words, last - overlap, last)
        start = min(int(encoding.starts[first]), end)
    passages.append(Passage(start, len(text), first, count))
    return passages


def _cut(sentences: NDArray[np.intp], words: NDArray[np.intp], low: int, high: int) -> int:
    """Return the greatest border in (low, high], a sentence's before a word's, else ``high``."""
    for borders in (sentences, words):
        found = int(np.searchsorted(borders, high, side="right")) - 1
        if found >= 0 and borders[found] > low:
            return int(borders[found])
    return high


def _resume(sentences: NDArray[np.intp], words: NDArray[np.intp], low: int, high: int) -> int:
    """Return the least border in [low, high), a sentence's before a word's, else ``low``."""
    for borders in (sentences, words):
        found = int(np.searchsorted(borders, low, side="left"))
        if found < len(borders) and borders[found] < high:
            return int(borders[found])
    return low


def _sentence_borders(text: str, encoding: Encoding) -> NDArray[np.intp]:
    """Return, ascending, the tokens that are the first of a sentence; the first token is none."""
    ends = np.fromiter((match.end() for match in _SENTENCE_END.finditer(text)), dtype=np.int32)
    tokens = np.unique(np.searchsorted(encoding.starts, ends, side="left"))
    return tokens[(tokens > 0) & (tokens < len(encoding.ids))]


def _word_borders(encoding: Encoding) -> NDArray[np.intp]:
    """Return, ascending, the tokens that have white space (or anything unread) before them."""
    return np.flatnonzero(encoding.starts[1:] > encoding.ends[:-1]) + 1
