"""The backends that the suite runs over, and in what they differ on purpose.

A backend exists when the suite passes on it. A test that not every backend can pass belongs to a `Category`,
and a backend that cannot opts out of the category and says why.
"""

import enum
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import pytest
from unit.store.fakes import Client, FakeEmbedder

from satchel.store.main import wall_clock


class Category(enum.StrEnum):
    """A kind of promise that a backend may opt out of."""

    LASTING = "What was stored is there after a restart."
    ON_DISK = "The database is a file with a size and a schema."


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """How to run a backend: ``url`` gives the setting for a database of its own at a place."""

    name: str
    url: Callable[[Path], str]
    settings: Mapping[str, object] = field(default_factory=dict)
    opted_out: Mapping[Category, str] = field(default_factory=dict)


BACKENDS = (
    Backend(
        name="memory",
        url=lambda _: "memory:",
        opted_out={
            Category.LASTING: "The data is in the memory of the process and goes with it.",
            Category.ON_DISK: "There is no file.",
        },
    ),
    Backend(
        name="sqlite",
        url=lambda place: f"sqlite:{place}.db",
        settings={"synchronous": "normal"},  # power cuts are not part of the suite, and syncing takes long
    ),
)


def belongs_to(category: Category) -> pytest.MarkDecorator:
    """Run the test only over the backends that have not opted out of a category."""
    return pytest.mark.belongs_to(category)


def backends_of(categories: set[Category]) -> list[Backend]:
    """Return the backends that have opted out of none of the categories."""
    return [backend for backend in BACKENDS if not categories & backend.opted_out.keys()]


class RunningStore(Protocol):
    """Runs a store of the backend under test; within one test, equal names are one database."""

    def __call__(
        self,
        *,
        name: str = "store",
        embedder: FakeEmbedder | None = None,
        clock: Callable[[], int] = wall_clock,
        **settings: object,
    ) -> AbstractAsyncContextManager[Client]: ...
