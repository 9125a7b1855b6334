"""Drift sees every dimension, and is not thinned by those that stayed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.store.identity.samples import CURIOUS, FORMAL, captured, changed, with_patch

from satchel.store.identity.drift import Dimension, DriftStatus, diffusion, distances, score_of
from satchel.store.identity.editing import TraitEdit
from satchel.store.identity.evolving import drift_between
from satchel.store.identity.model import neutral
from satchel.store.identity.patching import Action, TraitChange

FIRST = captured(None, CURIOUS, CURIOUS)


def moved(**fields: object) -> dict[Dimension, float]:
    """Return the dimensions that a patch of the first version moves."""
    scores = distances(FIRST.identity, with_patch(FIRST, **fields).identity)
    return {dimension: score for dimension, score in scores.items() if score}


def trait(name: str, action: Action = Action.UPSERT, **fields: float) -> TraitChange:
    return TraitChange(action, TraitEdit(name=name, **fields))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("dimension", "fields"),
    [
        (Dimension.VOICE, {"levels": {"voice.formality": 1.0}}),
        (Dimension.VOICE, {"flags": {"voice.uses_markdown": True}}),
        (Dimension.VOICE, {"styles": {"voice.sentence_structure": 5}}),
        (Dimension.VOICE, {"added_phrases": {"openings": ("Ahoy!",)}}),
        (Dimension.TRAITS, {"traits": (trait("patient"),)}),
        (Dimension.TRAITS, {"traits": (trait("curious", Action.REMOVE),)}),
        (Dimension.TRAITS, {"traits": (trait("curious", intensity=0.1),)}),
        (Dimension.VALUES, {"levels": {"values.creativity": 1.0}}),
        (Dimension.EMOTION, {"levels": {"emotion.warmth": 1.0}}),
        (Dimension.COMMUNICATION, {"styles": {"communication.response_length": 5}}),
        (Dimension.COMMUNICATION, {"flags": {"communication.shows_tables": True}}),
    ],
)
def test_a_change_is_seen_in_its_dimension_and_no_other(
    dimension: Dimension, fields: dict[str, object]
) -> None:
    assert list(moved(**fields)) == [dimension]


def test_behaviour_is_seen_too() -> None:
    after = captured(FIRST, "word " * 400)

    assert distances(FIRST.identity, after.identity)[Dimension.BEHAVIOR] > 0.2


def test_core_values_and_stances_are_seen() -> None:
    after = captured(FIRST, "I value clear names.")

    assert distances(FIRST.identity, after.identity)[Dimension.VALUES] >= 0.3


def test_an_identity_does_not_drift_from_itself() -> None:
    assert score_of(distances(FIRST.identity, FIRST.identity)) == 0.0


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=8, max_size=8), st.lists(st.floats(0, 1), min_size=11, max_size=11))
def test_every_score_lies_between_nothing_and_one(voice: list[float], emotion: list[float]) -> None:
    paths = [path for path in neutral().levels if path.startswith("voice.")]
    feelings = [path for path in neutral().levels if path.startswith("emotion.")]
    after = with_patch(
        None, levels={**dict(zip(paths, voice, strict=True)), **dict(zip(feelings, emotion, strict=True))}
    )

    assert all(0 <= score <= 1 for score in distances(neutral(), after.identity).values())


def test_one_dimension_alone_is_enough_for_significant_drift() -> None:
    emotions = {path: 1.0 for path in FIRST.identity.levels if path.startswith("emotion.")}
    drift = drift_between(FIRST, with_patch(FIRST, levels=emotions), 0.3)

    assert drift.status is DriftStatus.SIGNIFICANT
    assert drift.is_significant
    assert drift.score == drift.dimensions[Dimension.EMOTION] > 0.3
    assert "emotion" in drift.advice


def test_the_threshold_decides_and_is_exclusive() -> None:
    after = with_patch(FIRST, levels={"voice.formality": 1.0})
    score = drift_between(FIRST, after, 0.3).score

    assert drift_between(FIRST, after, score).status is DriftStatus.EVOLVING
    assert drift_between(FIRST, after, score * 0.99).status is DriftStatus.SIGNIFICANT
    assert drift_between(FIRST, after, score * 2.01).status is DriftStatus.STABLE


def test_one_version_has_no_history() -> None:
    assert drift_between(FIRST, FIRST, 0.0).status is DriftStatus.NO_HISTORY


def test_traits_that_came_went_rose_and_fell_are_named() -> None:
    after = with_patch(
        FIRST,
        traits=(
            trait("patient"),
            trait("vivid"),
            trait("humorous", Action.REMOVE),
            trait("curious", intensity=0.1),
        ),
    )
    before = with_patch(FIRST, traits=(trait("vivid", intensity=0.2, confidence=0.5),))
    shifts = drift_between(before, after, 0.3).traits

    assert shifts.added == ("patient",)
    assert shifts.removed == ("humorous",)
    assert shifts.strengthened == ("vivid",)
    assert shifts.weakened == ("curious",)


def test_drift_lists_what_is_other_and_the_model() -> None:
    after = captured(FIRST, FORMAL, model_id="new")
    changes = drift_between(FIRST, after, 0.3).changes

    assert changes[0] == "model: unknown -> new"
    assert any(line.startswith("voice.formality: ") for line in changes)
    assert "traits.rigorous: added (0.98)" in changes


def test_every_version_keeps_its_drift_from_its_parent() -> None:
    patched = with_patch(FIRST, levels={"emotion.warmth": 1.0})
    captured_again = captured(patched, FORMAL)

    assert FIRST.drift_score == 0.0
    assert patched.drift_score == score_of(distances(FIRST.identity, patched.identity)) > 0
    assert captured_again.drift_score > 0


def test_few_settled_traits_make_an_identity_diffuse() -> None:
    weak = diffusion(FIRST.identity)
    settled = FIRST
    for _ in range(8):
        settled = captured(settled, "I wonder. Tell me more. Haha, just kidding.")
    strong = diffusion(settled.identity)

    assert weak.is_diffuse
    assert not strong.is_diffuse
    assert weak.score > strong.score
    assert not diffusion(neutral()).is_diffuse


def test_changes_name_every_part_that_is_other() -> None:
    after = with_patch(
        FIRST,
        levels={"voice.formality": 1.0},
        flags={"voice.uses_markdown": True},
        styles={"communication.response_length": 5},
        added_phrases={"closings": ("Bye",)},
        traits=(trait("curious", Action.REMOVE), trait("patient", intensity=0.5)),
    )

    assert after.changes == (
        "voice.formality: 0.50 -> 1.00",
        "voice.uses_markdown: no -> yes",
        "communication.response_length: terse -> exhaustive",
        "traits.curious: removed",
        "traits.patient: added (0.50)",
        'voice.closings: + "Bye"',
    )


def test_a_change_that_changes_nothing_makes_no_version() -> None:
    first = with_patch(None, levels={"voice.formality": 1.0})

    assert with_patch(first, levels={"voice.formality": 1.0}) is first
    assert changed(first, lambda identity: identity) is first
