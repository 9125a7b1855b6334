"""The fingerprint as one short line: the body of the FINGERPRINT render mode."""

from collections.abc import Sequence

from satchel.store.extraction.fingerprint import Fingerprint

_PART = 120  # code points of one value; longer ones end in an ellipsis
_NAMES = 6


def render_line(fingerprint: Fingerprint, *, gist: str = "", max_chars: int = 400) -> str:
    """Return the facts on a single line of at most ``max_chars`` code points, most telling first.

    Example: ``migration, PostgreSQL | decision: use PostgreSQL | rejected: MySQL | because: ACID | @Jean``.
    ``gist`` (a title or summary) stands in for the decision when there is none.
    Names are listed beside the subjects only when there is no other fact. Parts that do not fit are left out
    whole, but the first is cut to size, so the line is never empty for a fingerprint with a subject.

    Raises:
        ValueError: ``max_chars`` is less than 1.
    """
    if max_chars < 1:
        raise ValueError("max_chars must be at least 1.")
    line = ""
    for part in _parts(fingerprint, gist):
        longer = f"{line} | {part}" if line else _clip(part, max_chars)
        if len(longer) <= max_chars:
            line = longer
    return line


def _parts(fingerprint: Fingerprint, gist: str) -> list[str]:
    facts: list[tuple[str, Sequence[str | None]]] = [
        ("decision: ", [fingerprint.decision]) if fingerprint.decision else ("", [" ".join(gist.split())]),
        ("rejected: ", fingerprint.rejected),
        ("because: ", fingerprint.reasons),
        ("@", [fingerprint.assignee]),
        ("approved: ", [fingerprint.validator]),
        ("due: ", [fingerprint.deadline]),
    ]
    stated = [label + _join(values) for label, values in facts if any(values)]
    names = list(fingerprint.subjects)
    if not stated:
        known = {subject.casefold() for subject in names}
        names += [entity for entity in fingerprint.entities if entity.casefold() not in known][:_NAMES]
    return [_join(names), *stated] if names else stated


def _join(values: Sequence[str | None]) -> str:
    return ", ".join(_clip(value.replace("|", "/"), _PART) for value in values if value)


def _clip(value: str, limit: int) -> str:
    return value if len(value) <= limit else value[: limit - 1].rstrip() + "…"
