from hypothesis import given
from hypothesis import strategies as st

from satchel.cli.importing.splitting import open_fence, split_text


def test_a_short_text_is_one_part_without_the_space_around_it() -> None:
    assert split_text("\n one \n", target=100, limit=200) == ["one"]


def test_a_blank_text_gives_no_part() -> None:
    assert split_text(" \n\n ", target=100, limit=200) == []


def test_parts_end_at_blank_lines() -> None:
    assert split_text("first one\n\nsecond one\n\nthird", target=16, limit=99) == [
        "first one",
        "second one",
        "third",
    ]


def test_a_block_of_code_stays_whole() -> None:
    code = "```python\na = 1\n\nb = 2\n```"

    assert split_text(f"before\n\n{code}\n\nafter", target=10, limit=99) == ["before", code, "after"]


def test_a_paragraph_over_the_limit_is_cut_at_a_space() -> None:
    assert split_text("aaa bbb ccc ddd", target=4, limit=8) == ["aaa bbb", "ccc ddd"]


def test_a_word_over_the_limit_is_cut_anyway() -> None:
    assert split_text("a" * 20, target=4, limit=8) == ["a" * 8, "a" * 8, "a" * 4]


@given(st.text(alphabet="ab \n`", max_size=300), st.integers(5, 40))
def test_no_part_is_over_the_limit_and_no_letter_is_lost(text: str, limit: int) -> None:
    parts = split_text(text, target=limit, limit=limit)

    assert all(0 < len(part) <= limit for part in parts)
    assert "".join(text.split()) == "".join("".join(parts).split())


def test_a_fence_is_closed_by_one_of_its_own_kind_and_length() -> None:
    assert open_fence("````md", "") == "````"
    assert open_fence("```", "````") == "````"
    assert open_fence("~~~~", "````") == "````"
    assert open_fence("````` ", "````") == ""
    assert open_fence("``` code ``` in a line", "") == ""
