"""One real Satchel for each way of running, shared by the tests of a session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.running import Running, apart, embedded

CORPORA = Path(__file__).resolve().parents[1] / "corpora"
MODES = {"embedded": embedded, "apart": apart}


@pytest.fixture(scope="session", params=list(MODES))
def satchel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Satchel that holds the talk of `tests/corpora/kitchen_talk.json` in the wing `kitchen`."""
    with MODES[request.param](tmp_path_factory.mktemp(request.param) / "data") as running:
        done = running.cli("import", str(CORPORA / "kitchen_talk.json"), "--wing", "kitchen")
        assert done.returncode == 0, done.stderr
        yield running
