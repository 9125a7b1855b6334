"""Errors as HTTP answers and as MCP results: one table, one form.

The body follows RFC 9457 (``type``, ``title``, ``status``, ``detail``) and carries ``error``, which clients
of MIRA read, beside the contract's reason, field, limit and remedy.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from satchel.gateway.errors import (
    SlowBody,
    TooManyRequests,
    VerbNotAllowed,
    WrongContentCoding,
    WrongContentType,
)
from satchel.gateway.transcoder.json_text import Json
from satchel.runtime.errors import Code, ServiceError, Violation

# nginx's status for a client that closed its request; there is no standard one.
_CLIENT_CLOSED_REQUEST = 499

_STATUS_BY_CODE: Mapping[Code, int] = {
    Code.CANCELLED: _CLIENT_CLOSED_REQUEST,
    Code.UNKNOWN: HTTPStatus.INTERNAL_SERVER_ERROR,
    Code.INVALID_ARGUMENT: HTTPStatus.UNPROCESSABLE_ENTITY,
    Code.DEADLINE_EXCEEDED: HTTPStatus.GATEWAY_TIMEOUT,
    Code.NOT_FOUND: HTTPStatus.NOT_FOUND,
    Code.ALREADY_EXISTS: HTTPStatus.CONFLICT,
    Code.PERMISSION_DENIED: HTTPStatus.FORBIDDEN,
    Code.RESOURCE_EXHAUSTED: HTTPStatus.TOO_MANY_REQUESTS,
    Code.FAILED_PRECONDITION: HTTPStatus.CONFLICT,
    Code.ABORTED: HTTPStatus.CONFLICT,
    Code.OUT_OF_RANGE: HTTPStatus.UNPROCESSABLE_ENTITY,
    Code.UNIMPLEMENTED: HTTPStatus.NOT_IMPLEMENTED,
    Code.INTERNAL: HTTPStatus.INTERNAL_SERVER_ERROR,
    Code.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    Code.DATA_LOSS: HTTPStatus.INTERNAL_SERVER_ERROR,
    Code.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
}
_STATUS_BY_REASON: Mapping[str, int] = {
    "ERROR_REASON_MALFORMED_MESSAGE": HTTPStatus.BAD_REQUEST,
    "ERROR_REASON_MESSAGE_TOO_LARGE": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "ERROR_REASON_STORE_FULL": HTTPStatus.INSUFFICIENT_STORAGE,
}
_STATUS_BY_TYPE: Mapping[type[ServiceError], int] = {
    VerbNotAllowed: HTTPStatus.METHOD_NOT_ALLOWED,
    WrongContentType: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    WrongContentCoding: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    SlowBody: HTTPStatus.REQUEST_TIMEOUT,
    TooManyRequests: HTTPStatus.SERVICE_UNAVAILABLE,
}
_RETRY_STATUSES = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as an HTTP answer."""

    status: int
    body: dict[str, Json]
    headers: dict[str, str]


def status_of(error: ServiceError) -> int:
    """Return the HTTP status of an error."""
    by_type = _STATUS_BY_TYPE.get(type(error))
    return int(by_type or _STATUS_BY_REASON.get(error.reason) or _STATUS_BY_CODE.get(error.code, 500))


def problem_of(error: ServiceError, trace_id: str) -> Problem:
    """Return the answer to a request that failed, under the id of its trace."""
    status = status_of(error)
    return Problem(
        status, {**failure_of(error, trace_id), **_members_of_rfc(error, status)}, _headers(error, status)
    )


def failure_of(error: ServiceError, trace_id: str) -> dict[str, Json]:
    """Return what every door says of an error: sentence, code, reason and parts."""
    known: dict[str, Json] = {
        name: error.metadata[name] for name in ("field", "limit", "remedy") if name in error.metadata
    }
    body: dict[str, Json] = {
        "error": error.message,
        "code": error.code.name.lower(),
        "reason": error.reason,
        **known,
        "metadata": dict(error.metadata),
        "trace_id": trace_id,
    }
    if error.violations:
        body["violations"] = [_violation(violation, error.metadata) for violation in error.violations]
    if error.retry_after_s is not None:
        body["retry_after"] = error.retry_after_s
    return body


def _members_of_rfc(error: ServiceError, status: int) -> dict[str, Json]:
    return {"type": "about:blank", "title": _title(status), "status": status, "detail": error.message}


def _title(status: int) -> str:
    return "Client Closed Request" if status == _CLIENT_CLOSED_REQUEST else HTTPStatus(status).phrase


def _violation(violation: Violation, metadata: Mapping[str, str]) -> dict[str, Json]:
    # Over the wire only the first violation has its parts, in the metadata.
    told = metadata if metadata.get("field") == violation.field else {}
    parts = {
        "limit": violation.limit or told.get("limit", ""),
        "remedy": violation.remedy or told.get("remedy", ""),
    }
    return {
        "field": violation.field,
        "reason": violation.reason,
        "description": violation.description,
        **{name: text for name, text in parts.items() if text},
    }


def _headers(error: ServiceError, status: int) -> dict[str, str]:
    headers: dict[str, str] = {}
    if isinstance(error, VerbNotAllowed):
        headers["Allow"] = error.allowed
    if isinstance(error, WrongContentCoding):
        headers["Accept-Encoding"] = "identity"
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if status in _RETRY_STATUSES:
        headers["Retry-After"] = str(max(1, math.ceil(error.retry_after_s or 1)))
    return headers
