"""How many bytes memories take in an answer, so that answers can be cut before a transport refuses them."""

from collections.abc import Iterable

from satchel.store.adapters.sqlite.rows import BULKY, LINK_COUNT, METADATA, MOST_LINKS, PASSAGE_COUNT, Row

_FIXED = 2048  # ids, places, times, title and what else is short
_LINK = 150  # an id, a relation, a direction and a phrase
_METADATA_SHARE = 6  # "0," as JSON takes 11 bytes as a value of a google.protobuf.Struct


class Meter:
    """Counts down from ``max_bytes``; ``passage_bytes`` are added for each passage of a memory."""

    def __init__(self, max_bytes: int, *, passage_bytes: int = 0) -> None:
        self._left = max_bytes
        self._passage_bytes = passage_bytes

    def fits(self, row: Row) -> bool:
        """Count a row that was selected as `FULL` or `BRIEF`, and tell whether it still fits."""
        size = _FIXED + _LINK * min(row[LINK_COUNT], MOST_LINKS) + row[PASSAGE_COUNT] * self._passage_bytes
        for column in BULKY:
            size += _bytes_of(row[column])
        self._left -= size + _METADATA_SHARE * _bytes_of(row[METADATA])
        return self._left >= 0


def take(rows: Iterable[Row], meter: Meter, *, limit: int) -> tuple[list[Row], bool]:
    """Read at most ``limit`` rows, those that fit but at least one; tell whether more follow."""
    taken: list[Row] = []
    for row in rows:
        fits = meter.fits(row)
        if taken and (len(taken) == limit or not fits):
            return taken, True
        taken.append(row)
    return taken, False


def _bytes_of(text: str) -> int:
    """Return a bound of the bytes as UTF-8 that takes no time to compute."""
    return len(text) if text.isascii() else 4 * len(text)
