"""An identity and what a conversation shows of it, to the identity that follows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

from satchel.store.identity.catalogue import BY_NAME
from satchel.store.identity.model import (
    GREATEST_WEIGHT,
    MAX_PHRASES,
    MAX_STANCES,
    Behavior,
    Identity,
    Level,
    Phrase,
    Stance,
    Style,
    Trait,
)
from satchel.store.identity.phrases import words_of
from satchel.store.identity.reading import Observation

_MOST_VOTES = 20.0
_MEANS = tuple(field.name for field in fields(Behavior) if field.name != "replies")


def merge(identity: Identity, seen: Observation) -> Identity:
    """Add evidence to an identity; what the conversation does not show stays as it is."""
    return replace(
        identity,
        levels=_merged_levels(identity.levels, seen.levels),
        flags=_merged_levels(identity.flags, seen.flags),
        styles=_merged_styles(identity.styles, seen.styles),
        traits=_merged_traits(identity.traits, seen.traits, seen.behavior.replies),
        phrases={
            kind: merged_phrases(known, seen.phrases.get(kind, ()))
            for kind, known in identity.phrases.items()
        },
        core_values=merged_phrases(identity.core_values, seen.core_values),
        stances=_merged_stances(identity.stances, seen.stances),
        behavior=_merged_behavior(identity.behavior, seen.behavior),
    )


def merged_phrases(known: Sequence[Phrase], new: Sequence[Phrase]) -> tuple[Phrase, ...]:
    """Add up phrases that are the same without case; declared ones and then the most frequent stay."""
    found: dict[tuple[str, ...], Phrase] = {}
    for phrase in (*known, *new):
        key = tuple(words_of(phrase.text)) or (phrase.text,)
        old = found.get(key, Phrase(phrase.text, 0))
        found[key] = Phrase(old.text, old.seen + phrase.seen, old.declared or phrase.declared)
    ordered = sorted(found.values(), key=lambda phrase: (not phrase.declared, -phrase.seen))
    return tuple(ordered[:MAX_PHRASES])


def _merged_levels(known: Mapping[str, Level], seen: Mapping[str, Level]) -> dict[str, Level]:
    return {path: _mean(level, seen[path]) if path in seen else level for path, level in known.items()}


def _mean(known: Level, seen: Level) -> Level:
    """Return the weighted mean; the weight adds up to a bound, beyond which older evidence fades."""
    weight = known.weight + seen.weight
    if not weight:
        return known
    value = (known.value * known.weight + seen.value * seen.weight) / weight
    return Level(min(1.0, max(0.0, value)), min(weight, GREATEST_WEIGHT))


def _merged_styles(known: Mapping[str, Style], seen: Mapping[str, Style]) -> dict[str, Style]:
    """Let styles win by majority, kept as who leads and by how much (Boyer and Moore 1991)."""
    return {**known, **{path: _vote(known.get(path, Style(0, 0.0)), style) for path, style in seen.items()}}


def _vote(leads: Style, votes: Style) -> Style:
    if leads.number == votes.number:
        return Style(leads.number, max(leads.weight, min(leads.weight + votes.weight, _MOST_VOTES)))
    if votes.weight > leads.weight:
        return Style(votes.number, votes.weight - leads.weight)
    return Style(leads.number, leads.weight - votes.weight)


def _merged_traits(known: Mapping[str, Trait], seen: Mapping[str, int], replies: int) -> dict[str, Trait]:
    traits = dict(known)
    for name, count in seen.items():
        old = traits.get(name)
        traits[name] = _new_trait(name, count, replies) if old is None else _seen_again(old, count, replies)
    return traits


def _new_trait(name: str, count: int, replies: int) -> Trait:
    category = BY_NAME[name].category
    return Trait(
        name=name,
        category=category,
        intensity=_shown(count, replies),
        confidence=observed_confidence(count),
        evidence=count,
        contexts=1,
    )


def _seen_again(trait: Trait, count: int, replies: int) -> Trait:
    """Add evidence: intensity rises towards what is shown, by the share of the new evidence."""
    share = count / (count + trait.evidence)
    rise = max(0.0, _shown(count, replies) - trait.intensity)
    evidence = trait.evidence + count
    return replace(
        trait,
        intensity=trait.intensity + rise * share,
        confidence=max(trait.confidence, observed_confidence(evidence)),
        evidence=evidence,
        contexts=trait.contexts + 1,
    )


def observed_confidence(evidence: int) -> float:
    """Return how sure a trait is after ``evidence`` observations: 1 - 0.7 exp(-n / 5)."""
    return 1 - 0.7 * math.exp(-evidence / 5)


def _shown(count: int, replies: int) -> float:
    """Return how strongly ``count`` places in ``replies`` show a trait: 1 - exp(-2 count / replies)."""
    return 1 - math.exp(-2 * count / replies)


def _merged_stances(known: Sequence[Stance], new: Sequence[Stance]) -> tuple[Stance, ...]:
    """Return stances, newest first; a newer one on the same topic takes the place of an older."""
    found: dict[tuple[str, ...], Stance] = {}
    for stance in (*reversed(new), *known):
        found.setdefault(tuple(words_of(stance.topic)), stance)
    return tuple(found.values())[:MAX_STANCES]


def _merged_behavior(known: Behavior, seen: Behavior) -> Behavior:
    total = known.replies + seen.replies
    means = {
        name: (getattr(known, name) * known.replies + getattr(seen, name) * seen.replies) / total
        for name in _MEANS
    }
    return Behavior(replies=total, **means)
