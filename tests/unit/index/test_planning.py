from satchel.index.planning import Tuning, first_breadth, is_exact_cheaper, next_breadth

TUNING = Tuning()


def test_walk_without_a_filter_has_the_measured_breadth() -> None:
    assert first_breadth(measured=123, wanted=10, allowed=100_000, total=100_000) == 123


def test_walk_is_at_least_thrice_as_broad_as_what_is_wanted() -> None:
    assert first_breadth(measured=100, wanted=1000, allowed=100_000, total=100_000) == 3000


def test_walk_is_broad_enough_for_a_filter_that_scatters_at_random() -> None:
    breadth = first_breadth(measured=100, wanted=10, allowed=10_000, total=100_000)

    assert breadth >= 10 * 100_000 / 10_000


def test_next_walk_follows_the_share_that_was_kept_within_bounds() -> None:
    assert next_breadth(100, wanted=10, kept=4) == 400
    assert next_breadth(100, wanted=10, kept=9) == 200
    assert next_breadth(100, wanted=10, kept=0) == 800


def test_few_allowed_rows_are_always_compared_exactly() -> None:
    assert is_exact_cheaper(TUNING, breadth=100, allowed=TUNING.exact_rows)
    assert not is_exact_cheaper(TUNING, breadth=100, allowed=50_000)
    assert is_exact_cheaper(TUNING, breadth=3000, allowed=50_000)
