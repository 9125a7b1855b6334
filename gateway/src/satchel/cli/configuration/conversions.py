"""The forms in which a key becomes variables: the very text, one value alone, none, or by a function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from satchel.runtime.setting_types import BadValue


@dataclass(frozen=True, slots=True)
class Context:
    """What else is set: texts of the file by path, and whether callers need a key."""

    texts: Mapping[str, str] = field(default_factory=dict)
    has_keys: bool = False
    has_model_folder: bool = False

    def number(self, path: str, default: float) -> float:
        """Return the number that the file has at a path, or the default."""
        return number(self.texts.get(path, str(default)))


class Conversion(Protocol):
    """From the text of a key to texts of variables."""

    @property
    def effect(self) -> str:
        """What the documentation says of a key that is converted so; empty for what its variable says."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables that are set."""

    def __call__(self, text: str, context: Context) -> Mapping[str, str]:
        """Return texts of variables.

        Raises:
            BadValue: the text cannot be used.
        """


@dataclass(frozen=True, slots=True)
class To:
    """Gives a variable the very text; without ``unless``, which stands for the default."""

    variable: str
    effect: str = ""
    unless: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variable."""
        return (self.variable,)

    def __call__(self, text: str, context: Context) -> Mapping[str, str]:
        """See `Conversion`."""
        del context
        return {} if self.unless and _are_same(text, self.unless) else {self.variable: text}


@dataclass(frozen=True, slots=True)
class Only:
    """Takes one value alone, because it is what is true; ``why`` goes on after "must be ...:"."""

    accepted: str
    why: str
    variables: tuple[str, ...] = ()

    @property
    def effect(self) -> str:
        """That it has none."""
        return f"Only `{self.accepted}`: {self.why}."

    def __call__(self, text: str, context: Context) -> Mapping[str, str]:
        """See `Conversion`."""
        del context
        if not _are_same(text, self.accepted):
            raise BadValue(f"must be {self.accepted}: {self.why}", self.accepted)
        return {}


@dataclass(frozen=True, slots=True)
class Refuse:
    """Takes no value. The text of it is not told, for it may be a secret."""

    fault: str
    effect: str
    variables: tuple[str, ...] = ()

    def __call__(self, text: str, context: Context) -> Mapping[str, str]:
        """See `Conversion`."""
        del text, context
        raise BadValue(self.fault, "no value")


@dataclass(frozen=True, slots=True)
class By:
    """Converts by a function."""

    function: Callable[[str, Context], Mapping[str, str]]
    effect: str = ""
    variables: tuple[str, ...] = ()

    def __call__(self, text: str, context: Context) -> Mapping[str, str]:
        """See `Conversion`."""
        return self.function(text, context)


@dataclass(frozen=True, slots=True)
class Listening:
    """Reads an address; one without a host is every address of the machine, or without keys 127.0.0.1."""

    variable: str
    effect: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        """The variable."""
        return (self.variable,)

    def __call__(self, text: str, context: Context) -> Mapping[str, str]:
        """See `Conversion`."""
        return {self.variable: address(text, has_keys=context.has_keys)}


def address(text: str, *, has_keys: bool) -> str:
    """Return host and port; without a host, as in ":8080", those that may be served."""
    if not text.startswith(":"):
        return text
    return f"{'0.0.0.0' if has_keys else '127.0.0.1'}{text}"  # noqa: S104  # asked for, and callers need a key


def whole(text: str) -> int:
    """Return a whole number.

    Raises:
        BadValue: the text is none.
    """
    try:
        return int(text)
    except ValueError:
        raise BadValue(f"must be a whole number, not '{text}'", "a whole number") from None


def number(text: str) -> float:
    """Return a number. Raises as `whole`."""
    try:
        return float(text)
    except ValueError:
        raise BadValue(f"must be a number, not '{text}'", "a number") from None


def truth(text: str) -> bool:
    """Return a truth value. Raises as `whole`."""
    if text.lower() not in {"true", "false", "yes", "no", "on", "off"}:
        raise BadValue(f"must be true or false, not '{text}'", "true or false")
    return text.lower() in {"true", "yes", "on"}


def _are_same(text: str, other: str) -> bool:
    try:
        return float(text) == float(other)
    except ValueError:
        return text.casefold() == other.casefold()
