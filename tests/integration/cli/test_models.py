"""A change of the model, as a user meets it: what is said, what still works, and what mends it."""

import json
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.allocator.v1 import allocator_service_pb2_grpc as allocator_rpc
from satchel.api.store.v1 import maintenance_service_pb2 as pb
from satchel.api.store.v1 import maintenance_service_pb2_grpc as rpc
from satchel.embedder.adapters.packaged import packaged_model

from .programs import Done, Server, satchel

MANY = 150
QUESTION = "Which database has the ledger?"


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


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Done]:
    """Run a command on the data folder of the test; ``model`` is the folder of another model."""

    def command(*arguments: str, model: Path | None = None, stdin: bytes | None = None) -> Done:
        variables = {} if model is None else {"SATCHEL_EMBEDDER_MODEL_FOLDER": str(model)}
        done = satchel("-d", str(tmp_path / "data"), *arguments, stdin=stdin, **variables)
        assert done.code in {0, 1}, done.err
        return done

    return command


@contextmanager
def running(tmp_path: Path, model: Path, *, stop_by: int = signal.SIGTERM) -> Iterator[Server]:
    server = Server(
        tmp_path / "up.log",
        *("-d", str(tmp_path / "data"), "up", "--grpc", "127.0.0.1:0", "--http", "127.0.0.1:0"),
        ready="gRPC",
        SATCHEL_EMBEDDER_MODEL_FOLDER=str(model),
    )
    try:
        yield server.wait()
    finally:
        server.stop(stop_by)


def begin(server: Server) -> tuple[pb.Reembedding, allocator_pb.RecallResponse]:
    """Begin a re-embedding and go away after the first answer; recall at once, while little is done."""
    question = allocator_pb.RecallRequest(query=QUESTION, budget=300)
    with grpc.insecure_channel(server.address("gRPC")) as channel:
        call = rpc.MaintenanceServiceStub(channel).ReembedMemories(pb.ReembedMemoriesRequest(), timeout=60)
        first = next(iter(call))
        call.cancel()
        return first.reembedding, allocator_rpc.AllocatorServiceStub(channel).Recall(question, timeout=60)


def recall(run: Callable[..., Done], model: Path, *options: str) -> dict[str, object]:
    """Return the receipt of a recall that words can answer."""
    done = run("recall", QUESTION, "--budget", "300", "--json", *options, model=model)
    answer = json.loads(done.text)
    assert "PostgreSQL" in answer["context"]
    receipt: dict[str, object] = answer["receipt"]
    return receipt


def test_another_model_is_told_and_mended_by_reembed_also_when_it_is_killed_on_the_way(
    tmp_path: Path, other_model: Path, run: Callable[..., Done]
) -> None:
    texts = [{"content": f"The region {n} has {n} servers.", "wing": "w"} for n in range(MANY)]
    texts.append({"content": "The ledger is in PostgreSQL.", "wing": "general"})
    run("import", "-", stdin="\n".join(map(json.dumps, texts)).encode())
    assert run("reembed").code == 0

    status, doctor = run("status", model=other_model), run("doctor", model=other_model)
    before = recall(run, other_model)
    with running(tmp_path, other_model, stop_by=signal.SIGKILL) as server:
        begun, during = begin(server)
    with running(tmp_path, other_model):
        ended = run("reembed", "--json", model=other_model)
        head = json.loads(run("status", "--json", model=other_model).text)["revision"]
        after = recall(run, other_model, "--min-revision", str(head))

    assert "satchel reembed" in status.text
    assert "warn  vectors" in doctor.text
    assert before["degraded"] == ["index"]
    assert list(during.receipt.degraded) == [allocator_pb.PART_INDEX]
    assert "PostgreSQL" in during.context
    assert begun.total_count == MANY + 1
    found = json.loads(ended.text)
    assert (ended.code, found["state"], found["outdated_count"]) == (0, "done", 0)
    assert (found["total_count"], found["done_count"]) == (MANY + 1, MANY + 1)
    assert found["store_model"]["name"] == "other-model"
    assert after["degraded"] == []


def test_reindex_builds_the_index_anew_and_says_what_it_holds(run: Callable[..., Done]) -> None:
    run("store", "Elephants never forget.")
    done = run("reindex", "--json")

    found = json.loads(done.text)
    assert (done.code, found["state"], found["memory_count"]) == (0, "ready", 1)
    assert found["rebuild_reason"] == "A rebuild was asked for."


def test_reembed_has_nothing_to_do_where_every_vector_is_of_the_model(run: Callable[..., Done]) -> None:
    run("store", "Elephants never forget.")
    done = run("reembed")
    told = run("reembed", "--status")
    cancelled = run("reembed", "--cancel")

    assert (done.code, done.text, told.code, cancelled.code) == (0, "", 0, 0)
    assert done.err == "Every vector is of the embedder's model, all-MiniLM-L6-v2.\n"
    assert told.err == cancelled.err == done.err
