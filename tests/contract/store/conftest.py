"""Runs every test of the suite over every backend."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from contract.store.backends import Backend, RunningStore, backends_of
from unit.store import fakes
from unit.store.fakes import Client, FakeEmbedder

from satchel.store.main import wall_clock


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "belongs_to(category): run only over backends that have the category")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" in metafunc.fixturenames:
        categories = {one for mark in metafunc.definition.iter_markers("belongs_to") for one in mark.args}
        chosen = backends_of(categories)
        metafunc.parametrize("backend", chosen, ids=[backend.name for backend in chosen])


@pytest.fixture
def running_store(backend: Backend, tmp_path: Path) -> RunningStore:
    """Run stores of one backend in a folder of the test's own."""

    def run(
        *,
        name: str = "store",
        embedder: FakeEmbedder | None = None,
        clock: Callable[[], int] = wall_clock,
        **settings: object,
    ) -> AbstractAsyncContextManager[Client]:
        chosen = {**backend.settings, "url": backend.url(tmp_path / name), **settings}
        return fakes.running_store(tmp_path, embedder=embedder, clock=clock, **chosen)  # type: ignore[arg-type]  # names of settings

    return run
