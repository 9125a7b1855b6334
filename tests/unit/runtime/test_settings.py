import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from satchel.runtime.settings import Origin, Secret, SettingsError, Values, describe, load, setting


class Mode(enum.Enum):
    FAST = "fast"
    EXACT = "exact"


@dataclass(frozen=True)
class Sample:
    port: int = setting(8080, "Port to listen on.", minimum=1, maximum=65535)
    ratio: float = 0.5
    debug: bool = False
    data: Path = Path("data")
    mode: Mode = Mode.FAST
    level: Literal["info", "debug"] = "info"
    peers: tuple[str, ...] = ()
    limit: int | None = None
    key: Secret = field(default=Secret(""))
    tags: tuple[int, ...] = field(default_factory=tuple)


@dataclass(frozen=True)
class Needy:
    url: str = setting(description="Where the store is.")


def test_absent_variables_mean_the_defaults() -> None:
    assert Sample() == load(Sample, "SATCHEL_X", {})


def test_every_type_is_read() -> None:
    values = {
        "SATCHEL_X_PORT": " 9 ",
        "SATCHEL_X_RATIO": "1e-3",
        "SATCHEL_X_DEBUG": "Yes",
        "SATCHEL_X_DATA": "/tmp/x",  # noqa: S108  # only a text
        "SATCHEL_X_MODE": "exact",
        "SATCHEL_X_LEVEL": "debug",
        "SATCHEL_X_PEERS": "a:1, b:2,",
        "SATCHEL_X_LIMIT": "3",
        "SATCHEL_X_KEY": "sk_1",
        "SATCHEL_X_TAGS": "1,2",
    }

    expected = Sample(
        port=9,
        ratio=0.001,
        debug=True,
        data=Path("/tmp/x"),  # noqa: S108
        mode=Mode.EXACT,
        level="debug",
        peers=("a:1", "b:2"),
        limit=3,
        key=Secret("sk_1"),
        tags=(1, 2),
    )
    assert expected == load(Sample, "SATCHEL_X", values)


@dataclass(frozen=True)
class Target:
    url: str
    secret: Secret = Secret("")
    weight: int = setting(1, minimum=1)


@dataclass(frozen=True)
class Targets:
    targets: tuple[Target, ...] = ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("a,b", (Target("a"), Target("b"))),
        ('["a", {"url": "b", "secret": "s", "weight": 2}]', (Target("a"), Target("b", Secret("s"), 2))),
    ],
)
def test_a_list_of_objects_is_read_from_json_or_from_texts(text: str, expected: tuple[Target, ...]) -> None:
    assert expected == load(Targets, "X", {"X_TARGETS": text}).targets


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[", "X_TARGETS must be a JSON list, or items with commas between them."),
        ('[{"secret": "hunter2"}]', "X_TARGETS lacks the member 'url'."),
        (
            '[{"url": "a", "secret": "hunter2", "weight": 0}]',
            "X_TARGETS has a member 'weight' that must be at least 1, not 0.",
        ),
        (
            '[{"url": "a", "sekret": "hunter2"}]',
            "X_TARGETS has an unknown member 'sekret'; the members are url, secret, weight.",
        ),
    ],
)
def test_an_object_that_cannot_be_used_is_told_without_its_secrets(text: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(Targets, "X", {"X_TARGETS": text})

    assert message == str(caught.value)


def test_words_may_be_in_any_case() -> None:
    assert load(Sample, "SATCHEL_X", {"SATCHEL_X_LEVEL": "DEBUG", "SATCHEL_X_MODE": "Exact"}) == Sample(
        level="debug", mode=Mode.EXACT
    )


def test_a_bad_value_of_a_file_is_named_by_its_line_and_key() -> None:
    origin = Origin("server.port", "/etc/x.yaml", 7)

    with pytest.raises(SettingsError) as caught:
        load(Sample, "SATCHEL_X", Values({"SATCHEL_X_PORT": "0"}, {"SATCHEL_X_PORT": origin}))

    assert str(caught.value) == (
        "/etc/x.yaml, line 7: server.port must be at least 1, not 0. Port to listen on."
    )
    assert [(one.origin, one.limit) for one in caught.value.problems] == [(origin, "at least 1")]


def test_the_upper_of_two_layers_wins_with_its_origin() -> None:
    file = Values({"A": "1", "B": "2"}, {"A": Origin("a", "f", 1), "B": Origin("b", "f", 2)})

    both = Values({"A": "3"}).over(file)

    assert (dict(both), both.origin("A"), both.origin("B").line) == ({"A": "3", "B": "2"}, Origin("A"), 2)


def test_values_show_no_texts() -> None:
    assert "hunter2" not in repr(Values({"A": "hunter2"}))


def test_empty_value_of_an_optional_is_none() -> None:
    assert load(Sample, "SATCHEL_X", {"SATCHEL_X_LIMIT": ""}).limit is None


@pytest.mark.parametrize(
    ("field_name", "value", "message"),
    [
        ("PORT", "x", "must be a whole number, not 'x'. Port to listen on."),
        ("PORT", "0", "must be at least 1, not 0. Port to listen on."),
        ("PORT", "70000", "must be at most 65535, not 70000. Port to listen on."),
        ("RATIO", "nan", "must be a finite number, not 'nan'."),
        ("RATIO", "half", "must be a number, not 'half'."),
        ("DEBUG", "maybe", "must be true or false, not 'maybe'."),
        ("MODE", "slow", "must be one of fast, exact, not 'slow'."),
        ("LEVEL", "loud", "must be one of info, debug, not 'loud'."),
    ],
)
def test_bad_value_is_named_with_its_variable(field_name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(Sample, "SATCHEL_X", {f"SATCHEL_X_{field_name}": value})

    assert f"SATCHEL_X_{field_name} {message}" == str(caught.value)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        load(Sample, "SATCHEL_X", {"SATCHEL_X_PORT": "x", "SATCHEL_X_DEBUG": "x"})

    assert len(str(caught.value).splitlines()) == 2


def test_missing_required_variable_is_named() -> None:
    with pytest.raises(
        SettingsError, match=r"SATCHEL_X_URL is not set and has no default\. Where the store is\."
    ):
        load(Needy, "SATCHEL_X", {})


def test_secret_shows_only_when_revealed() -> None:
    settings = load(Sample, "SATCHEL_X", {"SATCHEL_X_KEY": "sk_hidden"})

    assert "sk_hidden" not in f"{settings} {settings.key} {settings!r}"
    assert settings.key.reveal() == "sk_hidden"


def test_documentation_lists_every_variable_with_its_default() -> None:
    docs = {one.variable: one for one in describe(Sample, "SATCHEL_X")}

    port = docs["SATCHEL_X_PORT"]
    assert (port.type_name, port.default, port.description) == ("int", "8080", "Port to listen on.")
    assert (docs["SATCHEL_X_MODE"].default, docs["SATCHEL_X_KEY"].default) == ("fast", "")
    assert len(docs) == 10
