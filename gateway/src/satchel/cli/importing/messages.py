"""Reads one conversation as the messages that `IngestMessages` takes, in requests that are not too large."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from satchel.api.store.v1 import ingest_service_pb2 as pb
from satchel.cli.importing.chat import is_message_list, text_of, time_of
from satchel.cli.importing.jsonl import parse_json
from satchel.cli.importing.records import MAX_SESSION, ImportFormatError, Json
from satchel.cli.importing.splitting import split_text

# The limits of `IngestMessagesRequest`, and well below the 4 MiB of a message.
_MAX_CONTENT = 65_000
_MAX_NAME = 200
_MAX_ROLE = 100
_MAX_MESSAGES = 1000
_MAX_CODE_POINTS = 500_000
_SESSION_KEYS = ("session_id", "conversation_id", "id", "uuid")


def load_conversation(path: Path, text: bytes) -> tuple[str, Sequence[Mapping[str, Json]]]:
    """Return the session of a conversation and its messages; the file names a session that names itself not.

    Raises:
        ImportFormatError: the text is no JSON, or no list of messages nor an object with one.
    """
    try:
        data = parse_json(text)
    except ValueError as exc:
        raise ImportFormatError(f"{path} {exc}.") from exc
    named = data if isinstance(data, dict) else {}
    messages = named.get("messages") if named else data
    if not is_message_list(messages) or not isinstance(messages, list):
        raise ImportFormatError(
            f"{path} is no conversation: a JSON list of messages with 'role' and 'content', or an object "
            "with such a list as 'messages'. 'satchel import' reads other layouts."
        )
    kept = [message if isinstance(message, dict) else {} for message in messages]
    stem = "" if str(path) == "-" else path.stem
    names = (named.get(key) for key in _SESSION_KEYS)
    session = next((name for name in names if isinstance(name, str) and name), stem)
    return session[:MAX_SESSION], kept


def to_turns(messages: Sequence[Mapping[str, Json]]) -> Iterator[pb.IngestMessage]:
    """Yield the turns of a conversation; one that is too long gives several."""
    for message in messages:
        text = _encodable(text_of(message))
        for part in [text] if len(text) <= _MAX_CONTENT else split_text(text, _MAX_CONTENT, _MAX_CONTENT):
            turn = pb.IngestMessage(role=_role(message), name=_name(message), content=part)
            if (when := time_of(message)) is not None:
                turn.timestamp.FromDatetime(when)
            yield turn


def in_requests(turns: Iterator[pb.IngestMessage]) -> Iterator[list[pb.IngestMessage]]:
    """Yield the turns in order, as many together as one request takes."""
    batch: list[pb.IngestMessage] = []
    size = 0
    for turn in turns:
        if batch and (len(batch) == _MAX_MESSAGES or size + len(turn.content) > _MAX_CODE_POINTS):
            yield batch
            batch, size = [], 0
        batch.append(turn)
        size += len(turn.content)
    if batch:
        yield batch


def _role(message: Mapping[str, Json]) -> str:
    author = message.get("author")
    value = message.get("role") or (author.get("role") if isinstance(author, dict) else None)
    return _encodable(value).strip()[:_MAX_ROLE] if isinstance(value, str) else ""


def _name(message: Mapping[str, Json]) -> str:
    author = message.get("author")
    named = author.get("name") if isinstance(author, dict) else author
    for value in (message.get("name"), message.get("speaker"), named):
        if isinstance(value, str) and value.strip():
            return _encodable(value).strip()[:_MAX_NAME]
    return ""


def _encodable(text: str) -> str:
    """Return a text without half characters (lone surrogates), which JSON can name but no UTF-8 holds."""
    return text.encode(errors="replace").decode()
