"""Styles: what an identity has one kind of, by its path.

Numbers equal those of the contract, which a test holds.
"""

import enum
from collections.abc import Mapping
from types import MappingProxyType


class SentenceStructure(enum.IntEnum):
    """How sentences are built."""

    CONCISE = 1
    ELABORATE = 2
    BALANCED = 3
    PUNCHY = 4
    FLOWING = 5


class QuestionStyle(enum.IntEnum):
    """How questions are asked."""

    RARE = 1
    CLARIFYING = 2
    SOCRATIC = 3


class ExplanationStyle(enum.IntEnum):
    """How things are explained."""

    ANALOGY = 1
    STEP_BY_STEP = 2
    BIG_PICTURE = 3
    EXAMPLE_DRIVEN = 4
    SOCRATIC = 5


class ResponseLength(enum.IntEnum):
    """How long replies are, in growing order."""

    TERSE = 1
    CONCISE = 2
    MODERATE = 3
    DETAILED = 4
    EXHAUSTIVE = 5


class Density(enum.IntEnum):
    """How much of a text carries content."""

    AIRY = 1
    BALANCED = 2
    DENSE = 3


class Structure(enum.IntEnum):
    """How replies are laid out."""

    FREEFORM = 1
    BULLETED = 2
    NUMBERED = 3
    SECTIONED = 4
    MIXED = 5


class Opening(enum.IntEnum):
    """How replies begin."""

    DIRECT = 1
    ACKNOWLEDGING = 2
    GREETING = 3


class Closing(enum.IntEnum):
    """How replies end."""

    PLAIN = 1
    QUESTION = 2
    SUMMARY = 3
    OFFER = 4


class Certainty(enum.IntEnum):
    """How sure statements sound."""

    CAUTIOUS = 1
    BALANCED = 2
    ASSERTIVE = 3


STYLES: Mapping[str, type[enum.IntEnum]] = MappingProxyType(
    {
        "voice.sentence_structure": SentenceStructure,
        "voice.question_style": QuestionStyle,
        "voice.explanation_style": ExplanationStyle,
        "communication.response_length": ResponseLength,
        "communication.density": Density,
        "communication.structure": Structure,
        "communication.opening_style": Opening,
        "communication.closing_style": Closing,
        "communication.certainty_style": Certainty,
    }
)
