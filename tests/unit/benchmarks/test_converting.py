import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks import locomo
from benchmarks.records import BadRecordError

LONG = "We changed the lamp of the north tower in April."


def sample(**changes: Any) -> dict[str, Any]:  # noqa: ANN401  # any value of JSON
    talk = {
        "speaker_a": "Ana",
        "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Bye."}],
        "session_10_date_time": "9:05 am on 2 June, 2023",
        "session_2": [
            {"speaker": "Ana", "dia_id": "D2:1", "text": LONG, "blip_caption": "a tower"},
            {"speaker": "Bo", "dia_id": "D2:2", "text": "Which one?"},
        ],
        "session_2_date_time": "1:56 pm on 8 May, 2023",
    }
    return {"sample_id": "conv-1", "conversation": talk, "qa": [], **changes}


def asked(category: int, evidence: list[str], **fields: object) -> dict[str, object]:
    return {"question": "When?", "category": category, "evidence": evidence, **fields}


def write(folder: Path, *samples: object) -> Path:
    path = folder / "talks.json"
    path.write_text(json.dumps(samples), encoding="utf-8")
    return path


def test_turns_become_memories_in_the_order_of_their_sessions(tmp_path: Path) -> None:
    corpus = locomo.convert(write(tmp_path, sample()))

    assert [(one.id, one.namespace, one.session_id) for one in corpus.memories] == [
        ("D2:1", "conv-1", "S2"),
        ("D2:2", "conv-1", "S2"),
        ("D10:1", "conv-1", "S10"),
    ]
    assert corpus.memories[0].occurred_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_a_caption_is_stored_but_not_looked_for_and_short_turns_are_looked_for_with_their_speaker(
    tmp_path: Path,
) -> None:
    first, second, _ = locomo.convert(write(tmp_path, sample())).memories

    assert first.content == f"Ana: {LONG} [shared image: a tower]"
    assert first.span == LONG
    assert second.span == second.content == "Bo: Which one?"


def test_questions_with_evidence_that_is_there_are_kept_however_it_is_written(tmp_path: Path) -> None:
    questions = [
        asked(1, ["D2:1; D10:01", "D2:1"], answer=2022),
        asked(2, ["D:2:2", "D99:1"]),
        asked(4, ["D99:1"]),
        asked(4, []),
        asked(5, ["D2:1"], adversarial_answer="no"),
    ]

    found = locomo.convert(write(tmp_path, sample(qa=questions))).questions

    assert [(one.id, one.category, one.evidence, one.answer) for one in found] == [
        ("conv-1/0", "multi-hop", ("D2:1", "D10:1"), "2022"),
        ("conv-1/1", "temporal", ("D2:2",), ""),
    ]


@pytest.mark.parametrize("bad", [{"sample_id": "x"}, [], sample(qa=None), 3])
def test_a_file_in_another_format_is_refused(tmp_path: Path, bad: object) -> None:
    with pytest.raises(BadRecordError, match="not in LoCoMo's published format"):
        locomo.convert(write(tmp_path, bad))
