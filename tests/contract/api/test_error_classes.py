"""Every error that a client can see is published, and every published reason is told by somebody."""

import inspect
import pkgutil
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2

import satchel
from requirements import requirement
from satchel.api.errors.v1 import error_reason_pb2
from satchel.runtime.errors import InvalidRequest, RemoteError, ServiceError, Violation

# Errors that are built of others' reasons: of those of violations, or of what a peer reported.
CARRIERS = (InvalidRequest, RemoteError)
# A door tells a client of several causes of one reason, so that each has an HTTP status of its own.
SHARED_AT_THE_DOORS = {
    "ERROR_REASON_MALFORMED_MESSAGE",
    "ERROR_REASON_ROUTE_NOT_FOUND",
    "ERROR_REASON_UNIMPLEMENTED",
    "ERROR_REASON_PERMISSION_DENIED",
    "ERROR_REASON_PEER_UNAVAILABLE",
}
PACKAGES = ("runtime", "embedder", "index", "store", "allocator", "gateway", "cli")


@dataclass(frozen=True)
class Published:
    """What the comment of a reason says."""

    code: str
    keys: frozenset[str]


def published() -> dict[str, Published]:
    """Read code and metadata of each reason from the contract's comments."""
    raw = (files("satchel.api") / "descriptors.binpb").read_bytes()
    image = descriptor_pb2.FileDescriptorSet.FromString(raw)
    file = next(file for file in image.file if file.name.endswith("error_reason.proto"))
    found = {}
    for place in file.source_code_info.location:
        said = re.search(r"Code: ([A-Z_]+)\. Metadata: (.*)", place.leading_comments, re.DOTALL)
        if said and len(place.path) == 4 and list(place.path[:3]) == [5, 0, 2]:
            keys = re.findall(r"`([a-z_]+)`", re.sub(r"\([^)]*\)", "", said[2]))
            found[file.enum_type[0].value[place.path[3]].name] = Published(said[1], frozenset(keys))
    return found


def sources() -> Iterator[Path]:
    """Yield the files of every package of ours."""
    for root in satchel.__path__:
        for package in PACKAGES:
            yield from sorted((Path(root) / package).rglob("*.py"))


def error_classes() -> list[type[ServiceError]]:
    """Import every module that makes an error class, and return the classes below `ServiceError`."""
    for package in pkgutil.iter_modules(satchel.__path__, "satchel."):
        for root in import_module(package.name).__path__:
            for path in sorted(Path(root).rglob("*.py")):
                if re.search(r"^class \w+\(", path.read_text(encoding="utf-8"), re.MULTILINE) and (
                    "satchel.runtime.errors import" in path.read_text(encoding="utf-8")
                ):
                    import_module(".".join((package.name, *path.relative_to(root).with_suffix("").parts)))
    return sorted(set(below(ServiceError)), key=lambda cls: (cls.__module__, cls.__name__))


def below(cls: type[ServiceError]) -> Iterator[type[ServiceError]]:
    for one in cls.__subclasses__():
        if one.__module__.startswith("satchel."):
            yield one
            yield from below(one)


class Anything:
    """Stands for an object of which an error tells something."""

    def __getattr__(self, name: str) -> "Anything":
        return self

    def __call__(self) -> str:
        return "x"


SAMPLES: dict[object, object] = {
    str: "x",
    int: 1,
    float: 1.0,
    float | None: 1.0,
    Sequence[str]: ("x",),
    tuple[str, ...]: ("x",),
}


def sample(cls: type[ServiceError]) -> ServiceError:
    """Make an error with a value for every argument that its constructor names."""
    named: dict[str, object] = {}
    positional: list[object] = []
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD or name == "violations":
            continue
        value = SAMPLES.get(parameter.annotation, Anything())
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            positional.append(value)
    make: Callable[..., ServiceError] = cls
    return make(*positional, **named)


REASONS = published()
CLASSES = [cls for cls in error_classes() if cls not in CARRIERS]


@requirement("contract:errors")
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_class_has_a_published_reason_with_its_code(cls: type[ServiceError]) -> None:
    assert cls.reason in REASONS
    assert REASONS[cls.reason].code == cls.code.name


@requirement("contract:errors")
@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_class_sends_the_metadata_that_is_published(cls: type[ServiceError]) -> None:
    assert set(sample(cls).metadata) <= REASONS[cls.reason].keys


@requirement("contract:errors")
def test_metadata_of_the_runtimes_errors_is_complete() -> None:
    incomplete = {
        cls.__name__: REASONS[cls.reason].keys - set(sample(cls).metadata)
        for cls in CLASSES
        if cls.__module__ == "satchel.runtime.errors"
    }

    assert {name: keys for name, keys in incomplete.items() if keys} == {}


@requirement("contract:errors")
def test_metadata_of_a_violation_is_published() -> None:
    error = InvalidRequest([Violation("a", "ERROR_REASON_FIELD_TOO_LONG", "a is long.", "1", "cut it", "2")])

    assert set(error.metadata) == REASONS[error.reason].keys


@requirement("contract:errors")
def test_one_package_has_one_class_for_a_reason() -> None:
    by_reason: dict[tuple[str, str], list[type[ServiceError]]] = defaultdict(list)
    for cls in CLASSES:
        by_reason[cls.__module__.split(".")[1], cls.reason].append(cls)

    several = {
        key: [cls.__name__ for cls in found]
        for key, found in by_reason.items()
        if len(found) > 1 and not (key[0] == "gateway" and key[1] in SHARED_AT_THE_DOORS)
    }

    assert several == {}


@requirement("contract:errors")
def test_every_published_reason_is_told_by_a_class_or_a_violation() -> None:
    told = {cls.reason for cls in CLASSES}
    told |= {reason for path in sources() for reason in named_in(path)}

    assert set(error_reason_pb2.ErrorReason.keys()) - told == {"ERROR_REASON_UNSPECIFIED"}


def named_in(path: Path) -> Iterator[str]:
    """Yield the reasons that a file names, in whole or without the prefix that they share."""
    for name in re.findall(r"[\"'](?:ERROR_REASON_)?([A-Z_]+)[\"']", path.read_text(encoding="utf-8")):
        yield from (f"ERROR_REASON_{name}", f"ERROR_REASON_FIELD_{name}")
