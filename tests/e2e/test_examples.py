"""The examples of the README run as they stand, but for the addresses."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.running import Running, embedded
from requirements import requirement

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An empty Satchel in one process."""
    with embedded(tmp_path_factory.mktemp("examples") / "data") as running:
        yield running


def run_example(name: str, interpreter: str, at: Running) -> str:
    """Run an example against this Satchel; return what it prints."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    addressed = text.replace("http://127.0.0.1:8080", at.http).replace("127.0.0.1:50051", at.allocator)
    assert addressed != text
    done = subprocess.run(  # our own example
        [interpreter, "-"], input=addressed, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


@requirement("docs:true")
def test_the_rest_example_stores_and_recalls(fresh: Running) -> None:
    printed = run_example("rest.sh", "bash", fresh)

    assert "because the ledger needs ACID" in printed.split('"context"')[1]


@requirement("docs:true")
def test_the_grpc_example_stores_and_recalls(fresh: Running) -> None:
    assert "Invoices go out on Mondays." in run_example("grpc_client.py", sys.executable, fresh)
