"""T1: the facts of one memory, as a value and as canonical JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a text states, each list in order of first appearance and without duplicates.

    ``type`` is one of the values of `satchel.store.extraction.kinds.Kind`. Texts are quoted from the
    memory with white space collapsed; a field that the text does not state is ``None`` or empty.
    ``negated`` says that the leading statement (the decision, or else the first sentence) denies something.
    ``extracted_by`` is the language model that added facts to those of the rules, empty for none.
    """

    type: str
    subjects: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    decision: str | None = None
    rejected: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    assignee: str | None = None
    validator: str | None = None
    deadline: str | None = None
    negated: bool = False
    extracted_by: str = ""

    @property
    def fact_count(self) -> int:
        """Number of facts: each decision, alternative, reason, person and deadline, and one for subjects."""
        singles = (self.decision, self.validator, self.assignee, self.deadline, self.subjects)
        return len(self.rejected) + len(self.reasons) + sum(1 for single in singles if single)


_NAMES = tuple(sorted(field.name for field in fields(Fingerprint)))
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def canonical_json(fingerprint: Fingerprint) -> str:
    """Return JSON that is the same, byte for byte, for equal fingerprints.

    Keys are sorted, there is no white space, letters are written as they are (encode as UTF-8), and
    fields without a value are left out.
    """
    return _encode({name: value for name in _NAMES if (value := getattr(fingerprint, name))})


def from_json(document: str) -> Fingerprint:
    """Read what `canonical_json` wrote; unknown keys are ignored.

    Raises:
        ValueError: the document is not JSON, not an object, or a field has another type.
    """
    fields = json.loads(document)
    kind = fields.get("type") if isinstance(fields, dict) else None
    if not kind or _text(fields, "type") is None:
        raise ValueError("A fingerprint is a JSON object with a text field 'type'.")
    negated = fields.get("negated", False)
    if negated not in (True, False):
        raise ValueError("The field 'negated' of a fingerprint is true or false.")
    return Fingerprint(
        type=kind,
        subjects=_texts(fields, "subjects"),
        entities=_texts(fields, "entities"),
        decision=_text(fields, "decision"),
        rejected=_texts(fields, "rejected"),
        reasons=_texts(fields, "reasons"),
        assignee=_text(fields, "assignee"),
        validator=_text(fields, "validator"),
        deadline=_text(fields, "deadline"),
        negated=bool(negated),
        extracted_by=_text(fields, "extracted_by") or "",
    )


def _texts(fields: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = fields.get(name, [])
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"The field '{name}' of a fingerprint is a list of texts.")
    return tuple(values)


def _text(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"The field '{name}' of a fingerprint is a text.")
    return value
