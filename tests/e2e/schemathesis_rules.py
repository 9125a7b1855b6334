"""What the contract asks of requests and JSON Schema cannot say; schemathesis loads it as its hooks.

Requests that break one of these rules are refused with 422 although they fit the document. They are not sent
here, because schemathesis would count the refusal as a fault; `test_bad_input.py` and the contract tests of
the services send them.
"""

import base64
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import schemathesis

_DEFAULT_FLOOR, _DEFAULT_CEILING = 0.15, 0.75
_FLOAT_BYTES = 4
_NEVER_EMPTY = ("content", "wing")


@schemathesis.hook
def filter_case(_context: schemathesis.HookContext, case: "schemathesis.Case[Any]") -> bool:
    """Say whether a request keeps all the rules."""
    body = case.body if isinstance(case.body, Mapping) else {}
    if any(_contradicts_itself(case.path, body)):
        return False
    if case.method == "PATCH" and not _changes(body):
        return False
    return not (case.method == "PUT" and _clears(body)) and not any(_broken(body, case.query or {}))


@schemathesis.hook
def map_case(_context: schemathesis.HookContext, case: "schemathesis.Case[Any]") -> "schemathesis.Case[Any]":
    """Give what fits its schema a meaning too: only a text that says something can be read or called."""
    fits = case.meta is None or case.meta.generation.mode.is_positive
    if fits and isinstance(case.body, dict):
        for (method, path), meant in _MEANT.items():
            if case.method == method and case.path.endswith(path):
                case.body = {**meant(case.body)}
    return case


def _read(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Let the agent of a conversation say something, in the project that other requests look in."""
    kept = {name: value for name, value in body.items() if name not in {"messages", "project"}}
    return {**kept, "conversation": "User: Which index?\nAssistant: I wonder how many rows there are."}


def _count(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Count what would be cleared: other requests look for the memories, and mode and place must fit."""
    kept = {name: value for name, value in body.items() if name in {"project", "tags"}}
    return {**kept, "mode": "wing", "wing": "w", "dry_run": True}


_MEANT: Mapping[tuple[str, str], Callable[[Mapping[str, Any]], Mapping[str, Any]]] = {
    ("DELETE", "/memories"): _count,
    ("POST", "/capture"): _read,
    ("POST", "/update"): lambda body: {**body, "directive": "be more formal"},
    # A port that nobody listens on, so that a test of the endpoint fails at once.
    ("POST", "/webhooks"): lambda body: {**body, "url": "http://127.0.0.1:1/in"},
}


def _contradicts_itself(path: str, body: Mapping[str, Any]) -> Iterator[bool]:
    """Yield whether a request to the archive contradicts itself."""
    # ArchiveMemories: a wing and a room do not go with ids.
    yield path == "/api/v1/archive" and bool(body.get("ids")) and bool(body.get("wing") or body.get("room"))
    # UnarchiveMemories: ids or a batch, and not both.
    yield path == "/api/v1/unarchive" and bool(body.get("ids")) == bool(body.get("batch_id"))
    # LinkMemories: no memory is its own cause.
    cause = str(body.get("cause_id") or "").lower().rpartition(":")[2]
    yield (
        path == "/api/v1/causal/links"
        and cause == str(body.get("effect_id") or "").lower().rpartition(":")[2]
    )
    # RedriveDeliveries: ids or an endpoint, and not both.
    yield path.endswith("/redrive") and bool(body.get("ids")) == bool(body.get("webhook_id"))
    # SwapModel: to another model.
    yield path.endswith("/swap") and body.get("from_model") == body.get("to_model")


def _changes(body: Mapping[str, Any]) -> bool:
    """Say whether a patch of an identity names anything to change."""
    return any(
        body.get(name) not in (None, [], "") for name in body.keys() - {"project", "reason", "request_id"}
    )


def _clears(body: Mapping[str, Any]) -> bool:
    """Say whether an update would clear what is never empty. Without a mask, members that are there count."""
    mask = str(body.get("update_mask") or "")
    named = mask.split(",") if mask else [name for name, member in body.items() if member is not None]
    return any(name in named and not body.get(name) for name in _NEVER_EMPTY)


def _broken(body: Mapping[str, Any], query: Mapping[str, Any]) -> Iterator[bool]:
    # Lists: a page token or a cursor is opaque, and only one that an answer held is taken.
    yield bool(query.get("page_token") or query.get("cursor"))
    # Recall, SearchMemories: a revision is one that an answer held; for a greater one the server waits.
    yield _number(body.get("min_revision"), 0) > 0
    # Recall: what the session was given can be left out only where a session is named.
    yield bool(body.get("skip_given")) and not body.get("session_id")
    # Recall, SearchMemories, Allocate: the floor of the threshold is at most the ceiling.
    options = body.get("options")
    yield isinstance(options, Mapping) and _is_above(options)
    # Allocate: candidates have ids of their own, and vectors are rows of finite numbers of one length.
    candidates = [one for one in _list(body.get("candidates")) if isinstance(one, Mapping)]
    ids = [str(one.get("id")) for one in candidates]
    yield len(set(ids)) < len(ids)
    vectors = [vector for one in candidates if (vector := _bytes(one.get("vector")))]
    yield len({len(vector) for vector in vectors}) > 1 or not all(map(_is_finite, vectors))


def _is_above(options: Mapping[str, Any]) -> bool:
    floor = _number(options.get("threshold_floor"), _DEFAULT_FLOOR)
    return floor > _number(options.get("threshold_ceiling"), _DEFAULT_CEILING)


def _number(value: Any, default: float) -> float:  # noqa: ANN401  # any JSON
    try:
        return default if value is None else float(value)
    except (TypeError, ValueError, OverflowError):
        return default


def _bytes(value: Any) -> bytes:  # noqa: ANN401  # any JSON
    try:
        return base64.b64decode(value, validate=True) if isinstance(value, str) else b""
    except ValueError:
        return b""


def _is_finite(vector: bytes) -> bool:
    count, rest = divmod(len(vector), _FLOAT_BYTES)
    return not rest and all(map(math.isfinite, struct.unpack(f"<{count}f", vector)))


def _list(value: Any) -> Sequence[Any]:  # noqa: ANN401  # any JSON
    return value if isinstance(value, list) else []
