"""How many bytes memories take in an answer, so that answers end before a transport refuses them."""

from collections.abc import Iterable
from typing import TypeVar

from satchel.store.adapters.memory.entries import Entry
from satchel.store.snapshots import dump_component

T = TypeVar("T")

_FIXED = 2048  # ids, places, times, title and what else is short
_LINK = 150  # an id, a relation, a direction and a phrase
_METADATA_SHARE = 6  # "0," as JSON takes 11 bytes as a value of a google.protobuf.Struct


def memory_bytes(entry: Entry, link_count: int, *, with_vectors: bool = False) -> int:
    """Return a bound of the bytes that a memory takes in a message."""
    memory = entry.memory
    texts = (memory.summary, memory.content, memory.fingerprint, *memory.tags, *memory.given_tags)
    size = (
        _FIXED
        + _LINK * link_count
        + sum(map(_text_bytes, texts))
        + _METADATA_SHARE * _text_bytes(memory.metadata)
    )
    return (
        size + _text_bytes(dump_component(memory.component)) + (passage_bytes(entry) if with_vectors else 0)
    )


def passage_bytes(entry: Entry) -> int:
    """Return a bound of the bytes of a memory's vectors and of the edges of its passages."""
    return 0 if entry.passages is None else len(entry.passages.vectors) + 2 * len(entry.passages.spans)


def change_bytes(entry: Entry, *, with_vectors: bool) -> int:
    """Return a bound of the bytes that a memory takes in the change feed."""
    return _FIXED + sum(map(_text_bytes, entry.tag_keys)) + (passage_bytes(entry) if with_vectors else 0)


def leading(sized: Iterable[tuple[T, int]], *, max_bytes: int, limit: int) -> tuple[list[T], bool]:
    """Return the first things that fit, at most ``limit`` but at least one; tell whether more follow."""
    taken: list[T] = []
    for thing, size in sized:
        max_bytes -= size
        if taken and (max_bytes < 0 or len(taken) == limit):
            return taken, True
        taken.append(thing)
    return taken, False


def _text_bytes(text: str) -> int:
    """Return a bound of the bytes of a text as UTF-8, with what precedes it in a message."""
    return 8 + (len(text) if text.isascii() else 4 * len(text))
