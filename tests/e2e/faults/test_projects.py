"""Projects are worlds of their own, whatever their names, and closed where none is named."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from e2e.door import Door
from e2e.running import Running, embedded
from requirements import requirement

SECRET = "zanzibar"  # noqa: S105  # a word that only the other project holds
KEYS = [
    {"name": "one", "token": "sk_one-of-the-tests", "right": "write", "projects": ["one"]},
    {"name": "two", "token": "sk_two-of-the-tests", "right": "write", "projects": ["two"]},
]
ODD_NAMES = (
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "a-b-c",
    "a OR b",
    'say "x"',
    "it's",
    "a:b*",
    "..",
    "../../escape",
    "/etc/escape",
    "C:\\escape",
    "%2e%2e%2f",
    "'; DROP TABLE memories; --",
    "名前",
    "‮elddir",  # noqa: PLE2502  # a name that reads backwards is a name
)


def twin(door: Door, project: str, word: str) -> str:
    """Store a memory that is named in all ways as its twin of another project, and says another word."""
    return door.store(
        "w",
        f"The password of the door is {word}.",
        project=project,
        room="r",
        path="door.md",
        session_id="s",
        tags=["door"],
        title="Door",
    )


def everything(door: Door, project: str, **headers: str) -> dict[str, Any]:
    """Ask every way of finding for what a project holds."""
    at = Door(door.http, {**door.headers, **headers})
    question = {"query": f"password door {SECRET}", **({"project": project} if project else {})}
    named = {"project": project} if project else {}
    return {
        "recall": at.recall(**question, explain=True),
        "fallback": at.recall(**question, wing="empty", fallback_wings=["w"]),
        "search": at.ask("POST", "/memories/search", question),
        "tags": at.ask("POST", "/memories/search", {**question, "tags": ["door"]}),
        "list": at.ask("GET", "/memories", **named),
        "timeline": at.ask("GET", "/timeline", wing="w", **named),
    }


@requirement("store:projects", "recall:filters", "search:scope")
def test_what_bears_the_same_names_in_two_projects_stays_apart(door: Door) -> None:
    ids = {word: twin(door, project, word) for project, word in (("p-one", "kitten"), ("p-two", SECRET))}
    shown = everything(door, "p-one")

    for way, answer in shown.items():
        assert ids["kitten"] in json.dumps(answer), way
        assert ids[SECRET] not in json.dumps(answer), way
        assert f"is {SECRET}" not in json.dumps(answer), way


@requirement("store:projects", "doors:project")
def test_where_no_project_is_named_it_is_the_default_one_and_not_all(door: Door) -> None:
    other = twin(door, "p-three", SECRET)

    assert [way for way, answer in everything(door, "").items() if other in json.dumps(answer)] == []


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Satchel with two keys, each of one project."""
    environment = {"SATCHEL_AUTH_TOKEN": "sk_the-owner-of-the-tests", "SATCHEL_KEYS": json.dumps(KEYS)}
    with embedded(tmp_path_factory.mktemp("keyed") / "data", environment) as running:
        yield running


@requirement("keys:rights", "store:projects")
def test_a_key_of_one_project_reaches_nothing_of_another_by_any_route(keyed: Running) -> None:
    one, two = (Door(keyed.http, {"authorization": f"Bearer {key['token']}"}) for key in KEYS)
    theirs = twin(two, "", SECRET)
    mine = twin(one, "", "kitten")
    paths = httpx2.get(f"{keyed.http}/openapi.json").json()["paths"]
    with_id = [
        (verb.upper(), path) for path, verbs in paths.items() if "memories/{id}" in path for verb in verbs
    ]
    codes = {}
    for verb, path in [*with_id, ("GET", "/api/v1/causal/{id}")]:
        place = path.replace("{id}", theirs).replace("{version}", "1").removeprefix("/api/v1")
        answer = one.send(verb, place, {"title": "Mine now"} if verb == "PUT" else None)
        codes[f"{verb} {path}"] = answer.status_code
        assert SECRET not in answer.text
    bodies = [
        one.send("POST", "/memories/batch_get", {"ids": [theirs]}),
        one.send("POST", "/archive", {"ids": [theirs]}),
        one.send("POST", "/causal/links", {"cause_id": mine, "effect_id": theirs, "relation": "because"}),
        one.send("DELETE", "/memories", {"mode": "global", "project": "two"}),
        one.send("POST", "/memories/recall", {"query": SECRET, "project": "two"}),
    ]

    assert len(codes) >= 7
    assert set(codes.values()) <= {403, 404}
    assert bodies[0].json()["memories"] == []
    assert {answer.status_code for answer in bodies[1:]} <= {400, 403, 404, 409, 412}
    assert [way for way, answer in everything(one, "").items() if theirs in json.dumps(answer)] == []
    assert (two.load(theirs)["title"], two.load(theirs)["state"]) == ("Door", "active")


@requirement("store:projects", "search:no-syntax", "store:paths")
@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_name_is_data_whatever_it_looks_like(satchel: Running, door: Door, name: str) -> None:
    folder = satchel.data_dir.parent
    before = sorted(folder.rglob("*"))
    fields = {"project": name, "session_id": name, "path": f"notes/{name}", "source": name, "tags": [name]}
    kept = door.store("w", "The ferry leaves at noon.", **fields)
    question = {"project": name, "wing": "w"}
    loaded = door.load(kept)

    assert {field: loaded[field] for field in ("project", "session_id", "path", "source")} == {
        field: value for field, value in fields.items() if field != "tags"
    }
    assert door.recalled("When does the ferry leave?", **question) == [kept]
    assert door.found("ferry", tags=[name], **question) == [kept]
    assert sorted(folder.rglob("*")) == before


@requirement("doors:same-errors")
@pytest.mark.parametrize(
    "name", [name for name in ODD_NAMES if not name.replace("-", "").isascii() or "." in name]
)
def test_a_wing_or_room_is_no_path(door: Door, name: str) -> None:
    for field, other in (("wing", "room"), ("room", "wing")):
        answer = door.send("POST", "/memories", {"content": "x", field: name, other: "w"})

        assert (answer.status_code, answer.json()["field"]) == (422, field)
