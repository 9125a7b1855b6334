"""A reply taken apart: its sentences as words, and what can be counted in it.

Code, quoted lines and addresses are not the agent's own words; they are counted, and then left out.
"""

import re
from dataclasses import dataclass
from typing import Final

from satchel.store.identity.phrases import words_of

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]{1,200}`")
_QUOTED = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_CHUNK = re.compile(r"\S+")
# What stands between white space and is no word: an address, or a name of code.
_ADDRESS = re.compile(r"[^\w]*(?:https?://|www\.).*|[^@]+@[^@]+\.[^@]+", re.DOTALL)
_IDENTIFIER = re.compile(
    r"\W*(?:[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|\w+\(\)"
    r"|[\w-]+\.(?:py|js|ts|go|rs|sql|json|yaml|toml|sh|c|h))\W*"
)
_LONGEST_NAME = 60
_BULLET = re.compile(r"^[ \t]*[-*•][ \t]+\S", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*\d{1,3}[.)][ \t]+\S", re.MULTILINE)
_HEADING = re.compile(r"^[ \t]*#{1,6}[ \t]+\S", re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\|(?:[^|\n]*\|){2,}[ \t]*$", re.MULTILINE)
_BOLD = re.compile(r"\*\*[^*\n]{1,200}\*\*")
_MARKUP = re.compile(r"^[ \t]*(?:#{1,6}|[-*•]|\d{1,3}[.)])[ \t]+|\*\*|__", re.MULTILINE)
# Pictographs and faces; signs of text such as arrows, check marks and bullets are left out.
_EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u26ff\u2b50]")
_SMILING = re.compile("[\U0001f601-\U0001f609\U0001f60b\U0001f61c-\U0001f61d\U0001f923\U0001f92a]")
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\s\"'»)]+|\n+")
_CLAUSE_END = re.compile(r"[,;:()\u2013\u2014]+|\s-\s|\.{2,}")
_FEWEST_ITEMS = 2


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence: its clauses as folded words, and its text as it was written."""

    clauses: tuple[tuple[str, ...], ...]
    text: str

    @property
    def length(self) -> int:
        """Number of words."""
        return sum(map(len, self.clauses))

    @property
    def is_question(self) -> bool:
        """Whether it ends as a question does."""
        return self.text.rstrip("\"'») ").endswith("?")

    @property
    def is_exclamation(self) -> bool:
        """Whether it ends as an exclamation does."""
        return self.text.rstrip("\"'») ").endswith("!")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One turn of the agent, taken apart; counts are of the whole turn, code included."""

    sentences: tuple[Sentence, ...]
    emojis: int
    smiles: int
    code_blocks: int
    code_names: int
    bullets: int
    numbered: int
    headings: int
    tables: int
    bold: int

    @property
    def words(self) -> int:
        """Number of words."""
        return sum(sentence.length for sentence in self.sentences)

    @property
    def has_bullets(self) -> bool:
        """Whether it has a list with bullets."""
        return self.bullets >= _FEWEST_ITEMS

    @property
    def has_numbers(self) -> bool:
        """Whether it has a list with numbers."""
        return self.numbered >= _FEWEST_ITEMS

    @property
    def has_markdown(self) -> bool:
        """Whether anything in it is Markdown."""
        marks = (self.code_blocks, self.headings, self.tables, self.bold)
        return any(marks) or self.has_bullets or self.has_numbers


MARKS: Final = {
    "bullets": _BULLET,
    "numbered": _NUMBERED,
    "headings": _HEADING,
    "tables": _TABLE,
    "bold": _BOLD,
    "emojis": _EMOJI,
    "smiles": _SMILING,
}


def take_apart(text: str) -> Reply:
    """Return a turn's sentences and counts."""
    prose, code_blocks = _FENCE.subn("\n", text)
    counts = {name: len(pattern.findall(prose)) for name, pattern in MARKS.items()}
    prose, code_names = _CODE.subn(" ", _QUOTED.sub("", prose))
    code_names += sum(map(_is_code_name, _CHUNK.findall(prose)))
    prose = _CHUNK.sub(_without_address, prose)
    sentences = (_sentence(part) for part in _SENTENCE_END.split(_MARKUP.sub("", prose)))
    return Reply(
        sentences=tuple(sentence for sentence in sentences if sentence.length),
        code_blocks=code_blocks,
        code_names=code_names,
        **counts,
    )


def _sentence(text: str) -> Sentence:
    clauses = (tuple(words_of(part)) for part in _CLAUSE_END.split(text))
    return Sentence(tuple(clause for clause in clauses if clause), text.strip())


def _is_code_name(chunk: str) -> bool:
    return len(chunk) <= _LONGEST_NAME and _IDENTIFIER.fullmatch(chunk) is not None


def _without_address(chunk: re.Match[str]) -> str:
    return " " if _ADDRESS.fullmatch(chunk[0]) else chunk[0]
