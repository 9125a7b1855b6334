"""Versions of an identity as JSON text, and back."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from satchel.store.identity.model import (
    Behavior,
    Category,
    Cause,
    Identity,
    Level,
    Phrase,
    Snapshot,
    Stance,
    Style,
    Trait,
    neutral,
)

_APART = frozenset({"identity"})
_SCALARS = tuple(field.name for field in fields(Snapshot) if field.name not in _APART)


def dump_snapshot(snapshot: Snapshot) -> str:
    """Return a version, whole, as JSON."""
    document = {name: getattr(snapshot, name) for name in _SCALARS}
    identity = snapshot.identity
    document["identity"] = {
        "levels": identity.levels,
        "flags": identity.flags,
        "styles": identity.styles,
        "traits": {key: asdict(trait) for key, trait in identity.traits.items()},
        "phrases": identity.phrases,
        "core_values": identity.core_values,
        "stances": identity.stances,
        "behavior": asdict(identity.behavior),
        "metrics": identity.metrics,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def load_snapshot(text: str) -> Snapshot:
    """Read what `dump_snapshot` wrote, also before a level or a flag was added to the model."""
    document: dict[str, Any] = json.loads(text)
    return Snapshot(
        **{
            **{name: document[name] for name in _SCALARS},
            "cause": Cause(document["cause"]),
            "changes": tuple(document["changes"]),
            "sessions": tuple(document["sessions"]),
            "identity": _identity(document["identity"]),
        }
    )


def _identity(document: Mapping[str, Any]) -> Identity:
    start = neutral()
    return Identity(
        levels={**start.levels, **_tuples(Level, document["levels"])},
        flags={**start.flags, **_tuples(Level, document["flags"])},
        styles=_tuples(Style, document["styles"]),
        traits={
            key: Trait(**{**trait, "category": Category(trait["category"])})
            for key, trait in document["traits"].items()
        },
        phrases={
            **start.phrases,
            **{kind: tuple(Phrase(*one) for one in known) for kind, known in document["phrases"].items()},
        },
        core_values=tuple(Phrase(*one) for one in document["core_values"]),
        stances=tuple(Stance(*one) for one in document["stances"]),
        behavior=Behavior(**document["behavior"]),
        metrics=document["metrics"],
    )


def _tuples(kind: Any, document: Mapping[str, list[Any]]) -> dict[str, Any]:  # noqa: ANN401  # a named tuple's class
    return {path: kind(*values) for path, values in document.items()}
