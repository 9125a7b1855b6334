"""Provides the translation between `ServiceError` and `google.rpc.Status`, in both directions.

On the wire an error is a code, its message, and in the trailing metadata ``grpc-status-details-bin`` a
`google.rpc.Status` with one `ErrorInfo` (domain "satchel"), a `BadRequest` where fields are to blame,
and a `RetryInfo` where a retry makes sense.

Two refusals carry no details, since gRPC makes them before any interceptor runs: of a message over
`MAX_MESSAGE_BYTES`, and of a call beyond what `GrpcServer` takes in at all. `from_rpc_error` gives them
their reasons.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import grpc
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from satchel.runtime.errors import (
    Cancelled,
    Code,
    DeadlineExceeded,
    InternalError,
    MessageTooLarge,
    Overloaded,
    PeerUnavailable,
    RemoteError,
    ServiceError,
    Unimplemented,
    Violation,
)
from satchel.runtime.methods import Method

DOMAIN = "satchel"
DETAILS_KEY = "grpc-status-details-bin"

# Tells gRPC, in clients of every language, whether it may repeat a call by itself (gRFC A6); -1 for no.
PUSHBACK_KEY = "grpc-retry-pushback-ms"
# The service has waited for it as long as the deadline allows: what repeats the call is not gRPC, below the
# caller and until its deadline hides the reason, but the caller, if it likes.
_WAITED_FOR = frozenset({"ERROR_REASON_REVISION_NOT_REACHED"})

# Of one message, in both directions, for every server and channel.
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

# All metadata of a call must stay below 8 KiB (gRPC's default), spans of a demanded trace not counted.
_MAX_DETAILS_BYTES = 4096
_MAX_MESSAGE_CHARACTERS = 1000
_MAX_VALUE_CHARACTERS = 500


_PLAIN: dict[grpc.StatusCode, Callable[[], ServiceError]] = {
    grpc.StatusCode.DEADLINE_EXCEEDED: DeadlineExceeded,
    grpc.StatusCode.CANCELLED: Cancelled,
}


class CallFailed(grpc.aio.AioRpcError):
    """A failed call that knows which RPC it was; calls of our channels raise it."""

    def __init__(self, error: grpc.aio.AioRpcError, method: Method) -> None:
        super().__init__(
            error.code(),
            error.initial_metadata(),
            error.trailing_metadata(),
            error.details(),
            error.debug_error_string(),
        )
        self.method = method


@dataclass(frozen=True, slots=True)
class GrpcStatus:
    """What `grpc.aio.ServicerContext.abort` takes."""

    code: grpc.StatusCode
    details: str
    trailing_metadata: tuple[tuple[str, str | bytes], ...]


def to_grpc_code(code: Code) -> grpc.StatusCode:
    """Return gRPC's own constant for a code."""
    return grpc.StatusCode[code.name]


def to_service_error(error: BaseException) -> ServiceError:
    """Return the error that a client may see for anything that was raised.

    Errors of peers pass on as they are; whatever is unknown becomes `InternalError` with neutral text.
    """
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, grpc.aio.AioRpcError):
        return from_rpc_error(error)
    if isinstance(error, TimeoutError):
        return DeadlineExceeded()
    return InternalError()


def to_rpc_status(error: ServiceError) -> status_pb2.Status:
    """Return the error as `google.rpc.Status`, trimmed to what metadata can carry."""
    # The text is percent-encoded on its way: up to twelve bytes for a character beyond ASCII.
    longest = _MAX_MESSAGE_CHARACTERS if error.message.isascii() else _MAX_MESSAGE_CHARACTERS // 4
    message = _cut(error.message, longest)
    status = status_pb2.Status(code=error.code.value, message=message)
    metadata = {key: _cut(value, _MAX_VALUE_CHARACTERS) for key, value in error.metadata.items()}
    info = error_details_pb2.ErrorInfo(reason=error.reason, domain=DOMAIN, metadata=metadata)
    status.details.add().Pack(info)
    if error.retry_after_s is not None:
        retry = error_details_pb2.RetryInfo()
        retry.retry_delay.FromNanoseconds(round(error.retry_after_s * 1e9))
        status.details.add().Pack(retry)
    if error.violations:
        status.details.add().Pack(_bad_request(error.violations, _MAX_DETAILS_BYTES - status.ByteSize()))
    return status


def to_grpc_status(error: ServiceError) -> GrpcStatus:
    """Return code, text and trailing metadata of the error."""
    status = to_rpc_status(error)
    pushback = ((PUSHBACK_KEY, "-1"),) if error.reason in _WAITED_FOR else ()
    return GrpcStatus(
        code=to_grpc_code(error.code),
        details=status.message,
        trailing_metadata=((DETAILS_KEY, status.SerializeToString()), *pushback),
    )


def from_rpc_error(error: grpc.aio.AioRpcError) -> ServiceError:
    """Return what a failed call of a peer means.

    A peer's own error (with an `ErrorInfo` of our domain) is a `RemoteError` with its code, reason,
    metadata, violations and retry delay. Anything else came from the transport: unreachable, late,
    cancelled, unknown method; the rest is an `InternalError`, since its text is not ours to show.
    """
    details = _details_of(error)
    if details is not None:
        remote = from_rpc_status(details)
        if remote is not None:
            return remote
    return _from_transport(error, error.method if isinstance(error, CallFailed) else None)


def _from_transport(error: grpc.aio.AioRpcError, method: Method | None) -> ServiceError:
    match error.code():
        case grpc.StatusCode.UNAVAILABLE:
            return PeerUnavailable(peer=method.peer if method else "")
        case grpc.StatusCode.UNIMPLEMENTED:
            return Unimplemented(method=method.label if method else "")
        case grpc.StatusCode.RESOURCE_EXHAUSTED:
            is_too_large = "larger than max" in (error.details() or "")
            return MessageTooLarge(limit_bytes=MAX_MESSAGE_BYTES) if is_too_large else _busy(method)
        case code:
            return _PLAIN.get(code, InternalError)()


def _busy(method: Method | None) -> ServiceError:
    return RemoteError(
        "The peer has too many calls at once. Retry in 1 s.",
        code=Overloaded.code,
        reason=Overloaded.reason,
        metadata={"queue": f"calls of {method.peer}"} if method else None,
        retry_after_s=1.0,
    )


def from_rpc_status(status: status_pb2.Status) -> RemoteError | None:
    """Read a `google.rpc.Status`; `None` if it has no `ErrorInfo` of our domain."""
    info = error_details_pb2.ErrorInfo()
    bad, retry = error_details_pb2.BadRequest(), error_details_pb2.RetryInfo()
    found = {
        part.DESCRIPTOR.name
        for part in (info, bad, retry)
        for detail in status.details
        if detail.Unpack(part)
    }
    if "ErrorInfo" not in found or info.domain != DOMAIN:
        return None
    return RemoteError(
        status.message,
        code=Code(status.code),
        reason=info.reason,
        metadata=dict(info.metadata),
        violations=[Violation(one.field, one.reason, one.description) for one in bad.field_violations],
        retry_after_s=retry.retry_delay.ToNanoseconds() / 1e9 if "RetryInfo" in found else None,
    )


def _details_of(error: grpc.aio.AioRpcError) -> status_pb2.Status | None:
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS_KEY and isinstance(value, bytes):
            try:
                return status_pb2.Status.FromString(value)
            except DecodeError:
                return None
    return None


def _bad_request(violations: Sequence[Violation], room: int) -> error_details_pb2.BadRequest:
    """List as many violations as fit into ``room`` bytes, in order, and at least one."""
    listed = error_details_pb2.BadRequest()
    for violation in violations:
        listed.field_violations.add(
            field=_cut(violation.field, _MAX_VALUE_CHARACTERS),
            description=_cut(violation.description, _MAX_VALUE_CHARACTERS),
            reason=violation.reason,
        )
        if listed.ByteSize() > room and len(listed.field_violations) > 1:
            del listed.field_violations[-1]
            break
    return listed


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
