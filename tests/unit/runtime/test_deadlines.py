from collections.abc import Iterator

import pytest

from satchel.runtime.deadlines import outgoing_timeout, remaining_s, set_remaining


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
