"""A memory as this backend keeps it: whole, with what it is found by, and never changed but replaced."""

from dataclasses import dataclass
from typing import NamedTuple

from satchel.store.adapters.memory.bags import Bag, bag_of
from satchel.store.model import Link, Memory, MemoryState, Passages, Prepared
from satchel.store.scope import Scope


class Identity(NamedTuple):
    """What makes two memories the same: text, place, session, time and path."""

    content_hash: bytes
    project: str
    wing: str
    room: str
    session_id: str
    occurred_at: int | None
    path_key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One memory; ``number`` grows with every arrival, and ``memory`` is without its links.

    ``is_read`` says that a language model is done with it.
    """

    number: int
    memory: Memory
    identity: Identity
    hidden: bool
    tag_keys: frozenset[str]
    bag: Bag
    passages: Passages | None
    is_read: bool = False

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id

    @property
    def project(self) -> str:
        """The memory's project."""
        return self.memory.project

    @property
    def revision(self) -> int:
        """The revision of its newest change."""
        return self.memory.revision

    @property
    def effective_at(self) -> int:
        """When it happened, else when it was stored."""
        memory = self.memory
        return memory.created_at if memory.occurred_at is None else memory.occurred_at

    @property
    def is_active(self) -> bool:
        """Whether it is neither archived nor deleted."""
        return self.memory.state is MemoryState.ACTIVE

    def is_of(self, project: str) -> bool:
        """Tell whether it belongs to a project; an empty one means any."""
        return project in ("", self.memory.project)

    def shown(self, links: tuple[Link, ...], *, with_details: bool = True) -> Memory:
        """Return the memory as an answer shows it; `FetchQuery` says what the details are."""
        memory = self.memory
        if with_details:
            return memory._replace(links=links)
        if self.hidden:
            memory = memory._replace(content="", costs=memory.costs._replace(verbatim=0))
        return memory._replace(links=links, component=None, metadata="", source="", path="")


def identity_of(prepared: Prepared) -> Identity:
    """Return what a memory is known by when it is stored again."""
    new = prepared.new
    return Identity(
        prepared.content_hash,
        new.project,
        new.wing,
        prepared.room,
        new.session_id,
        new.occurred_at,
        prepared.path_key,
    )


def entry_of(
    prepared: Prepared,
    *,
    number: int,
    session_order: int,
    version: int,
    revision: int,
    passages: Passages | None,
) -> Entry:
    """Make the entry of a memory that is ready to be written."""
    new = prepared.new
    memory = Memory(
        id=prepared.id,
        project=new.project,
        wing=new.wing,
        room=prepared.room,
        path=new.path,
        type=prepared.type,
        declared=prepared.declared,
        title=new.title,
        summary=new.summary,
        content=new.content,
        tags=prepared.tags,
        given_tags=prepared.given_tags,
        component=new.component,
        metadata=new.metadata,
        session_id=new.session_id,
        session_order=session_order,
        occurred_at=new.occurred_at,
        created_at=prepared.created_at,
        updated_at=prepared.updated_at,
        source=new.source,
        sensitivity=new.sensitivity,
        state=new.state,
        version=version,
        revision=revision,
        fingerprint=prepared.fingerprint,
        fact_count=prepared.fact_count,
        costs=prepared.costs,
        passage_count=0 if passages is None else passages.count,
        links=(),
        archived_at=new.archived_at,
        archive_batch=new.archive_batch,
        unarchived_at=new.unarchived_at,
    )
    return Entry(
        number=number,
        memory=memory,
        identity=identity_of(prepared),
        hidden=prepared.hidden,
        tag_keys=frozenset(prepared.tag_keys),
        bag=bag_of(prepared.words),
        passages=passages,
    )


def is_inside(entry: Entry, scope: Scope) -> bool:
    """Tell whether a memory meets every condition of a scope."""
    memory = entry.memory
    asked = (
        (memory.state, scope.states),
        (memory.wing, scope.wings),
        (memory.room, scope.rooms),
        (memory.type, scope.types),
        (memory.session_id, scope.session_ids),
    )
    return (
        entry.is_of(scope.project)
        and all(not values or value in values for value, values in asked)
        and entry.tag_keys.issuperset(scope.tags)
        and (scope.since is None or scope.since <= entry.effective_at)
        and (scope.until is None or entry.effective_at < scope.until)
    )
