from satchel.cli.importing.markdown import TARGET_LENGTH, Section, read_document, sections_of
from satchel.cli.importing.records import Draft, Refused


def test_each_heading_begins_a_section_that_knows_the_headings_above_it() -> None:
    text = "# Guide\nIntro.\n## Install\nRun it.\n### Linux\nApt.\n## Use\nAsk.\n"

    assert [section.headings for section in sections_of(text)] == [
        ("Guide",),
        ("Guide", "Install"),
        ("Guide", "Install", "Linux"),
        ("Guide", "Use"),
    ]


def test_a_section_keeps_its_heading_and_its_text() -> None:
    assert list(sections_of("# Guide\nIntro.\n")) == [Section(("Guide",), "# Guide\nIntro.\n")]


def test_text_before_the_first_heading_is_a_section_of_its_own() -> None:
    assert [section.text for section in sections_of("Hello.\n\n# A\nText.")] == ["Hello.\n", "# A\nText."]


def test_a_heading_without_a_text_of_its_own_makes_no_section_but_stays_in_the_trail() -> None:
    assert [section.headings for section in sections_of("# A\n\n## B\nText.")] == [("A", "B")]


def test_a_heading_inside_code_is_code() -> None:
    text = "# A\n```sh\n# no heading\n```\n"

    assert [section.text for section in sections_of(text)] == [text]


def test_underlined_headings_count() -> None:
    sections = list(sections_of("Title\n=====\nText.\n\nPart\n----\nMore.\n"))

    assert [section.headings for section in sections] == [("Title",), ("Title", "Part")]
    assert sections[0].text == "Title\n=====\nText.\n"


def test_a_rule_below_a_paragraph_line_of_several_is_no_heading() -> None:
    assert [section.headings for section in sections_of("one\ntwo\n---\n")] == [()]


def test_a_hash_without_a_space_is_no_heading() -> None:
    assert [section.headings for section in sections_of("#tag\n")] == [()]


def test_a_document_becomes_memories_with_title_path_and_file() -> None:
    records = list(read_document("docs/guide.md", "# Guide\nIntro.\n## Use\nAsk.\n", markdown=True))

    assert records == [
        Draft(
            "docs/guide.md#guide",
            "# Guide\nIntro.",
            title="Guide",
            path="docs/guide.md#guide",
            metadata={"file": "docs/guide.md", "headings": ["Guide"]},
        ),
        Draft(
            "docs/guide.md#use",
            "## Use\nAsk.",
            title="Guide > Use",
            path="docs/guide.md#use",
            metadata={"file": "docs/guide.md", "headings": ["Guide", "Use"]},
        ),
    ]


def test_a_long_section_becomes_numbered_memories() -> None:
    paragraph = "word " * (TARGET_LENGTH // 12)
    records = list(read_document("a.md", f"# A\n{paragraph}\n\n{paragraph}\n\n{paragraph}", markdown=True))

    assert [record.title for record in records if isinstance(record, Draft)] == ["A (1)", "A (2)"]
    assert [record.label for record in records] == ["a.md#a", "a.md#a/2"]


def paths(text: str) -> list[str]:
    return [record.label for record in read_document("a.md", text, markdown=True)]


def test_a_section_keeps_its_path_when_another_comes_or_goes_before_it() -> None:
    before = paths("# A\nOne.\n# C\nThree.")
    after = paths("# A\nOne.\n# B\nTwo.\n# C\nThree.")

    assert set(after) - set(before) == {"a.md#b"}


def test_equal_headings_have_paths_of_their_own() -> None:
    assert paths("Intro.\n# A\nOne.\n# A\nTwo.\n# A-1\nThree.") == [
        "a.md",
        "a.md#a",
        "a.md#a-1",
        "a.md#a-1-1",
    ]


def test_a_title_has_the_words_of_a_link_without_its_target() -> None:
    assert [section.headings for section in sections_of("# See [the guide](guide.md)\nText.")] == [
        ("See the guide",)
    ]


def test_front_matter_is_kept_beside_the_text() -> None:
    text = "---\ntitle: Trip\ntags: [a]\n---\n# Plan\nGo by train.\n"

    (record,) = read_document("a.md", text, markdown=True)

    assert isinstance(record, Draft)
    assert record.content == "# Plan\nGo by train."
    assert record.metadata["front_matter"] == "title: Trip\ntags: [a]"


def test_a_rule_at_the_beginning_is_no_front_matter() -> None:
    (record,) = read_document("a.md", "---\nHello.\n", markdown=True)

    assert isinstance(record, Draft)
    assert "Hello." in record.content


def test_plain_text_has_no_headings() -> None:
    (record,) = read_document("a.txt", "# not a heading", markdown=False)

    assert isinstance(record, Draft)
    assert record.title == "a.txt"


def test_a_file_with_a_nul_is_refused() -> None:
    (record,) = read_document("a.txt", "a\x00b", markdown=False)

    assert isinstance(record, Refused)
    assert "NUL" in record.reason


def test_an_empty_file_makes_no_memory() -> None:
    assert list(read_document("a.md", "\n", markdown=True)) == []
