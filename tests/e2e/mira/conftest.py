"""One Satchel with everything switched on, for the cases of MIRA's clients."""

from collections.abc import Iterator

import pytest

from e2e.door import Door
from e2e.running import Running, embedded

EVERYTHING = {
    "SATCHEL_SOUL_ENABLED": "true",
    "SATCHEL_WEBHOOKS_ENABLED": "true",
    "SATCHEL_WEBHOOKS_ALLOW_PRIVATE": "true",
    "SATCHEL_WEBHOOKS_MAX_TRIES": "3",
    "SATCHEL_WEBHOOKS_RETRY_FIRST_S": "0.05",
    "SATCHEL_WEBHOOKS_RETRY_LONGEST_S": "0.2",
}


@pytest.fixture(scope="package")
def satchel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Satchel in one process, beside a file of somebody else; every test has wings of its own."""
    folder = tmp_path_factory.mktemp("mira")
    (folder / ".gitignore").write_text("build\n", encoding="utf-8")
    with embedded(folder / "data", EVERYTHING) as running:
        yield running


@pytest.fixture(scope="package")
def door(satchel: Running) -> Door:
    """REST and MCP of that Satchel."""
    return Door(satchel.http, {})
