"""Everything that the store holds, and what finds it by path and by identity."""

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import replace

from satchel.store.adapters.memory.entries import Entry, Identity, is_inside
from satchel.store.adapters.memory.links import Links
from satchel.store.adapters.memory.outbox import Outbox
from satchel.store.adapters.memory.requests import Requests
from satchel.store.adapters.memory.versions import History
from satchel.store.model import Change, Link, ModelIdentity, Passages
from satchel.store.scope import Scope


class Tables:
    """``entries`` and ``gone`` (the deletions) are by id, each in the order of its newest change.

    ``head`` is the newest revision. ``outdated`` are vectors by id of memories that have none of the model in
    use; such a memory's entry is without passages.
    """

    def __init__(self, *, versions_kept: int) -> None:
        self.store_id = str(uuid.uuid4())
        self.head = 0
        self.entries: dict[str, Entry] = {}
        self.gone: dict[str, Change] = {}
        self.links = Links(self._tell_of_cause)
        self.merged: dict[str, list[str]] = {}  # what memories of a batch became
        self.requests = Requests()
        self.history = History(versions_kept)
        self.outbox = Outbox()
        self._arrivals = 0
        self._paths: dict[tuple[str, str], str] = {}
        self._alike: dict[Identity, set[str]] = {}
        self._last_turns: dict[tuple[str, str], int] = {}
        self.outdated: dict[str, Passages] = {}
        self._model: ModelIdentity | None = None
        self._embedded = 0

    @property
    def model(self) -> ModelIdentity | None:
        """The model in use, that of the stored vectors; None while there are none."""
        return self._model if self._embedded or self.outdated else None

    def use(self, model: ModelIdentity) -> None:
        """Put a model to use: vectors of any other are outdated, and its own are not any more."""
        self._model = model
        for entry in list(self.entries.values()):
            passages = entry.passages or self.outdated.pop(entry.id, None)
            if passages is None:
                continue
            is_of_model = passages.model.sha256 == model.sha256
            if not is_of_model:
                self.outdated[entry.id] = passages
            self.set_passages(entry, passages if is_of_model else None)

    def set_passages(self, entry: Entry, passages: Passages | None) -> Entry:
        """Put an entry in place with other passages; the order of changes stays. Return the new entry."""
        memory = entry.memory._replace(passage_count=0 if passages is None else passages.count)
        changed = replace(entry, memory=memory, passages=passages)
        self._embedded += (passages is not None) - (entry.passages is not None)
        self.entries[entry.id] = changed
        return changed

    def inside(self, scope: Scope) -> Iterator[Entry]:
        """Yield the memories of a scope."""
        return (entry for entry in self.entries.values() if is_inside(entry, scope))

    def by_id(self, ids: Iterable[str], project: str) -> list[Entry]:
        """Return those of some memories that a project has, in the order of the ids; empty means any."""
        found = (self.entries.get(memory_id) for memory_id in ids)
        return [entry for entry in found if entry is not None and entry.is_of(project)]

    def put(self, entry: Entry) -> None:
        """Add an entry, or put it in place of the one with the same id; its change is the newest."""
        self.drop(entry.id)
        self.entries[entry.id] = entry
        self._embedded += entry.passages is not None
        if entry.identity.path_key is not None:
            self._paths[entry.memory.project, entry.identity.path_key] = entry.id
        if entry.is_active:
            self._alike.setdefault(entry.identity, set()).add(entry.id)

    def drop(self, memory_id: str) -> None:
        """Remove an entry; its links and kept answers stay."""
        entry = self.entries.pop(memory_id, None)
        if entry is None:
            return
        self._embedded -= entry.passages is not None
        if entry.identity.path_key is not None:
            del self._paths[entry.memory.project, entry.identity.path_key]
        if entry.is_active:
            self._alike[entry.identity].discard(memory_id)
            if not self._alike[entry.identity]:
                del self._alike[entry.identity]

    def _tell_of_cause(self, effect_id: str, link: Link) -> None:
        self.outbox.told_of_cause(link.memory_id, self.entries[effect_id].memory, link.relation)

    def next_revision(self) -> int:
        """Take the next revision."""
        self.head += 1
        return self.head

    def next_arrival(self) -> int:
        """Take the number of the next memory."""
        self._arrivals += 1
        return self._arrivals

    def next_turn(self, project: str, session_id: str, brought: int) -> int:
        """Return a memory's place in its session: the one it brings, else the next; 0 without a session."""
        if not session_id:
            return 0
        last = self._last_turns.get((project, session_id), 0)
        turn = brought or last + 1
        self._last_turns[project, session_id] = max(last, turn)
        return turn

    def forget_sessions(self, project: str) -> None:
        """Forget the sessions of a project that have no memory left."""
        left = {(entry.project, entry.memory.session_id) for entry in self.entries.values()}
        self._last_turns = {
            place: turn for place, turn in self._last_turns.items() if place[0] != project or place in left
        }

    def path_owner(self, project: str, path_key: str | None) -> str | None:
        """Return the id of the memory that has a path."""
        return None if path_key is None else self._paths.get((project, path_key))

    def same_as(self, identity: Identity) -> Entry | None:
        """Return the active memory that says the same in the same place, the first of several."""
        alike = (self.entries[memory_id] for memory_id in self._alike.get(identity, ()))
        return min(alike, key=lambda entry: entry.number, default=None)

    def accepted(self, passages: Passages | None) -> Passages | None:
        """Return passages whose vectors may be stored beside the others; None for those that may not.

        Vectors of two models are never mixed: the first decide, and once the last of them is gone another
        model may follow.
        """
        if passages is None or (self.model is not None and self.model.sha256 != passages.model.sha256):
            return None
        self._model = passages.model
        return passages
