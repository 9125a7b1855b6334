"""Reads chat transcripts: one memory for each turn, with its speaker and its time.

Three layouts are known: a list of messages, an object with ``messages``, and a list of such objects. A
message has ``role`` or ``name`` (or ``speaker``, ``author``) and ``content`` (or ``text``), which is a text
or a list of parts whose texts are joined; its time, if any, is under ``timestamp``, ``created_at``,
``create_time``, ``time`` or ``date``. Turns without a text (such as calls of tools) are skipped.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from satchel.cli.importing.records import (
    MAX_CONTENT,
    MAX_SESSION,
    MAX_TITLE,
    Draft,
    ImportFormatError,
    Json,
    Record,
    Refused,
    Skipped,
    Turn,
    parse_time,
)
from satchel.cli.importing.splitting import split_text

_SPEAKER_KEYS = ("name", "speaker", "author", "role")
_TEXT_KEYS = ("content", "text")
_TIME_KEYS = ("timestamp", "created_at", "create_time", "time", "date")
_SESSION_KEYS = ("session_id", "conversation_id", "id", "uuid", "title", "name")


def read_chat(data: Json, stem: str) -> Iterator[Record]:
    """Make the memories of a transcript; ``stem`` names the session when the transcript does not.

    Raises:
        ImportFormatError: the data has none of the known layouts.
    """
    if isinstance(data, dict) and isinstance(data.get("messages"), list):
        yield from _conversation(data, stem)
    elif is_message_list(data):
        yield from _messages(data, stem, "")
    elif isinstance(data, list) and data and all(_is_conversation(item) for item in data):
        for number, item in enumerate(data, start=1):
            yield from _conversation(_object(item), f"{stem}-{number}")
    else:
        raise ImportFormatError(
            "A chat is a JSON list of messages with 'role' and 'content', an object with 'messages', "
            "or a list of such objects."
        )


def is_message_list(data: Json) -> bool:
    """Tell whether the data is a list of messages: its first item has a speaker and a text."""
    if not isinstance(data, list) or not data or not isinstance(data[0], dict):
        return False
    first = data[0]
    return any(key in first for key in _SPEAKER_KEYS) and any(key in first for key in _TEXT_KEYS)


class Numbering:
    """Gives the memories of one session their places: a number to each turn, or to each part of it."""

    def __init__(self) -> None:
        self._extra = 0

    def drafts(self, turn: Draft, number: int, speaker: str) -> Iterator[Draft]:
        """Yield a turn as memories: one, or several with the speaker before each when it is too long."""
        opening = f"{speaker}: " if speaker else ""
        limit = MAX_CONTENT - len(opening)
        if len(turn.content) <= limit:
            yield replace(turn, content=opening + turn.content, turn=Turn(number, number + self._extra))
            return
        for part, text in enumerate(split_text(turn.content, limit, limit), start=1):
            self._extra += part > 1
            yield replace(
                turn,
                label=f"{turn.label} part {part}",
                content=opening + text,
                metadata={**turn.metadata, "part": part},
                turn=Turn(number, number + self._extra, part),
            )


def _is_conversation(item: Json) -> bool:
    return isinstance(item, dict) and isinstance(item.get("messages"), list)


def _conversation(data: Mapping[str, Json], stem: str) -> Iterator[Record]:
    named = next((value for key in _SESSION_KEYS if isinstance(value := data.get(key), str) and value), stem)
    title = data.get("title")
    yield from _messages(data["messages"], named, title if isinstance(title, str) else "")


def _messages(messages: Json, session: str, title: str) -> Iterator[Record]:
    session = session[:MAX_SESSION]
    numbering = Numbering()
    for number, message in enumerate(messages if isinstance(messages, list) else [], start=1):
        label = f"{session} turn {number}"
        if not isinstance(message, dict):
            yield Refused(label, "The message is not a JSON object.")
            continue
        text, speaker = text_of(message), _speaker_of(message)
        if not text.strip():
            yield Skipped(label)
            continue
        metadata: dict[str, Json] = {"turn": number}
        if speaker:
            metadata["speaker"] = speaker
        if isinstance(message.get("role"), str):
            metadata["role"] = message["role"]
        draft = Draft(
            label=label,
            content=text,
            title=title[:MAX_TITLE],
            session_id=session,
            occurred_at=time_of(message),
            metadata=metadata,
        )
        yield from numbering.drafts(draft, number, speaker)


def _speaker_of(message: Mapping[str, Json]) -> str:
    for key in _SPEAKER_KEYS:
        value = message.get(key)
        if isinstance(value, dict):  # {"author": {"role": ...}}
            value = value.get("name") or value.get("role")
        if isinstance(value, str) and value.strip():
            return value.strip()
    return ""


def text_of(message: Mapping[str, Json]) -> str:
    """Return what a message says: its text, or the texts of its parts with blank lines between."""
    content = next((message[key] for key in _TEXT_KEYS if message.get(key)), "")
    if isinstance(content, str):
        return content
    if isinstance(content, dict):  # {"parts": [...]}
        content = content.get("parts")
    return "\n\n".join(_part_texts(content)) if isinstance(content, list) else ""


def _part_texts(parts: Sequence[Json]) -> Iterator[str]:
    for part in parts:
        text = part.get("text") if isinstance(part, dict) else part
        if isinstance(text, str) and text.strip():
            yield text


def time_of(message: Mapping[str, Json]) -> datetime | None:
    """Return when a message was written; `None` when it does not say."""
    return next((when for key in _TIME_KEYS if (when := parse_time(message.get(key))) is not None), None)


def _object(item: Json) -> Mapping[str, Json]:
    return item if isinstance(item, dict) else {}
