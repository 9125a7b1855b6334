import pytest
from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, TraceState

from satchel.client import AddressError, Satchel, Unavailable

TRACE_ID, SPAN_ID = 0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331


def span(state: TraceState | None = None) -> NonRecordingSpan:
    """Return a sampled span of another tracer than ours."""
    return NonRecordingSpan(
        SpanContext(TRACE_ID, SPAN_ID, is_remote=False, trace_flags=TraceFlags(1), trace_state=state)
    )


def test_the_key_is_sent_as_a_bearer_token() -> None:
    assert Satchel("a:1", api_key="k").metadata == (("authorization", "Bearer k"),)


@pytest.mark.parametrize("key", ["a\nb", "k\n", "\u00e4"])
def test_a_key_that_no_header_can_hold_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        Satchel("a:1", api_key=key)


def test_without_a_key_and_a_span_nothing_is_sent() -> None:
    assert Satchel("a:1").metadata == ()


def test_the_active_span_is_the_parent_of_what_the_server_does() -> None:
    with trace.use_span(span()):
        sent = Satchel("a:1").metadata

    assert sent == (("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),)


def test_the_state_of_the_trace_goes_along() -> None:
    with trace.use_span(span(TraceState([("vendor", "1")]))):
        sent = dict(Satchel("a:1").metadata)

    assert sent["tracestate"] == "vendor=1"


def test_a_part_without_an_address_is_named() -> None:
    with pytest.raises(AddressError, match="names store, but not 'embedder'"):
        Satchel("store=a:1").embed(["x"])


def test_parts_at_one_address_share_a_channel() -> None:
    with Satchel("store=a:1,allocator=a:1,index=b:2") as satchel:
        assert satchel.channel("store") is satchel.channel("allocator")
        assert satchel.channel("store") is not satchel.channel("index")


def test_a_closed_client_is_refused() -> None:
    satchel = Satchel("127.0.0.1:1")
    with satchel, pytest.raises(Unavailable):
        satchel.remember("x", timeout=5)

    with pytest.raises(ValueError, match="is closed"):
        satchel.remember("x")
