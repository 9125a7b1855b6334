"""One memory of several: nothing that they say is lost."""

from satchel.store.consolidation import groups_of, merged_memory
from satchel.store.ids import Stamp
from satchel.store.model import Link, Memory, MemoryType, NewMemory, Relation, Sensitivity, TokenCosts
from satchel.store.preparing import prepare


def memory(content: str, *, at: int = 0, **fields: object) -> Memory:
    new = NewMemory(content=content, wing="w", **fields)  # type: ignore[arg-type]
    made = prepare(new, Stamp(at, f"{at:036}"))
    return Memory(
        id=made.id, project=new.project, wing=new.wing, room=made.room, path="", type=made.type,
        declared=False, title=new.title, summary=new.summary, content=content, tags=made.tags,
        given_tags=made.given_tags, component=None, metadata="", session_id="", session_order=0,
        occurred_at=new.occurred_at, created_at=at, updated_at=at, source=new.source,
        sensitivity=new.sensitivity, state=new.state, version=1, revision=1, fingerprint=made.fingerprint,
        fact_count=1, costs=TokenCosts(1, 1, 1), passage_count=1, links=(),
    )  # fmt: skip


def merged(*contents: str) -> str:
    (group,) = groups_of([memory(content, at=at) for at, content in enumerate(contents)])
    return group.text


def test_texts_follow_each_other_in_the_order_of_time_and_repetitions_are_left_out() -> None:
    group = groups_of(
        [memory("Built at nine.", at=3), memory("Built at ten.", at=2), memory("Built at ten.", at=1)]
    )[0]

    assert group.text == "Built at ten.\nBuilt at nine."
    assert [source.created_at for source in group.sources] == [1, 2, 3]


def test_different_numbers_dates_and_negations_are_all_kept() -> None:
    texts = ["The build took 12 minutes.", "The build took 31 minutes.", "The build did not take 31 minutes."]

    assert merged(*texts) == "\n".join(texts)


def test_a_repeated_beginning_is_left_out_and_what_follows_it_stays() -> None:
    assert merged("Checked the login. Tests pass.", "Checked the login. Tests fail.") == (
        "Checked the login. Tests pass.\nTests fail."
    )


def test_a_sentence_that_is_said_of_something_else_is_kept() -> None:
    one, other = "Deployed Alpha. It failed.", "Deployed Bravo. It failed."

    assert merged(one, other) == f"{one}\n{other}"


def test_no_part_of_a_sentence_is_taken_for_a_sentence() -> None:
    one, other = "Use a store, e.g. Redis.", "Use a queue, e.g. Redis."

    assert merged(one, other) == f"{one}\n{other}"
    assert merged("See approx. 5 boxes", "See approx. 6 boxes") == "See approx. 5 boxes\nSee approx. 6 boxes"


def test_lines_keep_their_indentation_and_titles_and_summaries_are_kept_too() -> None:
    listed = "Steps:\n  - one\n  - two"
    group = groups_of(
        [memory(listed, at=1, title="Steps", summary="Short"), memory("More.", at=2, title="Two")]
    )[0]

    assert group.text == f"Short\n{listed}\nTwo\nMore."


def test_what_is_too_long_or_has_too_many_tags_becomes_several_and_one_alone_is_left() -> None:
    long = [memory(f"{at} " + "x" * 30_000, at=at) for at in range(5)]
    tagged = [memory(f"text {at}", at=at, tags=tuple(f"{at}-{n}" for n in range(16))) for at in range(4)]

    assert [len(group.sources) for group in groups_of(long)] == [2, 2]
    assert all(len(group.text) <= 65_536 for group in groups_of(long))
    assert [len(group.sources) for group in groups_of(tagged)] == [2, 2]


def test_the_memory_has_the_tags_of_all_the_time_of_the_newest_and_the_greatest_sensitivity() -> None:
    sources = [
        memory("One.", at=1, tags=("a", "b"), source="s", occurred_at=9),
        memory("Two.", at=2, tags=("b", "c"), source="s", sensitivity=Sensitivity.HIGH),
    ]

    made = merged_memory(groups_of(sources)[0])

    assert (made.tags, made.occurred_at, made.sensitivity) == (("a", "b", "c"), 9, Sensitivity.HIGH)
    assert (made.type, made.room, made.wing, made.source) == (MemoryType.FACT, "consolidated", "w", "s")
    assert made.links == tuple(
        Link(source.id, Relation.UPDATES, outgoing=False) for source in (sources[1], sources[0])
    )


def test_sources_that_differ_leave_the_source_open() -> None:
    group = groups_of([memory("One.", at=1, source="s"), memory("Two.", at=2, source="t")])[0]

    assert merged_memory(group).source == ""
