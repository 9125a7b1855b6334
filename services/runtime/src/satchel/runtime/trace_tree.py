"""Provides the text rendering of a trace: an indented tree with durations."""

from collections.abc import Iterator, Sequence

from satchel.runtime.trace_records import SpanRecord, Spans

_MIN_NAME_WIDTH = 40


def format_tree(spans: Sequence[SpanRecord]) -> str:
    """Render spans as a tree, one line a span: name, milliseconds, service, failure, attributes.

    "->" marks the calling end of an RPC; the line below it is the answering end.
    Children are indented below their parent in the order they began (ties by span id). A span whose
    parent is not among ``spans`` is a root. A last line says how many spans are missing, if any are.
    Returns an empty text for no spans.
    """
    rows = list(_rows(spans))
    if not rows:
        return ""
    width = max(_MIN_NAME_WIDTH, *(len(_name(depth, span)) for depth, span in rows))
    return "\n".join([*(_line(depth, span, width) for depth, span in rows), *_missing(spans)])


def _rows(spans: Sequence[SpanRecord]) -> Iterator[tuple[int, SpanRecord]]:
    known = {span.span_id: span for span in spans}
    children: dict[str, list[SpanRecord]] = {}
    for span in sorted(known.values(), key=lambda span: (span.start_ns, span.span_id)):
        parent = span.parent_id if span.parent_id in known and span.parent_id != span.span_id else ""
        children.setdefault(parent, []).append(span)
    stack = [(0, span) for span in reversed(children.get("", []))]
    while stack:
        depth, span = stack.pop()
        yield depth, span
        stack.extend((depth + 1, child) for child in reversed(children.get(span.span_id, [])))


def _missing(spans: Sequence[SpanRecord]) -> Iterator[str]:
    dropped = spans.dropped if isinstance(spans, Spans) else 0
    if dropped:
        yield f"... {dropped} shorter {'span' if dropped == 1 else 'spans'} left out for want of room"


def _name(depth: int, span: SpanRecord) -> str:
    return "  " * depth + ("-> " if span.kind == "client" else "") + span.name


def _line(depth: int, span: SpanRecord, width: int) -> str:
    parts = [f"{_name(depth, span):<{width}} {span.duration_ns / 1e6:>9.2f} ms  {span.service}"]
    if span.failure:
        parts.append(f"! {span.failure}")
    shown = {key: value for key, value in span.attributes.items() if not key.startswith("rpc.")}
    if shown:
        parts.append(" ".join(f"{key.removeprefix('satchel.')}={value}" for key, value in shown.items()))
    return "  ".join(parts)
