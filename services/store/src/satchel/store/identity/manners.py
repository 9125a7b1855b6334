"""The manners of replies: how they begin, end, explain and are laid out, read from replies taken apart."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from types import MappingProxyType

from satchel.runtime.stopwords import ENGLISH, FRENCH
from satchel.store.identity.phrases import PhraseBook, split_phrases
from satchel.store.identity.prose import Reply, Sentence
from satchel.store.identity.styles import (
    Certainty,
    Closing,
    Density,
    ExplanationStyle,
    Opening,
    QuestionStyle,
    ResponseLength,
    SentenceStructure,
    Structure,
)

# fmt: off
_MANNERS: Mapping[str, str] = MappingProxyType({
    "greeting": "hello; hi; hey; good morning; good evening; welcome back; bonjour; bonsoir; salut; "
                "coucou; dear",
    "acknowledging": (
        "great question; good question; i understand; i see; i hear you; thanks for; thank you for; "
        "of course; sure; absolutely; got it; understood; makes sense; certainly; fair point; "
        "bonne question; je comprends; je vois; merci pour; merci de; bien sur; d accord; entendu; "
        "c est note; compris; tout a fait"),
    "summary": (
        "in short; in summary; to sum up; to summarize; to summarise; in conclusion; summary; tl dr; "
        "tldr; bottom line; overall; key points; takeaway*; en resume; en bref; pour resumer; "
        "en conclusion; resume; points cles; a retenir; bilan"),
    "offer": (
        "let me know; happy to help; i can also; would you like me to; feel free; if you want i can; "
        "want me to; next step*; shall i; i m here if; n hesite pas; n hesitez pas; dis moi si; "
        "dites moi si; je peux aussi; veux tu que; voulez vous que; prochaine* etape*; "
        "souhaitez vous que; souhaites tu que"),
    "example": (
        "for example; for instance; such as; e g; let s take; take the case; an example; suppose; "
        "par exemple; prenons; tel que; telle que; tels que; a titre d exemple; supposons; un exemple"),
    "analogy": (
        "like a; like an; as if; as though; think of it; picture a; analogy; metaphor*; comme un; "
        "comme une; comme si; pense a; pensez a; imagine un*; imaginez un*; analogie*; metaphore*"),
    "steps": (
        "step by step; first; then; next; after that; finally; step; steps; d abord; ensuite; puis; "
        "enfin; etape*; pas a pas; premierement; deuxiemement"),
    "big picture": (
        "big picture; overall; at a high level; broadly; in general; the main idea; from above; "
        "vue d ensemble; globalement; en general; dans les grandes lignes; l idee generale; "
        "l idee principale"),
    "reason": (
        "because; since; the reason; that s why; due to; according to; therefore; as a result; parce que; "
        "car; puisque; la raison; c est pourquoi; selon; en raison de; d apres; donc"),
})
# fmt: on
_BOOK: PhraseBook[str] = PhraseBook({name: split_phrases(text) for name, text in _MANNERS.items()})
_FUNCTION_WORDS = ENGLISH | FRENCH
_FIRST, _SOME = 0.3, 0.2  # shares of replies with a layout; of questions in a reply
_MANY_QUESTIONS = 1.5
_LENGTHS = ((25, 1), (80, 2), (200, 3), (450, 4))
_CLAUSES_THAT_FLOW = 3.0
_CERTAIN, _CAUTIOUS = 0.7, 0.4


def manners_of(sentence: Sentence) -> frozenset[str]:
    """Return what a sentence does: names such as ``example`` or ``summary``."""
    return frozenset(
        name for clause in sentence.clauses for match in _BOOK.find(clause) for name in match.meanings
    )


def opening_of(reply: Reply) -> Opening:
    """Tell how a reply begins, by its first sentence."""
    first = reply.sentences[0]
    starts = _BOOK.at(first.clauses[0], 0)
    if starts and "greeting" in starts.meanings:
        return Opening.GREETING
    return Opening.ACKNOWLEDGING if "acknowledging" in manners_of(first) else Opening.DIRECT


def closing_of(reply: Reply) -> Closing:
    """Tell how a reply ends, by its last two sentences."""
    last = reply.sentences[-2:]
    found = frozenset[str]().union(*map(manners_of, last))
    if "offer" in found:
        return Closing.OFFER
    if last[-1].is_question:
        return Closing.QUESTION
    return Closing.SUMMARY if "summary" in found else Closing.PLAIN


def sentence_structure(replies: Sequence[Reply]) -> SentenceStructure:
    """Tell how sentences are built: by their mean length in words, and long ones by their clauses."""
    sentences = [sentence for reply in replies for sentence in reply.sentences]
    mean = fmean(sentence.length for sentence in sentences)
    for below, structure in (
        (8, SentenceStructure.PUNCHY),
        (13, SentenceStructure.CONCISE),
        (20, SentenceStructure.BALANCED),
    ):
        if mean < below:
            return structure
    clauses = fmean(len(sentence.clauses) for sentence in sentences)
    return SentenceStructure.FLOWING if clauses >= _CLAUSES_THAT_FLOW else SentenceStructure.ELABORATE


def question_style(questions_per_reply: float) -> QuestionStyle:
    """Tell how questions are asked: below 0.2 in a reply rarely, from 1.5 to lead on."""
    if questions_per_reply < _SOME:
        return QuestionStyle.RARE
    return QuestionStyle.SOCRATIC if questions_per_reply >= _MANY_QUESTIONS else QuestionStyle.CLARIFYING


def explanation_style(replies: Sequence[Reply]) -> tuple[ExplanationStyle, int] | None:
    """Return how things are explained most often, and in how many sentences; None for no sign of any."""
    sentences = [sentence for reply in replies for sentence in reply.sentences]
    found = [name for sentence in sentences for name in manners_of(sentence)]
    counts = {
        ExplanationStyle.ANALOGY: found.count("analogy"),
        ExplanationStyle.STEP_BY_STEP: found.count("steps") // 2 + sum(r.has_numbers for r in replies),
        ExplanationStyle.BIG_PICTURE: found.count("big picture"),
        ExplanationStyle.EXAMPLE_DRIVEN: found.count("example"),
        ExplanationStyle.SOCRATIC: sum(s.is_question for s in sentences) // 3,
    }
    best = max(counts, key=lambda style: counts[style])
    return (best, counts[best]) if counts[best] else None


def response_length(words_per_reply: float) -> ResponseLength:
    """Tell how long replies are: below 25 words, 80, 200, 450, or more."""
    for below, number in _LENGTHS:
        if words_per_reply < below:
            return ResponseLength(number)
    return ResponseLength.EXHAUSTIVE


def density(replies: Sequence[Reply]) -> Density:
    """Tell how dense replies are: content words below 45 % of all, below 60 %, or more."""
    words = [word for reply in replies for s in reply.sentences for clause in s.clauses for word in clause]
    share = sum(word not in _FUNCTION_WORDS for word in words) / max(len(words), 1)
    for below, level in ((0.45, Density.AIRY), (0.6, Density.BALANCED)):
        if share < below:
            return level
    return Density.DENSE


def structure(replies: Sequence[Reply]) -> Structure:
    """Tell how replies are laid out: by what three in ten of them have."""
    found = [
        kind
        for kind, count in (
            (Structure.BULLETED, sum(reply.has_bullets for reply in replies)),
            (Structure.NUMBERED, sum(reply.has_numbers for reply in replies)),
            (Structure.SECTIONED, sum(reply.headings > 0 for reply in replies)),
        )
        if count >= _FIRST * len(replies)
    ]
    return Structure.MIXED if len(found) > 1 else (found or [Structure.FREEFORM])[0]


def certainty(confidence: float) -> Certainty:
    """Tell how sure statements sound, by the level of confidence that is shown."""
    if confidence < _CAUTIOUS:
        return Certainty.CAUTIOUS
    return Certainty.ASSERTIVE if confidence > _CERTAIN else Certainty.BALANCED
