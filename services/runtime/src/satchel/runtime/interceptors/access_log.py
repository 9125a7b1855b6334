"""Provides one log line and one measurement for each call."""

import logging
import time
from typing import Any

import grpc

from satchel.runtime.interceptors.middleware import Behaviour, Context, Middleware, outcome
from satchel.runtime.methods import Method
from satchel.runtime.metrics.calls import meter_of

EVENT = "rpc.handled"

_log = logging.getLogger("satchel.access")

# Codes that tell of a fault here, not of a caller's mistake.
_FAULTS = frozenset({grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS})


class AccessLogInterceptor(Middleware):
    """Logs method, code and milliseconds when a call ends, and counts it in the metrics."""

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401
        """Measure the call from here to its end, streams included."""
        began = time.perf_counter()
        meter = meter_of(method)
        meter.begin()
        error: BaseException | None = None
        try:
            return await inner(request, context)
        except BaseException as exc:
            error = exc
            raise
        finally:
            code = outcome(error, context)
            seconds = time.perf_counter() - began
            meter.end(code.name, seconds)
            _log_line(method, code, seconds)


def _log_line(method: Method, code: grpc.StatusCode, seconds: float) -> None:
    level = logging.ERROR if code in _FAULTS else logging.INFO
    if _log.isEnabledFor(level):
        fields = {"rpc": method.label, "code": code.name, "ms": round(seconds * 1000, 3)}
        _log.log(level, EVENT, extra=fields)
