"""Evidence adds up: it never lowers a trait by itself, and never wipes out what was there."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from unit.store.identity.samples import CURIOUS, captured, with_patch

from satchel.store.identity.merging import merge
from satchel.store.identity.model import MAX_PHRASES, Identity, neutral
from satchel.store.identity.reading import observe

SENTENCES = (
    "I wonder why.",
    "Tell me more.",
    "Let's break it down.",
    "Haha!",
    "The report is ready.",
    "Je me demande pourquoi.",
    "Be careful, make a backup.",
    "Maybe.",
)
conversations = st.lists(
    st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=4
)


def learned(identity: Identity, turns: list[str]) -> Identity:
    seen = observe(turns)
    assert seen is not None
    return merge(identity, seen)


@settings(deadline=None)
@given(st.lists(conversations, max_size=6))
def test_no_sequence_of_conversations_ever_lowers_a_trait(sequence: list[list[str]]) -> None:
    identity = neutral()
    for turns in sequence:
        after = learned(identity, turns)
        for name, trait in identity.traits.items():
            assert after.traits[name].intensity >= trait.intensity
            assert after.traits[name].confidence >= trait.confidence
            assert after.traits[name].evidence >= trait.evidence
        identity = after


@settings(deadline=None)
@given(st.lists(conversations, max_size=6))
def test_every_number_stays_in_its_range(sequence: list[list[str]]) -> None:
    identity = neutral()
    for turns in sequence:
        identity = learned(identity, turns)
    numbers = [level.value for level in (*identity.levels.values(), *identity.flags.values())]
    numbers += [
        number for trait in identity.traits.values() for number in (trait.intensity, trait.confidence)
    ]

    assert all(0 <= number <= 1 for number in numbers)
    assert 0 <= identity.confidence <= 1


@settings(deadline=None)
@given(st.integers(1, 40))
def test_confidence_follows_the_published_formula(count: int) -> None:
    trait = learned(neutral(), ["I wonder. " * count]).traits["curious"]

    assert math.isclose(trait.confidence, 1 - 0.7 * math.exp(-count / 5))
    assert trait.evidence == count


@settings(deadline=None)
@given(st.integers(1, 20))
def test_more_evidence_in_one_conversation_is_never_a_lower_intensity(count: int) -> None:
    fewer = learned(neutral(), ["I wonder. " * count]).traits["curious"]
    more = learned(neutral(), ["I wonder. " * (count + 1)]).traits["curious"]

    assert more.intensity >= fewer.intensity


def test_a_trait_is_merged_and_never_doubled() -> None:
    first = captured(None, "I wonder.")
    second = captured(first, "I wonder. I wonder.")
    trait = second.identity.traits["curious"]

    assert list(second.identity.traits) == ["curious"]
    assert (trait.evidence, trait.contexts) == (3, 2)


def test_a_trait_that_was_seen_in_six_of_ten_conversations_is_established() -> None:
    snapshot = None
    for _ in range(6):
        snapshot = captured(snapshot, "I wonder.")
    assert snapshot is not None

    assert snapshot.identity.traits["curious"].consistency == 0.6
    assert snapshot.identity.traits["curious"].is_established


def test_what_was_declared_yields_slowly_to_what_is_shown() -> None:
    declared = with_patch(None, levels={"voice.humor": 0.9}, styles={"communication.response_length": 5})
    after = captured(declared, "The report is ready. It has ten pages.")

    assert 0.85 < after.identity.levels["voice.humor"].value < 0.9
    assert after.identity.style("communication.response_length") == 5


def test_conversations_outvote_a_declared_style_in_the_end() -> None:
    snapshot = with_patch(None, styles={"communication.response_length": 5})
    for _ in range(21):
        snapshot = captured(snapshot, "Yes.")

    assert snapshot.identity.style("communication.response_length") == 1


def test_a_conversation_without_a_cue_leaves_a_balance_as_it_is() -> None:
    declared = with_patch(None, levels={"voice.formality": 0.9})
    after = captured(declared, "The report has pages.")

    assert after.identity.levels["voice.formality"].value == 0.9


def test_two_different_conversations_give_different_traits() -> None:
    first = captured(None, CURIOUS).identity.traits.keys()
    second = captured(None, "Be careful and make sure you back up. Let me verify it.").identity.traits.keys()

    assert first.isdisjoint(second)
    assert first
    assert second


def test_phrases_add_up_and_declared_ones_stay() -> None:
    snapshot = with_patch(None, added_phrases={"openings": ("Ahoy!",)})
    for number in range(20):
        snapshot = captured(snapshot, *[f"Hello {number}! It works."] * 2)
    openings = snapshot.identity.phrases["openings"]

    assert openings[0].text == "Ahoy!"
    assert len(openings) == MAX_PHRASES


def test_behaviour_is_the_mean_over_all_replies() -> None:
    first = captured(None, "One two.", "One two.")
    second = captured(first, "One two three four five.")

    assert second.identity.behavior.replies == 3
    assert second.identity.behavior.words_per_reply == 3.0
