"""What a memory tells of its cause."""

from dataclasses import dataclass

from satchel.store.causality.names import names_of, words_of
from satchel.store.causality.triggers import find_triggers
from satchel.store.model import Clues, Prepared
from satchel.store.preparing import searchable_text


@dataclass(frozen=True, slots=True)
class Lookback:
    """Among how many earlier memories a cause is looked for, and its greatest age in microseconds."""

    count: int
    max_age: int


def clues_of(memory: Prepared, lookback: Lookback) -> Clues | None:
    """Return what the text of a memory tells of its cause; None for nothing, and where none is looked for."""
    if not lookback.count or not lookback.max_age:
        return None
    new = memory.new
    text = searchable_text(title=new.title, content=new.content, component=new.component)
    triggers = find_triggers(text)
    if not triggers:
        return None
    return Clues(
        triggers=triggers,
        names=names_of(memory.fingerprint),
        words=words_of(text),
        lookback=lookback.count,
        max_age=lookback.max_age,
    )
