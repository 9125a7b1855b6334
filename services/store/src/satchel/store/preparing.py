"""From what a caller wants stored to what is written: facts, words, tags, costs. Pure and deterministic."""

import hashlib
from datetime import UTC, datetime, timedelta

from satchel.runtime.errors import InvalidRequest, Violation
from satchel.runtime.folding import fold
from satchel.runtime.tokens import count_tokens
from satchel.store.extraction import Fingerprint, canonical_json, extract, render_line
from satchel.store.ids import Stamp
from satchel.store.model import Component, Memory, MemoryType, NewMemory, Prepared, TokenCosts, Words
from satchel.store.words import index_text, tags

DEFAULT_ROOMS = {
    MemoryType.DECISION: "decisions",
    MemoryType.FACT: "facts",
    MemoryType.PREFERENCE: "preferences",
    MemoryType.SESSION_NOTE: "session",
    MemoryType.DEBUG_LOG: "debug",
}
_HIDDEN_KIND = "vault"
_CORE_KIND = "core"
_CORE_LIMIT = 5000  # code points, where a core block names no limit
_LONGEST_TAG = 100  # code points, as the contract has it
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def prepare(new: NewMemory, stamp: Stamp) -> Prepared:
    """Derive all but the passages; ``stamp`` gives the id and the times that ``new`` does not bring."""
    hidden = is_hidden(new.component)
    readable = searchable_text(title=new.title, content=new.content, component=new.component)
    facts, declared = _facts(readable, new)
    kind = MemoryType[facts.type.upper()]
    memory_id = new.id or stamp.id
    created_at = stamp.at if new.created_at is None else new.created_at
    given, every = _tags(readable, facts, new)
    when = created_at if new.occurred_at is None else new.occurred_at
    return Prepared(
        new=new,
        id=memory_id,
        created_at=created_at,
        updated_at=created_at if new.updated_at is None else new.updated_at,
        type=kind,
        declared=declared,
        room=new.room or DEFAULT_ROOMS[kind],
        path_key=new.path.casefold() or None,
        tags=every,
        given_tags=given,
        fingerprint=canonical_json(facts),
        fact_count=facts.fact_count,
        costs=TokenCosts(
            count_tokens(new.content),
            count_tokens(render_line(facts)),
            count_tokens(header_line(memory_id, kind, when, new.wing)),
        ),
        content_hash=hash_content(new.content),
        words=Words(
            index_text(new.title),
            index_text("\n".join(given)),  # derived tags are words of the text already
            index_text(new.summary),
            "" if hidden else index_text(new.content),
            index_text(component_text(new.component)),
        ),
        tag_keys=tuple(sorted({fold(tag) for tag in every})),
        hidden=hidden,
    )


def _facts(text: str, new: NewMemory) -> tuple[Fingerprint, bool]:
    """Return the facts, and whether their type was declared."""
    if new.type is None:
        return extract(text), False
    if new.mixed and (inferred := extract(text)).type == new.type.name.lower():
        return inferred, False
    return extract(text, declared_type=new.type.name.lower()), True


def _tags(text: str, facts: Fingerprint, new: NewMemory) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the given tags, and these with the derived ones that are short enough; both sorted."""
    derived = {tag for tag in normal_tags(tuple(tags(text, facts))) if len(tag) <= _LONGEST_TAG}
    given = set(normal_tags(new.tags))
    if new.mixed:
        given -= derived
    return tuple(sorted(given)), tuple(sorted(given | derived))


def as_new(memory: Memory) -> NewMemory:
    """Return what would have to be stored to get ``memory`` again, as a base for changes."""
    return NewMemory(
        content=memory.content,
        wing=memory.wing,
        room=memory.room,
        type=memory.type if memory.declared else None,
        metadata=memory.metadata,
        project=memory.project,
        session_id=memory.session_id,
        occurred_at=memory.occurred_at,
        tags=memory.given_tags,
        title=memory.title,
        summary=memory.summary,
        path=memory.path,
        component=memory.component,
        source=memory.source,
        sensitivity=memory.sensitivity,
        id=memory.id,
        created_at=memory.created_at,
        session_order=memory.session_order,
        version=memory.version,
        state=memory.state,
        archived_at=memory.archived_at,
        archive_batch=memory.archive_batch,
        unarchived_at=memory.unarchived_at,
    )


def is_hidden(component: Component | None) -> bool:
    """Tell whether the text of such a memory is a secret."""
    return component is not None and component.kind == _HIDDEN_KIND


def searchable_text(*, title: str, content: str, component: Component | None) -> str:
    """Return the text that facts and vectors are made of: for a secret its title and description."""
    if not is_hidden(component):
        return content
    return "\n".join(part for part in (title, component_text(component)) if part) or _HIDDEN_KIND


def check_core(*, content: str, component: Component | None, prefix: str = "") -> None:
    """Refuse a text that is longer than its core block allows; ``prefix`` is the memory's path in a request.

    Raises:
        InvalidRequest: names the limit as ``component.core.limit``.
    """
    if component is None or component.kind != _CORE_KIND:
        return
    limit = component.fields.get("limit") or _CORE_LIMIT
    if not isinstance(limit, int) or len(content) <= limit:
        return
    field = f"{prefix}component.core.limit"
    remedy = f"Shorten '{prefix}content' or raise '{field}'."
    raise InvalidRequest(
        [
            Violation(
                field,
                "ERROR_REASON_FIELD_TOO_LONG",
                f"The field '{prefix}content' has {len(content)} code points, and '{field}' allows {limit}. "
                f"{remedy}",
                limit=str(limit),
                remedy=remedy,
                actual=str(len(content)),
            )
        ]
    )


def component_text(component: Component | None) -> str:
    """Return the words of a component's fields, in the order of the fields."""
    if component is None:
        return ""
    parts: list[str] = []
    for value in component.fields.values():
        if isinstance(value, str):
            parts.append(value)
        elif isinstance(value, tuple):
            parts.extend(value)
    return "\n".join(part for part in parts if part)


def normal_tags(given: tuple[str, ...]) -> tuple[str, ...]:
    """Return tags in lower case, white space collapsed, without duplicates, sorted.

    Lower case may be longer (one code point becomes two); what is then beyond the limit is cut.
    """
    lowered = {" ".join(tag.lower().split()) for tag in given}
    return tuple(sorted({tag[:_LONGEST_TAG].rstrip() for tag in lowered} - {""}))


def hash_content(content: str) -> bytes:
    """Return the SHA-256 of a text as UTF-8."""
    return hashlib.sha256(content.encode()).digest()


def header_line(memory_id: str, kind: MemoryType, when: int, wing: str) -> str:
    """Return the shortest form of a memory: type, day and wing, and the id that loads it."""
    day = (_EPOCH + timedelta(microseconds=when)).date().isoformat()
    return f"[{kind.name.lower()}|{day}|{wing}] T0:{memory_id}"
