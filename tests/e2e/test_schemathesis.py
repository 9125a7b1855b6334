"""schemathesis finds nothing wrong with the REST door: the document says what the server does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.running import embedded
from requirements import requirement

TESTS = Path(__file__).resolve().parents[1]
LIMIT_S = 280
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


@requirement("rest:derived")
@pytest.mark.timeout(LIMIT_S + 60)
def test_the_server_does_what_its_document_says(tmp_path: Path) -> None:
    (tmp_path / "schemathesis.toml").write_text(CONFIG, encoding="utf-8")
    paths = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    with embedded(tmp_path / "data") as satchel:
        done = subprocess.run(  # our own command
            [sys.executable, "-c", MAIN, "run", f"{satchel.http}/openapi.json"],
            env={**os.environ, "SCHEMATHESIS_HOOKS": "e2e.schemathesis_rules", "PYTHONPATH": paths},
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_S,
            check=False,
        )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
