"""The client is installed where nothing of Satchel itself is."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

# Top-level packages that the client may need, beside the standard library and its own.
ALLOWED = ("google", "grpc", "satchel", "typing_extensions")

PROGRAM = f"""
import sys
from importlib.abc import MetaPathFinder

class Barred(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {ALLOWED} and top not in sys.stdlib_module_names and not top.startswith("_"):
            raise ModuleNotFoundError(f"{{name}} is not installed", name=name)
        if top == "satchel" and name.split(".")[1:2] not in ([], ["api"], ["client"]):
            raise ModuleNotFoundError(f"{{name}} is not installed", name=name)
        return None

sys.meta_path.insert(0, Barred())
import satchel.client

with satchel.client.Satchel("127.0.0.1:1") as client:
    try:
        client.remember("x", timeout=0.2)
    except satchel.client.SatchelError as error:
        print(error.code.name)
"""


def pins(name: str) -> dict[str, str]:
    """Return the versions that a file of requirements pins."""
    text = (ROOT / name).read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


def test_it_works_without_the_dependencies_of_the_services() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stderr == ""
    assert done.stdout.strip() in {"UNAVAILABLE", "DEADLINE_EXCEEDED"}


def test_the_barrier_bars_what_the_services_need() -> None:
    barred = PROGRAM.partition("import satchel.client")[0] + "import numpy"

    done = subprocess.run(
        [sys.executable, "-c", barred], capture_output=True, text=True, timeout=60, check=False
    )

    assert "numpy is not installed" in done.stderr


def test_its_requirements_are_pinned_as_those_of_the_whole() -> None:
    client, whole = pins("clients/python/requirements.txt"), pins("requirements/runtime.txt")

    assert {"grpcio", "protobuf", "googleapis-common-protos"} <= set(client)
    assert {name: whole[name] for name in client} == client
