"""Programs of Node.js that tests run, as their lock files pin them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

INSTALL_LIMIT_S = 300


def installed(folder: Path) -> Path:
    """Return where the programs of a folder are, installed on first use.

    The test is skipped where there is no Node.js, but never in CI.
    """
    npm = shutil.which("npm")
    if npm is None and not os.environ.get("CI"):
        pytest.skip("Node.js is not installed")
    programs = folder / "node_modules" / ".bin"
    if not programs.exists():
        subprocess.run(
            [str(npm), "install", "--no-save", "--no-progress"],
            cwd=folder,
            check=True,
            capture_output=True,
            timeout=INSTALL_LIMIT_S,
        )
    return programs
