"""What is other in one identity than in another, as lines such as ``voice.formality: 0.50 -> 0.80``."""

from collections.abc import Iterable, Iterator

from satchel.store.identity.model import FLAGS, NEUTRAL_LEVELS, PHRASES, Identity, Stance, Trait
from satchel.store.identity.styles import STYLES

MOST_LISTED = 50
_SAME = 0.005  # levels that are nearer than this read the same


def list_changes(old: Identity, new: Identity) -> tuple[str, ...]:
    """Return what is other, in the order of the contract; empty for what nobody could tell apart."""
    return (
        *_levels(old, new),
        *_flags(old, new),
        *_styles(old, new),
        *_traits(old, new),
        *_phrases(old, new),
        *_convictions(old, new),
    )


def _levels(old: Identity, new: Identity) -> Iterator[str]:
    for path in NEUTRAL_LEVELS:
        before, after = old.levels[path].value, new.levels[path].value
        if abs(before - after) >= _SAME:
            yield f"{path}: {before:.2f} -> {after:.2f}"


def _flags(old: Identity, new: Identity) -> Iterator[str]:
    for flag in FLAGS:
        if old.is_set(flag) != new.is_set(flag):
            yield f"{flag}: {_yes(old.is_set(flag))} -> {_yes(new.is_set(flag))}"


def _styles(old: Identity, new: Identity) -> Iterator[str]:
    for path in STYLES:
        if old.style(path) != new.style(path):
            yield f"{path}: {_word(path, old.style(path))} -> {_word(path, new.style(path))}"


def _traits(old: Identity, new: Identity) -> Iterator[str]:
    for key in sorted(old.traits.keys() | new.traits.keys()):
        before, after = old.traits.get(key), new.traits.get(key)
        if after is None:
            yield f"traits.{key}: removed"
        elif before is None:
            yield f"traits.{key}: added ({after.intensity:.2f})"
        else:
            yield from _trait(key, before, after)


def _trait(key: str, before: Trait, after: Trait) -> Iterator[str]:
    for name in ("intensity", "confidence"):
        first, second = getattr(before, name), getattr(after, name)
        if abs(first - second) >= _SAME:
            yield f"traits.{key}.{name}: {first:.2f} -> {second:.2f}"
    if before.category != after.category:
        yield f"traits.{key}.category: {before.category.name.lower()} -> {after.category.name.lower()}"


def _phrases(old: Identity, new: Identity) -> Iterator[str]:
    for kind in PHRASES:
        before = [phrase.text for phrase in old.phrases.get(kind, ())]
        after = [phrase.text for phrase in new.phrases.get(kind, ())]
        yield from _texts(f"voice.{kind}", before, after)


def _convictions(old: Identity, new: Identity) -> Iterator[str]:
    yield from _texts(
        "values.core_values", [one.text for one in old.core_values], [one.text for one in new.core_values]
    )
    yield from _texts("values.stances", map(_stance, old.stances), map(_stance, new.stances))


def _stance(stance: Stance) -> str:
    topic, in_favor = stance
    return f"{'for' if in_favor else 'against'} {topic}"


def _texts(path: str, before: Iterable[str], after: Iterable[str]) -> Iterator[str]:
    old, new = list(before), list(after)
    yield from (f'{path}: - "{text}"' for text in old if text not in new)
    yield from (f'{path}: + "{text}"' for text in new if text not in old)


def _word(path: str, number: int) -> str:
    return STYLES[path](number).name.lower() if number else "unknown"


def _yes(value: bool) -> str:  # noqa: FBT001  # the value itself
    return "yes" if value else "no"
