"""Makes harder corpora of a corpus: all namespaces in one, or without sessions, names or times."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from benchmarks.records import Corpus, Memory

POOL = "pooled"
# A speaker: up to three words that begin like names, before a colon, at the start of so many memories.
_SPEAKER = re.compile(r"(?![A-Z]+:)[^\W\d_a-z][\w'\u2019.-]*(?: [^\W\d_a-z][\w'\u2019.-]*){0,2}(?=: )")
_SPEAKS_AT_LEAST = 3


class UnknownStripError(ValueError):
    """There is no such thing to take away."""

    def __init__(self, name: str) -> None:
        super().__init__(f"'{name}' cannot be stripped. Name some of {', '.join(_STRIPS)}.")


def pooled(corpus: Corpus) -> Corpus:
    """Put everything into one namespace; ids and sessions keep the old one's name as a prefix."""

    def inside(namespace: str, name: str) -> str:
        return f"{namespace}/{name}" if name else ""

    return Corpus(
        tuple(
            replace(one, id=inside(one.namespace, one.id), session_id=inside(one.namespace, one.session_id),
                    namespace=POOL)
            for one in corpus.memories
        ),
        tuple(
            replace(
                one,
                namespace=POOL,
                evidence=tuple(inside(one.namespace, known) for known in one.evidence),
                evidence_texts={inside(one.namespace, key): text for key, text in one.evidence_texts.items()},
            )
            for one in corpus.questions
        ),
    )  # fmt: skip


def strip(corpus: Corpus, names: Iterable[str]) -> Corpus:
    """Take away what is named: ``sessions``, ``names`` (of speakers, before a colon) or ``times``.

    Raises:
        UnknownStripError: a name is none of these.
    """
    for name in names:
        if name not in _STRIPS:
            raise UnknownStripError(name)
        corpus = _STRIPS[name](corpus)
    return corpus


def _without_sessions(corpus: Corpus) -> Corpus:
    return replace(corpus, memories=tuple(replace(one, session_id="") for one in corpus.memories))


def _without_times(corpus: Corpus) -> Corpus:
    return Corpus(
        tuple(replace(one, occurred_at=None) for one in corpus.memories),
        tuple(replace(one, now=None) for one in corpus.questions),
    )


def _without_names(corpus: Corpus) -> Corpus:
    speakers = _speakers(corpus)

    def bare(memory: Memory) -> Memory:
        prefix = f"{_prefix(memory)}: "
        if (memory.namespace, _prefix(memory)) not in speakers:
            return memory
        return replace(
            memory,
            content=memory.content.removeprefix(prefix),
            evidence_text=memory.evidence_text.removeprefix(prefix),
        )

    return replace(corpus, memories=tuple(bare(one) for one in corpus.memories))


def _speakers(corpus: Corpus) -> frozenset[tuple[str, str]]:
    counts = Counter((one.namespace, _prefix(one)) for one in corpus.memories)
    return frozenset(key for key, count in counts.items() if key[1] and count >= _SPEAKS_AT_LEAST)


def _prefix(memory: Memory) -> str:
    found = _SPEAKER.match(memory.content)
    return found.group() if found else ""


_STRIPS: Mapping[str, Callable[[Corpus], Corpus]] = MappingProxyType(
    {"sessions": _without_sessions, "names": _without_names, "times": _without_times}
)
