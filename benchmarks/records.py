"""Reads and writes what a benchmark works on: memories and questions, one JSON object a line."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

NOTHING: Mapping[str, Any] = MappingProxyType({})


class BadRecordError(ValueError):
    """A line of a file cannot be used; the text names the line and what to change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One memory. ``evidence_text`` is the span that must stand in a context; empty for the whole content."""

    id: str
    namespace: str
    content: str
    session_id: str = ""
    occurred_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    evidence_text: str = ""

    @property
    def span(self) -> str:
        """What must stand in a context for this memory to count as there."""
        return self.evidence_text or self.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question. ``evidence`` are ids of memories; ``evidence_texts`` are spans of some of them.

    ``answer`` and ``category`` may be empty. ``now`` is the time at which it is asked.
    """

    id: str
    namespace: str
    query: str
    evidence: tuple[str, ...]
    evidence_texts: Mapping[str, str] = field(default_factory=dict)
    answer: str = ""
    category: str = ""
    now: datetime | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """Memories in the order in which they are stored, and questions about them."""

    memories: tuple[Memory, ...]
    questions: tuple[Question, ...]

    def namespaces(self) -> Mapping[str, tuple[Memory, ...]]:
        """Return the memories of each namespace, in order."""
        found: dict[str, list[Memory]] = {}
        for memory in self.memories:
            found.setdefault(memory.namespace, []).append(memory)
        return {name: tuple(memories) for name, memories in found.items()}

    def parts(self) -> tuple["Corpus", ...]:
        """Return a corpus for each namespace, in the order in which they first occur."""
        return tuple(
            Corpus(memories, tuple(one for one in self.questions if one.namespace == name))
            for name, memories in self.namespaces().items()
        )

    def spans(self, question: Question) -> tuple[str, ...]:
        """Return the texts that the context of a question should hold, one for each piece of evidence."""
        by_id = {one.id: one.span for one in self.memories if one.namespace == question.namespace}
        return tuple(question.evidence_texts.get(known, by_id[known]) for known in question.evidence)


def load(memories: Path, questions: Path) -> Corpus:
    """Read a corpus from two files of JSON Lines.

    Raises:
        BadRecordError: a line is no such record, or a question names evidence that is not there.
    """
    stored = tuple(_memory(row, place) for place, row in _rows(memories))
    contents = {(one.namespace, one.id): one for one in stored}
    if len(contents) < len(stored):
        raise BadRecordError(f"{memories}: an id occurs twice in a namespace. Make ids unique there.")
    asked = []
    for place, row in _rows(questions):
        question = _question(row, place)
        _check(question, contents, place)
        asked.append(question)
    if not asked:
        raise BadRecordError(f"{questions}: it has no question. Give one JSON object a line.")
    if len({one.id for one in asked}) < len(asked):
        raise BadRecordError(f"{questions}: an id occurs twice. Make the ids of questions unique.")
    return Corpus(stored, tuple(asked))


def save(corpus: Corpus, memories: Path, questions: Path) -> None:
    """Write a corpus as two files of JSON Lines."""
    _write(memories, corpus.memories)
    _write(questions, corpus.questions)


def _write(path: Path, records: Iterable[Memory | Question]) -> None:
    lines = (json.dumps(_row(record), ensure_ascii=False) + "\n" for record in records)
    path.write_text("".join(lines), encoding="utf-8")


def _row(record: Memory | Question) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in record.__dataclass_fields__}
    filled = {name: value for name, value in values.items() if value}
    return {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in filled.items()
    }


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.strip():
            continue
        place = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except ValueError as exc:
            raise BadRecordError(f"{place}: this is no JSON. Write one object on each line.") from exc
        if not isinstance(row, dict):
            raise BadRecordError(f"{place}: this is no object. Write one object on each line.")
        yield place, row


def _memory(row: Mapping[str, Any], place: str) -> Memory:
    made = Memory(
        id=_text(row, "id", place),
        namespace=_text(row, "namespace", place),
        content=_text(row, "content", place),
        session_id=_text(row, "session_id", place, is_required=False),
        occurred_at=_time(row, "occurred_at", place),
        metadata=_mapping(row, "metadata", place),
        evidence_text=_text(row, "evidence_text", place, is_required=False),
    )
    _refuse_foreign(row, Memory.__dataclass_fields__, place)
    if made.evidence_text not in made.content:
        raise BadRecordError(f"{place}: 'evidence_text' is no part of 'content'. Copy it from there.")
    return made


def _question(row: Mapping[str, Any], place: str) -> Question:
    evidence = row.get("evidence")
    if not isinstance(evidence, list) or not evidence or not all(isinstance(one, str) for one in evidence):
        raise BadRecordError(f"{place}: 'evidence' must list ids of memories, one at least.")
    _refuse_foreign(row, Question.__dataclass_fields__, place)
    return Question(
        id=_text(row, "id", place),
        namespace=_text(row, "namespace", place),
        query=_text(row, "query", place),
        evidence=tuple(evidence),
        evidence_texts=_mapping(row, "evidence_texts", place),
        answer=_text(row, "answer", place, is_required=False),
        category=_text(row, "category", place, is_required=False),
        now=_time(row, "now", place),
    )


def _check(question: Question, memories: Mapping[tuple[str, str], Memory], place: str) -> None:
    for known in (*question.evidence, *question.evidence_texts):
        memory = memories.get((question.namespace, known))
        if memory is None:
            raise BadRecordError(f"{place}: the namespace '{question.namespace}' has no memory '{known}'.")
        if question.evidence_texts.get(known, "") not in memory.content:
            raise BadRecordError(f"{place}: the evidence text of '{known}' is no part of its content.")


def _refuse_foreign(row: Mapping[str, Any], known: Mapping[str, Any], place: str) -> None:
    foreign = sorted(row.keys() - known.keys())
    if foreign:
        raise BadRecordError(f"{place}: there is no field '{foreign[0]}'. The fields are {', '.join(known)}.")


def _text(row: Mapping[str, Any], name: str, place: str, *, is_required: bool = True) -> str:
    value = row.get(name, "")
    if not isinstance(value, str) or (is_required and not value.strip()):
        raise BadRecordError(f"{place}: '{name}' must be a text{' that is not blank' * is_required}.")
    return value


def _mapping(row: Mapping[str, Any], name: str, place: str) -> Mapping[str, Any]:
    value = row.get(name, NOTHING)
    if not isinstance(value, Mapping):
        raise BadRecordError(f"{place}: '{name}' must be an object.")
    return dict(value)


def _time(row: Mapping[str, Any], name: str, place: str) -> datetime | None:
    text = _text(row, name, place, is_required=False)
    if not text:
        return None
    try:
        value = datetime.fromisoformat(text)
    except ValueError as exc:
        raise BadRecordError(f"{place}: '{name}' is no time such as 2026-03-01T09:30:00+00:00.") from exc
    if value.tzinfo is None:
        raise BadRecordError(f"{place}: '{name}' has no zone. Write +00:00 or Z behind it.")
    return value
