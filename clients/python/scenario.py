"""Runs `clients/scenario.json` with the Python client, and prints what it says.

`clients/README.md` says how to read the scenario, and what the command line is:

    python clients/python/scenario.py --url 127.0.0.1:50051 --project NEW clients/scenario.json

With `--bench SECONDS` in place of the path it measures three calls.
"""

import argparse
import json
import math
import secrets
import uuid
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import grpc
from call_speed import measure

from satchel.api.allocator.v1 import allocator_service_pb2 as allocator_pb
from satchel.api.allocator.v1.allocator_service_pb2_grpc import AllocatorServiceStub
from satchel.api.store.v1 import change_service_pb2 as change_pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.api.store.v1.memory_service_pb2_grpc import MemoryServiceStub
from satchel.api.types.v1 import memory_pb2, trace_pb2
from satchel.client import CandidateFields, Imported, NewMemory, Satchel, SatchelError, explain

# A step of the file, and what a runner prints of it.
Step = dict[str, Any]
Printed = dict[str, Any]

TIMEOUT_S = 30.0


class Scenario:
    """The steps, each a method of its name; later ones use what earlier ones have stored."""

    def __init__(self, satchel: Satchel, project: str, wing: str) -> None:
        self._satchel = satchel
        self._project = project
        self._wing = wing
        self._texts: list[str] = []
        self._stored: list[memory_pb.StoreMemoryResponse] = []
        self._revision = 0
        self._question: Step = {}

    def run(self, steps: Iterable[Step]) -> Printed:
        """Carry out the steps in order; return what is printed of each."""
        return {step["name"]: getattr(self, step["name"])(step) for step in steps}

    def health(self, step: Step) -> Printed:
        """Print whether the store serves."""
        return {"status": self._satchel.health(step["request"]["service"]).name}

    def store_three(self, step: Step) -> list[Printed]:
        """Store three memories of different types."""
        self._texts = [request["content"] for request in step["requests"]]
        self._stored = [self._satchel.remember(**request) for request in step["requests"]]
        return [_of_stored(answer) for answer in self._stored]

    def store_by_stream(self, step: Step) -> list[Printed]:
        """Store records over a stream; a bad one fails alone."""
        outcomes: list[Imported] = []
        self._satchel.import_(map(_record, step["requests"]), progress=outcomes.append)
        return [_of_imported(one) for one in outcomes]

    def same_request_id(self, step: Step) -> Printed:
        """Send one request id twice, and then with another text."""
        request_id = uuid.uuid4()
        first = self._satchel.remember(step["content"], request_id=request_id)
        second = self._satchel.remember(step["content"], request_id=request_id)
        self._revision = first.revision
        error = _error_of(lambda: self._satchel.remember(step["other_content"], request_id=request_id))
        return {
            "same_id": first.id == second.id,
            "code": error.code.name,
            "reason": error.reason or None,
            "request_id_named": error.metadata.get("request_id") == str(request_id),
        }

    def recall(self, step: Step) -> Printed:
        """Recall under a budget, and check the receipt."""
        answer = self._satchel.recall(**step["request"], min_revision=self._revision)
        self._question = step["request"]
        first = answer.memories[0]
        return {
            "first_mode": allocator_pb.RenderMode.Name(first.mode),
            "first_is_stored": first.id == self._stored[0].id,
            "in_context": self._texts[0] in answer.context,
            "within_budget": answer.total_tokens <= step["request"]["budget"],
            "receipt_agrees": 0 < answer.total_tokens == answer.receipt.total_tokens,
            "encoding": answer.receipt.encoding,
            "degraded": [allocator_pb.Part.Name(one) for one in answer.receipt.degraded],
        }

    def search(self, step: Step) -> list[Printed]:
        """Search by words and meaning, filtered."""
        answer = self._satchel.search(**step["request"], min_revision=self._revision)
        return [
            {"content": one.content, "type": memory_pb2.MemoryType.Name(one.type), "room": one.room}
            for one in answer.results
        ]

    def allocate(self, step: Step) -> Printed:
        """Pack own candidates, with vectors."""
        request = step["request"]
        candidates = [_candidate(one) for one in request["candidates"]]
        answer = self._satchel.allocate(candidates, budget=request["budget"], strategy=request["strategy"])
        return {
            "context": answer.context,
            "ids": [memory.id for memory in answer.memories],
            "total_tokens": answer.total_tokens,
            "collapsed_count": answer.receipt.collapsed_count,
            "selected_count": answer.receipt.selected_count,
        }

    def embed(self, step: Step) -> Printed:
        """Embed texts, and unpack the rows."""
        found = self._satchel.embed(**step["request"])
        first, second = found.rows
        return {
            "count": found.response.count,
            "dimension": found.response.dimension,
            "byte_length": len(found.response.vectors),
            "norms": [_as_text(math.hypot(*row), 4) for row in found.rows],
            "first": [_as_text(number, 2) for number in first[:3]],
            "cosine": _as_text(sum(x * y for x, y in zip(first, second, strict=True)), 2),
            "passages": [
                {"text_index": span.text_index, "start": span.start, "end": span.end}
                for span in found.response.spans
            ],
        }

    def list(self, step: Step) -> Printed:
        """List page by page, and use a token with other arguments."""
        pages = [self._page("", step["page_size"])]
        while token := pages[-1].next_page_token:
            pages.append(self._page(token, step["page_size"]))
        memories = [memory for page in pages for memory in page.memories]
        if memories != [*self._satchel.list(page_size=step["page_size"])]:
            raise RuntimeError("The client's own list differs from its pages.")
        error = _error_of(lambda: self._page(pages[0].next_page_token, step["other_page_size"]))
        return {
            "pages": [len(page.memories) for page in pages],
            "contents": sorted(memory.content for memory in memories),
            "unique": len({memory.id for memory in memories}) == len(memories),
            "code": error.code.name,
            "reason": error.reason or None,
            "field": error.metadata.get("field"),
        }

    def watch(self, step: Step) -> Printed:  # noqa: ARG002  # it has no request
        """Watch the changes, see a deletion, and cancel."""
        victim = self._stored[1].id
        with self._satchel.watch(self._revision) as watch:
            responses = watch.responses()
            first = next(responses)
            deleted = self._satchel.delete(victim)
            change = next(change for response in responses for change in response.changes)
            watch.cancel()
            for _ in responses:
                raise RuntimeError("The watch went on after it was cancelled.")
            return {
                "first_is_empty": not first.changes,
                "kind": change_pb.ChangeKind.Name(change.kind),
                "is_the_memory": change.memory_id == victim,
                "revision_agrees": change.revision == deleted.revision,
                "code": watch.code().name,
            }

    def invalid_argument(self, step: Step) -> Printed:
        """Store where nothing can be stored."""
        return _of_error(_error_of(lambda: self._satchel.remember(**step["request"])))

    def missing_memory(self, step: Step) -> Printed:
        """Get what is not there."""
        return _of_error(_error_of(lambda: self._satchel.get(step["request"]["id"])))

    def deadline(self, step: Step) -> Printed:
        """Watch until the deadline."""
        seconds = step["deadline_ms"] / 1000
        error = _error_of(lambda: [*self._satchel.watch(self._revision, timeout=seconds)])
        return {"code": error.code.name, "reason": error.reason or None, "domain": error.domain or None}

    def trace(self, step: Step) -> Printed:  # noqa: ARG002  # it repeats `recall`
        """Recall inside a trace of our own, and read the spans that come back."""
        trace_id, span_id = secrets.token_hex(16), secrets.token_hex(8)
        sent = (("traceparent", f"00-{trace_id}-{span_id}-01"), ("satchel-trace", "1"))
        stub = AllocatorServiceStub(self._satchel.channel("allocator"))
        request = allocator_pb.RecallRequest(
            **self._question, project=self._project, wing=self._wing, min_revision=self._revision
        )
        _, call = stub.Recall.with_call(request, timeout=TIMEOUT_S, metadata=sent)
        spans = dict(call.trailing_metadata() or ())["satchel-spans-bin"]
        if not isinstance(spans, bytes):
            raise TypeError("Metadata whose name ends in -bin are bytes.")
        return _of_spans(trace_pb2.TraceSpans.FromString(spans), trace_id, span_id)

    def _page(self, token: str, size: int) -> memory_pb.ListMemoriesResponse:
        request = memory_pb.ListMemoriesRequest(
            project=self._project, wing=self._wing, page_size=size, page_token=token
        )
        stub = MemoryServiceStub(self._satchel.channel("store"))
        try:
            return stub.ListMemories(request, timeout=TIMEOUT_S, metadata=self._satchel.metadata)
        except grpc.RpcError as exc:
            raise explain(exc) from exc


def _error_of(call: Callable[[], object]) -> SatchelError:
    try:
        call()
    except SatchelError as error:
        return error
    raise RuntimeError("A call that must fail has not.")


def _of_stored(answer: memory_pb.StoreMemoryResponse) -> Printed:
    return {
        "type": memory_pb2.MemoryType.Name(answer.type),
        "room": answer.room,
        "duplicate": answer.duplicate,
        "embedding": memory_pb2.EmbeddingState.Name(answer.embedding),
        "token_count": answer.token_count,
        "is_uuid": str(uuid.UUID(answer.id)) == answer.id,
    }


def _of_imported(one: Imported) -> Printed:
    error = one.error
    return {
        "sequence": one.sequence,
        "stored": one.stored is not None,
        "code": error.code.name if error else None,
        "reason": error.reason or None if error else None,
        "field": error.metadata.get("field") if error else None,
    }


def _of_error(error: SatchelError) -> Printed:
    return {
        "code": error.code.name,
        "reason": error.reason or None,
        "domain": error.domain or None,
        "metadata": error.metadata,
    }


def _of_spans(found: trace_pb2.TraceSpans, trace_id: str, span_id: str) -> Printed:
    roots = [span for span in found.spans if span.parent_span_id.hex() == span_id]
    services = {
        span.name.partition("/")[0] for span in found.spans if span.kind == trace_pb2.SPAN_KIND_SERVER
    }
    return {
        "same_trace": found.trace_id.hex() == trace_id,
        "under_the_caller": len(roots),
        "root": roots[0].name,
        "services": sorted(services),
    }


def _record(request: Step) -> NewMemory:
    record: NewMemory = {**request}  # type: ignore[typeddict-item]  # read from JSON
    record["occurred_at"] = datetime.fromisoformat(request["occurred_at"])
    return record


def _candidate(given: Step) -> CandidateFields:
    axis = given["vector_axis"]
    return CandidateFields(
        id=given["id"],
        content=given["content"],
        relevance=given["relevance"],
        type=given["type"],
        occurred_at=datetime.fromisoformat(given["occurred_at"]),
        vector=[1.0 if number == axis else 0.0 for number in range(4)],
    )


def _as_text(number: float, decimals: int) -> str:
    text = f"{number:.{decimals}f}"
    return text if float(text) else text.removeprefix("-")


def main() -> None:
    """Run the scenario, or measure."""
    parser = argparse.ArgumentParser(description="Runs the scenario of all clients.")
    parser.add_argument("--url", default="")
    parser.add_argument("--project", required=True)
    parser.add_argument("--bench", type=float, metavar="SECONDS")
    parser.add_argument("path", type=Path, nargs="?")
    options = parser.parse_args()
    if options.bench is None and options.path is None:
        parser.error("give the path of scenario.json, or --bench SECONDS")
    if options.bench is not None:
        with Satchel(options.url, project=options.project, wing="bench", timeout=TIMEOUT_S) as satchel:
            print(json.dumps(measure(satchel, options.bench)))
        return
    told = json.loads(options.path.read_text(encoding="utf-8"))
    with Satchel(options.url, project=options.project, wing=told["wing"], timeout=TIMEOUT_S) as satchel:
        printed = Scenario(satchel, options.project, told["wing"]).run(told["steps"])
    print(json.dumps(printed, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    main()
