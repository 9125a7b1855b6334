"""The answer of a language model: read strictly, held against the text, and joined to the facts of rules."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from satchel.runtime.folding import fold
from satchel.store.extraction import Fingerprint

LISTS = ("subjects", "entities", "rejected", "reasons")
SINGLES = ("decision", "assignee", "validator", "deadline")
_MAX_LENGTH = 500  # code points of one value
_MAX_ITEMS = 32  # values of one list, in an answer and in a fingerprint


class UnusableAnswer(Exception):  # noqa: N818  # says what happened; never reaches a client
    """The answer is not what the schema asks for."""


def read_answer(answer: str) -> Mapping[str, tuple[str, ...]]:
    """Return the values that an answer gives, by field; one that is empty or missing gives none.

    Raises:
        UnusableAnswer: it is no JSON object of the schema's fields, types and lengths.
    """
    try:
        fields = json.loads(answer)
    except (ValueError, RecursionError) as exc:
        raise UnusableAnswer("It is no JSON.") from exc
    if not isinstance(fields, dict) or not fields.keys() <= {*LISTS, *SINGLES}:
        raise UnusableAnswer("It is no object of the fields that were asked for.")
    read = {name: _texts(name, fields.get(name, [])) for name in LISTS}
    return {**read, **{name: _texts(name, [fields.get(name, "")]) for name in SINGLES}}


def ground(found: Mapping[str, tuple[str, ...]], text: str) -> dict[str, tuple[str, ...]]:
    """Return the values whose words stand in the text as whole words, compared without case and accents."""
    folded = _padded(text)
    return {
        name: tuple(value for value in values if _padded(value).strip() and _padded(value) in folded)
        for name, values in found.items()
    }


def join(rules: Fingerprint, found: Mapping[str, tuple[str, ...]], model: str) -> Fingerprint:
    """Return what the rules found with what the model adds; equal to ``rules`` when it adds nothing.

    What the rules found stays: a list gets the values that it does not have, a single value is set where
    there is none.
    """
    lists = {name: _union(getattr(rules, name), found.get(name, ())) for name in LISTS}
    singles = {name: getattr(rules, name) or next(iter(found.get(name, ())), None) for name in SINGLES}
    changes: dict[str, Any] = {**lists, **singles}
    joined = replace(rules, **changes)
    return rules if joined == rules else replace(joined, extracted_by=model)


def _texts(name: str, values: object) -> tuple[str, ...]:
    if not isinstance(values, list) or len(values) > _MAX_ITEMS:
        raise UnusableAnswer(f"'{name}' is no list of at most {_MAX_ITEMS} values.")
    texts = []
    for value in values:
        if not isinstance(value, str) or len(value) > _MAX_LENGTH:
            raise UnusableAnswer(f"'{name}' is no text of at most {_MAX_LENGTH} characters.")
        if collapsed := " ".join(value.split()):
            texts.append(collapsed)
    return tuple(texts)


def _padded(text: str) -> str:
    """Return the words of a text, folded, with a space before and after each."""
    words = "".join(letter if letter.isalnum() else " " for letter in fold(text)).split()
    return f" {' '.join(words)} "


def _union(known: tuple[str, ...], found: Iterable[str]) -> tuple[str, ...]:
    joined, seen = list(known), {fold(value) for value in known}
    for value in found:
        if fold(value) not in seen and len(joined) < _MAX_ITEMS:
            seen.add(fold(value))
            joined.append(value)
    return tuple(joined)
