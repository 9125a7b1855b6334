"""The commands chain, link, unlink and consolidate, each as a process of its own."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from integration.cli.programs import Done, Server, satchel

Run = Callable[..., Done]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    base = tmp_path_factory.mktemp("graph")
    folder = str(base / "data")
    free = ("--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0")
    server = Server(Path(base / "up.log"), "-d", folder, "up", *free, ready="gRPC").wait()

    def run_there(*arguments: str) -> Done:
        return satchel("-d", folder, *arguments)

    yield run_there
    assert server.stop() == 0


def store(run: Run, text: str, wing: str, *more: str) -> str:
    return run("store", text, "-w", wing, *more).text.strip()


def test_a_chain_shows_what_was_found_and_what_was_given(run: Run) -> None:
    outage = store(run, "The Redis cluster lost its data on Monday.", "shop")
    fix = store(run, "We added replicas because the Redis cluster lost data.", "shop")
    party = store(run, "There was a party.", "shop")
    linked = run("link", fix, party, "--relation", "triggered")
    again = run("link", fix, party, "--relation", "triggered", "--json")
    chain = run("chain", party)
    shown = json.loads(run("chain", fix, "--consequences", "--json").text)
    removed = run("unlink", fix, party)

    assert linked.err.startswith("Linked: ")
    assert json.loads(again.text)["created"] is False
    assert [line.split()[:2] for line in chain.text.splitlines()] == [["triggered", fix], ["because", outage]]
    assert chain.text.splitlines()[1].startswith("  because")
    assert [one["id"] for one in shown["chain"]] == [outage]
    assert [(one["id"], one["relation"], one["via_id"]) for one in shown["consequences"]] == [
        (party, "triggered", fix)
    ]
    assert "Removed 1 link." in removed.err
    assert run("chain", party, "--fail-empty").code == 5
    assert run("chain", party, "--relation", "sometimes").code == 2


def test_what_was_consolidated_is_brought_back_by_the_id_that_was_printed(run: Run) -> None:
    notes = [
        store(run, f"Daily talk of the team about the login page{end}", "daily", "-t", "session_note")
        for end in (".", "!", " again.")
    ]
    tried = run("consolidate", "-w", "daily", "--dry-run", "--json")
    done = run("consolidate", "-w", "daily")
    batch = done.text.strip()
    listed = [item["id"] for item in json.loads(run("timeline", "-w", "daily", "--json").text)["items"]]
    back = run("unarchive", "--batch", batch)

    assert json.loads(tried.text)["removed_count"] == 3
    assert "Merged 3 memories into 1." in done.err
    assert f"satchel unarchive --batch {batch}" in done.err
    assert len(listed) == 1
    assert sorted(back.text.split()) == sorted(notes)
