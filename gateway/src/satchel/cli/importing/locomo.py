"""Reads conversations in the layout of LoCoMo: dated sessions of two speakers.

A file is a list of samples (or one sample). A sample has ``conversation`` with ``speaker_a``,
``speaker_b``, ``session_N`` and ``session_N_date_time``; a turn has ``speaker``, ``dia_id``, ``text`` and
perhaps ``blip_caption``, what a model saw on a shared picture.

Source: Maharana et al. 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents".
"""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from satchel.cli.importing.chat import Numbering
from satchel.cli.importing.records import (
    Draft,
    ImportFormatError,
    Json,
    Record,
    Refused,
    Skipped,
    place_name,
)

_SESSION = re.compile(r"session_(\d+)")
_TIME_FORMAT = "%I:%M %p on %d %B, %Y"


def is_locomo(data: Json) -> bool:
    """Tell whether the data has the layout of LoCoMo."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, dict) and isinstance(first.get("conversation"), dict)


def read_locomo(data: Json, stem: str) -> Iterator[Record]:
    """Make one memory for each turn, in the order of sessions and turns, in a wing for each sample.

    The content is ``Speaker: text [shared image: caption]``; the session's time is that of its turns.

    Raises:
        ImportFormatError: the data is no list of samples.
    """
    samples = data if isinstance(data, list) else [data]
    for number, sample in enumerate(samples, start=1):
        if not isinstance(sample, dict) or not isinstance(sample.get("conversation"), dict):
            raise ImportFormatError(
                f"Sample {number} has no 'conversation' object, as LoCoMo's samples have."
            )
        name = sample.get("sample_id")
        name = name if isinstance(name, str) and place_name(name) else f"{stem}-{number}"
        yield from _sample(name, sample["conversation"])


def parse_session_time(text: Json) -> datetime | None:
    """Read a time such as ``1:56 pm on 8 May, 2023``, taken as UTC; anything else gives `None`."""
    try:
        return datetime.strptime(str(text).strip(), _TIME_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None


def _sample(name: str, conversation: Json) -> Iterator[Record]:
    fields = conversation if isinstance(conversation, dict) else {}
    numbers = sorted(int(found.group(1)) for key in fields if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        turns = fields[f"session_{number}"]
        when = parse_session_time(fields.get(f"session_{number}_date_time"))
        numbering = Numbering()
        for position, turn in enumerate(turns if isinstance(turns, list) else [], start=1):
            label = f"{name} session {number} turn {position}"
            if not isinstance(turn, dict) or not isinstance(turn.get("text"), str):
                yield Refused(label, "The turn is no object with a 'text'.")
                continue
            draft = _turn(label, name, number, when, turn)
            if draft.content:
                yield from numbering.drafts(draft, position, str(draft.metadata["speaker"]))
            else:
                yield Skipped(label)


def _turn(label: str, sample: str, session: int, when: datetime | None, turn: Mapping[str, Json]) -> Draft:
    speaker, caption = turn.get("speaker"), turn.get("blip_caption")
    speaker = speaker if isinstance(speaker, str) else ""
    picture = f" [shared image: {caption}]" if isinstance(caption, str) and caption else ""
    metadata: dict[str, Json] = {"sample_id": sample, "speaker": speaker, "session": session}
    if isinstance(turn.get("dia_id"), str):
        metadata["dia_id"] = turn["dia_id"]
    return Draft(
        label=label,
        content=f"{turn['text']}{picture}".strip(),
        wing=place_name(sample),
        session_id=f"{sample}/session_{session}",
        occurred_at=when,
        metadata=metadata,
    )
