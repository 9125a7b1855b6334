"""Values for single fields, as changes of an identity."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from satchel.runtime.errors import InvalidRequest
from satchel.store.identity.editing import (
    Edit,
    TraitEdit,
    add_phrase,
    add_trait,
    edited,
    remove_phrase,
    remove_trait,
    set_flag,
    set_level,
    set_style,
    upsert_trait,
)
from satchel.store.identity.model import Identity

MAX_TRAITS = 100


class Action(enum.IntEnum):
    """What to do with a trait."""

    ADD = 1
    UPSERT = 2
    REMOVE = 3


class TraitChange(NamedTuple):
    """A trait, and what to do with it."""

    action: Action
    edit: TraitEdit


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """What to set: levels, flags and styles by their paths, phrases by their kinds."""

    levels: Mapping[str, float] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)
    styles: Mapping[str, int] = field(default_factory=dict)
    added_phrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    removed_phrases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    traits: tuple[TraitChange, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether it sets nothing."""
        phrases = (*self.added_phrases.values(), *self.removed_phrases.values())
        return not (self.levels or self.flags or self.styles or self.traits or any(phrases))


def patched(identity: Identity, patch: Patch) -> Identity:
    """Set what a patch names.

    Raises:
        InvalidRequest: the identity would have more traits than may be.
    """
    changed = edited(identity, _edits(patch))
    if len(changed.traits) > max(MAX_TRAITS, len(identity.traits)):
        remedy = "Remove traits that do not matter."
        raise InvalidRequest.of(
            "traits",
            "ERROR_REASON_TOO_MANY_ITEMS",
            f"With the field 'traits' the identity would have {len(changed.traits)} traits, and may have "
            f"{MAX_TRAITS}. {remedy}",
            limit=str(MAX_TRAITS),
            remedy=remedy,
        )
    return changed


def _edits(patch: Patch) -> list[Edit]:
    return [
        *(set_level(path, value) for path, value in patch.levels.items()),
        *(set_flag(flag, on=on) for flag, on in patch.flags.items()),
        *(set_style(path, number) for path, number in patch.styles.items()),
        *(remove_phrase(kind, text) for kind, texts in patch.removed_phrases.items() for text in texts),
        *(add_phrase(kind, text) for kind, texts in patch.added_phrases.items() for text in reversed(texts)),
        *map(_trait_edit, patch.traits),
    ]


def _trait_edit(change: TraitChange) -> Edit:
    match change.action:
        case Action.ADD:
            return add_trait(change.edit)
        case Action.UPSERT:
            return upsert_trait(change.edit)
        case Action.REMOVE:
            return remove_trait(change.edit.name)
