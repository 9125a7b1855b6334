"""The reader of PromQL with which the dashboard and the alerts are checked."""

import promql
import pytest


def test_metrics_labels_and_groups_are_found() -> None:
    asked = promql.read(
        'histogram_quantile(0.95, sum by (le, stage) (rate(a_bucket{job=~"$job", part!="x"}[$__interval])))'
        " / on (instance) group_left (version) b > 0.5 or vector(0)"
    )

    assert asked.metrics == [("a_bucket", (("job", "=~", "$job"), ("part", "!=", "x"))), ("b", ())]
    assert asked.grouped_by == {"le", "stage", "instance", "version"}


def test_a_duration_after_offset_is_no_metric() -> None:
    assert promql.read("rate(a_total[5m] offset 1h) < 1e9").metrics == [("a_total", ())]


@pytest.mark.parametrize("wrong", ["sum(a", "summe(a)", '{job="x"}', "a ? b", "rate(a[5m)"])
def test_what_is_no_promql_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"PromQL|brackets|unknown function|labels without"):
        promql.read(wrong)
