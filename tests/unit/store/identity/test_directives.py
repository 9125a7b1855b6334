"""Directives mean what they say, in English and French, negations included."""

import pytest

from satchel.store.identity.directive_words import FAMILIES
from satchel.store.identity.directives import read_directive
from satchel.store.identity.editing import edited
from satchel.store.identity.model import Identity, neutral
from satchel.store.identity.phrases import split_phrases
from satchel.store.identity.styles import ResponseLength, Structure
from satchel.store.identity.wishes import edits_of


def understood(text: str) -> list[str]:
    return [str(intent) for intent in read_directive(text)]


def after(text: str, before: Identity | None = None) -> Identity:
    return edited(before or neutral(), edits_of(read_directive(text)))


def level(path: str, text: str) -> float:
    return after(text).levels[path].value


@pytest.mark.parametrize("family", FAMILIES)
def test_every_word_of_a_family_asks_for_it(family: str) -> None:
    for phrase in split_phrases(FAMILIES[family]):
        assert understood(f"please be {phrase.replace('*', '')}") == [f"{family}: yes"], phrase


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("be more formal", ["formal: more"]),
        ("sois plus formel", ["formal: more"]),
        ("be a bit more formal", ["formal: a little more"]),
        ("sois un peu plus formel", ["formal: a little more"]),
        ("be much less formal", ["formal: much less"]),
        ("very formal", ["formal: very much"]),
        ("not formal", ["formal: no"]),
        ("don't be formal", ["formal: no"]),
        ("I don't want you to sound formal", ["formal: no"]),
        ("ne sois pas formelle", ["formal: no"]),
        ("sans être formel", ["formal: no"]),
        ("no longer formal", ["formal: no"]),
        ("ne sois plus formel", ["formal: no"]),
        ("don't be too formal", ["formal: less"]),
        ("pas trop formel", ["formal: less"]),
        ("too formal", ["formal: less"]),
        ("don't be less formal", ["formal: more"]),
        ("not formal enough", ["formal: more"]),
        ("pas assez formel", ["formal: more"]),
        ("informal", ["casual: yes"]),
        ("informel", ["casual: yes"]),
        ("not informal", ["casual: no"]),
        ("not only formal but also warm", ["formal: yes", "warm: yes"]),
        ("not formal, serious or technical", ["formal: no", "serious: no", "technical: no"]),
        ("not formal, but direct", ["formal: no", "direct: yes"]),
        ("not formal and more direct", ["formal: no", "direct: more"]),
        ("don't be formal and use emojis", ["formal: no", "emojis: yes"]),
        ("casual rather than formal", ["casual: yes", "formal: no"]),
        ("plutôt décontracté que formel", ["casual: yes", "formal: no"]),
        ("rather casual than formal", ["casual: yes", "formal: no"]),
        ("je veux que tu sois formel", ["formal: yes"]),
        ("décontracté plutôt que formel", ["casual: yes", "formal: no"]),
        ("stop using emojis", ["emojis: no"]),
        ("n'utilise plus d'emojis", ["emojis: no"]),
        ("évite les emojis", ["emojis: no"]),
        ("plus d'emojis", ["emojis: more"]),
        ("don't hesitate to use emojis", ["emojis: yes"]),
        ("be more formal, and use no emojis", ["formal: more", "emojis: no"]),
        ("use numbered lists", ["numbered: yes"]),
        ("end with a short summary", ["closing summary: yes"]),
        ("be formal. Be casual.", ["formal: yes", "casual: yes"]),
        ("be formal. No, be less formal!", ["formal: less"]),
        ("réponds de manière concise", ["concise: yes"]),
        ("vulgarise, rends accessible", ["simple: yes"]),
        ("be positive and encouraging", ["positive: yes"]),
    ],
)
def test_a_directive_is_understood_as_a_person_would(text: str, expected: list[str]) -> None:
    assert understood(text) == expected


@pytest.mark.parametrize("text", ["be better", "bonjour", "?!", "conformal", "reformalize"])
def test_words_that_name_no_family_are_not_understood(text: str) -> None:
    assert read_directive(text) == ()


def test_a_plain_wish_leads_to_a_high_level_and_never_back() -> None:
    strong = after("very formal")

    assert level("voice.formality", "be formal") == 0.8
    assert strong.levels["voice.formality"].value == 0.95
    assert after("be formal", strong).levels["voice.formality"].value == 0.95


@pytest.mark.parametrize("text", ["not formal", "be casual", "sois décontracté", "informal"])
def test_negation_and_the_opposite_lower_the_level(text: str) -> None:
    assert level("voice.formality", text) == pytest.approx(0.2)


def test_comparisons_move_a_level_by_steps_and_stay_in_range() -> None:
    assert level("voice.formality", "a little more formal") == pytest.approx(0.6)
    assert level("voice.formality", "more formal") == pytest.approx(0.7)
    assert level("voice.formality", "much less formal") == pytest.approx(0.15)
    identity = neutral()
    for _ in range(5):
        identity = after("much more formal", identity)
    assert identity.levels["voice.formality"].value == 1.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("be concise", ResponseLength.CONCISE),
        ("be very concise", ResponseLength.TERSE),
        ("be more concise", ResponseLength.CONCISE),
        ("be less concise", ResponseLength.DETAILED),
        ("be detailed", ResponseLength.DETAILED),
        ("not detailed", ResponseLength.CONCISE),
        ("be exhaustive", ResponseLength.EXHAUSTIVE),
        ("not too short", ResponseLength.DETAILED),
        ("sois exhaustif", ResponseLength.EXHAUSTIVE),
    ],
)
def test_wishes_for_length_are_kept(text: str, expected: ResponseLength) -> None:
    assert after(text).style("communication.response_length") == expected


def test_layouts_flags_and_the_analytical_trait_are_set_and_taken_back() -> None:
    on = after("use bullet points and emojis, close with a summary and be analytical")
    off = after("no bullets, no emojis, no summary, and not analytical", on)

    assert on.style("communication.structure") == Structure.BULLETED
    assert on.is_set("voice.uses_emojis")
    assert on.is_set("communication.closes_with_summary")
    assert on.traits["analytical"].intensity == 0.8
    assert off.style("communication.structure") == Structure.FREEFORM
    assert not off.is_set("voice.uses_emojis")
    assert not off.is_set("communication.closes_with_summary")
    assert off.traits["analytical"].intensity == pytest.approx(0.2)
