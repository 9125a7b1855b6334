"""What the words for an identity are in a language."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Ends(NamedTuple):
    """How the two ends of a level are called; an empty one is not worth a word."""

    low: str
    high: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Words and sentences of one language.

    ``labels`` has the beginning of each line. ``levels`` and ``styles`` have what to say of each path, a
    style's words in the order of its enum; ``flags`` what to say of one that is set. Sentences have places in
    braces.
    """

    you_are: str
    swapped: str
    stay: str
    very: str
    quote: tuple[str, str]
    labels: Mapping[str, str]
    levels: Mapping[str, Ends]
    styles: Mapping[str, tuple[str, ...]]
    flags: Mapping[str, str]
    traits: Mapping[str, str]
    strengths: tuple[str, str, str]
    in_favor: str
    against: str
    memories_note: str
