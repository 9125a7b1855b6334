"""What replies show: traits, levels, flags, styles, phrases, convictions and counts."""

import pytest

from satchel.store.identity.catalogue import KINDS
from satchel.store.identity.model import Category, Stance
from satchel.store.identity.phrases import split_phrases
from satchel.store.identity.reading import Observation, observe
from satchel.store.identity.styles import (
    Closing,
    ExplanationStyle,
    Opening,
    QuestionStyle,
    ResponseLength,
    SentenceStructure,
    Structure,
)


def seen(*turns: str) -> Observation:
    found = observe(turns)
    assert found is not None
    return found


def level(path: str, *turns: str) -> float:
    return seen(*turns).levels[path].value


def style(path: str, *turns: str) -> int:
    return seen(*turns).styles[path].number


def test_there_are_eighteen_traits_three_of_each_category() -> None:
    assert [sum(kind.category is category for kind in KINDS) for category in Category] == [3] * 6
    assert len({kind.name for kind in KINDS}) == 18


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_phrase_of_a_trait_shows_it_in_both_languages(kind: object) -> None:
    for text in (kind.english, kind.french):  # type: ignore[attr-defined]
        for phrase in split_phrases(text):
            spoken = phrase.replace("*", "")
            assert kind.name in seen(f"Well {spoken}.").traits, phrase  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "trait"),
    [
        ("I wonder why that is.", "curious"),
        ("Je me demande pourquoi.", "curious"),
        ("D'un côté c'est rapide, de l'autre c'est fragile.", "analytical"),
        ("Let\u2019s go STEP BY STEP.", "methodical"),
    ],
)
def test_traits_are_found_without_case_accents_and_kinds_of_apostrophes(text: str, trait: str) -> None:
    assert seen(text).traits[trait] == 1


@pytest.mark.parametrize(
    "text",
    [
        "I am not curious to know.",
        "I never wonder, and nothing is fascinating without data.",
        "Je ne suis pas curieux de savoir.",
        "Curiouser and curiouser.",
        "```\ni wonder\n```\nDone.",
        "> i wonder\nDone.",
        "The key is `i wonder` here.",
    ],
)
def test_negated_quoted_and_coded_phrases_show_nothing(text: str) -> None:
    assert "curious" not in seen(text).traits


def test_not_only_takes_nothing_back() -> None:
    assert seen("I am not only curious to know but happy.").traits["curious"] == 1


def test_every_place_is_an_observation() -> None:
    assert seen("I wonder. I wonder!", "Tell me more.").traits["curious"] == 3


@pytest.mark.parametrize(
    ("path", "low", "high"),
    [
        ("voice.formality", "Hey dude, that's cool, gonna do it.", "Therefore, kindly find the report."),
        ("voice.formality", "Salut, t'as vu ton truc ?", "Veuillez trouver votre dossier, cordialement."),
        ("voice.directness", "Maybe, perhaps, it depends.", "You must do this: the answer is clearly no."),
        ("voice.humor", "The report is ready. It has ten pages.", "Haha, just kidding! What a joke."),
        ("voice.technical_depth", "It is a nice day.", "The `mutex` guards the cache of the API."),
        ("voice.enthusiasm", "It works.", "Amazing! I love it!"),
        ("voice.metaphor", "The index is sorted.", "The index is like a library."),
        ("values.safety", "I help you, I help them.", "Keep a backup, protect the data, be safe."),
        ("values.time_horizon", "A quick fix for now.", "In the long run it must be maintainable."),
        ("emotion.confidence", "Maybe, I think, perhaps.", "Certainly, without a doubt."),
        ("emotion.optimism", "Malheureusement, c'est inutile.", "Bonne nouvelle, ça va marcher."),
        ("emotion.calm", "Hurry, it is urgent!", "No rush, take a breath."),
    ],
)
def test_levels_are_read_from_the_words(path: str, low: str, high: str) -> None:
    assert level(path, low) < level(path, high)


def test_variety_of_words_is_measured_on_segments_and_not_on_length() -> None:
    poor = "the cat and the dog and the cat and the dog sat and sat " * 20
    rich = " ".join(f"word{number}" for number in range(300))

    assert level("voice.vocabulary", poor) == 0.0
    assert level("voice.vocabulary", rich) == 1.0
    assert "voice.vocabulary" not in seen("Too short to tell.").levels


def test_one_conversation_weighs_ten_observations_at_most() -> None:
    assert seen("Haha! " * 500).levels["voice.humor"].weight == 10.0


def test_silence_is_weak_evidence_only() -> None:
    silent = seen("The report is ready.").levels["voice.humor"]

    assert (silent.value, silent.weight) == (0.0, 0.05)


@pytest.mark.parametrize(
    ("flag", "text"),
    [
        ("voice.uses_emojis", "Done \U0001f680"),
        ("voice.uses_markdown", "# Title\nText"),
        ("communication.shows_code", "See:\n```\nx\n```"),
        ("communication.shows_tables", "See:\n| a | b |\n|---|---|\n| 1 | 2 |"),
        ("communication.asks_back", "Which one do you mean?"),
        ("communication.gives_examples", "For example, this."),
        ("communication.draws_analogies", "It is like a library."),
        ("communication.gives_reasons", "I chose it because it is small."),
        ("communication.closes_with_summary", "Text. In short, it works."),
        ("communication.offers_next_steps", "Done. Let me know what you need."),
    ],
)
def test_flags_hold_the_share_of_replies_that_do_it(flag: str, text: str) -> None:
    found = seen(text, "Nothing of the kind.", "Nor here.", "Nor here.")

    assert found.flags[flag] == (0.25, 4.0)


@pytest.mark.parametrize(
    ("path", "expected", "turn"),
    [
        ("voice.sentence_structure", SentenceStructure.PUNCHY, "Yes. It works. Try it."),
        ("voice.sentence_structure", SentenceStructure.ELABORATE, f"{'word ' * 25}."),
        ("voice.sentence_structure", SentenceStructure.FLOWING, f"{'word word word word word word, ' * 5}."),
        ("voice.question_style", QuestionStyle.RARE, "It works."),
        ("voice.question_style", QuestionStyle.SOCRATIC, "Why? How? What follows?"),
        ("voice.explanation_style", ExplanationStyle.ANALOGY, "It is like a river, as if it flowed."),
        ("voice.explanation_style", ExplanationStyle.STEP_BY_STEP, "1. Open it\n2. Close it"),
        ("communication.response_length", ResponseLength.TERSE, "Yes."),
        ("communication.response_length", ResponseLength.DETAILED, "word " * 300),
        ("communication.structure", Structure.BULLETED, "- one\n- two"),
        ("communication.structure", Structure.MIXED, "# Title\n- one\n- two"),
        ("communication.structure", Structure.FREEFORM, "Just text."),
        ("communication.opening_style", Opening.GREETING, "Bonjour, voici la suite."),
        ("communication.opening_style", Opening.ACKNOWLEDGING, "Good question! It works."),
        ("communication.opening_style", Opening.DIRECT, "It works."),
        ("communication.closing_style", Closing.QUESTION, "It works. Is that so?"),
        ("communication.closing_style", Closing.OFFER, "It works. Would you like me to go on?"),
    ],
)
def test_styles_are_read_from_the_replies(path: str, expected: int, turn: str) -> None:
    assert style(path, turn) == expected


def test_words_that_come_again_and_again_are_learnt() -> None:
    found = seen(
        "Good question! The golden rule applies, so test it first. Onwards!",
        "Good question! Remember that the golden rule applies here. Onwards!",
        "Good question! Still the golden rule applies today. Onwards!",
    )

    assert [phrase.text for phrase in found.phrases["openings"]] == ["Good question!"]
    assert [phrase.text for phrase in found.phrases["closings"]] == ["Onwards!"]
    assert [(phrase.text, phrase.seen) for phrase in found.phrases["catch_phrases"]] == [
        ("the golden rule applies", 3)
    ]


def test_what_is_valued_and_recommended_is_kept_in_the_agents_words() -> None:
    found = seen("I value clear names. I recommend small commits. I would avoid global state, mostly.")
    french = seen("Je tiens à la clarté. Je recommande les tests. Je déconseille les rustines.")

    assert [phrase.text for phrase in found.core_values] == ["clear names"]
    assert found.stances == (Stance("small commits", in_favor=True), Stance("global state", in_favor=False))
    assert [phrase.text for phrase in french.core_values] == ["la clarté"]
    assert french.stances == (Stance("les tests", in_favor=True), Stance("les rustines", in_favor=False))


def test_what_is_not_recommended_is_no_stance_for_it() -> None:
    assert seen("I don't recommend threads. Je ne recommande pas les fils.").stances == ()


def test_behaviour_is_counted() -> None:
    found = seen("One two three. Four five?", "Six!").behavior

    assert (found.replies, found.words_per_reply, found.words_per_sentence) == (2, 3.0, 2.0)
    assert (found.questions_per_reply, found.exclamations_per_reply) == (0.5, 0.5)


@pytest.mark.parametrize("turns", [(), ("",), ("...",), ("\U0001f680",), ("```\ncode\n```",)])
def test_replies_without_a_word_show_nothing(turns: tuple[str, ...]) -> None:
    assert observe(turns) is None
