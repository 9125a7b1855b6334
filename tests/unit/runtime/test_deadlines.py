from collections.abc import Iterator

import pytest

from satchel.runtime.deadlines import answer_within, outgoing_timeout, remaining_s, set_remaining


@pytest.fixture(autouse=True)
def _no_deadline() -> Iterator[None]:
    set_remaining(None)
    yield
    set_remaining(None)


def test_without_a_deadline_the_default_holds() -> None:
    assert remaining_s(7) == 7
    assert outgoing_timeout(None, 30) == 30
    assert outgoing_timeout(5, 30) == 5
    assert outgoing_timeout(None, None) is None


def test_outgoing_calls_get_what_is_left_less_a_margin() -> None:
    set_remaining(10)

    assert 9.8 < remaining_s(99) <= 9.9
    assert 9.8 < (outgoing_timeout(None, 30) or 0) <= 9.9


def test_short_deadline_has_a_small_margin() -> None:
    set_remaining(1)

    assert 0.9 < remaining_s(99) <= 0.95


def test_callers_own_timeout_cannot_exceed_the_deadline() -> None:
    set_remaining(1)

    assert (outgoing_timeout(20, 30) or 0) < 1
    assert outgoing_timeout(0.1, 30) == 0.1


def test_late_call_still_gets_a_millisecond() -> None:
    set_remaining(-5)

    assert remaining_s(99) == 0.001


@pytest.mark.parametrize(
    ("left", "allowed"), [(60, 59.9), (2, 1.9), (1, 0.95), (0.1, 0.095), (0.01, 0.008), (0.0025, 0.001)]
)
def test_call_is_answered_a_margin_before_its_client_stops_to_wait(left: float, allowed: float) -> None:
    assert answer_within(left) == pytest.approx(allowed)


@pytest.mark.parametrize("left", [0.002, 0.001, 0])
def test_there_is_no_answer_in_time_when_the_time_is_over(left: float) -> None:
    assert answer_within(left) is None
