"""Builds and runs the clients of all languages, for their test and their benchmark."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "clients"
SCENARIO = FOLDER / "scenario.json"
BUILD_LIMIT_S = 580.0
RUN_LIMIT_S = 120.0

Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Client:
    """One client: the programs that it takes, and how it is built, run and tested, all from its own folder.

    ``quick_build`` and ``quick_runner`` are for the benchmark, where they differ.
    """

    language: str
    tools: tuple[str, ...]
    build: Command
    runner: Command
    own_tests: Command = ()
    quick_build: Command = ()
    quick_runner: Command = ()

    @property
    def folder(self) -> Path:
        """Where the client is."""
        return FOLDER / self.language

    @property
    def missing_tools(self) -> list[str]:
        """The programs that are not here, or not set up, as rustup's `cargo` is without a toolchain."""
        return [tool for tool in self.tools if not _works(tool)]


# One entry a client. Pytest itself tests the one of Python.
CLIENTS = (
    Client(
        "python",
        tools=(),
        build=(sys.executable, "-c", "import satchel.client"),
        runner=(sys.executable, "scenario.py"),
    ),
    Client(
        "go",
        tools=("go",),
        build=("go", "build", "-o", "bin/", "./cmd/..."),
        runner=("bin/scenario",),
        own_tests=("sh", "-c", "go vet ./... && go test ./..."),
    ),
    Client(
        "typescript",
        tools=("node", "npm"),
        build=("sh", "-c", "npm ci --no-audit --no-fund && npm run build"),
        runner=("node", "dist/scenario/run.js"),
        own_tests=("npm", "test"),
    ),
    Client(
        "java",
        tools=("java", "mvn"),
        build=("mvn", "-q", "-B", "-DskipTests", "package"),
        runner=(
            "java",
            "-cp",
            "target/classes:target/test-classes:target/lib/*",
            "dev.satchel.examples.Runner",
        ),
        own_tests=("mvn", "-q", "-B", "test"),
    ),
    Client(
        "rust",
        tools=("cargo",),
        build=("cargo", "build", "--locked", "--examples"),
        runner=("target/debug/examples/scenario",),
        own_tests=("cargo", "test", "--locked"),
        quick_build=("cargo", "build", "--locked", "--examples", "--release"),
        quick_runner=("target/release/examples/scenario",),
    ),
)


@cache
def _works(tool: str) -> bool:
    if shutil.which(tool) is None:
        return False
    question = "version" if tool == "go" else "--version"
    return subprocess.run([tool, question], capture_output=True, check=False).returncode == 0


@cache
def build(client: Client, *, quick: bool = False) -> Command:
    """Build the client, once in a process, and return the command of its runner.

    Raises:
        RuntimeError: the build failed; the text holds its output.
    """
    is_other = quick and bool(client.quick_build)
    _checked(client.quick_build if is_other else client.build, client.folder, BUILD_LIMIT_S)
    return client.quick_runner if is_other else client.runner


def run_scenario(client: Client, url: str, project: str) -> str:
    """Run the scenario; return what the runner prints.

    Raises:
        RuntimeError: a step failed; the text holds the runner's output.
    """
    arguments = ["--url", url, "--project", project, str(SCENARIO)]
    return _checked([*build(client), *arguments], client.folder, RUN_LIMIT_S)


def run_bench(client: Client, url: str, project: str, seconds: float) -> str:
    """Measure the calls for so many seconds each; return what the runner prints."""
    arguments = ["--url", url, "--project", project, "--bench", f"{seconds:g}"]
    return _checked([*build(client, quick=True), *arguments], client.folder, RUN_LIMIT_S + 4 * seconds)


def run_own_tests(client: Client) -> None:
    """Run the tests that the client has in its own language.

    Raises:
        RuntimeError: one failed; the text holds the output.
    """
    _checked(client.own_tests, client.folder, BUILD_LIMIT_S)


def example_command(client: Client) -> str:
    """Return the one command of the client's README: its first block of shell."""
    text = (client.folder / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^```bash\n(.+?)^```", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise ValueError(f"The README of {client.language} has no command.")
    return found[1].strip()


def run_example(client: Client, environment: Mapping[str, str]) -> str:
    """Run the README's command as it stands; return what it prints.

    A command that names the path of its folder starts in the root of the repository, another in the folder.
    """
    command = example_command(client)
    start = ROOT if f"clients/{client.language}" in command else client.folder
    return _checked(["bash", "-c", command], start, BUILD_LIMIT_S, environment)


def generate_stubs(folder: Path) -> Path:
    """Generate the stubs of Go and TypeScript anew below ``folder``, as `just clients` does; return where.

    The client of TypeScript must be built, since its plugin comes with what it installs.
    """
    image = folder / "contract.binpb"
    _checked([sys.executable, "tools/generate.py", "--image", str(image)], ROOT, RUN_LIMIT_S)
    command = ["buf", "generate", str(image), "--path", "satchel", "--template", "buf.gen.yaml"]
    _checked([*command, "-o", str(folder / "made")], ROOT, BUILD_LIMIT_S)
    return folder / "made"


def _checked(
    command: Sequence[str], folder: Path, limit_s: float, environment: Mapping[str, str] | None = None
) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=limit_s,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout
