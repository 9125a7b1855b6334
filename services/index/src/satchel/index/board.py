"""What the index knows of itself, on the event loop: the view that answers, and how current it is."""

import asyncio
import enum
from dataclasses import dataclass

from satchel.index.model import Contents, Model
from satchel.index.searching import IndexView


class State(enum.Enum):
    """What the index is doing; see ``IndexState`` of the contract."""

    LOADING = "loading"
    REBUILDING = "rebuilding"
    READY = "ready"
    DISCONNECTED = "disconnected"


@dataclass(frozen=True, slots=True)
class Status:
    """State of the index; revisions are those of the store, ``rebuild_progress`` is in [0, 1]."""

    state: State
    applied_revision: int
    head_revision: int
    snapshot_revision: int
    rebuild_progress: float
    rebuild_reason: str
    model: Model | None
    contents: Contents


class Board:
    """The published view and the progress; used on one event loop, so without locks.

    ``is_current`` says that the view caught up with the store at least once since it was begun or loaded:
    only then does the index answer by itself. ``is_loading`` says that the snapshot is still being read, and
    ``is_partial`` that the store makes vectors anew, so that the view lacks some.
    """

    def __init__(self, view: IndexView) -> None:
        self.view = view
        self.is_loading = True
        self.is_current = False
        self.is_partial = False
        self._is_connected: bool | None = None
        self.head_revision = 0
        self.snapshot_revision = 0
        self.rebuild_reason = ""
        self.rebuild_progress: float | None = None
        self._waiting: set[tuple[int, asyncio.Event]] = set()

    @property
    def state(self) -> State:
        """What the index is doing."""
        if self.is_loading or self._is_connected is None:
            return State.LOADING
        if self.rebuild_progress is not None:
            return State.REBUILDING
        return State.READY if self._is_connected else State.DISCONNECTED

    @property
    def is_connected(self) -> bool:
        """Whether the store answers; `False` too before it was tried for the first time."""
        return self._is_connected is True

    @property
    def store_id(self) -> str:
        """Id of the database that the view was read from; empty for unknown."""
        return self.view.store_id

    def note_connection(self, *, is_connected: bool) -> None:
        """Note what came of the last try to reach the store."""
        self._is_connected = is_connected

    def publish(self, view: IndexView) -> None:
        """Let searches see a view, and wake those who wait for its revision."""
        self.view = view
        self.head_revision = max(self.head_revision, view.revision)
        for revision, reached in self._waiting:
            if revision <= view.revision:
                reached.set()

    async def wait_for(self, revision: int, timeout_s: float) -> bool:
        """Wait until a revision is published; return whether it was in time."""
        if revision <= self.view.revision:
            return True
        waiter = (revision, asyncio.Event())
        self._waiting.add(waiter)
        try:
            async with asyncio.timeout(timeout_s):
                await waiter[1].wait()
        except TimeoutError:
            return False
        finally:
            self._waiting.discard(waiter)
        return True

    def status(self, contents: Contents) -> Status:
        """Return the state of the index, with the counts of its view."""
        progress = 1.0 if self.rebuild_progress is None else self.rebuild_progress
        return Status(
            state=self.state,
            applied_revision=self.view.revision,
            head_revision=self.head_revision,
            snapshot_revision=self.snapshot_revision,
            rebuild_progress=progress,
            rebuild_reason=self.rebuild_reason,
            model=self.view.model,
            contents=contents,
        )
