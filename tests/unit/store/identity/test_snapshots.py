"""A version survives being written down, and versions follow one another."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from unit.store.identity.samples import CURIOUS, captured, changed, origin, with_patch

from satchel.store.identity.editing import TraitEdit, set_metrics
from satchel.store.identity.evolving import follow
from satchel.store.identity.model import Cause
from satchel.store.identity.patching import Action, TraitChange
from satchel.store.identity.snapshots import dump_snapshot, load_snapshot


def test_a_version_comes_back_as_it_was_written() -> None:
    snapshot = captured(
        with_patch(None, traits=(TraitChange(Action.ADD, TraitEdit(name="Très Poli")),)),
        CURIOUS,
        CURIOUS,
        "I value clear names. I recommend small commits.",
        session_id="s",
        model_id="m",
        reason="why",
    )
    snapshot = changed(snapshot, set_metrics('{"a": 1}')) and captured(snapshot, CURIOUS)

    assert load_snapshot(dump_snapshot(snapshot)) == snapshot


@settings(deadline=None)
@given(st.text(max_size=50), st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_and_any_number_survive(text: str, number: float) -> None:
    snapshot = with_patch(
        None,
        levels={"voice.formality": number},
        added_phrases={"openings": (text,)},
        traits=(TraitChange(Action.UPSERT, TraitEdit(name=text, intensity=number)),),
    )

    assert load_snapshot(dump_snapshot(snapshot)) == snapshot


def test_a_version_of_before_a_level_was_known_has_its_neutral_value() -> None:
    document = json.loads(dump_snapshot(captured(None, CURIOUS)))
    del document["identity"]["levels"]["emotion.calm"]
    del document["identity"]["flags"]["voice.uses_emojis"]
    identity = load_snapshot(json.dumps(document)).identity

    assert identity.levels["emotion.calm"].value == 0.5
    assert not identity.is_set("voice.uses_emojis")


def test_versions_count_up_by_one_whatever_makes_them() -> None:
    first = captured(None, CURIOUS)
    second = with_patch(first, levels={"voice.formality": 1.0})
    third = follow(second, lambda identity: identity, origin(Cause.SWAP, model_id="b", from_model="a"))
    fourth = captured(third, CURIOUS)

    assert [one.version for one in (first, second, third, fourth)] == [1, 2, 3, 4]
    assert [one.parent_version for one in (first, second, third, fourth)] == [0, 1, 2, 3]


def test_the_model_stays_until_another_one_is_named() -> None:
    first = captured(None, CURIOUS)
    second = captured(first, CURIOUS, model_id="a")
    third = captured(second, CURIOUS, model_id="unknown")
    fourth = captured(third, CURIOUS)

    assert [one.model_id for one in (first, second, third, fourth)] == ["unknown", "a", "a", "a"]
    assert "model: unknown -> a" in second.changes


def test_a_clock_that_steps_back_does_not_turn_versions_round() -> None:
    first = follow(None, lambda identity: identity, origin(Cause.CAPTURE, now=10))
    second = follow(first, lambda identity: identity, origin(Cause.CAPTURE, now=5))

    assert second.created_at == 10


def test_the_newest_hundred_conversations_are_remembered_each_once() -> None:
    snapshot = None
    for number in range(102):
        snapshot = captured(snapshot, "I wonder.", session_id=f"s{number}")
    assert snapshot is not None
    again = captured(snapshot, "I wonder.", session_id="s50")

    assert len(snapshot.sessions) == 100
    assert snapshot.sessions[0] == "s2"
    assert again.sessions[-1] == "s50"
    assert len(again.sessions) == 100
