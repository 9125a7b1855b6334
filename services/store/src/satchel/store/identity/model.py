"""What an identity is made of.

Levels, flags and styles are kept by their path, such as ``voice.formality``; the part before the dot is the
dimension that they belong to. Numbers of enums equal those of the contract, which a test holds.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

UNKNOWN_MODEL = "unknown"

NEUTRAL_LEVELS: Mapping[str, float] = MappingProxyType(
    {
        "voice.formality": 0.5,
        "voice.humor": 0.3,
        "voice.empathy": 0.6,
        "voice.technical_depth": 0.5,
        "voice.enthusiasm": 0.5,
        "voice.directness": 0.6,
        "voice.vocabulary": 0.6,
        "voice.metaphor": 0.3,
        "values.accuracy": 0.5,
        "values.helpfulness": 0.5,
        "values.safety": 0.5,
        "values.honesty": 0.5,
        "values.efficiency": 0.5,
        "values.creativity": 0.5,
        "values.risk_tolerance": 0.5,
        "values.time_horizon": 0.5,
        "values.collective": 0.5,
        "emotion.warmth": 0.5,
        "emotion.enthusiasm": 0.5,
        "emotion.playfulness": 0.5,
        "emotion.seriousness": 0.5,
        "emotion.encouragement": 0.5,
        "emotion.calm": 0.5,
        "emotion.patience": 0.5,
        "emotion.curiosity": 0.5,
        "emotion.confidence": 0.5,
        "emotion.concern": 0.5,
        "emotion.optimism": 0.5,
    }
)
FLAGS = (
    "voice.uses_emojis",
    "voice.uses_markdown",
    "communication.gives_examples",
    "communication.draws_analogies",
    "communication.shows_code",
    "communication.shows_tables",
    "communication.asks_back",
    "communication.closes_with_summary",
    "communication.offers_next_steps",
    "communication.gives_reasons",
)
PHRASES = ("openings", "closings", "catch_phrases")
MAX_PHRASES = 10
MAX_STANCES = 10
FLAG_SHARE = 0.25  # of the replies, from which a flag is set
# Weights, in observations: of a neutral level, of what was declared, and the greatest that may gather, so
# that the newest observations always count for something.
PRIOR_WEIGHT = 4.0
DECLARED_WEIGHT = 40.0
GREATEST_WEIGHT = 60.0


class Cause(enum.IntEnum):
    """What made a version."""

    CAPTURE = 1
    UPDATE = 2
    PATCH = 3
    SWAP = 4


class Category(enum.IntEnum):
    """What a trait belongs to."""

    COGNITIVE = 1
    EMOTIONAL = 2
    SOCIAL = 3
    EPISTEMIC = 4
    EXPRESSIVE = 5
    ETHICAL = 6


class Level(NamedTuple):
    """A value in [0, 1], and how much evidence stands behind it."""

    value: float
    weight: float


class Style(NamedTuple):
    """A number of the path's enum, and by how much evidence it leads."""

    number: int
    weight: float


class Phrase(NamedTuple):
    """Words of the agent, in how many replies they were ``seen``, and whether they were declared."""

    text: str
    seen: int
    declared: bool = False


class Stance(NamedTuple):
    """What the agent holds of a topic."""

    topic: str
    in_favor: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """A trait: ``evidence`` counts the places that showed it, ``contexts`` the conversations.

    ``declared`` is one that a directive or a patch named. Observations never lower intensity or confidence.
    """

    name: str
    category: Category
    intensity: float
    confidence: float
    evidence: int = 0
    contexts: int = 0
    declared: bool = False

    @property
    def consistency(self) -> float:
        """In how many conversations it was seen, as a share of ten."""
        return min(1.0, self.contexts / 10)

    @property
    def is_established(self) -> bool:
        """Whether it is sure, often seen, and seen in most conversations."""
        return self.confidence > 0.7 and self.evidence >= 5 and self.consistency > 0.5  # noqa: PLR2004  # of MIRA


@dataclass(frozen=True, slots=True, kw_only=True)
class Behavior:
    """What is counted in replies, as means over ``replies`` of them."""

    replies: int = 0
    words_per_reply: float = 0.0
    words_per_sentence: float = 0.0
    questions_per_reply: float = 0.0
    exclamations_per_reply: float = 0.0
    lexical_variety: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who an agent is.

    ``levels`` has every path of `NEUTRAL_LEVELS`; ``flags`` hold the share of replies and have every path of
    `FLAGS`; ``styles`` have only those that are known. ``traits`` are by folded name, ``phrases`` by kind.
    ``metrics`` is a JSON object as text, empty for none.
    """

    levels: Mapping[str, Level]
    flags: Mapping[str, Level]
    styles: Mapping[str, Style] = field(default_factory=dict)
    traits: Mapping[str, Trait] = field(default_factory=dict)
    phrases: Mapping[str, tuple[Phrase, ...]] = field(default_factory=dict)
    core_values: tuple[Phrase, ...] = ()
    stances: tuple[Stance, ...] = ()
    behavior: Behavior = Behavior()
    metrics: str = ""

    @property
    def confidence(self) -> float:
        """Mean confidence of the traits; 0 without any."""
        return sum(trait.confidence for trait in self.traits.values()) / max(len(self.traits), 1)

    def is_set(self, flag: str) -> bool:
        """Tell whether enough replies do what a flag says."""
        return self.flags[flag].value >= FLAG_SHARE

    def style(self, path: str) -> int:
        """Return the number of a style; 0 for one that is not known."""
        found = self.styles.get(path)
        return found.number if found else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One version of an agent's identity; ``created_at`` in microseconds, ``parent_version`` 0 for none.

    ``sessions`` are the conversations that were captured up to here, newest last.
    """

    agent_id: str
    project: str
    version: int
    parent_version: int
    created_at: int
    model_id: str
    cause: Cause
    identity: Identity
    reason: str = ""
    session_id: str = ""
    from_model: str = ""
    changes: tuple[str, ...] = ()
    drift_score: float = 0.0
    sessions: tuple[str, ...] = ()


def neutral() -> Identity:
    """Return the identity of an agent of which nothing is known."""
    return Identity(
        levels={path: Level(value, PRIOR_WEIGHT) for path, value in NEUTRAL_LEVELS.items()},
        flags=dict.fromkeys(FLAGS, Level(0.0, 0.0)),
        phrases=dict.fromkeys(PHRASES, ()),
    )
