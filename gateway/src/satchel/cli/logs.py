"""Logs of commands and of processes that serve, as ``SATCHEL_LOG_LEVEL`` and ``SATCHEL_LOG_FORMAT`` say."""

import logging
import os
import sys
from collections.abc import Mapping

from satchel.runtime.logs import LogFormat, setup_logs


def setup_command_logs(environ: Mapping[str, str] | None = None) -> None:
    """Log nothing, unless the variables say otherwise: what goes wrong is told in one sentence."""
    _setup(environ, level="CRITICAL", form="text")


def setup_server_logs(environ: Mapping[str, str] | None = None) -> None:
    """Log what happens; for a terminal as text, else as JSON, unless the variables say otherwise."""
    _setup(environ, level="INFO", form="text" if sys.stderr.isatty() else "json")
    logging.getLogger("uvicorn.error").setLevel(logging.WARNING)  # our own events say the same


def _setup(environ: Mapping[str, str] | None, *, level: str, form: LogFormat) -> None:
    values = os.environ if environ is None else environ
    chosen = values.get("SATCHEL_LOG_FORMAT", "").lower() or form
    setup_logs(values.get("SATCHEL_LOG_LEVEL", "").upper() or level, "text" if chosen == "text" else "json")
