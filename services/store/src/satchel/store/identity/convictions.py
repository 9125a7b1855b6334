"""What an agent says that it values, recommends or advises against."""

import re
from collections.abc import Iterable, Iterator

from satchel.store.identity.model import Stance
from satchel.store.identity.phrases import words_of
from satchel.store.identity.prose import Reply

_TOPIC = r"(?P<topic>[^.,;:!?()\n\"«»<>`]{3,80})"
_VALUES = re.compile(
    rf"\b(?:I|we) (?:truly |really |deeply )?(?:value|believe in|care about) {_TOPIC}"
    rf"|\b(?:je tiens|nous tenons) (?:beaucoup )?(?:à|a) {_TOPIC.replace('topic', 'tenet')}"
    rf"|\b(?:je crois|nous croyons) (?:en|à|au|aux) {_TOPIC.replace('topic', 'creed')}",
    re.IGNORECASE,
)
_FOR = re.compile(
    rf"\bI (?:strongly |would |always )*(?:recommend|prefer|advise|favou?r) (?!against\b){_TOPIC}"
    rf"|\bje (?:te |vous )?(?:recommande|conseille|préfère|privilégie) {_TOPIC.replace('topic', 'choix')}",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    rf"\bI (?:strongly |would |always )*(?:advise against|avoid|recommend against|discourage) {_TOPIC}"
    rf"|\b(?:je (?:te |vous )?|j['\u2019])(?:déconseille|évite|éviterais) {_TOPIC.replace('topic', 'choix')}",
    re.IGNORECASE,
)
_LONGEST = 8  # words


def core_values(replies: Iterable[Reply]) -> Iterator[str]:
    """Yield what the agent says that it values, in its own words, in order."""
    for text in _texts(replies):
        yield from _topics(_VALUES, text)


def stances(replies: Iterable[Reply]) -> Iterator[Stance]:
    """Yield what the agent says that it is for or against, in order."""
    for text in _texts(replies):
        yield from (Stance(topic, in_favor=True) for topic in _topics(_FOR, text))
        yield from (Stance(topic, in_favor=False) for topic in _topics(_AGAINST, text))


def _texts(replies: Iterable[Reply]) -> Iterator[str]:
    return (sentence.text for reply in replies for sentence in reply.sentences)


def _topics(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for match in pattern.finditer(text):
        topic = " ".join(next(filter(None, match.groups())).split()[:_LONGEST])
        if words_of(topic):
            yield topic
