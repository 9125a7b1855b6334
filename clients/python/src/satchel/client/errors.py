"""Provides the errors that calls raise: one class for each status code, with what the service said of it.

A service names its reasons in `satchel.api.errors.v1.error_reason.proto`; `SatchelError.reason` holds the
name of the value. It is empty where no service answered: nothing listens, or gRPC itself refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

_DETAILS_KEY = "grpc-status-details-bin"


@dataclass(frozen=True, slots=True)
class Violation:
    """One field that is to blame; ``reason`` is the name of an `ErrorReason`."""

    field: str
    reason: str
    description: str


class SatchelError(Exception):
    """A call failed.

    ``code`` is the status code, ``reason`` the name of an `ErrorReason` (such as
    ``ERROR_REASON_MEMORY_NOT_FOUND``), ``domain`` is ``satchel`` with a reason, ``metadata`` what the reason
    lists, ``violations`` every field to blame, ``retry_after_s`` the seconds after which another try makes
    sense, if the service said so. The text is a sentence that says what to do.
    """

    code: grpc.StatusCode = grpc.StatusCode.UNKNOWN

    def __init__(
        self,
        message: str = "",
        *,
        reason: str = "",
        domain: str = "",
        metadata: Mapping[str, str] | None = None,
        violations: Sequence[Violation] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.reason = reason
        self.domain = domain
        self.metadata = dict(metadata or {})
        self.violations = tuple(violations)
        self.retry_after_s = retry_after_s


class InvalidArgument(SatchelError):
    """The request cannot be understood or breaks a limit; ``metadata["field"]`` names the first field."""

    code = grpc.StatusCode.INVALID_ARGUMENT


class NotFound(SatchelError):
    """No memory has this id, or the caller may not see it."""

    code = grpc.StatusCode.NOT_FOUND


class AlreadyExists(SatchelError):
    """Another memory has this path, or this id with another content."""

    code = grpc.StatusCode.ALREADY_EXISTS


class FailedPrecondition(SatchelError):
    """The state of the store forbids it: a request id came with another body, a link leads nowhere."""

    code = grpc.StatusCode.FAILED_PRECONDITION


class Aborted(SatchelError):
    """The memory has another version than expected: read it again, then repeat."""

    code = grpc.StatusCode.ABORTED


class ResourceExhausted(SatchelError):
    """A queue, the disk or the size of a message is full; ``retry_after_s`` says when a retry makes sense."""

    code = grpc.StatusCode.RESOURCE_EXHAUSTED


class Unauthenticated(SatchelError):
    """The API key is missing, unknown or revoked."""

    code = grpc.StatusCode.UNAUTHENTICATED


class PermissionDenied(SatchelError):
    """The API key does not carry the right that the call needs."""

    code = grpc.StatusCode.PERMISSION_DENIED


class Unavailable(SatchelError):
    """Nothing answers, or a part of Satchel cannot answer now."""

    code = grpc.StatusCode.UNAVAILABLE


class DeadlineExceeded(SatchelError):
    """The answer did not come within the timeout. A write may have been done all the same."""

    code = grpc.StatusCode.DEADLINE_EXCEEDED


class Cancelled(SatchelError):
    """The call was cancelled."""

    code = grpc.StatusCode.CANCELLED


class Unimplemented(SatchelError):
    """The server does not know the RPC: it is older than this client, or another server."""

    code = grpc.StatusCode.UNIMPLEMENTED


class Internal(SatchelError):
    """A fault of Satchel; the cause is in the service's log under the trace id."""

    code = grpc.StatusCode.INTERNAL


ERRORS: Mapping[grpc.StatusCode, type[SatchelError]] = {
    each.code: each
    for each in (
        InvalidArgument,
        NotFound,
        AlreadyExists,
        FailedPrecondition,
        Aborted,
        ResourceExhausted,
        Unauthenticated,
        PermissionDenied,
        Unavailable,
        DeadlineExceeded,
        Cancelled,
        Unimplemented,
        Internal,
    )
}

_CODES: Mapping[int, grpc.StatusCode] = {code.value[0]: code for code in grpc.StatusCode}


class FailedCall(Protocol):
    """What the errors of gRPC's synchronous and asynchronous calls have in common."""

    def code(self) -> grpc.StatusCode:
        """Return the status code."""

    def details(self) -> str | None:
        """Return the text of the status."""

    def trailing_metadata(self) -> Any:  # noqa: ANN401  # pairs, in a class of either kind
        """Return the metadata that came with the status."""


# What a person reads where no service said anything.
_TEXTS: Mapping[grpc.StatusCode, str] = {
    grpc.StatusCode.UNAVAILABLE: (
        "Nothing answers at {address}. Start Satchel there with 'satchel up', or give the address with "
        "url= or SATCHEL_URL. ({cause})"
    ),
    grpc.StatusCode.DEADLINE_EXCEEDED: ("{address} did not answer in time. Give the call a longer timeout."),
}


def explain(error: grpc.RpcError, address: str = "the address of the channel") -> SatchelError:
    """Return what a failed call means, of a generated stub of either kind; ``address`` is where it went."""
    failed = cast("FailedCall", error)  # the class itself has no methods
    for key, value in failed.trailing_metadata() or ():
        if key == _DETAILS_KEY and isinstance(value, bytes):
            try:
                status = status_pb2.Status.FromString(value)
            except DecodeError:
                break
            return from_status(status)
    code, cause = failed.code(), failed.details() or failed.code().name
    return _error(code, _TEXTS.get(code, "{cause}").format(address=address, cause=cause))


def from_status(status: status_pb2.Status) -> SatchelError:
    """Return the error that a `google.rpc.Status` describes."""
    info = error_details_pb2.ErrorInfo()
    bad, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    found = set(_unpacked(status, info, bad, retry))
    error = _error(_CODES.get(status.code, grpc.StatusCode.UNKNOWN), status.message)
    error.reason, error.domain = info.reason, info.domain
    error.metadata = dict(info.metadata)
    error.violations = tuple(
        Violation(one.field, one.reason, one.description) for one in bad.field_violations
    )
    error.retry_after_s = retry.retry_delay.ToNanoseconds() / 1e9 if "RetryInfo" in found else None
    return error


def _unpacked(status: status_pb2.Status, *parts: Message) -> Iterator[str]:
    for detail in status.details:
        for part in parts:
            if detail.Unpack(part):
                yield part.DESCRIPTOR.name


def _error(code: grpc.StatusCode, message: str) -> SatchelError:
    error = ERRORS.get(code, SatchelError)(message)
    error.code = code
    return error
