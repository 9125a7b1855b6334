import grpc
import pytest

from satchel.runtime.errors import Code, InvalidRequest, PeerUnavailable, RemoteError, ServiceError, Violation
from satchel.runtime.methods import parse_method
from satchel.runtime.status import (
    DETAILS_KEY,
    CallFailed,
    from_rpc_error,
    from_rpc_status,
    to_grpc_status,
    to_rpc_status,
    to_service_error,
)


def received(error: ServiceError) -> ServiceError:
    status = to_grpc_status(error)
    trailing = grpc.aio.Metadata(*status.trailing_metadata)
    return from_rpc_error(grpc.aio.AioRpcError(status.code, None, trailing, status.details))


def test_error_survives_the_wire() -> None:
    violations = [Violation("a[1].b", "ERROR_REASON_FIELD_REQUIRED", "a[1].b is required: set it.")]
    known = received(InvalidRequest(violations, extra=1))

    assert isinstance(known, RemoteError)
    assert (known.code, known.reason) == (Code.INVALID_ARGUMENT, "ERROR_REASON_FIELD_REQUIRED")
    assert known.metadata == {"field": "a[1].b", "extra": "1"}
    assert tuple(violations) == known.violations
    assert known.message == "a[1].b is required: set it."


def test_retry_delay_survives_the_wire() -> None:
    assert received(PeerUnavailable(retry_after_s=0.25)).retry_after_s == 0.25
    assert received(PeerUnavailable(retry_after_s=None)).retry_after_s is None


def test_passing_on_a_remote_error_changes_nothing() -> None:
    once = received(PeerUnavailable(peer="store"))
    twice = received(once)

    assert (once.message, once.code, once.reason, once.metadata) == (
        twice.message,
        twice.code,
        twice.reason,
        twice.metadata,
    )


def test_details_stay_below_the_metadata_limit() -> None:
    violations = [Violation("f" * 400, "R", "é" * 400, "l" * 400, "m" * 400) for _ in range(20)]

    status = to_grpc_status(InvalidRequest(violations))

    assert len(status.trailing_metadata[0][1]) < 5000
    assert len(received(InvalidRequest(violations)).violations) >= 1
    assert len(status.details) <= 1000


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (grpc.StatusCode.UNAVAILABLE, "ERROR_REASON_PEER_UNAVAILABLE"),
        (grpc.StatusCode.DEADLINE_EXCEEDED, "ERROR_REASON_DEADLINE_EXCEEDED"),
        (grpc.StatusCode.CANCELLED, "ERROR_REASON_CANCELLED"),
        (grpc.StatusCode.UNIMPLEMENTED, "ERROR_REASON_UNIMPLEMENTED"),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, "ERROR_REASON_OVERLOADED"),
        (grpc.StatusCode.UNKNOWN, "ERROR_REASON_INTERNAL"),
    ],
)
def test_error_of_the_transport_gets_a_reason(code: grpc.StatusCode, reason: str) -> None:
    error = from_rpc_error(grpc.aio.AioRpcError(code, None, None, "text of a stranger"))

    assert reason == error.reason
    assert "stranger" not in error.message


def test_message_over_the_limit_is_named() -> None:
    text = "Received message larger than max (70000000 vs. 67108864)"
    error = from_rpc_error(grpc.aio.AioRpcError(grpc.StatusCode.RESOURCE_EXHAUSTED, None, None, text))

    assert error.reason == "ERROR_REASON_MESSAGE_TOO_LARGE"
    assert set(error.metadata) == {"limit", "remedy"}


@pytest.mark.parametrize(
    ("code", "metadata"),
    [
        (grpc.StatusCode.UNAVAILABLE, {"peer": "store"}),
        (grpc.StatusCode.UNIMPLEMENTED, {"method": "satchel.api.store.v1.MemoryService/GetMemory"}),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, {"queue": "calls of store"}),
    ],
)
def test_error_of_the_transport_names_the_peer_or_the_method(
    code: grpc.StatusCode, metadata: dict[str, str]
) -> None:
    method = parse_method("/satchel.api.store.v1.MemoryService/GetMemory")

    error = from_rpc_error(CallFailed(grpc.aio.AioRpcError(code, None, None, "gone"), method))

    assert metadata == error.metadata


def test_details_of_another_domain_are_not_ours() -> None:
    status = to_rpc_status(ServiceError("No."))
    status.details[0].value = status.details[0].value.replace(b"satchel", b"another")

    assert from_rpc_status(status) is None


def test_details_that_do_not_decode_are_ignored() -> None:
    trailing = grpc.aio.Metadata((DETAILS_KEY, b"\xff\xff"))
    error = from_rpc_error(grpc.aio.AioRpcError(grpc.StatusCode.UNAVAILABLE, None, trailing, ""))

    assert error.reason == PeerUnavailable.reason


def test_unknown_exception_tells_nothing() -> None:
    error = to_service_error(KeyError("secret"))

    assert error.code is Code.INTERNAL
    assert "secret" not in error.message
