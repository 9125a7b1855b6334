"""Converts conversations in LoCoMo's published format into memories and questions.

A turn becomes a memory: who said it and what, with the caption of a shared picture in brackets. Its session
is the session's number, its time that of the session (taken as UTC). What must stand in a context is what was
said, without the caption; a short turn must stand there with its speaker, or half of all contexts would hold
it by chance. Questions of category 5 (without an answer) and those without evidence are left out.
"""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from benchmarks.records import BadRecordError, Corpus, Memory, Question

CATEGORIES: Mapping[int, str] = MappingProxyType(
    {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
)
SHORT_TURN = 25
_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D:?(\d+):(\d+)")
_SESSION_TIME = "%I:%M %p on %d %B, %Y"


def convert(path: Path) -> Corpus:
    """Read a file of conversations, each of which becomes a namespace.

    Raises:
        BadRecordError: the file is not in the published format.
    """
    try:
        return _corpus(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise BadRecordError(
            f"{path} is not in LoCoMo's published format ({exc!r}). Give the JSON file of all conversations."
        ) from exc


def _corpus(samples: list[Mapping[str, Any]]) -> Corpus:
    memories: list[Memory] = []
    questions: list[Question] = []
    for sample in samples:
        turns = list(_memories(sample))
        memories.extend(turns)
        questions.extend(_questions(sample, {one.id for one in turns}))
    return Corpus(tuple(memories), tuple(questions))


def _memories(sample: Mapping[str, Any]) -> Iterator[Memory]:
    talk = sample["conversation"]
    numbers = sorted(int(found.group(1)) for key in talk if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        said_at = talk[f"session_{number}_date_time"].strip()
        occurred_at = datetime.strptime(said_at, _SESSION_TIME).replace(tzinfo=UTC)
        for turn in talk[f"session_{number}"]:
            yield _memory(turn, str(sample["sample_id"]), f"S{number}", occurred_at)


def _memory(turn: Mapping[str, Any], namespace: str, session: str, occurred_at: datetime) -> Memory:
    said = f"{turn['speaker']}: {turn['text']}"
    caption = turn.get("blip_caption")
    return Memory(
        id=turn["dia_id"],
        namespace=namespace,
        content=f"{said} [shared image: {caption}]" if caption else said,
        session_id=session,
        occurred_at=occurred_at,
        evidence_text=turn["text"] if len(turn["text"]) >= SHORT_TURN else said,
    )


def _questions(sample: Mapping[str, Any], turns: set[str]) -> Iterator[Question]:
    for number, row in enumerate(sample["qa"]):
        evidence = tuple(one for one in _turn_ids(row["evidence"]) if one in turns)
        if evidence and row["category"] in CATEGORIES:
            yield Question(
                id=f"{sample['sample_id']}/{number}",
                namespace=str(sample["sample_id"]),
                query=row["question"],
                evidence=evidence,
                answer=str(row.get("answer", "")),
                category=CATEGORIES[row["category"]],
            )


def _turn_ids(evidence: list[str]) -> tuple[str, ...]:
    """Return the ids in the evidence of a question; some entries hold two, or are written otherwise."""
    found = (pair for entry in evidence for pair in _TURN_ID.findall(entry))
    return tuple(dict.fromkeys(f"D{int(session)}:{int(turn)}" for session, turn in found))
