from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.cli.pruning import BudgetTooSmall, Message, blocks_of, last_question, prune, to_text
from satchel.runtime.tokens import count_tokens

ROLES = ["system", "user", "assistant", "tool"]
SYSTEM: Message = {"role": "system", "content": "Be brief."}
CALL: Message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function"}]}
RESULT: Message = {"role": "tool", "tool_call_id": "1", "content": "noon"}
RESULT_PART: Message = {"role": "user", "content": [{"type": "tool_result", "content": "noon"}]}


def says(text: str, role: str = "user") -> Message:
    return {"role": role, "content": text}


def pruned(messages: Sequence[Message], worth: Sequence[float], budget: int, keep_last: int) -> list[Message]:
    blocks = blocks_of(messages, keep_last)
    return prune(messages, blocks, worth, budget=budget, count_tokens=count_tokens)


def tokens(*messages: Message) -> int:
    return count_tokens(to_text(messages))


def test_the_most_worthy_stay_in_their_order_with_the_instructions_and_the_end() -> None:
    old, low, high, end = (says(text) for text in ("alpha", "beta", "gamma", "delta"))
    messages = [old, SYSTEM, low, high, end]

    kept = pruned(messages, [0.9, 0.0, 0.1, 0.8, 0.0], tokens(old, SYSTEM, high, end), 1)

    assert kept == [old, SYSTEM, high, end]


def test_of_equal_ones_the_later_stays() -> None:
    messages = [says("alpha"), says("gamma"), says("omega")]

    assert pruned(messages, [0.0] * 3, tokens(*messages[1:]), 0) == messages[1:]


@pytest.mark.parametrize("result", [RESULT, RESULT_PART])
def test_a_call_and_its_results_stay_or_go_together(result: Message) -> None:
    messages = [says("alpha"), CALL, result, result, says("end")]

    assert [(one.start, one.end, one.must_stay) for one in blocks_of(messages, 1)] == [
        (0, 1, False), (1, 4, False), (4, 5, True),
    ]  # fmt: skip
    enough = tokens(CALL, result, result, says("end"))
    assert pruned(messages, [0.1, 0.9, 0.0], enough, 1) == messages[1:]
    assert pruned(messages, [0.1, 0.9, 0.0], enough - 1, 1) == [says("alpha"), says("end")]


def test_the_last_messages_stay_with_the_call_that_they_answer() -> None:
    messages = [says("alpha"), CALL, RESULT, RESULT]

    assert [block.must_stay for block in blocks_of(messages, 1)] == [False, True]


def test_what_must_stay_and_does_not_fit_is_told_with_its_size() -> None:
    with pytest.raises(BudgetTooSmall) as raised:
        pruned([SYSTEM, says("end")], [0.0, 0.0], 5, 1)

    assert raised.value.needed == tokens(SYSTEM, says("end"))


def test_the_question_is_the_last_message_of_a_user_that_is_no_result() -> None:
    assert last_question([says("a"), says("b"), says("c", "assistant"), RESULT_PART]) == 1
    assert last_question([SYSTEM]) is None


@given(
    st.lists(st.tuples(st.sampled_from(ROLES), st.text(max_size=60), st.floats(0, 1))),
    st.integers(1, 300),
    st.integers(0, 3),
)
def test_the_budget_is_never_exceeded_and_what_must_stay_stays(
    turns: list[tuple[str, str, float]], budget: int, keep_last: int
) -> None:
    messages = [says(text, role) for role, text, _ in turns]
    worth = [one for _, _, one in turns]
    must_stay = [
        one
        for block in blocks_of(messages, keep_last)
        if block.must_stay
        for one in messages[block.start : block.end]
    ]
    if (needed := tokens(*must_stay)) > budget:
        with pytest.raises(BudgetTooSmall, match=str(needed)):
            pruned(messages, worth, budget, keep_last)
        return
    kept = pruned(messages, worth, budget, keep_last)

    assert tokens(*kept) <= budget
    assert kept[len(kept) - keep_last :] == messages[len(messages) - keep_last :] or not keep_last
    assert [one for one in kept if one["role"] == "system"] == [
        one for one in messages if one["role"] == "system"
    ]
