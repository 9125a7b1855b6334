"""Provides logs on stderr, as JSON lines or as text, each with the ids of the current trace."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Literal, TextIO

from satchel.runtime.telemetry import current_span_id, current_trace_id

LogFormat = Literal["json", "text"]

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_NOISY = ("grpc", "asyncio", "faiss", "httpx", "mcp", "uvicorn.access")


def setup_logs(level: str = "INFO", log_format: LogFormat = "json", stream: TextIO | None = None) -> None:
    """Send all logs to stderr, in one format; stdout is left to the program's own output.

    Call it once a process. The text of a record is an event's name; what goes with it comes as ``extra``.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.addFilter(_add_trace_ids)
    handler.setFormatter(JsonFormatter() if log_format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in _NOISY:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))


class JsonFormatter(logging.Formatter):
    """Writes a record as one JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, without a line break."""
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "event": record.getMessage(),
            **_extra(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """Writes a record for people: time, level, logger, event, then ``key=value`` pairs."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; an exception follows on lines of its own."""
        moment = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        pairs = "".join(f" {key}={value}" for key, value in _extra(record).items())
        line = f"{moment} {record.levelname:<7} {record.name}: {record.getMessage()}{pairs}"
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def _add_trace_ids(record: logging.LogRecord) -> bool:
    trace_id = current_trace_id()
    if trace_id:
        record.trace_id = trace_id
        record.span_id = current_span_id()
    return True


def _extra(record: logging.LogRecord) -> dict[str, object]:
    return {key: value for key, value in vars(record).items() if key not in _STANDARD}
