"""Words with which an agent begins and ends, and that come again and again."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate

from satchel.runtime.stopwords import ENGLISH, FRENCH
from satchel.store.identity.model import MAX_PHRASES, Phrase
from satchel.store.identity.phrases import words_of
from satchel.store.identity.prose import Reply

_FUNCTION_WORDS = ENGLISH | FRENCH
_SHORTEST, _LONGEST = 3, 6  # words of a catch phrase
_MOST_LETTERS = 80
_EDGE = 6  # most words of an opening or a closing
_FEWEST_REPLIES = 2
_FEWEST_FOR_CATCH_PHRASE = 3
_CONTENT_WORDS = 2


def repeated_phrases(replies: Sequence[Reply]) -> Mapping[str, tuple[Phrase, ...]]:
    """Return the openings, closings and catch phrases of several replies, most frequent first.

    An opening is a first sentence of at most six words, or the first clause of one, that begins two replies;
    a closing so with the last. A catch phrase has three to six words, two of them with content, in three
    replies; of phrases in one another the longest counts.
    """
    openings = _frequent((_edge(reply.sentences[0].text) for reply in replies), _FEWEST_REPLIES)
    closings = _frequent(
        (_edge(reply.sentences[-1].text) for reply in replies if len(reply.sentences) > 1), _FEWEST_REPLIES
    )
    edges = {" ".join(words_of(phrase.text)) for phrase in (*openings, *closings)}
    return {"openings": openings, "closings": closings, "catch_phrases": _catch_phrases(replies, edges)}


def _edge(sentence: str) -> str:
    """Return a sentence if it is short, else its first clause if that is; empty if neither is."""
    for text in (sentence, sentence.partition(",")[0]):
        if len(text) <= _MOST_LETTERS and 0 < len(words_of(text)) <= _EDGE:
            return " ".join(text.split())
    return ""


def _frequent(texts: Iterator[str], fewest: int) -> tuple[Phrase, ...]:
    """Return the texts that come ``fewest`` times, told apart without case, each as it came first."""
    written: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for text in filter(None, texts):
        key = " ".join(words_of(text))
        written.setdefault(key, text)
        counts[key] += 1
    common = [(key, count) for key, count in counts.most_common() if count >= fewest]
    return tuple(Phrase(written[key], count) for key, count in common[:MAX_PHRASES])


def _catch_phrases(replies: Sequence[Reply], edges: set[str]) -> tuple[Phrase, ...]:
    if len(replies) < _FEWEST_FOR_CATCH_PHRASE:
        return ()
    counts = Counter(gram for reply in replies for gram in set(_grams(reply)))
    common = [gram for gram, count in counts.items() if count >= _FEWEST_FOR_CATCH_PHRASE]
    chosen: list[tuple[str, ...]] = []
    for gram in sorted(common, key=lambda gram: (-len(gram), -counts[gram], gram)):
        is_new = " ".join(gram) not in edges and not any(_holds(longer, gram) for longer in chosen)
        if is_new and len(chosen) < MAX_PHRASES:
            chosen.append(gram)
    chosen.sort(key=lambda gram: (-counts[gram], gram))
    return tuple(Phrase(" ".join(gram), counts[gram]) for gram in chosen)


def _grams(reply: Reply) -> Iterator[tuple[str, ...]]:
    for sentence in reply.sentences:
        for clause in sentence.clauses:
            content = list(accumulate((word not in _FUNCTION_WORDS for word in clause), initial=0))
            letters = list(accumulate(map(len, clause), initial=0))
            for start in range(len(clause) - _SHORTEST + 1):
                for end in range(start + _SHORTEST, min(start + _LONGEST, len(clause)) + 1):
                    is_short = letters[end] - letters[start] <= _MOST_LETTERS
                    if is_short and content[end] - content[start] >= _CONTENT_WORDS:
                        yield clause[start:end]


def _holds(longer: tuple[str, ...], shorter: tuple[str, ...]) -> bool:
    return any(longer[at : at + len(shorter)] == shorter for at in range(len(longer) - len(shorter) + 1))
