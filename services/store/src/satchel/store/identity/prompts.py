"""An identity as a text for a model, within a budget of tokens.

The text has one line for each part, the most telling first. A line that does not fit is left out, and a
shorter one after it may still be there. Tokens are counted on the text as it is then.
"""

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from satchel.store.identity.model import FLAGS, NEUTRAL_LEVELS, Identity, Snapshot, Trait
from satchel.store.identity.styles import STYLES
from satchel.store.identity.wording import Wording
from satchel.store.identity.wording_en import ENGLISH
from satchel.store.identity.wording_fr import FRENCH

# A level speaks where it is this far from the middle, and strongly where it is that far.
_MIDDLE, _FAR, _VERY_FAR = 0.5, 0.15, 0.35
_MOST_TRAITS = 8
_STRONG, _CLEAR = 0.66, 0.33
_MOST_LETTERS = 80
_UNSAFE = str.maketrans(dict.fromkeys('"`<>«»\u201c\u201d', "'"))


class Language(enum.StrEnum):
    """A language that identities are shown in."""

    EN = "en"
    FR = "fr"


WORDINGS: Mapping[Language, Wording] = MappingProxyType({Language.EN: ENGLISH, Language.FR: FRENCH})


class Bar(NamedTuple):
    """What an observed trait needs to be shown as a trait, and not as one that begins to show."""

    confidence: float
    observations: int


class Memory(NamedTuple):
    """A memory to show below an identity: its id and a line of text."""

    id: str
    line: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text and its tokens, how many lines the budget left out, and the ids of the memories in it."""

    text: str = ""
    tokens: int = 0
    omitted: int = 0
    budget: int = 0
    memory_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendering:
    """How identities are shown; ``count_tokens`` counts the tokens of a text."""

    language: Language
    bar: Bar
    budget: int
    count_tokens: Callable[[str], int]

    def recall(self, snapshot: Snapshot, memories: Sequence[Memory] = ()) -> Prompt:
        """Show an identity, and memories below it."""
        wording = WORDINGS[self.language]
        head = wording.you_are.format(agent=_safe(snapshot.agent_id))
        return self._fill([head], _lines(snapshot.identity, wording, self.bar), memories, wording)

    def reinforce(self, snapshot: Snapshot) -> Prompt:
        """Show an identity to the model that it was swapped to, naming both models."""
        wording = WORDINGS[self.language]
        swapped = wording.swapped.format(
            agent=_safe(snapshot.agent_id),
            from_model=_safe(snapshot.from_model),
            to_model=_safe(snapshot.model_id),
        )
        head = [f"{swapped} {wording.stay}"]
        return self._fill(head, _lines(snapshot.identity, wording, self.bar), (), wording)

    def _fill(
        self, head: Sequence[str], lines: Iterable[str], memories: Sequence[Memory], wording: Wording
    ) -> Prompt:
        """Take the head, or nothing at all, and then each line that fits."""
        offered = list(lines)
        if self._tokens(head) > self.budget:
            return Prompt(omitted=1 + len(offered) + len(memories), budget=self.budget)
        taken = list(head)
        for line in offered:
            if self._tokens([*taken, line]) <= self.budget:
                taken.append(line)
        omitted = 1 + len(offered) - len(taken)
        shown = self._take_memories(taken, memories, wording)
        omitted += len(memories) - len(shown)
        return Prompt("\n".join(taken), self._tokens(taken), omitted, self.budget, shown)

    def _take_memories(
        self, taken: list[str], memories: Sequence[Memory], wording: Wording
    ) -> tuple[str, ...]:
        """Append the memories that fit under their label, and return their ids."""
        label = wording.labels["memories"].format(note=wording.memories_note)
        lines, shown = [label], list[str]()
        for memory in memories:
            if self._tokens([*taken, *lines, memory.line]) <= self.budget:
                lines.append(memory.line)
                shown.append(memory.id)
        if shown:
            taken.extend(lines)
        return tuple(shown)

    def _tokens(self, lines: Sequence[str]) -> int:
        return self.count_tokens("\n".join(lines))


def memory_line(memory_id: str, text: str) -> str:
    """Return a memory as one line: its beginning, on which nothing closes a quotation, and its id."""
    words = " ".join(text.split())
    cut = words if len(words) <= _MOST_LETTERS * 3 else f"{words[: _MOST_LETTERS * 3]}…"
    return f'- "{cut.translate(_UNSAFE)}" T0:{memory_id}'


def _lines(identity: Identity, wording: Wording, bar: Bar) -> Iterator[str]:
    firm = [trait for trait in ordered_traits(identity) if _is_firm(trait, bar)]
    emerging = [trait for trait in ordered_traits(identity) if not _is_firm(trait, bar)]
    parts = (
        ("traits", [_trait(trait, wording) for trait in firm[:_MOST_TRAITS]]),
        ("voice", _levels(identity, wording, "voice")),
        ("layout", _styles(identity, wording, "communication")),
        ("manner", _styles(identity, wording, "voice")),
        ("emotion", _levels(identity, wording, "emotion")),
        ("habits", [wording.flags[flag] for flag in FLAGS if identity.is_set(flag)]),
        ("values", _levels(identity, wording, "values")),
        ("openings", _quoted((one.text for one in identity.phrases.get("openings", ())), wording)),
        ("closings", _quoted((one.text for one in identity.phrases.get("closings", ())), wording)),
        ("catch_phrases", _quoted((one.text for one in identity.phrases.get("catch_phrases", ())), wording)),
        ("convictions", _quoted((one.text for one in identity.core_values), wording)),
        ("stances", _stances(identity, wording)),
        ("emerging", [_name(trait, wording) for trait in emerging[:_MOST_TRAITS]]),
    )
    for label, words in parts:
        if words:
            yield f"{wording.labels[label]}{', '.join(words)}"


def ordered_traits(identity: Identity) -> list[Trait]:
    """Return the traits by descending intensity, then name."""
    return sorted(identity.traits.values(), key=lambda trait: (-trait.intensity, trait.name))


def _is_firm(trait: Trait, bar: Bar) -> bool:
    return trait.declared or (trait.evidence >= bar.observations and trait.confidence >= bar.confidence)


def _trait(trait: Trait, wording: Wording) -> str:
    slightly, clearly, strongly = wording.strengths
    word = strongly if trait.intensity >= _STRONG else clearly if trait.intensity >= _CLEAR else slightly
    return f"{word} {_name(trait, wording)}"


def _name(trait: Trait, wording: Wording) -> str:
    return wording.traits.get(trait.name, _safe(trait.name))


def _levels(identity: Identity, wording: Wording, dimension: str) -> list[str]:
    """Say what is far from the middle, the farthest first."""
    found = []
    for path in NEUTRAL_LEVELS:
        distance = identity.levels[path].value - _MIDDLE
        ends = wording.levels[path]
        word = ends.high if distance > 0 else ends.low
        if path.startswith(f"{dimension}.") and word and abs(distance) >= _FAR:
            may_be_very = dimension != "values" and "," not in word
            very = wording.very if abs(distance) >= _VERY_FAR and may_be_very else ""
            found.append((-abs(distance), f"{very}{word}"))
    return [word for _, word in sorted(found, key=lambda item: item[0])]


def _styles(identity: Identity, wording: Wording, dimension: str) -> list[str]:
    return [
        wording.styles[path][identity.style(path) - 1]
        for path in STYLES
        if path.startswith(f"{dimension}.") and identity.style(path)
    ]


def _stances(identity: Identity, wording: Wording) -> list[str]:
    return [
        f"{wording.in_favor if stance.in_favor else wording.against} {_quote(stance.topic, wording)}"
        for stance in identity.stances
    ]


def _quoted(texts: Iterable[str], wording: Wording) -> list[str]:
    return [_quote(text, wording) for text in texts]


def _quote(text: str, wording: Wording) -> str:
    before, after = wording.quote
    return f"{before}{_safe(text)}{after}"


def _safe(text: str) -> str:
    """Return a text of the agent on one line, without what could end its quotation."""
    return " ".join(text.translate(_UNSAFE).split())[: 2 * _MOST_LETTERS]
