"""Causal links that are found in texts."""

import heapq

from satchel.store.adapters.memory.entries import Entry
from satchel.store.adapters.memory.tables import Tables
from satchel.store.causality import Earlier, best_cause
from satchel.store.model import Clues, Link


def find_links(tables: Tables, entry: Entry, clues: Clues | None) -> int:
    """Link a memory to the earlier one that its text tells of, and return how many links that gives.

    At most one by each relation.
    """
    if clues is None:
        return 0
    inside = (other for other in tables.entries.values() if _may_cause(other, entry, clues.max_age))
    newest = heapq.nlargest(clues.lookback, inside, key=moment)
    cause = best_cause(clues, (Earlier(other.id, other.memory.fingerprint) for other in newest))
    if cause is None:
        return 0
    for relation, phrase in clues.triggers:
        tables.links.add(entry.id, Link(cause, relation, outgoing=False, phrase=phrase))
    return len(clues.triggers)


def find_links_again(
    tables: Tables, old: Entry, entry: Entry, clues: Clues | None, *, same_text: bool
) -> int:
    """Find the links of a memory that took the place of ``old``, and return how many there are.

    What was found and no longer holds goes: links to its causes always, and links to effects that are in
    another wing or earlier.
    """
    if same_text and (old.memory.wing, old.effective_at) == (entry.memory.wing, entry.effective_at):
        return 0
    outdated = [
        link for link in tables.links.every(entry.id) if link.phrase and not _holds(tables, entry, link)
    ]
    tables.links.remove(entry.id, outdated)
    return find_links(tables, entry, clues)


def moment(entry: Entry) -> tuple[int, int, str]:
    """Return what tells which of two memories is the earlier one."""
    return entry.effective_at, entry.memory.created_at, entry.id


def _holds(tables: Tables, entry: Entry, link: Link) -> bool:
    """Tell whether a link that was found holds: one to a cause is to be found again."""
    other = tables.entries[link.memory_id]
    return link.outgoing and other.memory.wing == entry.memory.wing and moment(entry) <= moment(other)


def _may_cause(other: Entry, entry: Entry, max_age: int) -> bool:
    return (
        (other.project, other.memory.wing) == (entry.project, entry.memory.wing)
        and other.effective_at >= entry.effective_at - max_age
        and moment(other) < moment(entry)
    )
