import enum
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from satchel.runtime.settings import Secret, SettingsError, describe, load, setting


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
