"""Whether the leading statement of a text denies something, in English and French."""

import re

from satchel.store.extraction.reading import Reading, unbracket

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|cant|dont|wont|without|jamais|aucune?|sans|personne\sne)\b"
    r"|n't\b|\bn(?:e\b|')[^.!?\n]{1,40}\b(?:pas|plus|jamais|rien|aucune?|personne|guère)\b|\bpas\s(?:de|d'|encore)\b"
    r"|^\W{0,4}(?:pas|plus|non)\b"
)


def is_negated(reading: Reading, place: int) -> bool:
    """Tell whether the sentence that holds ``place`` holds a negation outside brackets.

    What brackets hold is a remark on another thing: "Rejected: MySQL (not ACID)".
    """
    sentence = reading.lower[reading.clause_start(place) : reading.clause_end(place)]
    return bool(_NEGATION.search(unbracket(sentence).lstrip()))
