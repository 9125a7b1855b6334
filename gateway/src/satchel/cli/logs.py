"""Logs of commands and of processes that serve, as ``SATCHEL_LOG_LEVEL`` and ``SATCHEL_LOG_FORMAT`` say."""

import logging
import os
import sys

from satchel.runtime.logs import LogFormat, setup_logs


def setup_command_logs() -> None:
    """Log nothing, unless the variables say otherwise: what goes wrong is told in one sentence."""
    setup_logs(os.environ.get("SATCHEL_LOG_LEVEL", "CRITICAL"), _format("text"))


def setup_server_logs() -> None:
    """Log what happens; for a terminal as text, else as JSON, unless the variables say otherwise."""
    setup_logs(
        os.environ.get("SATCHEL_LOG_LEVEL", "INFO"), _format("text" if sys.stderr.isatty() else "json")
    )
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # our own events say the same


def _format(default: LogFormat) -> LogFormat:
    chosen = os.environ.get("SATCHEL_LOG_FORMAT", "").lower() or default
    return "text" if chosen == "text" else "json"
