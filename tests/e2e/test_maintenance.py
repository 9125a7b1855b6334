"""An administrator of a whole Satchel makes vectors and index anew over REST, and nobody else does."""

import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from e2e.door import Door, until
from e2e.running import Running, apart, embedded
from requirements import requirement
from satchel.api.index.v1 import index_service_pb2 as index_pb
from satchel.api.index.v1 import index_service_pb2_grpc as index_rpc
from satchel.embedder.adapters.packaged import packaged_model

MANY = 150
OWNER, READER, BOUND = "sk_owner", "sk_reader", "sk_bound"  # no secrets
KEYS = [
    {"name": "reader", "token": READER, "right": "read"},
    {"name": "bound", "token": BOUND, "right": "write", "projects": ["mine"]},
]
GUARDED = {"SATCHEL_AUTH_TOKEN": OWNER, "SATCHEL_KEYS": json.dumps(KEYS)}
Run = Callable[[Path, Mapping[str, str]], AbstractContextManager[Running]]


@pytest.fixture
def other_model(tmp_path: Path) -> Path:
    """A folder with the packaged model, read with another length: its vectors are another model's."""
    source = packaged_model(max_tokens=None)
    folder = tmp_path / "other-model"
    folder.mkdir()
    shutil.copy(source.model_file, folder / "model.onnx")
    source.open_tokenizer()._raw.save(str(folder / "tokenizer.json"))  # type: ignore[attr-defined]  # a test's way to its file
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 64}')
    return folder


@contextmanager
def filled(data: Path) -> Iterator[Door]:
    """Run a Satchel that holds many memories."""
    with embedded(data) as running:
        texts = ({"content": f"The region {n} has {n} servers.", "wing": "w"} for n in range(MANY))
        done = running.cli("import", "-", stdin="\n".join(map(json.dumps, texts)))
        assert done.returncode == 0, done.stderr
        yield Door(running.http, {})


def state(door: Door) -> Any:  # noqa: ANN401  # JSON
    return door.ask("GET", "/reembedding")["reembedding"]


@requirement("reembed:doors")
@pytest.mark.parametrize("run", [embedded, apart])
def test_a_reembedding_is_begun_watched_cancelled_and_ended_over_rest(
    tmp_path: Path, other_model: Path, run: Run
) -> None:
    with filled(tmp_path / "data"):
        pass
    with run(tmp_path / "data", {"SATCHEL_EMBEDDER_MODEL_FOLDER": str(other_model)}) as running:
        door = Door(running.http, {})
        before = state(door)
        begun = door.send("POST", "/reembedding")
        cancelled = door.ask("DELETE", "/reembedding")["reembedding"]
        again = door.send("POST", "/reembedding", {})
        until(lambda: state(door)["state"] == "done")
        after = state(door)
        found = door.recalled("How many servers has the region 77?", wing="w", budget=200)

    assert before["state"] == "needed"
    assert (begun.status_code, begun.json()["reembedding"]["state"]) == (202, "running")
    assert cancelled["state"] == "cancelled"
    assert cancelled["outdated_count"] > 0
    assert (again.status_code, again.json()["reembedding"]["state"]) == (202, "running")
    assert (after["outdated_count"], after["uncoded_count"]) == (0, 0)
    assert after["store_model"] == after["embedder_model"] == before["embedder_model"]
    assert found


@requirement("reembed:doors", "reembed:codes")
def test_codes_that_are_missing_are_told_of_and_made_by_one_call(tmp_path: Path) -> None:
    with filled(tmp_path / "data"):
        pass
    # As the database of an older version is when it has been migrated.
    with sqlite3.connect(tmp_path / "data" / "satchel.db") as database:
        database.execute("INSERT INTO without_codes SELECT memory FROM token_codes")
        database.execute("DELETE FROM token_codes")
    database.close()
    with embedded(tmp_path / "data") as running:
        door = Door(running.http, {})
        before = state(door)
        doctor = json.loads(running.cli("doctor", "--json").stdout)
        answered = door.recall("How many servers has the region 77?", wing="w", budget=200)
        door.ask("POST", "/reembedding")
        until(lambda: state(door)["state"] != "running")
        after = state(door)

    assert (before["state"], before["uncoded_count"], before["outdated_count"]) == ("incomplete", MANY, 0)
    assert {"name": "vectors", "verdict": "warn", "detail": before["detail"]}.items() <= next(
        check for check in doctor["checks"] if check["name"] == "vectors"
    ).items()
    assert answered["receipt"]["degraded"] == []
    assert (after["state"], after["uncoded_count"]) == ("done", 0)
    assert after["total_count"] == after["done_count"] == MANY


@requirement("reembed:doors")
@pytest.mark.parametrize("run", [embedded, apart])
def test_the_index_is_built_anew_over_rest(tmp_path: Path, run: Run) -> None:
    with run(tmp_path / "data", {}) as running:
        door = Door(running.http, {})
        kept = door.store("w", "Elephants never forget.")
        answer = door.send("POST", "/index/rebuild")
        until(lambda: door.ask("GET", "/status")["index"]["state"] == "ready")
        with grpc.insecure_channel(running.index) as channel:
            status = index_rpc.IndexServiceStub(channel).GetIndexStatus(
                index_pb.GetIndexStatusRequest(), timeout=10
            )
        found = door.recalled("Who never forgets?", wing="w")

    assert (answer.status_code, answer.json()["target_revision"] > 0) == (202, True)
    assert status.rebuild_reason == "A rebuild was asked for."
    assert found == [kept]


@requirement("reembed:doors", "keys:rights")
def test_only_an_admin_makes_anything_anew_and_a_key_of_one_project_counts_its_own(tmp_path: Path) -> None:
    with embedded(tmp_path / "data", GUARDED) as running:
        owner, reader, bound = (
            Door(running.http, {"authorization": f"Bearer {key}"}) for key in (OWNER, READER, BOUND)
        )
        owner.store("w", "The gate is locked at nine.", project="theirs")
        refused = [
            door.send(verb, path).status_code
            for door in (reader, bound)
            for verb, path in (
                ("POST", "/reembedding"),
                ("DELETE", "/reembedding"),
                ("POST", "/index/rebuild"),
            )
        ]
        owned = owner.ask("DELETE", "/reembedding")["reembedding"]
        read, counted = state(reader), state(bound)
        elsewhere = bound.send("GET", "/reembedding", project="theirs")

    assert refused == [403] * 6
    assert owned["state"] == read["state"] == counted["state"] == "done"
    assert elsewhere.status_code == 403
