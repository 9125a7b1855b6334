import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks import records
from benchmarks.records import BadRecordError, Corpus, Memory, Question

MEMORY = {"id": "m1", "namespace": "n", "content": "The lamp is changed in April."}
QUESTION = {"id": "q1", "namespace": "n", "query": "When?", "evidence": ["m1"]}


def write(folder: Path, memories: list[object], questions: list[object]) -> tuple[Path, Path]:
    paths = folder / "memories.jsonl", folder / "questions.jsonl"
    for path, rows in zip(paths, (memories, questions), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return paths


def test_a_corpus_comes_back_from_its_files_as_it_was(tmp_path: Path) -> None:
    corpus = Corpus(
        (
            Memory(id="1", namespace="n", content="é\u2028x", session_id="s", metadata={"k": [1]}),
            Memory(id="2", namespace="n", content="long text", evidence_text="text"),
            Memory(id="1", namespace="o", content="y", occurred_at=datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
        ),
        (
            Question(
                id="q", namespace="n", query="?", evidence=("2", "1"), evidence_texts={"1": "x"}, answer="a",
                category="c", now=datetime(2026, 3, 2, tzinfo=UTC),
            ),
        ),
    )  # fmt: skip
    paths = tmp_path / "memories.jsonl", tmp_path / "questions.jsonl"

    records.save(corpus, *paths)

    assert records.load(*paths) == corpus


def test_what_must_be_found_is_the_span_of_the_question_then_that_of_the_memory_then_the_whole() -> None:
    memories = (
        Memory(id="1", namespace="n", content="one a", evidence_text="one"),
        Memory(id="2", namespace="n", content="two b", evidence_text="two"),
        Memory(id="3", namespace="n", content="three"),
        Memory(id="1", namespace="other", content="four"),
    )
    question = Question(id="q", namespace="n", query="?", evidence=("3", "1", "2"), evidence_texts={"1": "a"})

    assert Corpus(memories, (question,)).spans(question) == ("three", "a", "two")


@pytest.mark.parametrize(
    ("memory", "question", "said"),
    [
        ({**MEMORY, "content": " "}, QUESTION, "line 1: 'content' must be a text that is not blank"),
        ({**MEMORY, "text": "x"}, QUESTION, "there is no field 'text'"),
        ({**MEMORY, "evidence_text": "May"}, QUESTION, "'evidence_text' is no part of 'content'"),
        ({**MEMORY, "occurred_at": "2026-03-01T09:30:00"}, QUESTION, "'occurred_at' has no zone"),
        ({**MEMORY, "occurred_at": "soon"}, QUESTION, "'occurred_at' is no time"),
        ({**MEMORY, "metadata": 1}, QUESTION, "'metadata' must be an object"),
        (["m1"], QUESTION, "this is no object"),
        (MEMORY, {**QUESTION, "evidence": []}, "'evidence' must list ids"),
        (MEMORY, {**QUESTION, "evidence": ["m2"]}, "has no memory 'm2'"),
        (MEMORY, {**QUESTION, "evidence_texts": {"m1": "May"}}, "evidence text of 'm1' is no part"),
    ],
)
def test_a_line_that_cannot_be_used_is_refused_with_its_place_and_a_remedy(
    tmp_path: Path, memory: object, question: object, said: str
) -> None:
    with pytest.raises(BadRecordError, match=said):
        records.load(*write(tmp_path, [memory], [question]))


def test_ids_that_occur_twice_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRecordError, match="twice in a namespace"):
        records.load(*write(tmp_path, [MEMORY, MEMORY], [QUESTION]))
    with pytest.raises(BadRecordError, match="ids of questions unique"):
        records.load(*write(tmp_path, [MEMORY], [QUESTION, QUESTION]))


def test_text_that_is_no_json_is_refused_with_its_line(tmp_path: Path) -> None:
    memories, questions = write(tmp_path, [MEMORY], [QUESTION])
    questions.write_text('\n{"id"', encoding="utf-8")

    with pytest.raises(BadRecordError, match=r"questions\.jsonl, line 2: this is no JSON"):
        records.load(memories, questions)


def test_a_corpus_without_a_question_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRecordError, match="it has no question"):
        records.load(*write(tmp_path, [MEMORY], []))
