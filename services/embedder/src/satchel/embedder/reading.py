"""Reads texts into rows of token ids: encode, split into passages, frame. Pure, but slow for long texts."""

from collections.abc import Iterator, Sequence

import numpy as np

from satchel.embedder.content import MOST_CODES, coded_places
from satchel.embedder.model import Encoding, Frame, Passage, Places, Reading, Role, Span, TokenIds
from satchel.embedder.passages import split
from satchel.embedder.ports import Tokenizer

_CHUNK_TEXTS = 32
_CHUNK_CODE_POINTS = 65_536


def read(
    texts: Sequence[str],
    role: Role,
    tokenizer: Tokenizer,
    *,
    max_tokens: int,
    overlap: int,
    with_codes: bool = False,
) -> Reading:
    """Return the passages of all texts, in order, as framed rows of at most ``max_tokens`` tokens.

    Nothing is cut off: what does not fit into one row goes on in the next. Texts are encoded a few at a
    time, so that the tokenizer's own bulky answer for a large request never exists as a whole.
    """
    frame = tokenizer.frame(role)
    limit = max(1, max_tokens - frame.token_count)
    rows: list[TokenIds] = []
    spans: list[Span] = []
    coded: list[Places] = []
    for text_index, text, encoding in _encoded(texts, tokenizer):
        passages = split(text, encoding, limit=limit, overlap=overlap)
        for passage in passages:
            row = _framed(frame, encoding, passage)
            rows.append(row)
            spans.append(Span(text_index, passage.start, passage.end, len(row)))
        if with_codes:
            coded += _coded(coded_places(encoding.ids, tokenizer.kinds), passages, len(frame.head))
    return Reading(tuple(rows), tuple(spans), tuple(coded))


def whole_text_spans(texts: Sequence[str], spans: Sequence[Span]) -> tuple[Span, ...]:
    """Return one span for each text, over all of it; its tokens are the sum of its passages'."""
    counts = [0] * len(texts)
    for span in spans:
        counts[span.text_index] += span.token_count
    return tuple(
        Span(index, 0, len(text), count)
        for index, (text, count) in enumerate(zip(texts, counts, strict=True))
    )


def _encoded(texts: Sequence[str], tokenizer: Tokenizer) -> Iterator[tuple[int, str, Encoding]]:
    index = 0
    for chunk in _chunks(texts):
        for text, encoding in zip(chunk, tokenizer.encode(chunk), strict=True):
            yield index, text, encoding
            index += 1


def _chunks(texts: Sequence[str]) -> Iterator[list[str]]:
    chunk: list[str] = []
    size = 0
    for text in texts:
        if chunk and (len(chunk) >= _CHUNK_TEXTS or size + len(text) > _CHUNK_CODE_POINTS):
            yield chunk
            chunk, size = [], 0
        chunk.append(text)
        size += len(text)
    if chunk:
        yield chunk


def _coded(places: Places, passages: Sequence[Passage], head: int) -> Iterator[Places]:
    """Yield the places of each passage's coded tokens in its row, which begins with ``head`` other tokens.

    Tokens that two passages share are coded in both, as far as the most that a text may have allow.
    """
    left = MOST_CODES
    for passage in passages:
        low, high = np.searchsorted(places, (passage.first, passage.last))
        own = places[low : min(high, low + left)]
        left -= len(own)
        yield own + (head - passage.first)


def _framed(frame: Frame, encoding: Encoding, passage: Passage) -> TokenIds:
    return np.concatenate((frame.head, encoding.ids[passage.first : passage.last], frame.tail))
