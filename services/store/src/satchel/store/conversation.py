"""From the turns of a conversation to memories: which turns are worth one, and what its text is. Pure."""

import json
from dataclasses import dataclass
from enum import Enum, auto

from satchel.store.model import NewMemory

DEFAULT_MIN_LENGTH = 20
_ASSISTANTS = frozenset({"assistant", "model", "ai"})
_MACHINES = frozenset({"system", "developer", "tool", "function"})


class Skip(Enum):
    """Why a turn becomes no memory."""

    SHORT = auto()
    ROLE = auto()


@dataclass(frozen=True, slots=True)
class Turn:
    """What somebody said; ``occurred_at`` in microseconds, `None` when it is not known."""

    role: str
    content: str
    name: str
    occurred_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """Turns in order, where they belong, and which of them are wanted; ``min_length`` in code points."""

    turns: tuple[Turn, ...]
    project: str
    wing: str
    room: str
    session_id: str
    include_assistant: bool
    min_length: int


def skipped(turn: Turn, conversation: Conversation) -> Skip | None:
    """Return why a turn is passed over; `None` for one that is stored."""
    role = turn.role.strip().lower()
    if role in _MACHINES or (role in _ASSISTANTS and not conversation.include_assistant):
        return Skip.ROLE
    return Skip.SHORT if len(turn.content.strip()) < conversation.min_length else None


def memory_of(turn: Turn, conversation: Conversation) -> NewMemory:
    """Return the memory of a turn: its text is kept exactly, after who said it."""
    kept = {"role": turn.role, **({"speaker": turn.name} if turn.name else {})}
    return NewMemory(
        content=f"{turn.name or turn.role}: {turn.content}",
        wing=conversation.wing,
        room=conversation.room,
        metadata=json.dumps(kept, ensure_ascii=False, sort_keys=True, separators=(",", ":")),
        project=conversation.project,
        session_id=conversation.session_id,
        occurred_at=turn.occurred_at,
    )
