"""One Satchel, in a zone that is not UTC, for the kinds of faults that users of other systems reported."""

from collections.abc import Iterator

import pytest

from e2e.door import Door
from e2e.running import Running, embedded


@pytest.fixture(scope="package")
def satchel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Satchel in one process; every test has projects or wings of its own."""
    with embedded(tmp_path_factory.mktemp("faults") / "data", {"TZ": "America/Los_Angeles"}) as running:
        yield running


@pytest.fixture(scope="package")
def door(satchel: Running) -> Door:
    """REST and MCP of that Satchel."""
    return Door(satchel.http, {})
