"""No sign, word or script of a question or a name breaks a search, and what a model reads has a bound."""

import string

import pytest

from e2e.door import Door, text_of
from requirements import requirement

LARGEST_RESULT = 60_000  # code points: hosts of MCP refuse results from about 66,000


@requirement("search:no-syntax", "doors:same-errors")
def test_every_sign_anywhere_in_a_question_is_text(door: Door) -> None:
    kept = door.store("signs", "The zeppelin docked at the anchor mast.")
    queries = [f"{sign}zeppelin{sign}anchor{sign} AND {sign}" for sign in string.punctuation]
    missed = [query for query in queries if door.found(query, wing="signs", top_k=1) != [kept]]

    assert missed == []


@requirement("search:no-syntax")
@pytest.mark.parametrize(
    "word", ["AND", "OR", "NOT", "NEAR", "AND OR", "NOT NOT", "NEAR/2", "rank", "rowid:1"]
)
def test_words_that_are_operators_elsewhere_are_words(door: Door, word: str) -> None:
    kept = door.store("words", f"The {word} gate opens.", project=word)
    door.store("words", "The gate is shut.", project=word)

    assert door.found(f"gate opens {word}", project=word)[0] == kept
    assert door.found(f"{word} gate {word} opens", project=word)[0] == kept


@requirement("search:any-script", "recall:relevant")
@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("我们为账本选择了关系数据库。", "账本"),
        ("会議は木曜日に延期されました。", "木曜日"),
        ("다음 회의는 목요일로 연기되었습니다.", "목요일"),
        ("Встреча перенесена на четверг.", "четверг"),
        ("Η συνάντηση μεταφέρθηκε την Πέμπτη.", "Πέμπτη"),  # noqa: RUF001  # Greek
        ("تم تأجيل الاجتماع إلى يوم الخميس.", "الخميس"),
        ("הפגישה נדחתה ליום חמישי.", "חמישי"),
        ("बैठक गुरुवार तक स्थगित है।", "गुरुवार"),
        ("La règle du garçon coûte très cher.", "regle garcon"),
    ],
)
def test_words_of_any_script_find_their_memory_first(door: Door, text: str, query: str) -> None:
    kept = door.store("scripts", text)
    door.store("scripts", "The meeting was moved to Thursday.")
    door.store("scripts", "我们去公园散步。")
    shown = door.recall(query, wing="scripts", explain=True)

    assert door.found(query, wing="scripts")[0] == kept
    assert {one["id"]: one["lexical_rank"] for one in shown["explanations"]}[kept] == 1


@requirement("doors:same-errors", "rest:errors")
@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_what_is_blank_is_refused_by_its_field_and_shows_nothing_inside(door: Door, blank: str) -> None:
    asked = {
        "query": ("/memories/recall", {"query": blank}),
        "content": ("/memories", {"content": blank, "wing": "w"}),
    }
    for field, (path, body) in asked.items():
        answer = door.send("POST", path, body)

        assert (answer.status_code, answer.json()["field"]) == (422, field)
        assert not {"sqlite", "fts", "traceback", "select"} & set(answer.text.lower().split())


@requirement("doors:same-errors")
@pytest.mark.parametrize("text", ["a\0b", "\0"])
def test_a_nul_is_refused_wherever_it_stands(door: Door, text: str) -> None:
    for field in ("content", "session_id", "title", "path", "source"):
        answer = door.send("POST", "/memories", {"content": "x", "wing": "w", field: text})

        assert (answer.status_code, answer.json()["field"]) == (422, field)


@requirement("mcp:texts", "recall:budget", "read:bounded")
async def test_what_a_model_reads_of_many_long_memories_is_bounded_and_can_be_continued(door: Door) -> None:
    memories = [
        {"wing": "long", "content": f"Chapter {n} of the saga: " + "saga" * 1_000, "title": f"Chapter {n}"}
        for n in range(101)
    ]
    door.ask("POST", "/memories/batch", {"memories": memories})
    texts = {
        "mira_recall": text_of(await door.tool("mira_recall", query="the saga", wing="long")),
        "mira_search": text_of(await door.tool("mira_search", query="the saga", wing="long")),
        "mira_timeline": text_of(await door.tool("mira_timeline", wing="long")),
        "mira_status": text_of(await door.tool("mira_status")),
    }

    assert {name for name, text in texts.items() if len(text) > LARGEST_RESULT} == set()
    assert "mira_load shows all of it" in texts["mira_search"]
    assert texts["mira_timeline"].splitlines()[-1].startswith("Next cursor: ")
