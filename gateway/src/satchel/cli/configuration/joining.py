"""Turns the keys of a file into variables, and checks all settings as they stand with the environment."""

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from urllib.parse import urlsplit

from satchel.cli.configuration.conversions import Context
from satchel.cli.configuration.locating import Candidate
from satchel.cli.configuration.mira import KEYS, MiraKey
from satchel.cli.configuration.reading import Item
from satchel.cli.configuration.sections import SECTIONS, NativeKey, Section, native_keys
from satchel.cli.configuration.texts import require_texts
from satchel.gateway.settings import WEBHOOK_PREFIX, WebhookSettings, is_loopback
from satchel.runtime.setting_types import BadValue, text_of
from satchel.runtime.settings import Origin, Problem, SettingsError, Values, describe, load

_KEY_VARIABLES = ("SATCHEL_AUTH_TOKEN", "SATCHEL_KEYS")
_KEY_PATHS = frozenset({"api.auth_token", "api.wing_tokens", "satchel.auth_token", "satchel.keys"})
_MODEL_FOLDER = ("embedder.model_folder", "SATCHEL_EMBEDDER_MODEL_FOLDER")
# Whom memories are sent to, beside the webhooks. A file that nobody named may come with a folder that was
# downloaded, and must not send them away.
_RECEIVERS = (
    *("SATCHEL_URL", "SATCHEL_STORE_LLM_ENDPOINT", "SATCHEL_STORE_EMBEDDER", "SATCHEL_INDEX_STORE"),
    *(f"SATCHEL_ALLOCATOR_{name}" for name in ("EMBEDDER", "INDEX", "STORE")),
    *(f"SATCHEL_GATEWAY_{name}" for name in ("EMBEDDER", "INDEX", "STORE", "ALLOCATOR")),
)
_TRUST = "Name the file with --config or SATCHEL_CONFIG to say that you trust it."


def join(
    candidate: Candidate, sections: Mapping[str, Item], environment: Values
) -> tuple[Values, Mapping[str, int]]:
    """Return the variables of a file below those of the environment, and the lines of its keys.

    Raises:
        SettingsError: names every key that is unknown or whose value cannot be used.
    """
    joining = _Joining(str(candidate.path), environment)
    for path, item in joining.leaves(sections, ""):
        joining.take(path, item)
    values = environment.over(joining.values())
    unusable = list(_checked(values))
    # What stands in the environment may be right once the file is.
    joining.problems += [one for one in unusable if one.origin.file or not joining.problems]
    if not candidate.named_by and not joining.problems:
        joining.problems += _sent_elsewhere(values, str(candidate.path))
    if joining.problems:
        raise SettingsError.of(sorted(joining.problems, key=lambda one: one.origin.line))
    return values, joining.lines


def first_unknown(sections: Mapping[str, Item]) -> tuple[str, int] | None:
    """Return the first key that is none of ours, with its line; `None` when all are."""
    joining = _Joining("", Values({}))
    for _ in joining.leaves(sections, ""):
        pass
    unknown = next(iter(joining.problems), None)
    return None if unknown is None else (unknown.origin.name, unknown.origin.line)


class _Joining:
    """The variables and problems of one file, as its keys are taken in."""

    def __init__(self, file: str, environment: Values) -> None:
        self._file = file
        self._environment = environment
        self._texts: dict[str, str] = {}
        self._origins: dict[str, Origin] = {}
        self._context = Context()
        self.lines: dict[str, int] = {}
        self.problems: list[Problem] = []

    def leaves(self, sections: Mapping[str, Item], prefix: str) -> Iterator[tuple[str, Item]]:
        """Yield the keys that have a value; what is no key at all becomes a problem."""
        found = list(self._leaves(sections, prefix))
        texts = {path: text_of(item.plain) for path, item in found}
        self.lines = {path: item.line for path, item in found}
        self._context = Context(
            texts=texts,
            has_keys=any(item.plain for path, item in found if path in _KEY_PATHS)
            or any(map(self._environment.get, _KEY_VARIABLES)),
            has_model_folder=_MODEL_FOLDER[0] in texts or bool(self._environment.get(_MODEL_FOLDER[1])),
        )
        yield from found

    def take(self, path: str, item: Item) -> None:
        """Turn the value of one key into variables."""
        origin = Origin(path, self._file, item.line)
        key = KEYS.get(path) or native_keys()[path]
        try:
            made = self._converted(key, item)
        except BadValue as exc:
            self._note(origin, str(exc), exc.limit)
            return
        for variable, text in made.items():
            other = self._origins.get(variable)
            if other is not None and self._texts[variable] != text:
                self._note(origin, f"contradicts {other.name} in line {other.line}", "one of the two")
            self._texts[variable], self._origins[variable] = text, origin

    def values(self) -> Values:
        """Return the variables of the file."""
        return Values(self._texts, self._origins)

    def _leaves(self, sections: Mapping[str, Item], prefix: str) -> Iterator[tuple[str, Item]]:
        for name, item in sections.items():
            path = f"{prefix}{name}"
            if item.content is None or item.content == "":
                if path not in _paths() and path not in _section_paths():
                    self._note_unknown(path, item)
            elif path in _paths():
                yield path, item
            elif path not in _section_paths():
                self._note_unknown(path, item)
            elif isinstance(item.content, Mapping):
                yield from self._leaves(item.content, f"{path}.")
            else:
                self._note(Origin(path, self._file, item.line), "must be a section with keys", "a section")

    def _converted(self, key: MiraKey | NativeKey, item: Item) -> Mapping[str, str]:
        if not key.is_structured and not isinstance(item.content, str):
            raise BadValue("must be a single value", "a single value")
        require_texts(key, item)
        text = text_of(item.plain)
        if isinstance(key, MiraKey):
            return key.conversion(text, self._context)
        return {key.doc.variable: text}

    def _note(self, origin: Origin, fault: str, limit: str, remedy: str = "") -> None:
        self.problems.append(Problem(origin, fault, limit, remedy))

    def _note_unknown(self, path: str, item: Item) -> None:
        near = difflib.get_close_matches(path, [*_paths(), *_section_paths()], n=1)
        remedy = f"Did you mean '{near[0]}'?" if near else "'satchel config show' lists the keys."
        self._note(Origin(path, self._file, item.line), "is no key of this file", "a known key", remedy)


def _checked(values: Values) -> Iterator[Problem]:
    """Yield what the settings classes refuse; a problem of the file says what holds without its key."""
    defaults = {key.doc.variable: key.doc.default for key in native_keys().values()}
    variables = {path: key.doc.variable for path, key in native_keys().items()}
    variables.update(
        (path, row.conversion.variables[0]) for path, row in KEYS.items() if row.conversion.variables
    )
    for section in SECTIONS:
        try:
            load(section.cls, section.prefix, values)
        except SettingsError as exc:
            for one in exc.problems or [_of_several(exc, section, values)]:
                variable = variables.get(one.origin.name, "")
                if one.origin.file and variable in defaults:
                    held = f"Without the key it is {defaults[variable] or 'empty'}."
                    yield replace(one, remedy=f"{one.remedy} {held}".strip())
                else:
                    yield one


def _of_several(error: SettingsError, section: Section, values: Values) -> Problem:
    """Return a problem of several settings together, at the first of them that the file sets."""
    message = str(error).removeprefix(f"{section.prefix}_*: ").rstrip(".")
    named = [doc for doc in describe(section.cls, section.prefix) if doc.field in message.lower()]
    origins = [values.origin(doc.variable) for doc in named]
    in_file = [origin for origin in origins if origin.file]
    origin = in_file[0] if in_file else Origin(f"section '{section.name}'")
    return Problem(origin, f"cannot be used: {message}")


def _sent_elsewhere(values: Values, file: str) -> Iterator[Problem]:
    """Yield the keys of this file that would send memories to another machine."""
    for variable in _RECEIVERS:
        origin = values.origin(variable)
        if origin.file == file and not all(map(_is_here, values[variable].split(","))):
            yield Problem(origin, "names another machine", "this machine", _TRUST)
    webhooks = load(WebhookSettings, WEBHOOK_PREFIX, values)
    origin = values.origin(f"{WEBHOOK_PREFIX}_ENDPOINTS")
    if origin.file == file and not all(_is_here(endpoint.url) for endpoint in webhooks.endpoints):
        yield Problem(origin, "names another machine", "this machine", _TRUST)


def _is_here(address: str) -> bool:
    target = address.rpartition("=")[2]
    if target.startswith("unix:"):
        return True
    try:
        return is_loopback(urlsplit(target if "//" in target else f"//{target}").hostname or "")
    except ValueError:
        return False


@cache
def _paths() -> frozenset[str]:
    return frozenset(KEYS) | frozenset(native_keys())


@cache
def _section_paths() -> frozenset[str]:
    parts = [path.split(".") for path in _paths()]
    return frozenset(".".join(part[:depth]) for part in parts for depth in range(1, len(part)))
