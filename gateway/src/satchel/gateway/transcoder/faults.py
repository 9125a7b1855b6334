"""What can be wrong with a JSON value before it is a message, in the words of the contract's reasons.

The reasons are the ones that the services' validator uses for the same input over gRPC.
"""

from collections.abc import Iterable

from satchel.runtime.errors import Violation

_SHOWN_CHARACTERS = 60
# Every decimal of so many digits comes back from a double as it was.
_PLAIN_DIGITS = 15


def wrong_type(path: str, wanted: str, actual: object) -> Violation:
    """Say that a field holds another JSON type; ``wanted`` as in "a whole number"."""
    return _violation(
        path,
        "WRONG_TYPE",
        f"must be {wanted}, not {json_type(actual)}",
        wanted,
        f"send {wanted}",
        json_type(actual),
    )


def not_whole(path: str, actual: float) -> Violation:
    """Say that a number has a fraction where a whole one is needed."""
    wanted = "a whole number"
    return _violation(
        path, "WRONG_TYPE", f"must be {wanted}, not {shown(actual)}", wanted, f"send {wanted}", shown(actual)
    )


def unknown_field(path: str, known: Iterable[str]) -> Violation:
    """Say that a message has no such field."""
    names = ", ".join(known) or "none"
    return _violation(
        path, "UNKNOWN", "is not a field of this request", names, f"use only these fields: {names}"
    )


def in_the_body(path: str) -> Violation:
    """Say that a field came in the query where this request has it in its body."""
    limit = "a member of the JSON object in the body"
    return _violation(path, "UNKNOWN", "is not taken from the query here", limit, f"send it as {limit}")


def unknown_word(path: str, known: Iterable[str]) -> Violation:
    """Say that an enum has no such value."""
    names = ", ".join(known)
    return _violation(path, "UNKNOWN_ENUM_VALUE", "has an unknown value", names, f"use one of {names}")


def out_of_range(path: str, wanted: str, actual: object) -> Violation:
    """Say that a number does not fit; ``wanted`` as in "from 0 to 10"."""
    return _violation(
        path,
        "OUT_OF_RANGE",
        f"must be {wanted}, not {shown(actual)}",
        wanted,
        "use a number in that range",
        shown(actual),
    )


def inexact(path: str) -> Violation:
    """Say that a free-form number would lose digits."""
    return _violation(
        path,
        "OUT_OF_RANGE",
        "is a whole number that would lose digits",
        "from -9007199254740992 to 9007199254740992",
        "send it as a text",
    )


def invalid_character(path: str, name: str, limit: str) -> Violation:
    """Say that a text holds NUL or half of a surrogate pair, under its ``name`` in a sentence."""
    return _violation(path, "INVALID_CHARACTER", f"must not hold {name}", limit, "remove it")


def wrong_form(path: str, wanted: str, remedy: str) -> Violation:
    """Say that a text has not the form of a time, a duration or bytes."""
    return _violation(path, "PATTERN_MISMATCH", f"must be {wanted}", wanted, remedy)


def conflict(path: str, other: str) -> Violation:
    """Say that two members of which only one may be set are both there."""
    limit = f"only one of {other} and {path}"
    return Violation(
        path,
        "ERROR_REASON_FIELDS_CONFLICT",
        f"{path} cannot be set together with {other}: set one of them.",
        limit,
        "set one of them",
    )


def json_type(value: object) -> str:
    """Return how a JSON value is called in a sentence."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"


def shown_name(name: str) -> str:
    """Return a name that came from outside so that it can be shown: valid text, cut."""
    return name.encode("utf-8", "replace").decode().replace("\0", "?")[:100]


def shown(value: object) -> str:
    """Return a number as text, plainly where it is whole, and cut where it is long."""
    text = f"{value:.{_PLAIN_DIGITS}g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def _violation(  # noqa: PLR0917  # the parts of one sentence, in their order
    path: str, reason: str, text: str, limit: str, remedy: str, actual: str = ""
) -> Violation:
    return Violation(path, f"ERROR_REASON_FIELD_{reason}", f"{path} {text}: {remedy}.", limit, remedy, actual)
