import json
import os
from pathlib import Path

import pytest

from satchel.cli.importing.formats import ImportFormat
from satchel.cli.importing.records import (
    Draft,
    Exported,
    ImportFormatError,
    Json,
    Refused,
    parse_time,
    place_name,
)
from satchel.cli.importing.source import open_source


def write(path: Path, data: Json) -> Path:
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([{"conversation": {"session_1": [{"speaker": "A", "text": "x"}]}}], ImportFormat.LOCOMO),
        ([{"role": "user", "content": "x"}], ImportFormat.CHAT),
        ({"messages": [{"role": "user", "content": "x"}]}, ImportFormat.CHAT),
        ([{"content": "x", "wing": "w"}], ImportFormat.JSONL),
        ({"content": "x"}, ImportFormat.JSONL),
    ],
)
def test_the_format_of_a_json_file_is_found_out(tmp_path: Path, data: Json, expected: ImportFormat) -> None:
    source = open_source(write(tmp_path / "a.json", data), ImportFormat.AUTO)

    assert (source.format, source.total) == (expected, 1)


def test_a_json_file_of_no_known_format_is_an_error_that_names_the_option(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match="--format"):
        open_source(write(tmp_path / "a.json", {"x": 1}), ImportFormat.AUTO)


def test_json_lines_are_counted_and_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"content": "one"}\n\nno json\n[1]\n')

    source = open_source(path, ImportFormat.AUTO)

    assert source.total == 3
    first, second, third = source.records
    assert first == Exported("a.jsonl:1", {"content": "one"})
    assert isinstance(second, Refused)
    assert second.label == "a.jsonl:3"
    assert third == Refused("a.jsonl:4", "The record is a JSON array, not an object.")


def test_a_bad_line_does_not_stop_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    twice_named = b'{"content": 1, "content": 2}'
    lines = [b'\xef\xbb\xbf{"content": "one"}', b'\xff{"content": "x"}', twice_named, b'{"content": "two"}']
    path.write_bytes(b"\n".join(lines))

    first, latin, twice, last = open_source(path, ImportFormat.AUTO).records

    assert first == Exported("a.jsonl:1", {"content": "one"})
    assert latin == Refused("a.jsonl:2", "The line is not UTF-8 text (byte 1).")
    assert twice == Refused("a.jsonl:3", "The line names 'content' twice in one object.")
    assert last == Exported("a.jsonl:4", {"content": "two"})


def test_a_file_of_bytes_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(bytes(range(256)))

    with pytest.raises(ImportFormatError, match="no text"):
        open_source(tmp_path / "x.bin", ImportFormat.AUTO)


def test_a_name_that_is_no_utf8_is_shown_in_hexadecimal(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("text")

    (record,) = open_source(tmp_path, ImportFormat.AUTO).records

    assert record.label == f"{tmp_path.name}/caf\\xe9.md"


def test_a_file_alone_has_the_path_that_it_has_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Plan\nGo.")

    labels = [
        [record.label for record in open_source(path, ImportFormat.AUTO).records]
        for path in (tmp_path, tmp_path / "a.md")
    ]

    assert labels[0] == labels[1] == [f"{tmp_path.name}/a.md#plan"]


def test_an_array_in_a_file_of_lines_is_read_too(tmp_path: Path) -> None:
    path = write(tmp_path / "export.jsonl", [{"content": "one"}, {"content": "two"}])

    assert len(list(open_source(path, ImportFormat.AUTO).records)) == 2


def test_a_folder_is_read_by_path_without_what_is_hidden(tmp_path: Path) -> None:
    for name in ("b.md", "a/c.txt", ".git/d.md", "node_modules/e.md", "f.png", "a/.g.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}")

    source = open_source(tmp_path, ImportFormat.AUTO)

    assert source.format is ImportFormat.FOLDER
    name = tmp_path.name
    assert [record.label for record in source.records] == [f"{name}/a/c.txt", f"{name}/b.md"]


def test_links_that_lead_out_of_the_folder_are_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("elsewhere")
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "a.md").write_text("elsewhere too")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "real.md").write_text("here")
    (folder / "inside.md").symlink_to("real.md")
    (folder / "outside.md").symlink_to(secret)
    (folder / "outside").symlink_to(tmp_path / "others")

    source = open_source(folder, ImportFormat.AUTO)

    assert [record.label for record in source.records] == ["folder/inside.md", "folder/real.md"]


def test_a_file_that_is_not_utf8_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "good.txt").write_text("fine")

    bad, good = open_source(tmp_path, ImportFormat.AUTO).records

    assert isinstance(bad, Refused)
    assert isinstance(good, Draft)


def test_a_folder_without_texts_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ImportFormatError, match="no Markdown or text"):
        open_source(tmp_path, ImportFormat.AUTO)


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_source(tmp_path / "none.jsonl", ImportFormat.AUTO)


def test_times_are_read_in_their_usual_forms() -> None:
    expected = "2024-05-08T13:57:00+00:00"
    for value in (1715176620, 1715176620000, "2024-05-08T13:57:00Z", "2024-05-08 13:57"):
        found = parse_time(value)
        assert found is not None
        assert found.isoformat() == expected


@pytest.mark.parametrize("value", ["soon", None, True, [], 1e300])
def test_what_is_no_time_is_unknown(value: Json) -> None:
    assert parse_time(value) is None


def test_a_place_name_has_only_what_a_wing_may_have() -> None:
    assert place_name(" Ma vie, en été! ") == "Ma-vie-en-t"
    assert len(place_name("x" * 500)) == 100
