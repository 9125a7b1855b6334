"""Every promise is proven by a test, and every test of a contract or of a whole Satchel proves a promise."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from google.protobuf import descriptor_pb2

from requirements import GAPS, PROMISES, requirement

TESTS = Path(__file__).resolve().parent.parent
ROOT = TESTS.parent
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
MARKED_FOLDERS = ("contract", "e2e")
MADE = (*PROMISES, *(gap.promise for gap in GAPS))


class Found(NamedTuple):
    """A test function, and the promises that it names."""

    place: str
    names: tuple[str, ...]


@cache
def functions_below(folder: str) -> tuple[Found, ...]:
    """Return every test function below a folder of the tests."""
    return tuple(
        Found(f"{path.relative_to(TESTS)}::{node.name}", tuple(names_of(node)))
        for path in sorted((TESTS / folder).rglob("test_*.py"))
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )


def names_of(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the promises that the decorators of a test name."""
    for decorator in test.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "requirement":
            yield from (ast.literal_eval(name) for name in decorator.args)


@cache
def contract_names() -> frozenset[str]:
    """Return the full name of everything in the contracts, without ``satchel.api.``."""
    raw = (files("satchel.api") / "descriptors.binpb").read_bytes()
    image = descriptor_pb2.FileDescriptorSet.FromString(raw)
    prefix = "satchel.api."
    return frozenset(
        name.removeprefix(prefix)
        for file in image.file
        if file.package.startswith(prefix)
        for name in named_below(file.package, [*file.message_type, *file.enum_type, *file.service])
    )


def named_below(parent: str, nodes: list[object]) -> Iterator[str]:
    """Yield the names of descriptors and of what they hold."""
    for node in nodes:
        name = f"{parent}.{node.name}"  # type: ignore[attr-defined]  # every descriptor has a name
        yield name
        for part in ("field", "nested_type", "enum_type", "value", "method"):
            yield from named_below(name, list(getattr(node, part, ())))


@cache
def anchors_of(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return frozenset(re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings)


def exists(source: str) -> bool:
    """Tell whether the place that makes a promise is there."""
    page, _, anchor = source.partition("#")
    if anchor:
        return (ROOT / page).is_file() and anchor in anchors_of(ROOT / page)
    kind, _, number = source.partition(" ")
    if kind == "decision":
        return any((ROOT / "docs" / "decisions").glob(f"{int(number):04}-*.md"))
    return source in contract_names()


@requirement("tests:proven")
def test_every_promise_is_proven_by_a_test() -> None:
    proven = {name for found in functions_below(".") for name in found.names}

    assert [promise.name for promise in PROMISES if promise.name not in proven] == []


@requirement("tests:proven")
def test_every_test_of_a_contract_or_of_a_whole_satchel_names_a_promise() -> None:
    marked = [found for folder in MARKED_FOLDERS for found in functions_below(folder)]

    assert [found.place for found in marked if not found.names] == []


@requirement("tests:proven")
def test_every_name_that_a_test_gives_is_a_promise() -> None:
    known = {promise.name for promise in PROMISES}
    unknown = [
        (found.place, name) for found in functions_below(".") for name in found.names if name not in known
    ]

    assert unknown == []


@requirement("tests:proven")
def test_every_promise_is_made_at_a_place_that_exists() -> None:
    assert [(one.name, one.source) for one in MADE if not exists(one.source)] == []


@requirement("tests:proven")
def test_every_promise_is_a_sentence_under_a_short_name() -> None:
    assert [one.name for one in MADE if not re.fullmatch(r"[a-z]+:[a-z]+(-[a-z]+)*", one.name)] == []
    assert [one.sentence for one in MADE if not re.fullmatch(r"[A-Z][^\n|]+\.", one.sentence)] == []


@requirement("tests:proven")
def test_no_promise_has_two_names_and_no_gap_is_a_promise_that_is_kept() -> None:
    names = [one.name for one in MADE]
    sentences = {one.sentence for one in MADE}

    assert len(names) == len(set(names)) == len(sentences)
