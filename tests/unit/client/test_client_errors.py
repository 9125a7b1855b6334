import pickle
import re
from pathlib import Path

import grpc
import pytest
from google.protobuf import duration_pb2
from google.rpc import code_pb2, error_details_pb2, status_pb2

from satchel.client import (
    DeadlineExceeded,
    InvalidArgument,
    NotFound,
    ResourceExhausted,
    SatchelError,
    Unavailable,
    Violation,
    explain,
)
from satchel.client.errors import ERRORS, from_status

ROOT = Path(__file__).resolve().parents[3]
CONTRACT = (ROOT / "proto/satchel/api/errors/v1/error_reason.proto").read_text(encoding="utf-8")
PUBLISHED = re.findall(r"Code: (\w+)\.(?:(?!Code: ).)*?(ERROR_REASON_\w+) = ", CONTRACT, re.DOTALL)


def status(
    code: int, *details: error_details_pb2.ErrorInfo | error_details_pb2.RetryInfo
) -> status_pb2.Status:
    """Return a status as a service sends it."""
    made = status_pb2.Status(code=code, message="A sentence.")
    for detail in details:
        made.details.add().Pack(detail)
    return made


def failed(code: grpc.StatusCode, details: str, *trailing: tuple[str, bytes]) -> grpc.aio.AioRpcError:
    """Return an error as gRPC raises it."""
    return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(*trailing), details)


def test_every_value_of_the_contract_is_looked_at() -> None:
    assert len(PUBLISHED) == len(re.findall(r"ERROR_REASON_\w+ = [1-9]", CONTRACT))


@pytest.mark.parametrize(("code", "reason"), PUBLISHED, ids=lambda value: value.removeprefix("ERROR_REASON_"))
def test_every_published_reason_raises_the_class_of_its_code(code: str, reason: str) -> None:
    info = error_details_pb2.ErrorInfo(reason=reason, domain="satchel", metadata={"field": "wing"})

    error = from_status(status(code_pb2.Code.Value(code), info))

    assert type(error) is ERRORS[grpc.StatusCode[code]]
    assert (grpc.StatusCode[code], reason, {"field": "wing"}) == (error.code, error.reason, error.metadata)


def test_every_class_is_one_code() -> None:
    assert {code: each.code for code, each in ERRORS.items()} == {code: code for code in ERRORS}


def test_the_details_of_a_failed_call_are_read() -> None:
    info = error_details_pb2.ErrorInfo(reason="ERROR_REASON_MEMORY_NOT_FOUND", domain="satchel")
    sent = status(5, info).SerializeToString()

    error = explain(failed(grpc.StatusCode.NOT_FOUND, "", ("grpc-status-details-bin", sent)))

    assert isinstance(error, NotFound)
    assert (str(error), error.domain) == ("A sentence.", "satchel")


def test_every_field_to_blame_is_listed() -> None:
    bad = error_details_pb2.BadRequest()
    bad.field_violations.add(field="wing", reason="ERROR_REASON_FIELD_REQUIRED", description="Give one.")
    sent = status(3)
    sent.details.add().Pack(bad)

    error = from_status(sent)

    assert isinstance(error, InvalidArgument)
    assert error.violations == (Violation("wing", "ERROR_REASON_FIELD_REQUIRED", "Give one."),)


def test_the_time_until_a_retry_makes_sense_is_told() -> None:
    error = from_status(status(8, error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=2))))

    assert isinstance(error, ResourceExhausted)
    assert error.retry_after_s == 2.0


def test_where_nothing_answers_the_error_names_the_address_and_the_remedy() -> None:
    error = explain(failed(grpc.StatusCode.UNAVAILABLE, "connection refused"), "127.0.0.1:1")

    assert isinstance(error, Unavailable)
    assert error.reason == ""
    assert "127.0.0.1:1" in str(error)
    assert "satchel up" in str(error)


def test_damaged_details_leave_the_code() -> None:
    error = explain(failed(grpc.StatusCode.DEADLINE_EXCEEDED, "", ("grpc-status-details-bin", b"\xff")))

    assert isinstance(error, DeadlineExceeded)


def test_a_code_without_a_class_is_kept() -> None:
    error = explain(failed(grpc.StatusCode.DATA_LOSS, "gone"))

    assert type(error) is SatchelError
    assert error.code is grpc.StatusCode.DATA_LOSS


def test_errors_travel_between_processes() -> None:
    error = from_status(status(5, error_details_pb2.ErrorInfo(reason="ERROR_REASON_MEMORY_NOT_FOUND")))

    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own

    assert (type(error), str(error), error.reason) == (type(again), str(again), again.reason)
