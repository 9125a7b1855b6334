"""Changes of the tables. Each checks everything first and then writes, so that a failure leaves no trace."""

from collections.abc import Sequence
from dataclasses import replace as with_changes

from satchel.store.adapters.memory.entries import Entry, Identity, entry_of, identity_of
from satchel.store.adapters.memory.linking import find_links, find_links_again
from satchel.store.adapters.memory.tables import Tables
from satchel.store.errors import (
    LinkTargetNotFound,
    MemoryIdTaken,
    MemoryNotFound,
    PathTaken,
    VersionMismatch,
)
from satchel.store.model import Change, Deleted, Embedded, MemoryState, Prepared, Stored
from satchel.store.ports import Attached
from satchel.store.webhooks.model import DELETED, STORED, UPDATED

_SHELF = ("state", "archived_at", "archive_batch", "unarchived_at")


def add_all(tables: Tables, batch: Sequence[Prepared]) -> tuple[Stored, ...]:
    """Add memories in order, all or none; one that is there already comes back as a duplicate.

    Raises:
        PathTaken, LinkTargetNotFound: nothing was added.
    """
    coming: set[Identity] = set()
    paths: dict[tuple[str, str | None], str] = {}
    for memory in batch:
        identity = identity_of(memory)
        if identity in coming or tables.same_as(identity) is not None:
            continue
        coming.add(identity)
        _check_path(tables, memory)
        if memory.path_key is not None:
            _refuse_other(memory, paths.setdefault((memory.new.project, memory.path_key), memory.id))
        _check_links(tables, memory)
    return tuple(_add(tables, memory) for memory in batch)


def import_one(tables: Tables, memory: Prepared) -> Stored:
    """Add a record of an import, keeping what it brings; a link may wait for its other end.

    Raises:
        MemoryIdTaken, PathTaken, LinkTargetNotFound: it was not added.
    """
    if not memory.new.id:
        return add_all(tables, [memory])[0]
    there = tables.entries.get(memory.id)
    if there is None:
        _check_path(tables, memory)
        return insert(tables, memory)
    if there.memory.project != memory.new.project or there.identity.content_hash != memory.content_hash:
        raise MemoryIdTaken(memory.id)
    return _stored(there, duplicate=True)


def is_stored(tables: Tables, memory: Prepared) -> bool:
    """Tell whether adding this memory would find it there."""
    return memory.id in tables.entries if memory.new.id else tables.same_as(identity_of(memory)) is not None


def replace(tables: Tables, memory: Prepared, *, base_version: int, keep_passages: bool, now: int) -> Entry:
    """Put a memory in place of the version that it was made from, which is kept, and return its entry.

    Its state is that of now, which may have changed since: a change of state makes no version.

    Raises:
        MemoryNotFound, VersionMismatch, PathTaken: nothing was changed.
    """
    old = current(tables, memory.id, version=base_version)
    _check_path(tables, memory)
    tables.history.keep(old.memory, replaced_at=now)
    tables.drop(old.id)  # so that its own vectors do not decide which model is accepted
    if not keep_passages:
        tables.outdated.pop(old.id, None)
    changed = entry_of(
        memory,
        number=old.number,
        session_order=old.memory.session_order,
        version=old.memory.version + 1,
        revision=tables.next_revision(),
        passages=old.passages if keep_passages else tables.accepted(memory.passages),
    )
    shelf = {name: getattr(old.memory, name) for name in _SHELF}
    changed = with_changes(changed, memory=changed.memory._replace(**shelf))
    tables.put(changed)
    _tell_of_update(tables, old, changed, is_new_text=not keep_passages)
    find_links_again(tables, old, changed, memory.clues, same_text=keep_passages)
    return changed


def delete(tables: Tables, memory_id: str, *, project: str, expected_version: int, now: int) -> Deleted:
    """Delete a memory with everything that hangs on it; only its id stays, in the change feed.

    Raises:
        MemoryNotFound, VersionMismatch: nothing was deleted.
    """
    entry = current(tables, memory_id, project=project, version=expected_version)
    return Deleted(memory_id, remove(tables, entry, now=now))


def remove(tables: Tables, entry: Entry, *, now: int) -> int:
    """Remove a memory with everything that hangs on it, and return the revision without it."""
    tables.outbox.told(DELETED, entry.memory)
    tables.drop(entry.id)
    tables.outdated.pop(entry.id, None)
    tables.links.forget(entry.id)
    tables.requests.forget(entry.id)
    tables.history.forget(entry.id)
    revision = tables.next_revision()
    tables.gone[entry.id] = Change(revision, entry.id, entry.project, MemoryState.DELETED, now)
    return revision


def attach(tables: Tables, embedded: Sequence[Embedded]) -> Attached:
    """Give vectors to memories that still wait for them in the version that was embedded."""
    count, refused = 0, False
    for one in embedded:
        entry = tables.entries.get(one.id)
        if entry is None or entry.passages is not None or entry.memory.version != one.version:
            continue
        if entry.id in tables.outdated:
            continue
        if tables.accepted(one.passages) is None:
            refused = True
            continue
        memory = entry.memory._replace(revision=tables.next_revision(), passage_count=one.passages.count)
        tables.put(with_changes(entry, memory=memory, passages=one.passages))
        tables.outbox.told_of_vectors(memory)
        count += 1
    return Attached(count, refused)


def current(tables: Tables, memory_id: str, *, version: int, project: str = "") -> Entry:
    """Return a memory of a project (empty: any) and of a version (0: any).

    Raises:
        MemoryNotFound, VersionMismatch: there is none.
    """
    entry = tables.entries.get(memory_id)
    if entry is None or not entry.is_of(project):
        raise MemoryNotFound(memory_id)
    if version not in (0, entry.memory.version):
        raise VersionMismatch(memory_id=memory_id, expected=version, actual=entry.memory.version)
    return entry


def _tell_of_update(tables: Tables, old: Entry, new: Entry, *, is_new_text: bool) -> None:
    tables.outbox.told(UPDATED, new.memory)
    is_waiting = old.passages is None and old.identity.content_hash == new.identity.content_hash
    has_new_vectors = new.passages is not None and is_new_text
    if has_new_vectors or (new.passages is None and not is_waiting):
        tables.outbox.told_of_vectors(new.memory)


def _check_path(tables: Tables, memory: Prepared) -> None:
    owner = tables.path_owner(memory.new.project, memory.path_key)
    if owner is not None:
        _refuse_other(memory, owner)


def _refuse_other(memory: Prepared, owner: str) -> None:
    if owner != memory.id:
        raise PathTaken(path=memory.new.path, memory_id=owner)


def _check_links(tables: Tables, memory: Prepared) -> None:
    for link in memory.new.links:
        if not _is_there(tables, link.memory_id, memory.new.project):
            raise LinkTargetNotFound(link.memory_id)


def _is_there(tables: Tables, memory_id: str, project: str) -> bool:
    entry = tables.entries.get(memory_id)
    return entry is not None and entry.memory.project == project


def _add(tables: Tables, memory: Prepared) -> Stored:
    there = tables.same_as(identity_of(memory))
    return insert(tables, memory) if there is None else _stored(there, duplicate=True)


def insert(tables: Tables, memory: Prepared) -> Stored:
    """Write a memory and all that belongs to it, at the next revision; a link may wait for its other end."""
    new = memory.new
    entry = entry_of(
        memory,
        number=tables.next_arrival(),
        session_order=tables.next_turn(new.project, new.session_id, new.session_order),
        version=new.version,
        revision=tables.next_revision(),
        passages=tables.accepted(memory.passages),
    )
    tables.put(entry)
    tables.outbox.told(STORED, entry.memory)
    tables.outbox.told_of_vectors(entry.memory)
    tables.gone.pop(memory.id, None)
    for link in new.links:
        if _is_there(tables, link.memory_id, new.project):
            tables.links.add(memory.id, link)
        else:
            tables.links.wait(memory.id, link, project=new.project)
    tables.links.arrived(memory.id, project=new.project)
    find_links(tables, entry, memory.clues)
    return _stored(entry, duplicate=False)


def _stored(entry: Entry, *, duplicate: bool) -> Stored:
    memory = entry.memory
    return Stored(
        id=memory.id,
        type=memory.type,
        fact_count=memory.fact_count,
        token_count=memory.costs.verbatim,
        model_sha256="" if entry.passages is None else entry.passages.model.sha256,
        embedded=entry.passages is not None,
        duplicate=duplicate,
        revision=memory.revision,
        created_at=memory.created_at,
        wing=memory.wing,
        room=memory.room,
        version=memory.version,
    )
