"""Terms for full-text search, query terms and tags."""

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.runtime.folding import fold
from satchel.store.extraction import Fingerprint, extract
from satchel.store.words import QueryTerm, encode, index_text, query_terms, tags, terms


@pytest.fixture
def table() -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE VIRTUAL TABLE f USING fts5(t, tokenize = "unicode61 remove_diacritics 2")')
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(f, 'instance')")
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Les règles de l'API", ["les", "regles", "de", "api"]),
        ("RÈGLES re\u0300gles", ["regles", "regles"]),
        ("ERR_4711-x", ["err_4711-x", "err", "4711", "x"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("getUserById2", ["getuserbyid2", "get", "user", "by", "id2"]),
        ("PostgreSQL", ["postgresql", "postgre", "sql"]),
        ("HTTPServer APIs", ["httpserver", "http", "server", "apis"]),
        ("well-known", ["well-known", "well", "known"]),
        ("v2.3.1", ["v2.3.1", "2.3.1", "v2", "3", "1"]),
        ("services/store/main.py", ["services/store/main.py", "main.py", "services", "store", "main", "py"]),
        ("a.b@Example.com", ["a.b@example.com", "a.b", "example.com", "a", "b", "example", "com"]),
        ("(https://Example.com/Docs?q=1).", ["https://example.com/docs?q=1", "example.com", "example", "com",
                                             "docs", "q", "1"]),
        ("C++ C# don't Jean's", ["c++", "c", "c#", "c", "don", "jean"]),
        ("日本語", ["日本", "本語", "語"]),
        ("水 火", ["水", "火"]),
        ("한국어 ｶﾅ ภาษา", ["한국", "국어", "어", "カナ", "ナ", "ภา", "าษ", "ษา", "า"]),
        ("PostgreSQLを使う", ["postgresql", "postgre", "sql", "を使", "使う", "う"]),
        ("हिन्दी", ["हिन्दी"]),
        ("ﬁne Straße cœur", ["fine", "strasse", "coeur"]),
        ("___ -- ' \ud800", []),
        ("x" * 300, ["x" * 128]),
    ],
)  # fmt: skip
def test_text_is_read_as_folded_words_with_identifiers_whole_and_in_parts(
    text: str, expected: list[str]
) -> None:
    assert expected == terms(text)


def test_accents_and_case_make_no_difference() -> None:
    assert fold("règles") == fold("REGLES") == fold("re\u0300gles") == "regles"


def test_a_query_keeps_content_words_once_in_order() -> None:
    found = query_terms("Why did we choose the index, the Index?")

    assert tuple(term.text for term in found.terms) == ("choose", "index")
    assert not found.parts


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what is it", ["what", "is", "it"]),
        ("What car did he buy for her son?", ["car", "buy", "son"]),
        ("quelle voiture, car il est dans le garage", ["voiture", "garage"]),
        ("up-to-date", ["date"]),
        ("", []),
    ],
)
def test_stop_words_go_by_the_language_unless_nothing_else_is_left(query: str, expected: list[str]) -> None:
    assert expected == [term.text for term in query_terms(query).terms]


def test_an_identifier_is_asked_exactly_and_its_parts_loosely() -> None:
    found = query_terms("error ERR_4711-x")

    assert (QueryTerm("error"), QueryTerm("err_4711-x", exact=True)) == found.terms
    assert (QueryTerm("err"), QueryTerm("4711"), QueryTerm("x")) == found.parts


def test_a_hyphenated_word_is_asked_in_its_parts() -> None:
    found = query_terms("well-known")

    assert (QueryTerm("well"), QueryTerm("known")) == found.terms
    assert (QueryTerm("well-known"),) == found.parts


def test_a_lone_character_of_an_unspaced_script_is_asked_as_a_prefix() -> None:
    assert (QueryTerm("水", prefix=True),) == query_terms("水").terms


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("fails with ERR_4711-x today", "ERR_4711-x"),
        ("fails with ERR_4711-x today", "err 4711"),
        ("les règles", "REGLES"),
        ("les regles", "règles"),
        ("see services/store/main.py", "main.py"),
        ("written in C++", "c++"),
        ("mail jean@example.com", "jean@example.com"),
        ("全文検索の例", "検索"),
        ("हिन्दी में", "हिन्दी"),
        ("call getUserById", "user by id"),
        ('say "x" AND NEAR(y)', 'NEAR("y'),
    ],
)
def test_the_full_text_table_finds_the_query_in_the_text(
    table: sqlite3.Connection, text: str, query: str
) -> None:
    table.execute("INSERT INTO f VALUES (?)", (index_text(text),))
    match = " AND ".join(f'"{term.token}"' for term in query_terms(query).terms)

    assert table.execute("SELECT rowid FROM f WHERE f MATCH ?", (match,)).fetchall() == [(1,)]


@pytest.mark.parametrize("query", ["ERR_4711-y", "ERR_4711", "4711-x1"])
def test_an_exact_identifier_does_not_match_another(table: sqlite3.Connection, query: str) -> None:
    table.execute("INSERT INTO f VALUES (?)", (index_text("ERR_4711-x"),))
    match = f'"{query_terms(query).terms[0].token}"'

    assert table.execute("SELECT rowid FROM f WHERE f MATCH ?", (match,)).fetchall() == []


@given(st.text(max_size=60))
def test_each_term_is_one_token_of_the_full_text_table(text: str) -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE VIRTUAL TABLE f USING fts5(t, tokenize = "unicode61 remove_diacritics 2")')
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(f, 'instance')")
    connection.execute("INSERT INTO f VALUES (?)", (index_text(text),))
    (count,) = connection.execute("SELECT count(*) FROM v").fetchone()
    connection.close()

    assert len(terms(text)) == count


@given(st.text())
def test_words_are_deterministic_and_free_of_spaces(text: str) -> None:
    found = terms(text)

    assert found == terms(text)
    assert all(term and not any(letter.isspace() for letter in term) for term in found)
    assert {term.text for term in query_terms(text).terms} <= set(found)
    assert encode(" ".join(found)) == index_text(text)


@given(st.text(st.sampled_from("aA1 _-./@é漢' \n")))
def test_tags_are_distinct_and_at_most_32(text: str) -> None:
    found = tags(text, extract(text))

    assert len(found) == len(set(found)) <= 32


def test_tags_are_entities_then_subjects_then_frequent_words() -> None:
    text = "Les règles de PostgreSQL. La poterie, encore la poterie, avec le four"
    found = Fingerprint(type="fact", entities=("PostgreSQL",), subjects=("Règles", "postgresql"))

    assert ["postgresql", "règles", "poterie", "encore", "four"][:2] == tags(text, found)[:2]
    assert tags(text, found) == ["postgresql", "règles", "poterie", "four"]


def test_tags_stop_at_32() -> None:
    text = (
        " ".join(f"word{chr(97 + i)}" for i in range(26))
        + " "
        + " ".join(f"term{chr(97 + i)}" for i in range(26))
    )

    assert len(tags(text, Fingerprint(type="fact"))) == 32
