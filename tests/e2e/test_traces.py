"""One request is one trace, through every part, whichever way Satchel runs."""

import base64
from collections.abc import Sequence

import httpx2

from e2e.running import Running
from requirements import requirement
from satchel.api.types.v1 import trace_pb2
from satchel.runtime.trace_records import SpanRecord, decode_spans

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
PARENT_ID = "b7ad6b7169203331"
HEADERS = {"satchel-trace": "1", "traceparent": f"00-{TRACE_ID}-{PARENT_ID}-01"}
PACKAGE = "satchel.api."
CALLS = {
    "allocator.v1.AllocatorService/Recall",
    "embedder.v1.EmbedderService/EmbedTexts",
    "index.v1.IndexService/SearchVectors",
    "store.v1.SearchService/SearchText",
    "store.v1.SearchService/FetchCandidates",
}


def traced(
    satchel: Running, path: str, body: dict[str, object]
) -> tuple[httpx2.Response, Sequence[SpanRecord]]:
    """Send a request that asks for its spans."""
    answer = httpx2.post(f"{satchel.http}/api/v1/{path}", json=body, headers=HEADERS)
    assert answer.headers["satchel-trace-id"] == TRACE_ID
    return answer, decode_spans(base64.b64decode(answer.headers["satchel-spans"]))


@requirement("trace:one-tree")
def test_a_recall_is_one_tree_through_every_part(satchel: Running) -> None:
    _, spans = traced(satchel, "memories/recall", {"query": "Who is allergic to walnuts?", "wing": "kitchen"})

    known = {span.span_id for span in spans}
    roots = [span for span in spans if span.parent_id not in known]
    assert [span.parent_id for span in roots] == [PARENT_ID]
    assert len(known) == len(spans)
    by_id = {span.span_id: span for span in spans}
    servers = {span.name.removeprefix(PACKAGE): span for span in spans if span.kind == "server"}
    assert set(servers) >= CALLS
    for name in CALLS:
        caller = by_id[servers[name].parent_id]
        assert ("client", name) == (caller.kind, caller.name.removeprefix(PACKAGE))


@requirement("trace:on-demand")
def test_the_spans_of_a_recall_fit_the_metadata_that_clients_accept_by_default(satchel: Running) -> None:
    answer, spans = traced(satchel, "memories/recall", {"query": "Which oven came?", "wing": "kitchen"})

    encoded = answer.headers["satchel-spans"]
    message = trace_pb2.TraceSpans.FromString(base64.b64decode(encoded))
    assert (message.trace_id.hex(), len(message.spans)) == (TRACE_ID, len(spans))
    assert (message.dropped_count, len(encoded) < 4096) == (0, True)


@requirement("trace:one-tree")
def test_time_is_shown_where_it_is_spent(satchel: Running) -> None:
    _, spans = traced(satchel, "memories/recall", {"query": "Which oven came last week?", "wing": "kitchen"})

    names = {span.name for span in spans}
    assert {"satchel.embedder.infer", "satchel.index.search", "satchel.store.search_text"} <= names


@requirement("trace:failures")
def test_a_failed_call_has_its_status_on_both_sides(satchel: Running) -> None:
    answer, spans = traced(satchel, "memories/recall", {"query": "x", "wing": "not a wing"})

    assert answer.status_code == 422
    sides = [(span.kind, span.failure) for span in spans if span.name.endswith("AllocatorService/Recall")]
    assert sorted(sides) == [("client", "INVALID_ARGUMENT"), ("server", "INVALID_ARGUMENT")]
