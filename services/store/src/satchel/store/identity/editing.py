"""Changes of single parts of an identity, as directives and patches make them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeAlias

from satchel.runtime.folding import fold
from satchel.store.identity.catalogue import BY_NAME
from satchel.store.identity.merging import merged_phrases
from satchel.store.identity.model import (
    DECLARED_WEIGHT,
    Category,
    Identity,
    Level,
    Phrase,
    Style,
    Trait,
)
from satchel.store.identity.phrases import words_of

_DEFAULT = 0.7  # intensity and confidence of a trait that is declared without
_DECLARED_VOTES = 20.0

Edit: TypeAlias = Callable[[Identity], Identity]


@dataclass(frozen=True, slots=True, kw_only=True)
class TraitEdit:
    """What to set of a trait; None leaves it, or gives a new trait its default."""

    name: str
    category: Category | None = None
    intensity: float | None = None
    confidence: float | None = None


def edited(identity: Identity, edits: Iterable[Edit]) -> Identity:
    """Make changes one after the other."""
    for edit in edits:
        identity = edit(identity)
    return identity


def set_level(path: str, value: float) -> Edit:
    """Set a level, which yields slowly to what conversations show later."""
    return lambda identity: replace(
        identity, levels={**identity.levels, path: Level(clamped(value), DECLARED_WEIGHT)}
    )


def set_flag(path: str, *, on: bool) -> Edit:
    """Set a flag, which yields slowly to what conversations show later."""
    return lambda identity: replace(
        identity, flags={**identity.flags, path: Level(float(on), DECLARED_WEIGHT)}
    )


def set_style(path: str, number: int) -> Edit:
    """Set a style, which gives way when conversations outvote it."""
    return lambda identity: replace(
        identity, styles={**identity.styles, path: Style(number, _DECLARED_VOTES)}
    )


def set_metrics(metrics: str) -> Edit:
    """Set the caller's own measures, a JSON object as text."""
    return lambda identity: replace(identity, metrics=metrics)


def add_phrase(kind: str, text: str) -> Edit:
    """Declare a phrase of a kind."""

    def edit(identity: Identity) -> Identity:
        known = identity.phrases.get(kind, ())
        declared = merged_phrases((Phrase(text, 0, declared=True),), known)
        return replace(identity, phrases={**identity.phrases, kind: declared})

    return edit


def remove_phrase(kind: str, text: str) -> Edit:
    """Remove a phrase of a kind, compared without case; one that is not there is passed over."""

    def edit(identity: Identity) -> Identity:
        kept = tuple(one for one in identity.phrases.get(kind, ()) if _key(one.text) != _key(text))
        return replace(identity, phrases={**identity.phrases, kind: kept})

    return edit


def add_trait(change: TraitEdit) -> Edit:
    """Add a trait; one that is there stays as it is."""
    return lambda identity: identity if trait_key(change.name) in identity.traits else _put(identity, change)


def upsert_trait(change: TraitEdit) -> Edit:
    """Add a trait, or set what is named of the one that is there."""
    return lambda identity: _put(identity, change)


def remove_trait(name: str) -> Edit:
    """Remove a trait; one that is not there is passed over."""

    def edit(identity: Identity) -> Identity:
        kept = {key: trait for key, trait in identity.traits.items() if key != trait_key(name)}
        return replace(identity, traits=kept)

    return edit


def trait_key(name: str) -> str:
    """Return the name of a trait as it is compared."""
    return " ".join(fold(name).split())


def clamped(value: float) -> float:
    """Return the nearest number in [0, 1]."""
    return min(1.0, max(0.0, value))


def _put(identity: Identity, change: TraitEdit) -> Identity:
    key = trait_key(change.name)
    trait = _changed(identity.traits.get(key), change, key)
    return replace(identity, traits={**identity.traits, key: trait})


def _changed(old: Trait | None, change: TraitEdit, key: str) -> Trait:
    if old is None:
        built_in = BY_NAME.get(key)
        category = built_in.category if built_in else Category.EXPRESSIVE
        old = Trait(
            name=key if built_in else " ".join(change.name.split()),
            category=category,
            intensity=_DEFAULT,
            confidence=_DEFAULT,
        )
    return replace(
        old,
        category=change.category or old.category,
        intensity=old.intensity if change.intensity is None else clamped(change.intensity),
        confidence=old.confidence if change.confidence is None else clamped(change.confidence),
        declared=True,
    )


def _key(text: str) -> tuple[str, ...]:
    return tuple(words_of(text)) or (text,)
