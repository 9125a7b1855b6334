"""The clients of all languages get the same answers, whichever way Satchel runs."""

import json
import os
import uuid
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.client_programs import (
    CLIENTS,
    FOLDER,
    Client,
    build,
    example_command,
    generate_stubs,
    run_example,
    run_own_tests,
    run_scenario,
)
from e2e.running import Running, embedded
from requirements import requirement

EXPECTED = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))

# Building takes minutes where nothing is built yet.
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="session", params=CLIENTS, ids=lambda client: client.language)
def client(request: pytest.FixtureRequest) -> Client:
    """A client that is built; where its tools are missing the tests are skipped, but not in CI."""
    one: Client = request.param
    if one.missing_tools and not os.environ.get("CI"):
        pytest.skip(
            f"{', '.join(one.missing_tools)} not installed: the client of {one.language} is not tested"
        )
    build(one)
    return one


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An empty Satchel in one process."""
    with embedded(tmp_path_factory.mktemp("clients") / "data") as running:
        yield running


@requirement("clients:any-language", "doors:same-bytes")
def test_a_client_gets_the_expected_answers(client: Client, satchel: Running) -> None:
    printed = json.loads(
        run_scenario(client, satchel.url or satchel.store, f"{client.language}-{uuid.uuid4()}")
    )

    assert printed == EXPECTED
    assert list(printed) == list(EXPECTED)


@requirement("clients:any-language")
@pytest.mark.parametrize(
    "client", [one for one in CLIENTS if one.own_tests], ids=lambda one: one.language, indirect=True
)
def test_the_own_tests_of_a_client_pass(client: Client) -> None:
    run_own_tests(client)


STUBS = ("clients/go/api", "clients/typescript/src/gen/satchel")
WITH_PLUGINS = [one for one in CLIENTS if one.language == "typescript"]


@requirement("contract:generated")
@pytest.mark.parametrize("client", WITH_PLUGINS, ids=lambda one: one.language, indirect=True)
@pytest.mark.usefixtures("client")
def test_the_committed_stubs_are_the_ones_that_the_contracts_give(tmp_path: Path) -> None:
    made = generate_stubs(tmp_path)

    for folder in STUBS:
        written, committed = _texts(made / folder), _texts(FOLDER.parent / folder)
        names = written.keys() | committed.keys()
        assert written
        assert [name for name in sorted(names) if written.get(name) != committed.get(name)] == []


def _texts(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


@requirement("clients:any-language", "docs:true")
def test_the_one_command_of_a_readme_stores_and_recalls(
    client: Client, fresh: Running, tmp_path: Path
) -> None:
    # What the command installs for Python goes into an environment of its own.
    venv.create(tmp_path / "venv", with_pip="pip " in example_command(client))
    path = f"{tmp_path / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"

    printed = run_example(client, {"SATCHEL_URL": fresh.allocator, "PATH": path})

    assert "<memories" in printed
    assert "</memories>" in printed


@requirement("clients:any-language")
def test_every_step_of_the_scenario_is_expected() -> None:
    steps = json.loads((FOLDER / "scenario.json").read_text(encoding="utf-8"))["steps"]

    assert [step["name"] for step in steps] == list(EXPECTED)


@requirement("clients:any-language")
def test_every_client_is_tested() -> None:
    folders = {path.name for path in FOLDER.iterdir() if path.is_dir()}

    assert {client.language for client in CLIENTS} == folders
