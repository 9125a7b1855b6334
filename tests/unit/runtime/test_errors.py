from satchel.api.errors.v1 import error_reason_pb2
from satchel.runtime import errors
from satchel.runtime.errors import Code, InvalidRequest, Overloaded, ServiceError, Violation


def subclasses() -> list[type[ServiceError]]:
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    return [one for one in found if issubclass(one, ServiceError)]


def test_every_reason_is_published() -> None:
    assert set() == {one.reason for one in subclasses()} - set(error_reason_pb2.ErrorReason.keys())


def test_metadata_is_text() -> None:
    error = ServiceError("No.", limit=3, exact=True, name="x")

    assert error.metadata == {"limit": "3", "exact": "true", "name": "x"}
    assert str(error) == error.message == "No."


def test_invalid_request_takes_reason_and_metadata_from_its_first_violation() -> None:
    first = Violation("a", "ERROR_REASON_FIELD_TOO_LONG", "a is long.", "5", "shorten it", "9")
    second = Violation("b", "ERROR_REASON_FIELD_REQUIRED", "b is required.")

    error = InvalidRequest([first, second])

    assert error.reason == "ERROR_REASON_FIELD_TOO_LONG"
    assert error.metadata == {"field": "a", "limit": "5", "remedy": "shorten it", "actual": "9"}
    assert error.message == "a is long. b is required."
    assert (Code.INVALID_ARGUMENT, (first, second)) == (error.code, error.violations)


def test_many_violations_are_counted_in_the_message() -> None:
    error = InvalidRequest([Violation(str(n), "R", f"{n} is bad.") for n in range(5)])

    assert error.message == "0 is bad. 1 is bad. 2 is bad. 2 more fields are invalid."


def test_single_violation_has_a_short_form() -> None:
    error = InvalidRequest.of("a", "ERROR_REASON_FIELD_BLANK", "a is blank.", limit="not blank")

    assert (error.violations[0].field, error.metadata["limit"]) == ("a", "not blank")


def test_overload_says_when_to_retry() -> None:
    error = Overloaded(queue="writes", limit=10, retry_after_s=0.5)

    assert error.message == "The queue 'writes' already holds 10 requests. Retry in 0.5 s."
    assert error.retry_after_s == 0.5
