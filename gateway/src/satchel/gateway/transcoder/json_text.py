"""JSON text to plain values and back, stricter than the standard library: what is ambiguous is refused.

A name given twice, nesting beyond `MAX_DEPTH` and bytes that are not UTF-8 are refused here; numbers that
JSON cannot hold (``NaN``, ``1e999``) become non-finite floats, which the decoder refuses by field.
"""

import json
import math
from typing import NoReturn, TypeAlias

from satchel.runtime.errors import Code, ServiceError

# None, bool, int, float, str, list and dict with text keys.
Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

# A JSON level inside a google.protobuf.Struct takes three levels of messages, and protobuf reads at most 100
# (https://protobuf.dev/programming-guides/proto-limits/); some belong to what surrounds the Struct.
MAX_DEPTH = 30

# Longer ones are beyond every number type of the contract; reading them costs quadratic time.
_MAX_DIGITS = 400


class MalformedJson(ServiceError):  # noqa: N818  # as the errors of the runtime
    """The text is not JSON, or not the JSON that a message can be made of."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_MALFORMED_MESSAGE"

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}: {remedy}.", remedy=remedy)


def loads(text: str | bytes) -> Json:
    """Read JSON text.

    Raises:
        MalformedJson: it is no JSON, names a member twice, or nests deeper than `MAX_DEPTH`.
    """
    try:
        value: Json = json.loads(
            text if isinstance(text, str) else text.decode("utf-8"),
            parse_int=_whole,
            object_pairs_hook=_members,
        )
    except UnicodeDecodeError as error:
        raise MalformedJson("The body is not UTF-8", "send JSON text in UTF-8") from error
    except RecursionError as error:
        raise _too_deep() from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        problem = f"The text is not JSON ({error.msg} at {place})"
        raise MalformedJson(problem, "send one JSON object") from error
    check_depth(value)
    return value


def dumps(value: Json) -> str:
    """Write compact JSON text; characters are written as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def check_depth(value: Json) -> None:
    """Refuse values that nest deeper than a message can hold.

    Raises:
        MalformedJson: it nests deeper than `MAX_DEPTH`.
    """
    level: list[Json] = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> MalformedJson:
    return MalformedJson("The JSON nests too deeply", f"nest at most {MAX_DEPTH} objects and lists")


def _whole(digits: str) -> int | float:
    return (
        int(digits) if len(digits) <= _MAX_DIGITS else math.copysign(math.inf, -1 if digits[0] == "-" else 1)
    )


def _members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) < len(pairs):
        _refuse_twice(pairs)
    return members


def _refuse_twice(pairs: list[tuple[str, Json]]) -> NoReturn:
    seen: set[str] = set()
    twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
    shown = twice.encode("utf-8", "replace").decode()[:100]
    raise MalformedJson(f"The JSON names the member '{shown}' twice in one object", "name each member once")
