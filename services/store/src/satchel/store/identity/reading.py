"""Turns of an agent to what they show of its identity.

The formulas of levels, where a cue is a phrase of `satchel.store.identity.cues` that no negation takes back,
and *weight* says for how many observations a value counts:

- *balance*: value = high / (high + low) cues, weight = high + low;
- *rate*: value = min(1, cues / (sentences * full share)), weight = cues + sentences / 20, so that silence is
  weak evidence of a low level;
- *emphasis* of one of the six priorities: value = its cues / the most cues of any, weight = the cues of all;
- vocabulary: the mean share of distinct words among 50 in a row (mean segmental type-token ratio, W. Johnson
  1944), from 0.6 (level 0) to 0.95 (level 1), weight = words / 50.

No weight exceeds ten: one conversation, however long, does not decide alone.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from satchel.store.identity import manners
from satchel.store.identity.catalogue import TRAIT_PHRASES
from satchel.store.identity.convictions import core_values, stances
from satchel.store.identity.cues import BALANCES, EMPHASES, LEVEL_CUES, RATES, Cue
from satchel.store.identity.model import (
    FLAGS,
    MAX_PHRASES,
    MAX_STANCES,
    NEUTRAL_LEVELS,
    Behavior,
    Level,
    Phrase,
    Stance,
    Style,
)
from satchel.store.identity.phrases import is_negated
from satchel.store.identity.prose import Reply, take_apart
from satchel.store.identity.repeats import repeated_phrases
from satchel.store.identity.styles import Closing

_GREATEST = 10.0
_SILENCE = 20
_SEGMENT = 50
_FEWEST_DISTINCT, _MOST_DISTINCT = 0.6, 0.95
_MOST_VOTES = 5.0
_MANNER_FLAGS: Mapping[str, str] = {
    "communication.gives_examples": "example",
    "communication.draws_analogies": "analogy",
    "communication.gives_reasons": "reason",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What the agent's turns of one conversation show; only what they do show is there.

    ``traits`` counts the places that show each; ``flags`` hold shares of the replies.
    """

    levels: Mapping[str, Level]
    flags: Mapping[str, Level]
    styles: Mapping[str, Style]
    traits: Mapping[str, int]
    phrases: Mapping[str, tuple[Phrase, ...]]
    core_values: tuple[Phrase, ...]
    stances: tuple[Stance, ...]
    behavior: Behavior


def observe(turns: Sequence[str]) -> Observation | None:
    """Read the agent's turns; None if there is no word in them."""
    replies = [reply for reply in map(take_apart, turns) if reply.sentences]
    if not replies:
        return None
    behavior = _behavior(replies)
    levels = _levels(replies)
    return Observation(
        levels=levels,
        flags=_flags(replies),
        styles=_styles(replies, behavior, levels),
        traits=_traits(replies),
        phrases=repeated_phrases(replies),
        core_values=tuple(
            Phrase(text, count) for text, count in Counter(core_values(replies)).most_common(MAX_PHRASES)
        ),
        stances=tuple(dict.fromkeys(stances(replies)))[-MAX_STANCES:],
        behavior=behavior,
    )


def _traits(replies: Sequence[Reply]) -> Mapping[str, int]:
    return Counter(
        name
        for clause in _clauses(replies)
        for match in TRAIT_PHRASES.find(clause)
        if not is_negated(clause, match.start)
        for name in match.meanings
    )


def _levels(replies: Sequence[Reply]) -> Mapping[str, Level]:
    sentences = sum(len(reply.sentences) for reply in replies)
    cues = _cues(replies)
    most = max(cues[Cue(path, is_for=True)] for path in EMPHASES)
    total = sum(cues[Cue(path, is_for=True)] for path in EMPHASES)
    found = {
        **{path: _balance(cues[Cue(path, is_for=True)], cues[Cue(path, is_for=False)]) for path in BALANCES},
        **{path: _rate(cues[Cue(path, is_for=True)], sentences, full) for path, (_, full) in RATES.items()},
        **{path: _emphasis(cues[Cue(path, is_for=True)], most, total) for path in EMPHASES},
        "voice.vocabulary": _vocabulary(replies),
    }
    return {path: level for path in NEUTRAL_LEVELS if (level := found[path]).weight > 0}


def _cues(replies: Sequence[Reply]) -> Counter[Cue]:
    """Count cues; laughing faces, code and exclamations count with the phrases of what they show."""
    cues = Counter(
        cue
        for clause in _clauses(replies)
        for match in LEVEL_CUES.find(clause)
        if not is_negated(clause, match.start)
        for cue in match.meanings
    )
    smiles = sum(reply.smiles for reply in replies)
    for path in ("voice.humor", "emotion.playfulness"):
        cues[Cue(path, is_for=True)] += smiles
    cues[Cue("voice.technical_depth", is_for=True)] += sum(r.code_blocks + r.code_names for r in replies)
    exclamations = sum(s.is_exclamation for reply in replies for s in reply.sentences)
    for path in ("voice.enthusiasm", "emotion.enthusiasm"):
        cues[Cue(path, is_for=True)] += exclamations
    return cues


def _balance(high: int, low: int) -> Level:
    return Level(high / max(high + low, 1), min(float(high + low), _GREATEST))


def _rate(cues: int, sentences: int, full: float) -> Level:
    return Level(min(1.0, cues / (sentences * full)), min(cues + sentences / _SILENCE, _GREATEST))


def _emphasis(cues: int, most: int, total: int) -> Level:
    return Level(cues / max(most, 1), min(float(total), _GREATEST))


def _vocabulary(replies: Sequence[Reply]) -> Level:
    words = [word for clause in _clauses(replies) for word in clause]
    if len(words) < _SEGMENT:
        return Level(0.0, 0.0)
    value = (_variety(words) - _FEWEST_DISTINCT) / (_MOST_DISTINCT - _FEWEST_DISTINCT)
    return Level(min(1.0, max(0.0, value)), min(len(words) / _SEGMENT, _GREATEST))


def _variety(words: Sequence[str]) -> float:
    """Return the mean share of distinct words in whole segments of 50; of all words where there are fewer."""
    segments = [words[at : at + _SEGMENT] for at in range(0, len(words) - _SEGMENT + 1, _SEGMENT)] or [words]
    return fmean(len(set(segment)) / max(len(segment), 1) for segment in segments)


def _flags(replies: Sequence[Reply]) -> Mapping[str, Level]:
    manners_of = [frozenset[str]().union(*map(manners.manners_of, reply.sentences)) for reply in replies]
    closings = [manners.closing_of(reply) for reply in replies]
    counts = {
        "voice.uses_emojis": sum(reply.emojis > 0 for reply in replies),
        "voice.uses_markdown": sum(reply.has_markdown for reply in replies),
        "communication.shows_code": sum(reply.code_blocks > 0 for reply in replies),
        "communication.shows_tables": sum(reply.tables > 0 for reply in replies),
        "communication.asks_back": sum(any(s.is_question for s in reply.sentences) for reply in replies),
        "communication.closes_with_summary": sum(one is Closing.SUMMARY for one in closings),
        "communication.offers_next_steps": sum(one is Closing.OFFER for one in closings),
        **{flag: sum(name in found for found in manners_of) for flag, name in _MANNER_FLAGS.items()},
    }
    return {flag: Level(counts[flag] / len(replies), float(len(replies))) for flag in FLAGS}


def _styles(replies: Sequence[Reply], behavior: Behavior, levels: Mapping[str, Level]) -> Mapping[str, Style]:
    votes = min(float(len(replies)), _MOST_VOTES)
    found: dict[str, int] = {
        "voice.sentence_structure": manners.sentence_structure(replies),
        "voice.question_style": manners.question_style(behavior.questions_per_reply),
        "communication.response_length": manners.response_length(behavior.words_per_reply),
        "communication.density": manners.density(replies),
        "communication.structure": manners.structure(replies),
        "communication.opening_style": _most_common([manners.opening_of(reply) for reply in replies]),
        "communication.closing_style": _most_common([manners.closing_of(reply) for reply in replies]),
    }
    if "emotion.confidence" in levels:
        found["communication.certainty_style"] = manners.certainty(levels["emotion.confidence"].value)
    styles = {path: Style(int(number), votes) for path, number in found.items()}
    if explained := manners.explanation_style(replies):
        styles["voice.explanation_style"] = Style(int(explained[0]), min(float(explained[1]), votes))
    return styles


def _most_common(numbers: Sequence[int]) -> int:
    """Return the most frequent number, the least of several."""
    counts = Counter(numbers)
    return min(counts, key=lambda number: (-counts[number], number))


def _behavior(replies: Sequence[Reply]) -> Behavior:
    sentences = [sentence for reply in replies for sentence in reply.sentences]
    words = [word for clause in _clauses(replies) for word in clause]
    return Behavior(
        replies=len(replies),
        words_per_reply=len(words) / len(replies),
        words_per_sentence=len(words) / len(sentences),
        questions_per_reply=sum(s.is_question for s in sentences) / len(replies),
        exclamations_per_reply=sum(s.is_exclamation for s in sentences) / len(replies),
        lexical_variety=_variety(words),
    )


def _clauses(replies: Sequence[Reply]) -> list[tuple[str, ...]]:
    return [clause for reply in replies for s in reply.sentences for clause in s.clauses]
