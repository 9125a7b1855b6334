"""The whole of T1: from a text to its fingerprint, without a model."""

from satchel.store.extraction.alternatives import find_rejected
from satchel.store.extraction.deadlines import find_deadline
from satchel.store.extraction.decisions import find_decision, first_sentence
from satchel.store.extraction.entities import find_entities
from satchel.store.extraction.fingerprint import Fingerprint
from satchel.store.extraction.kinds import Kind, infer_kind
from satchel.store.extraction.negation import is_negated
from satchel.store.extraction.people import find_assignee, find_validator
from satchel.store.extraction.reading import Reading
from satchel.store.extraction.reasons import find_reasons
from satchel.store.extraction.subjects import find_subjects


def extract(text: str, *, declared_type: str | None = None) -> Fingerprint:
    """Return the facts that ``text`` states, in English or French.

    Deterministic, linear in the length of the text, and defined for every `str`. ``declared_type`` is the
    writer's own word for the type and wins over what the text looks like; an unknown name is ignored. A text
    declared a decision in which no decision is recognised is taken at its word: its first sentence is the
    decision.
    """
    reading = Reading.of(text)
    stated = find_decision(reading)
    kind = infer_kind(reading, declared=declared_type, decided=stated is not None)
    opening = first_sentence(reading)
    decision, place = stated or opening
    if stated is None and kind is not Kind.DECISION:
        decision = ""
    rejected = find_rejected(reading)
    assignee, validator = find_assignee(reading), find_validator(reading)
    entities = find_entities(reading)
    others = {name.casefold() for name in (*rejected, assignee or "", validator or "")}
    names = _leading([name for name in entities if name.casefold() not in others], decision)
    return Fingerprint(
        type=kind.value,
        subjects=find_subjects(reading, names=names, fallback=kind.value.replace("_", " ")),
        entities=entities,
        decision=decision or None,
        rejected=rejected,
        reasons=find_reasons(reading),
        assignee=assignee,
        validator=validator,
        deadline=find_deadline(reading),
        negated=is_negated(reading, place),
    )


def _leading(entities: list[str], decision: str) -> list[str]:
    """Return the entities that may be a subject: no addresses, and those of the decision if it names any."""
    names = [name for name in entities if "@" not in name and "://" not in name]
    return [name for name in names if name in decision] or names
