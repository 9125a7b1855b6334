"""One trace from the client to the last handler, on every transport."""

import asyncio
import contextlib
from collections.abc import Sequence

import grpc
import pytest
from contract.runtime.transports import Reach
from google.protobuf.wrappers_pb2 import StringValue
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from requirements import requirement
from satchel.runtime.telemetry import collect_trace, setup_telemetry, span
from satchel.runtime.trace_records import SpanRecord

METHOD = "satchel.test.EchoService/Unary"


class ServerSpanExporter(InMemorySpanExporter):
    """Keeps spans and tells when the server's has ended."""

    def __init__(self) -> None:
        super().__init__()
        self.server_ended = asyncio.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = super().export(spans)
        if any(one.kind is SpanKind.SERVER for one in spans):
            self.server_ended.set()
        return result


async def exported(reach: Reach, value: str) -> dict[tuple[str, SpanKind], ReadableSpan]:
    """Make one call inside a root span, and return all spans once every one has ended."""
    exporter = ServerSpanExporter()
    shutdown = setup_telemetry("test", exporter=exporter)
    try:
        with span("root"), contextlib.suppress(grpc.aio.AioRpcError):
            await reach.stub.Unary(StringValue(value=value), timeout=5)
        async with asyncio.timeout(5):
            # Over a socket the server ends its span shortly after the client has its answer.
            await exporter.server_ended.wait()
        return {(one.name, one.kind): one for one in exporter.get_finished_spans()}
    finally:
        shutdown()


def parent_of(one: ReadableSpan) -> int | None:
    return None if one.parent is None else one.parent.span_id


def id_of(one: ReadableSpan) -> int:
    context = one.get_span_context()
    assert context is not None
    return context.span_id


@requirement("trace:one-tree")
async def test_every_span_is_a_child_of_the_one_that_caused_it(reach: Reach) -> None:
    spans = await exported(reach, "span")

    root = spans["root", SpanKind.INTERNAL]
    client, server = spans[METHOD, SpanKind.CLIENT], spans[METHOD, SpanKind.SERVER]
    work = spans["satchel.test.work", SpanKind.INTERNAL]
    assert [None, id_of(root), id_of(client), id_of(server)] == [
        parent_of(one) for one in (root, client, server, work)
    ]
    assert len({one.get_span_context().trace_id for one in spans.values()}) == 1  # type: ignore[union-attr]
    assert dict(work.attributes or {}) == {"satchel.size": 3}


@requirement("trace:one-tree")
async def test_spans_of_a_call_name_service_and_method(reach: Reach) -> None:
    spans = await exported(reach, "hello")

    for kind in (SpanKind.CLIENT, SpanKind.SERVER):
        assert dict(spans[METHOD, kind].attributes or {}) == {
            "rpc.system": "grpc",
            "rpc.service": "satchel.test.EchoService",
            "rpc.method": "Unary",
            "rpc.grpc.status_code": 0,
        }
        assert spans[METHOD, kind].status.status_code is not StatusCode.ERROR


@requirement("trace:failures")
@pytest.mark.parametrize(("value", "code"), [("teapot", 9), ("bug", 13), ("abort", 15), ("a\0", 3)])
async def test_failed_call_shows_its_status_on_both_sides(reach: Reach, value: str, code: int) -> None:
    spans = await exported(reach, value)

    for kind in (SpanKind.CLIENT, SpanKind.SERVER):
        assert (spans[METHOD, kind].attributes or {})["rpc.grpc.status_code"] == code
        assert spans[METHOD, kind].status.status_code is StatusCode.ERROR


@requirement("trace:no-texts")
async def test_text_of_the_caller_is_in_no_span(reach: Reach) -> None:
    spans = await exported(reach, "private words\0")

    assert not any("private" in one.to_json() for one in spans.values())


@requirement("trace:on-demand")
async def test_demanded_trace_returns_the_spans_of_the_server(reach: Reach) -> None:
    with collect_trace() as trace:
        await reach.stub.Unary(StringValue(value="span"))

    client, server, work = (found(trace.spans, kind) for kind in ("client", "server", ""))
    assert ["", client.span_id, server.span_id] == [one.parent_id for one in (client, server, work)]
    assert len(trace.spans) == 3
    assert (work.name, work.attributes) == ("satchel.test.work", {"satchel.size": 3})


@requirement("trace:on-demand", "trace:failures")
async def test_demanded_trace_of_a_failed_call_has_the_status_on_both_sides(reach: Reach) -> None:
    with collect_trace() as trace, pytest.raises(grpc.aio.AioRpcError) as caught:
        await reach.stub.Unary(StringValue(value="teapot"))

    assert [found(trace.spans, kind).failure for kind in ("client", "server")] == ["FAILED_PRECONDITION"] * 2
    assert "grpc-status-details-bin" in dict(caught.value.trailing_metadata())


@requirement("trace:on-demand")
async def test_demanded_trace_works_for_streams(reach: Reach) -> None:
    with collect_trace() as trace:
        call = reach.stub.Split(StringValue(value="a b"))
        assert len([one async for one in call]) == 2
        trailing = await call.trailing_metadata()

    assert {"client", "server"} == {one.kind for one in trace.spans}
    assert trailing["late"] == "2"


@requirement("trace:on-demand")
async def test_no_spans_are_returned_to_those_who_did_not_ask(reach: Reach) -> None:
    call = reach.stub.Unary(StringValue(value="span"))
    await call

    assert "satchel-spans-bin" not in await call.trailing_metadata()


@requirement("trace:one-tree")
async def test_malformed_trace_header_costs_nothing_but_the_context(reach: Reach) -> None:
    response = await reach.stub.Unary(StringValue(value="hi"), metadata=(("traceparent", "00-zz"),))

    assert response.value == "hi"


def found(spans: tuple[SpanRecord, ...], kind: str) -> SpanRecord:
    return next(one for one in spans if one.kind == kind)
