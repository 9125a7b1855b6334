"""When a delivery is tried again, and when an endpoint is left alone."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.store.webhooks.model import DeliveryState, Report
from satchel.store.webhooks.pacing import Pacing, after, greatest_wait_s, is_delivered, judge

PACING = Pacing()
FAILED = Report(id="a", lease_id="b", status=500, error="It failed.")


def test_the_greatest_wait_grows_by_one_factor_from_the_first_to_the_longest() -> None:
    waits = [greatest_wait_s(tries, PACING) for tries in range(1, 8)]

    assert waits[0] == 1.0
    assert waits[-1] == pytest.approx(3600.0)
    assert [b / a for a, b in itertools.pairwise(waits)] == pytest.approx([3600 ** (1 / 6)] * 6)


@given(st.integers(1, 7), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_a_share_of_the_greatest(tries: int, share: float) -> None:
    verdict = judge(FAILED, tries=tries, pacing=PACING, share=share, now=1000)

    assert verdict.state is DeliveryState.PENDING
    assert 0 <= verdict.due_at - 1000 <= round(greatest_wait_s(tries, PACING) * 1_000_000)


@pytest.mark.parametrize(("asked_s", "waited_s"), [(90.0, 90.0), (1e9, 86_400.0)])
def test_what_the_endpoint_asks_for_is_the_least_wait_up_to_a_day(asked_s: float, waited_s: float) -> None:
    report = Report(id="a", lease_id="b", status=429, error="It failed.", retry_after_s=asked_s)

    assert judge(report, tries=1, pacing=PACING, share=0.5, now=0).due_at == waited_s * 1_000_000


@pytest.mark.parametrize(
    "pacing", [Pacing(tries=1), Pacing(tries=2), Pacing(tries=3, first_s=9, longest_s=1)]
)
def test_few_tries_are_paced_too(pacing: Pacing) -> None:
    waits = [greatest_wait_s(tries, pacing) for tries in range(1, pacing.tries + 1)]

    assert waits == [pacing.first_s] * pacing.tries
    assert judge(FAILED, tries=pacing.tries, pacing=pacing, share=0, now=0).state is DeliveryState.DEAD


@pytest.mark.parametrize(
    ("status", "expected"), [(199, False), (200, True), (299, True), (300, False), (0, False)]
)
def test_only_statuses_of_success_deliver(status: int, expected: bool) -> None:  # noqa: FBT001  # a parameter
    assert is_delivered(Report(id="a", lease_id="b", status=status)) is expected


def test_the_breaker_opens_at_the_fifth_failure_and_closes_at_the_second_success() -> None:
    failures, opened = 0, list[int]()
    for _ in range(6):
        breaker = after(failures, is_delivered=False, now=7)
        failures, opened = breaker.failures, [*opened, breaker.open_until]
    first = after(failures, is_delivered=True, now=7)
    second = after(first.failures, is_delivered=True, now=7)

    assert opened == [0, 0, 0, 0, 30_000_007, 30_000_007]
    assert (first.failures, first.open_until) == (4, 0)
    assert second.failures == 0
