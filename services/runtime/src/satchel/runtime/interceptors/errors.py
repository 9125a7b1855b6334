"""Provides the one place that turns errors into statuses."""

import asyncio
import logging
from typing import Any

import grpc

from satchel.runtime.errors import InternalError, ServiceError
from satchel.runtime.interceptors.middleware import Behaviour, Context, Middleware
from satchel.runtime.methods import Method
from satchel.runtime.metrics.calls import count_error
from satchel.runtime.status import to_grpc_status, to_service_error

EVENT = "rpc.unhandled"

_log = logging.getLogger("satchel.errors")


class ErrorInterceptor(Middleware):
    """Ends a failed call with the status of its error; the text of unknown errors stays in the log."""

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401
        """Run the call; anything it raises becomes a status."""
        try:
            return await inner(request, context)
        except grpc.aio.AbortError:
            raise  # already a status
        except ServiceError as error:
            failure = error
        except Exception as error:  # noqa: BLE001  # the boundary: nothing unknown may pass
            failure = to_service_error(error)
            if isinstance(failure, InternalError):
                _log.exception(EVENT, extra={"rpc": method.label})
        count_error(method, failure.reason)
        status = to_grpc_status(failure)
        try:
            # Not abort_with_status: OpenTelemetry's context wrapper does not see that call.
            return await context.abort(status.code, status.details, status.trailing_metadata)
        except grpc.aio.InternalError:
            # Nobody was there any more to take the status.
            raise asyncio.CancelledError from None
