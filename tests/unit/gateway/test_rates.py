from satchel.gateway.http.rates import TokenBuckets


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_a_minutes_requests_may_come_at_once_and_the_next_has_to_wait() -> None:
    buckets = TokenBuckets(6, clock=Clock())

    assert [buckets.take("a") for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10.0]


def test_what_is_refused_costs_nothing_and_tokens_come_back_one_by_one() -> None:
    clock = Clock()
    buckets = TokenBuckets(60, clock=clock)
    _ = [buckets.take("a") for _ in range(200)]

    clock.now_s += 0.25
    early = buckets.take("a")
    clock.now_s += early
    in_time = buckets.take("a")

    assert (early, in_time, buckets.take("a")) == (0.75, 0, 1)


def test_a_bucket_holds_no_more_than_a_minutes_requests() -> None:
    clock = Clock()
    buckets = TokenBuckets(2, clock=clock)
    buckets.take("a")
    clock.now_s += 3600

    assert [buckets.take("a") > 0 for _ in range(3)] == [False, False, True]


def test_callers_do_not_take_each_others_tokens() -> None:
    buckets = TokenBuckets(1, clock=Clock())

    assert [buckets.take(name) > 0 for name in ("a", "b", "a")] == [False, False, True]


def test_without_a_rate_nobody_waits_and_nothing_is_remembered() -> None:
    buckets = TokenBuckets(0, clock=Clock())

    assert ([buckets.take("a") for _ in range(1000)], len(buckets)) == ([0.0] * 1000, 0)


def test_any_number_of_callers_takes_bounded_memory_and_the_newest_stay() -> None:
    buckets = TokenBuckets(1, clock=Clock(), most_buckets=10)
    for number in range(1000):
        buckets.take(f"caller {number}")

    assert len(buckets) == 10
    assert buckets.take("caller 999") > 0
