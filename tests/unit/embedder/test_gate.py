import pytest

from satchel.embedder.gate import Gate
from satchel.runtime.errors import Code, Overloaded


def test_full_gate_refuses_with_reason_limit_and_time_to_come_back() -> None:
    gate = Gate("embedder.passages", max_texts=3, max_code_points=1_000_000)

    with gate.hold(2, 56_000), pytest.raises(Overloaded) as caught, gate.hold(2, 10):
        pass

    assert caught.value.code == Code.RESOURCE_EXHAUSTED
    assert caught.value.metadata == {"queue": "embedder.passages", "limit": "3"}
    assert caught.value.retry_after_s == 2.0
    assert "2 of at most 3 texts" in caught.value.message


def test_code_points_are_bounded_too() -> None:
    gate = Gate("q", max_texts=100, max_code_points=10)

    with gate.hold(1, 8), pytest.raises(Overloaded) as caught, gate.hold(1, 3):
        pass

    assert caught.value.metadata == {"queue": "q", "limit": "10"}
    assert "8 of at most 10 characters" in caught.value.message


def test_request_larger_than_the_gate_is_let_in_when_nobody_is_inside() -> None:
    gate = Gate("q", max_texts=1, max_code_points=10)

    with gate.hold(5, 500):
        assert gate.texts == 5
    assert (gate.texts, gate.code_points) == (0, 0)


def test_failure_inside_frees_the_place() -> None:
    gate = Gate("q", max_texts=1, max_code_points=10)
    with pytest.raises(ValueError, match="inside"), gate.hold(1, 1):
        raise ValueError("inside")

    with gate.hold(1, 1):
        assert gate.texts == 1
