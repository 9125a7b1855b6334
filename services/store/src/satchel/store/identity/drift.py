"""How far an identity moved from one version to another, dimension by dimension.

Every distance lies in [0, 1] and is 0 just for what nobody could tell apart:

- voice: 0.7 times the root mean square of the levels' differences, plus 0.2 times the share of styles and
  flags that are other, plus 0.1 times the Jaccard distance of the phrases;
- values: 0.7 times the root mean square of the levels' differences, plus 0.3 times the Jaccard distance of
  what is said to be valued and of stances;
- emotion: the root mean square of the levels' differences;
- communication: the share of styles and flags that are other;
- traits: 0.4 times the mean difference of intensity of those in both, plus 0.3 times the share that went,
  plus 0.3 times the share that came;
- behavior: the Canberra distance of the means, abs(a - b) / (a + b), averaged.

A style that was not known before does not count as other.
"""

import enum
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean

from satchel.store.identity.model import FLAGS, NEUTRAL_LEVELS, Behavior, Identity, Trait
from satchel.store.identity.phrases import words_of
from satchel.store.identity.styles import STYLES

_FIFTH = 0.2
_SETTLED, _WEAK = 0.3, 0.5
_DIFFUSE = 0.6
_TINY = 1e-9
_MEANS = tuple(field.name for field in fields(Behavior) if field.name != "replies")


class Dimension(enum.IntEnum):
    """A part of an identity in which drift is measured."""

    VOICE = 1
    TRAITS = 2
    VALUES = 3
    EMOTION = 4
    COMMUNICATION = 5
    BEHAVIOR = 6


class DriftStatus(enum.IntEnum):
    """What drift comes to."""

    NO_HISTORY = 1
    STABLE = 2
    EVOLVING = 3
    SIGNIFICANT = 4


@dataclass(frozen=True, slots=True)
class TraitShifts:
    """Names of traits that came, went, and rose or fell by a fifth or more in intensity or confidence."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    strengthened: tuple[str, ...] = ()
    weakened: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Diffusion:
    """How little of the traits is settled, in [0, 1], and whether that is much."""

    score: float
    is_diffuse: bool


def distances(old: Identity, new: Identity) -> dict[Dimension, float]:
    """Return how far each dimension moved."""
    return {
        Dimension.VOICE: 0.7 * _levels(old, new, "voice")
        + 0.2 * _manners(old, new, "voice")
        + 0.1 * _jaccard(_voice_phrases(old), _voice_phrases(new)),
        Dimension.TRAITS: _traits(old.traits, new.traits),
        Dimension.VALUES: 0.7 * _levels(old, new, "values")
        + 0.3 * _jaccard(_convictions(old), _convictions(new)),
        Dimension.EMOTION: _levels(old, new, "emotion"),
        Dimension.COMMUNICATION: _manners(old, new, "communication"),
        Dimension.BEHAVIOR: _behavior(old.behavior, new.behavior),
    }


def score_of(scores: Mapping[Dimension, float]) -> float:
    """Return the drift as a whole: that of the dimension that moved most."""
    return min(1.0, max(scores.values()))


def status_of(score: float, threshold: float) -> DriftStatus:
    """Tell what a score comes to; above the threshold it is significant."""
    if score > threshold:
        return DriftStatus.SIGNIFICANT
    return DriftStatus.EVOLVING if score > threshold / 2 else DriftStatus.STABLE


def trait_shifts(old: Identity, new: Identity) -> TraitShifts:
    """Compare the traits."""
    both = [(trait, new.traits[key]) for key, trait in old.traits.items() if key in new.traits]
    return TraitShifts(
        added=_names(trait for key, trait in new.traits.items() if key not in old.traits),
        removed=_names(trait for key, trait in old.traits.items() if key not in new.traits),
        strengthened=_names(after for before, after in both if _has_risen(before, after)),
        weakened=_names(after for before, after in both if _has_risen(after, before)),
    )


def diffusion(identity: Identity) -> Diffusion:
    """Tell how little of the traits is settled; nothing is diffuse without traits.

    0.6 times the share of those that are not well established, plus 0.4 times that of those with a confidence
    below 0.5. Diffuse above 0.6, or where fewer than 30 % are well established.
    """
    traits = list(identity.traits.values())
    if not traits:
        return Diffusion(0.0, is_diffuse=False)
    established = sum(trait.is_established for trait in traits) / len(traits)
    weak = sum(trait.confidence < _WEAK for trait in traits) / len(traits)
    score = 0.6 * (1 - established) + 0.4 * weak
    return Diffusion(score, is_diffuse=score > _DIFFUSE or established < _SETTLED)


def _levels(old: Identity, new: Identity, dimension: str) -> float:
    differences = [
        new.levels[path].value - old.levels[path].value for path in _paths(NEUTRAL_LEVELS, dimension)
    ]
    return math.sqrt(fmean(difference**2 for difference in differences))


def _manners(old: Identity, new: Identity, dimension: str) -> float:
    styles = [
        old.style(path) != new.style(path) and old.style(path) != 0 for path in _paths(STYLES, dimension)
    ]
    flags = [old.is_set(flag) != new.is_set(flag) for flag in _paths(FLAGS, dimension)]
    return fmean((*styles, *flags))


def _traits(old: Mapping[str, Trait], new: Mapping[str, Trait]) -> float:
    both = old.keys() & new.keys()
    moved = fmean([abs(old[key].intensity - new[key].intensity) for key in both] or [0.0])
    went = len(old.keys() - new.keys()) / max(len(old), 1)
    came = len(new.keys() - old.keys()) / max(len(new), 1)
    return 0.4 * moved + 0.3 * went + 0.3 * came


def _behavior(old: Behavior, new: Behavior) -> float:
    if not old.replies or not new.replies:
        return 0.0
    pairs = [(getattr(old, name), getattr(new, name)) for name in _MEANS]
    return fmean(abs(before - after) / (before + after) if before + after else 0.0 for before, after in pairs)


def _voice_phrases(identity: Identity) -> set[tuple[str, ...]]:
    return {
        (kind, *words_of(phrase.text)) for kind, phrases in identity.phrases.items() for phrase in phrases
    }


def _convictions(identity: Identity) -> set[tuple[str, ...]]:
    values = {("value", *words_of(phrase.text)) for phrase in identity.core_values}
    return values | {
        ("for" if stance.in_favor else "against", *words_of(stance.topic)) for stance in identity.stances
    }


def _jaccard(old: set[tuple[str, ...]], new: set[tuple[str, ...]]) -> float:
    union = old | new
    return len(old ^ new) / len(union) if union else 0.0


def _paths(paths: Iterable[str], dimension: str) -> Sequence[str]:
    return [path for path in paths if path.startswith(f"{dimension}.")]


def _has_risen(before: Trait, after: Trait) -> bool:
    return (
        after.intensity - before.intensity >= _FIFTH - _TINY
        or after.confidence - before.confidence >= _FIFTH - _TINY
    )


def _names(traits: Iterable[Trait]) -> tuple[str, ...]:
    return tuple(sorted(trait.name for trait in traits))
