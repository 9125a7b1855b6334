import io
import json
import logging
from collections.abc import Iterator

import pytest

from satchel.runtime.logs import setup_logs
from satchel.runtime.telemetry import collect_trace, current_trace_id, span


@pytest.fixture(autouse=True)
def _root_logger() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_json_line_holds_event_extra_and_trace_ids() -> None:
    stream = io.StringIO()
    setup_logs("INFO", "json", stream)

    with collect_trace(), span("work"):
        logging.getLogger("satchel.x").info("index.built", extra={"vectors": 3})
        trace_id = current_trace_id()

    line = json.loads(stream.getvalue())
    assert (
        line["event"],
        line["vectors"],
        line["level"],
        line["logger"],
    ) == ("index.built", 3, "INFO", "satchel.x")
    assert trace_id == line["trace_id"]
    assert len(line["span_id"]) == 16


def test_exception_stays_on_one_json_line() -> None:
    stream = io.StringIO()
    setup_logs("INFO", "json", stream)

    try:
        raise LookupError("why")  # noqa: TRY301
    except LookupError:
        logging.getLogger("satchel.x").exception("rpc.unhandled")

    assert "LookupError: why" in json.loads(stream.getvalue())["exception"]
    assert stream.getvalue().count("\n") == 1


def test_text_line_is_for_people() -> None:
    stream = io.StringIO()
    setup_logs("DEBUG", "text", stream)

    logging.getLogger("satchel.x").debug("index.built", extra={"vectors": 3})

    assert stream.getvalue().endswith("DEBUG   satchel.x: index.built vectors=3\n")


def test_level_holds_back_what_is_below() -> None:
    stream = io.StringIO()
    setup_logs("WARNING", "json", stream)

    logging.getLogger("satchel.x").info("index.built")

    assert stream.getvalue() == ""
