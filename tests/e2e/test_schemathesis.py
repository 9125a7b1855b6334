"""schemathesis finds nothing wrong with the REST door: the document says what the server does."""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from e2e.running import embedded
from requirements import requirement

TESTS = Path(__file__).resolve().parents[1]
LIMIT_S = 400
MAIN = "from schemathesis.cli import schemathesis; schemathesis()"
# No check is left out. BatchStoreMemories takes the requests of StoreMemory: the coverage phase tries every
# value of every field in the one, chance makes requests for the other, and neither does so twice.
CONFIG = """
seed = 20261130
color = false
continue-on-failure = true

[generation]
max-examples = 2

[[operations]]
include-operation-id = "BatchStoreMemories"
phases.coverage.enabled = false

[[operations]]
include-operation-id = "StoreMemory"
phases.fuzzing.enabled = false
"""
# One process each, for generating requests takes longer than answering them.
PARTS: tuple[Sequence[str], ...] = (
    ("--phases", "coverage", "--include-path-regex", "/memories"),
    ("--phases", "coverage", "--exclude-path-regex", "/memories"),
    ("--phases", "examples,fuzzing,stateful"),
)
EVERYTHING = {
    "SATCHEL_SOUL_ENABLED": "true",
    "SATCHEL_WEBHOOKS_ENABLED": "true",
    "SATCHEL_WEBHOOKS_ALLOW_PRIVATE": "true",
}


@contextmanager
def examining(http: str, folder: Path, options: Sequence[str]) -> Iterator[subprocess.Popen[str]]:
    """Run one part beside the block, in a folder of its own; it is stopped if it has not ended by then."""
    folder.mkdir()
    (folder / "schemathesis.toml").write_text(CONFIG, encoding="utf-8")
    paths = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    with subprocess.Popen(  # our own command
        [sys.executable, "-c", MAIN, "run", f"{http}/openapi.json", *options],
        env={**os.environ, "SCHEMATHESIS_HOOKS": "e2e.schemathesis_rules", "PYTHONPATH": paths},
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    ) as started:
        try:
            yield started
        finally:
            started.kill()


@requirement("rest:derived")
@pytest.mark.timeout(LIMIT_S + 60)
def test_the_server_does_what_its_document_says(tmp_path: Path) -> None:
    with embedded(tmp_path / "data", EVERYTHING) as satchel, ExitStack() as stack:
        parts = [
            stack.enter_context(examining(satchel.http, tmp_path / f"part-{number}", options))
            for number, options in enumerate(PARTS)
        ]
        told = [part.communicate(timeout=LIMIT_S)[0] for part in parts]

    assert [part.returncode for part in parts] == [0] * len(PARTS), "\n".join(told)
