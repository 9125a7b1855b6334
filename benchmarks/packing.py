"""Packs a ranking into a budget the plain way: whole texts, one a line, nothing around them."""

from collections.abc import Iterable
from functools import cache

from satchel.runtime.tokens import count_tokens


def pack(texts: Iterable[str], budget: int) -> str:
    """Return the texts that fit, best first, each on lines of its own; one that does not fit is passed over.

    The result never holds more than ``budget`` tokens of ``cl100k_base``: that encoding has no token that
    joins a line break with what follows it, unless that is blank, and the texts begin with none.
    """
    chosen, left = [], budget
    for text in texts:
        line = f"{text.strip()}\n"
        cost = _cost(line)
        if cost <= left:
            chosen.append(line)
            left -= cost
    return "".join(chosen)


@cache
def _cost(line: str) -> int:
    return count_tokens(line)
