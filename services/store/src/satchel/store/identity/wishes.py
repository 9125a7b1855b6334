"""What a directive asks for, as changes of an identity."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from satchel.store.identity.directives import Intent
from satchel.store.identity.editing import Edit, TraitEdit, set_flag, set_level, set_style, upsert_trait
from satchel.store.identity.model import Identity
from satchel.store.identity.styles import ResponseLength, Structure

# Where a plain wish leads at least, and a strong one; where it leads at most when it is turned down, and when
# only much of it is ("not very formal"); how far a comparison moves a level.
_HIGH, _HIGHEST = 0.8, 0.95
_LOW, _LOWER = 0.2, 0.35
_STEPS: Mapping[str, float] = MappingProxyType({"little": 0.1, "": 0.2, "much": 0.35})

# Levels that a family raises (True) or lowers. Turned down, it moves just the first of them.
_LEVELS: Mapping[str, tuple[tuple[str, bool], ...]] = MappingProxyType(
    {
        "enthusiasm": (("voice.enthusiasm", True), ("emotion.enthusiasm", True)),
        "formal": (("voice.formality", True),),
        "casual": (("voice.formality", False),),
        "humor": (("voice.humor", True), ("emotion.playfulness", True)),
        "serious": (("emotion.seriousness", True), ("voice.humor", False)),
        "warm": (("emotion.warmth", True), ("voice.empathy", True)),
        "direct": (("voice.directness", True),),
        "technical": (("voice.technical_depth", True),),
        "simple": (("voice.technical_depth", False), ("voice.vocabulary", False)),
        "creative": (("values.creativity", True), ("voice.metaphor", True)),
        "positive": (("emotion.optimism", True), ("emotion.encouragement", True)),
        "neutral": (("voice.enthusiasm", False), ("emotion.enthusiasm", False)),
    }
)
_FLAGS: Mapping[str, str] = MappingProxyType(
    {"emojis": "voice.uses_emojis", "closing summary": "communication.closes_with_summary"}
)
_STRUCTURES: Mapping[str, Structure] = MappingProxyType(
    {"bullets": Structure.BULLETED, "numbered": Structure.NUMBERED}
)
_LENGTH = "communication.response_length"
_STRUCTURE = "communication.structure"
_ANALYTICAL = "analytical"


def edits_of(intents: Sequence[Intent]) -> tuple[Edit, ...]:
    """Return the changes that fulfil wishes, in their order, each worked out on what the one before left."""
    return tuple(_edit(intent) for intent in intents)


def _edit(intent: Intent) -> Edit:
    if intent.family in _LEVELS:
        return lambda identity: _move_levels(identity, intent)
    if intent.family in _FLAGS:
        return set_flag(_FLAGS[intent.family], on=intent.wanted)
    if intent.family in _STRUCTURES:
        return lambda identity: _set_structure(identity, intent)
    if intent.family == _ANALYTICAL:
        return lambda identity: _set_analytical(identity, intent)
    return lambda identity: set_style(_LENGTH, _length(identity, intent))(identity)


def _move_levels(identity: Identity, intent: Intent) -> Identity:
    effects = _LEVELS[intent.family]
    for path, raises in effects if intent.wanted else effects[:1]:
        value = _moved(identity.levels[path].value, intent, up=raises is intent.wanted)
        identity = set_level(path, value)(identity)
    return identity


def _moved(value: float, intent: Intent, *, up: bool) -> float:
    """Return a level after a wish; a plain wish never moves it the other way."""
    if intent.compared:
        step = _STEPS[intent.degree]
        return value + step if up else value - step
    if intent.wanted:
        most = _HIGHEST if intent.degree == "much" else _HIGH
    else:
        most = 1 - (_LOWER if intent.degree == "much" else _LOW)
    return max(value, most) if up else min(value, 1 - most)


def _length(identity: Identity, intent: Intent) -> ResponseLength:
    now = ResponseLength(identity.style(_LENGTH) or ResponseLength.MODERATE)
    wants_short = (intent.family == "concise") is intent.wanted
    if intent.compared:
        step = 2 if intent.degree == "much" else 1
        return _between(now - step if wants_short else now + step)
    if intent.family == "exhaustive":
        return ResponseLength.EXHAUSTIVE if intent.wanted else min(now, ResponseLength.MODERATE)
    if not wants_short:
        return max(now, ResponseLength.DETAILED if intent.wanted else ResponseLength.MODERATE)
    is_very = intent.wanted and intent.degree == "much"
    return min(now, ResponseLength.TERSE if is_very else ResponseLength.CONCISE)


def _between(number: int) -> ResponseLength:
    return ResponseLength(max(ResponseLength.TERSE, min(ResponseLength.EXHAUSTIVE, number)))


def _set_structure(identity: Identity, intent: Intent) -> Identity:
    """Lay replies out as is wished; a layout that is turned down goes only where it is, or is not known."""
    wanted, now = _STRUCTURES[intent.family], identity.style(_STRUCTURE)
    if intent.wanted:
        return set_style(_STRUCTURE, wanted)(identity)
    if now in (wanted, Structure.MIXED, 0):
        return set_style(_STRUCTURE, Structure.FREEFORM)(identity)
    return identity


def _set_analytical(identity: Identity, intent: Intent) -> Identity:
    trait = identity.traits.get(_ANALYTICAL)
    now = trait.intensity if trait else 0.5
    change = TraitEdit(name=_ANALYTICAL, intensity=_moved(now, intent, up=intent.wanted))
    return upsert_trait(change)(identity)
