"""The errors that a client can see, free of any transport.

One class is one published reason and one code: a subclass of `ServiceError` sets `code` and `reason`
(the name of a value of ``satchel.api.errors.v1.ErrorReason``), and its message is a complete sentence
that names the field, the limit and the remedy. `satchel.runtime.status` turns them into gRPC statuses;
this module must not import a transport.

    ServiceError
    |-- InvalidRequest        one or more fields break the contract
    |-- MalformedMessage      the bytes are no such message
    |-- MessageTooLarge       the message is over the transport's limit
    |-- Unauthenticated       no usable credentials
    |-- PermissionDenied      known caller, not allowed
    |-- Overloaded            a bounded queue is full
    |-- DeadlineExceeded      no time left
    |-- Cancelled             the caller gave up
    |-- PeerUnavailable       another service cannot be reached
    |-- ShuttingDown          this process is draining
    |-- Unimplemented         no such method here
    |-- RouteNotFound         no such path or tool at a door
    |-- InternalError         our bug; neutral text
    `-- RemoteError           an error received from a peer, passed on as it is
"""

# ruff: noqa: N818  # the names say what happened; the base class says that it is an error

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_SHOWN_VIOLATIONS = 3


class Code(enum.Enum):
    """The canonical status codes, with gRPC's names and numbers.

    Source: google/rpc/code.proto.
    """

    OK = 0
    CANCELLED = 1
    UNKNOWN = 2
    INVALID_ARGUMENT = 3
    DEADLINE_EXCEEDED = 4
    NOT_FOUND = 5
    ALREADY_EXISTS = 6
    PERMISSION_DENIED = 7
    RESOURCE_EXHAUSTED = 8
    FAILED_PRECONDITION = 9
    ABORTED = 10
    OUT_OF_RANGE = 11
    UNIMPLEMENTED = 12
    INTERNAL = 13
    UNAVAILABLE = 14
    DATA_LOSS = 15
    UNAUTHENTICATED = 16


@dataclass(frozen=True, slots=True)
class Violation:
    """One field that breaks the contract.

    ``field`` is a dotted path with indices (``memories[3].content``); ``reason`` the name of an
    ``ErrorReason`` value; ``description`` a sentence. ``limit``, ``remedy`` and
    ``actual`` (a length, count or value, never text of the user) tell it in parts.
    """

    field: str
    reason: str
    description: str
    limit: str = ""
    remedy: str = ""
    actual: str = ""


class ServiceError(Exception):
    """An error with a published reason; keyword arguments become its metadata, as text.

    ``retry_after_s`` tells the client when a retry makes sense; `None` means that none does.
    """

    code: Code = Code.INTERNAL
    reason: str = "ERROR_REASON_INTERNAL"

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        violations: Sequence[Violation] = (),
        **metadata: object,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_s = retry_after_s
        self.violations = tuple(violations)
        self.metadata: dict[str, str] = {}
        self.add_metadata(metadata)

    def add_metadata(self, metadata: Mapping[str, object]) -> None:
        """Add what a machine may want to know; values become text."""
        for key, value in metadata.items():
            self.metadata[key] = _text(value)


class InvalidRequest(ServiceError):
    """One or more fields break the contract; the reason is that of the first violation.

    Metadata: ``field``, and ``limit``, ``actual`` and ``remedy`` where the violation has them.
    """

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_FIELD_REQUIRED"

    def __init__(self, violations: Sequence[Violation], **metadata: object) -> None:
        first = violations[0]
        details = {
            "field": first.field,
            "limit": first.limit,
            "actual": first.actual,
            "remedy": first.remedy,
        }
        super().__init__(_sentences(violations), violations=violations)
        self.add_metadata({key: value for key, value in details.items() if value})
        self.add_metadata(metadata)
        self.reason = first.reason

    @classmethod
    def of(
        cls, field: str, reason: str, description: str, *, limit: str = "", remedy: str = ""
    ) -> "InvalidRequest":
        """Make the error for a single field."""
        return cls([Violation(field, reason, description, limit, remedy)])


class MalformedMessage(ServiceError):
    """The bytes do not decode as the message that the method expects."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_MALFORMED_MESSAGE"

    def __init__(self, *, message_type: str) -> None:
        super().__init__(
            f"The request is not a valid {message_type} message. "
            "Encode it with stubs that were generated from this version of the contract.",
            remedy="encode it with stubs that were generated from this version of the contract",
        )


class MessageTooLarge(ServiceError):
    """A message is larger than the transport carries."""

    code = Code.RESOURCE_EXHAUSTED
    reason = "ERROR_REASON_MESSAGE_TOO_LARGE"

    def __init__(self, *, limit_bytes: int) -> None:
        super().__init__(
            f"A message may have at most {limit_bytes} bytes. Send the data in smaller parts.",
            limit=limit_bytes,
            remedy="send the data in smaller parts",
        )


class Unauthenticated(ServiceError):
    """The call carries no credentials that are known here."""

    code = Code.UNAUTHENTICATED
    reason = "ERROR_REASON_UNAUTHENTICATED"

    def __init__(
        self, message: str = "Send an API key as 'authorization: Bearer sk_...' to use this service."
    ) -> None:
        super().__init__(message)


class PermissionDenied(ServiceError):
    """The caller is known and may not do this; ``needed`` names the right that is missing."""

    code = Code.PERMISSION_DENIED
    reason = "ERROR_REASON_PERMISSION_DENIED"

    def __init__(self, message: str, *, needed: str = "") -> None:
        super().__init__(message)
        if needed:
            self.add_metadata({"needed": needed})


class Overloaded(ServiceError):
    """A bounded queue is full; nothing was done, and a retry is safe."""

    code = Code.RESOURCE_EXHAUSTED
    reason = "ERROR_REASON_OVERLOADED"

    def __init__(self, *, queue: str, limit: int, retry_after_s: float = 1.0) -> None:
        super().__init__(
            f"The queue '{queue}' already holds {limit} requests. Retry in {retry_after_s:g} s.",
            retry_after_s=retry_after_s,
            queue=queue,
            limit=limit,
        )


class DeadlineExceeded(ServiceError):
    """The time for this call is over."""

    code = Code.DEADLINE_EXCEEDED
    reason = "ERROR_REASON_DEADLINE_EXCEEDED"

    def __init__(
        self, message: str = "The call took longer than its deadline. Allow more time or ask for less."
    ) -> None:
        super().__init__(message)


class Cancelled(ServiceError):
    """The caller gave up before the answer was ready."""

    code = Code.CANCELLED
    reason = "ERROR_REASON_CANCELLED"

    def __init__(self, message: str = "The call was cancelled by its caller.") -> None:
        super().__init__(message)


class PeerUnavailable(ServiceError):
    """Another service that this one needs cannot be reached; ``peer`` names it where that is known."""

    code = Code.UNAVAILABLE
    reason = "ERROR_REASON_PEER_UNAVAILABLE"

    def __init__(
        self,
        message: str = "A service that is needed for this call cannot be reached. Retry shortly.",
        *,
        retry_after_s: float | None = 1.0,
        peer: str = "",
    ) -> None:
        super().__init__(message, retry_after_s=retry_after_s)
        if peer:
            self.add_metadata({"peer": peer})


class ShuttingDown(ServiceError):
    """This process is draining and takes no new work."""

    code = Code.UNAVAILABLE
    reason = "ERROR_REASON_SHUTTING_DOWN"

    def __init__(self) -> None:
        super().__init__("The service is shutting down. Retry in 1 s.", retry_after_s=1.0)


class Unimplemented(ServiceError):
    """The method does not exist here."""

    code = Code.UNIMPLEMENTED
    reason = "ERROR_REASON_UNIMPLEMENTED"

    def __init__(
        self, message: str = "This server does not implement the method.", *, method: str = ""
    ) -> None:
        super().__init__(message)
        if method:
            self.add_metadata({"method": method})


class RouteNotFound(ServiceError):
    """A door has no such path, or no such tool.

    ``method`` is the verb, or ``tools/call``; ``path`` the path, or the name of the tool.
    """

    code = Code.NOT_FOUND
    reason = "ERROR_REASON_ROUTE_NOT_FOUND"

    def __init__(self, message: str, *, method: str, path: str) -> None:
        super().__init__(message, method=method, path=path)


class InternalError(ServiceError):
    """Our bug. The text is neutral on purpose: the cause stays in our log."""

    code = Code.INTERNAL
    reason = "ERROR_REASON_INTERNAL"

    def __init__(self, message: str = "The service failed unexpectedly. The cause is in its log.") -> None:
        super().__init__(message)


class RemoteError(ServiceError):
    """An error that a peer reported, with the code and the reason it gave."""

    def __init__(
        self,
        message: str,
        *,
        code: Code,
        reason: str,
        metadata: Mapping[str, str] | None = None,
        violations: Sequence[Violation] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message, retry_after_s=retry_after_s, violations=violations)
        self.code = code
        self.reason = reason
        self.metadata = dict(metadata or {})


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _sentences(violations: Sequence[Violation]) -> str:
    shown = " ".join(violation.description for violation in violations[:_SHOWN_VIOLATIONS])
    hidden = len(violations) - _SHOWN_VIOLATIONS
    return f"{shown} {hidden} more fields are invalid." if hidden > 0 else shown
