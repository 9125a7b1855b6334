"""One memory of several that say much the same, in which nothing that they say is lost."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from satchel.store.model import Link, Memory, MemoryType, NewMemory, Relation, Sensitivity

ROOM = "consolidated"
MOST_CODE_POINTS = 65_536  # of a text, as the contract has it
MOST_TAGS = 32  # given ones

# The end of a sentence or a line, and the white space there. Better none too many: a word of less than four
# letters before a full stop may be an abbreviation, and so may be a longer one that is listed.
_BREAK = re.compile(
    r"(?<=[^\W_]{4}[.!?…])(?<!approx\.)(?<!dept\.)(?<!prof\.)(?<!corp\.)(?<!resp\.)(?<!incl\.)(?<!excl\.)(?<!cont\.)"
    r"\s+(?=[\"'«“(\[]?[^\W_a-zà-ÿ])|[ \t\r]*\n\s*"
)


@dataclass(frozen=True, slots=True)
class Group:
    """Memories that become one, in the order of time, and the text of all of them."""

    sources: tuple[Memory, ...]
    text: str


def groups_of(sources: Iterable[Memory]) -> tuple[Group, ...]:
    """Part memories into groups whose texts and given tags fit in one memory each, in the order of time.

    A memory that would be alone in its group is left out: it stays as it is.
    """
    groups: list[_Gathering] = []
    for memory in sorted(sources, key=_moment):
        if not (groups and groups[-1].take(memory)):
            groups.append(_Gathering())
            groups[-1].take(memory)
    return tuple(Group(tuple(one.sources), one.text) for one in groups if len(one.sources) > 1)


def merged_memory(group: Group) -> NewMemory:
    """Return the memory that a group becomes."""
    sources = group.sources
    newest = sources[-1]
    names = {memory.source for memory in sources}
    return NewMemory(
        content=group.text,
        wing=newest.wing,
        room=ROOM,
        type=MemoryType.FACT,
        project=newest.project,
        occurred_at=_moment(newest)[0],
        tags=tuple(sorted({tag for memory in sources for tag in memory.given_tags})),
        source=newest.source if len(names) == 1 else "",
        sensitivity=Sensitivity(max(memory.sensitivity for memory in sources)),
        links=tuple(Link(memory.id, Relation.UPDATES, outgoing=False) for memory in sources),
    )


class _Gathering:
    """Memories of a group so far, and their text.

    A sentence is left out where it was said before at the same place: at the beginning of a text or after
    the same sentence. So what it refers to is there too.
    """

    def __init__(self) -> None:
        self.sources: list[Memory] = []
        self.text = ""
        self._said: set[tuple[str, str]] = set()
        self._tags: set[str] = set()

    def take(self, memory: Memory) -> bool:
        """Add a memory and tell whether it fits; the first one always does."""
        said, fresh = self._new_in(_text_of(memory))
        text = f"{self.text}\n{fresh}" if self.text and fresh else self.text or fresh
        tags = self._tags.union(memory.given_tags)
        if self.sources and (len(text) > MOST_CODE_POINTS or len(tags) > MOST_TAGS):
            return False
        self.sources.append(memory)
        self.text, self._tags = text, tags
        self._said |= said
        return True

    def _new_in(self, text: str) -> tuple[set[tuple[str, str]], str]:
        """Return the sentences of a text, each with the one before, and those of them that are new."""
        said: set[tuple[str, str]] = set()
        parts: list[str] = []
        before = ""
        for sentence, gap in _sentences(text):
            this = " ".join(sentence.split())
            if (before, this) not in self._said:
                parts += [sentence, gap]
            said.add((before, this))
            before = this
        return said, "".join(parts).strip()


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Yield sentences, each with the white space behind it; together they are the text."""
    start = 0
    for match in _BREAK.finditer(text):
        yield text[start : match.start()], match.group()
        start = match.end()
    yield text[start:], ""


def _text_of(memory: Memory) -> str:
    """Return the text, after title and summary where it does not hold these."""
    above = [part for part in (memory.title, memory.summary) if part and part not in memory.content]
    return "\n".join([*above, memory.content])


def _moment(memory: Memory) -> tuple[int, int, str]:
    at = memory.created_at if memory.occurred_at is None else memory.occurred_at
    return at, memory.created_at, memory.id
