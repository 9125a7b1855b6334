"""Keeps a watcher's place in the feed of changes, and the count of an export."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from satchel.api.store.v1 import change_service_pb2 as pb

# Called with the number of memories so far, and of all.
ExportProgress: TypeAlias = Callable[[int, int], None]


class Place:
    """Where a watcher is in the feed.

    ``through_revision`` is the last revision whose changes were all handed out: a later watch goes on after
    it. ``head_revision`` is the newest revision of the store, ``store_id`` the id of the database, when the
    last response was made; 0 and empty before the first. Another id means that the store was replaced, and
    that a follower must begin anew from 0.
    """

    def __init__(self, after_revision: int) -> None:
        self.through_revision = after_revision
        self.head_revision = 0
        self.store_id = ""

    def arrive(self, response: pb.WatchChangesResponse) -> Sequence[pb.Change]:
        """Return the changes of a response that has come."""
        self.head_revision, self.store_id = response.head_revision, response.store_id
        return response.changes

    def leave(self, response: pb.WatchChangesResponse) -> None:
        """Note that all changes of the response were handed out."""
        self.through_revision = response.through_revision
