"""Stored answers and replaced versions as JSON text, and back."""

import json
from dataclasses import asdict
from typing import Any

from satchel.store.model import (
    Component,
    Deleted,
    Link,
    Memory,
    MemoryState,
    MemoryType,
    Relation,
    Sensitivity,
    Stored,
    TokenCosts,
)


def dump_stored(answers: tuple[Stored, ...]) -> str:
    """Return the answers to a store as JSON."""
    return _json([asdict(answer) for answer in answers])


def load_stored(text: str) -> tuple[Stored, ...]:
    """Read what `dump_stored` wrote."""
    return tuple(Stored(**{**fields, "type": MemoryType(fields["type"])}) for fields in json.loads(text))


def dump_deleted(answer: Deleted) -> str:
    """Return the answer to a deletion as JSON."""
    return _json(asdict(answer))


def load_deleted(text: str) -> Deleted:
    """Read what `dump_deleted` wrote."""
    return Deleted(**json.loads(text))


def dump_memory(memory: Memory) -> str:
    """Return a memory, whole, as JSON."""
    fields = memory._asdict()
    if memory.component is not None:
        fields["component"] = dump_component(memory.component)
    return _json(fields)


def load_memory(text: str) -> Memory:
    """Read what `dump_memory` wrote."""
    fields: dict[str, Any] = json.loads(text)
    return Memory(
        **{
            **fields,
            "type": MemoryType(fields["type"]),
            "state": MemoryState(fields["state"]),
            "sensitivity": Sensitivity(fields["sensitivity"]),
            "tags": tuple(fields["tags"]),
            "given_tags": tuple(fields["given_tags"]),
            "component": load_component(fields["component"] or ""),
            "costs": TokenCosts(*fields["costs"]),
            "links": tuple(Link(other, Relation(kind), *rest) for other, kind, *rest in fields["links"]),
        }
    )


def dump_component(component: Component | None) -> str:
    """Return a component as JSON; empty for none."""
    return "" if component is None else _json({"kind": component.kind, "fields": dict(component.fields)})


def load_component(text: str) -> Component | None:
    """Read what `dump_component` wrote."""
    if not text:
        return None
    document = json.loads(text)
    fields = {
        key: tuple(value) if isinstance(value, list) else value for key, value in document["fields"].items()
    }
    return Component(document["kind"], fields)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
