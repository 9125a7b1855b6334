from datetime import UTC, datetime

import pytest

from benchmarks.records import Corpus, Memory, Question
from benchmarks.variants import UnknownStripError, pooled, strip

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def said(number: int, content: str, evidence_text: str = "") -> Memory:
    return Memory(
        id=str(number),
        namespace="talk",
        content=content,
        session_id="s1",
        occurred_at=NOW,
        evidence_text=evidence_text,
    )


TALK = Corpus(
    (
        said(1, "Ana: The lamp is out."),
        said(2, "Bo Lind: Which one: the red?", "Bo Lind: Which one: the red?"),
        said(3, "Ana: The red one."),
        said(4, "Bo Lind: I see."),
        said(5, "Ana: Good."),
        said(6, "Bo Lind: Bye."),
        said(7, "Warning: once is no speaker."),
        said(8, "ERROR: a"),
        said(9, "ERROR: b"),
        said(10, "ERROR: c"),
    ),
    (Question(id="q", namespace="talk", query="?", evidence=("2",), evidence_texts={"2": "red"}, now=NOW),),
)


def test_without_names_only_those_go_that_begin_three_memories_and_evidence_follows() -> None:
    bare = strip(TALK, ["names"])

    assert [one.content for one in bare.memories] == [
        "The lamp is out.", "Which one: the red?", "The red one.", "I see.", "Good.", "Bye.",
        "Warning: once is no speaker.", "ERROR: a", "ERROR: b", "ERROR: c",
    ]  # fmt: skip
    assert bare.memories[1].evidence_text == "Which one: the red?"


def test_without_sessions_and_times_nothing_else_changes() -> None:
    bare = strip(TALK, ["sessions", "times"])

    assert {(one.session_id, one.occurred_at) for one in bare.memories} == {("", None)}
    assert bare.questions[0].now is None
    assert [one.content for one in bare.memories] == [one.content for one in TALK.memories]


def test_what_cannot_be_stripped_is_refused_with_what_can() -> None:
    with pytest.raises(UnknownStripError, match=r"'colours' cannot be stripped\. Name some of sessions"):
        strip(TALK, ["colours"])


def test_pooled_namespaces_keep_their_ids_sessions_and_evidence_apart() -> None:
    two = Corpus(
        (
            Memory(id="1", namespace="a", content="x", session_id="s"),
            Memory(id="1", namespace="b", content="y"),
        ),
        (Question(id="q", namespace="b", query="?", evidence=("1",), evidence_texts={"1": "y"}),),
    )

    one = pooled(two)

    assert [(memory.id, memory.namespace, memory.session_id) for memory in one.memories] == [
        ("a/1", "pooled", "a/s"),
        ("b/1", "pooled", ""),
    ]
    assert one.spans(one.questions[0]) == ("y",)
