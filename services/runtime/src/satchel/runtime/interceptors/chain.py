"""Provides the interceptors in order, outermost first."""

from collections.abc import Sequence

import grpc

from satchel.runtime.interceptors.access_log import AccessLogInterceptor
from satchel.runtime.interceptors.auth import (
    Authenticator,
    AuthInterceptor,
    Principal,
    current_principal,
    local_owner,
)
from satchel.runtime.interceptors.deadline import DeadlineInterceptor
from satchel.runtime.interceptors.errors import ErrorInterceptor
from satchel.runtime.interceptors.telemetry import TelemetryInterceptor
from satchel.runtime.interceptors.validation import ValidationInterceptor

__all__ = ["Authenticator", "Principal", "current_principal", "default_chain"]

DEFAULT_UNARY_TIMEOUT_S = 60.0


def default_chain(
    *,
    authenticator: Authenticator = local_owner,
    unary_timeout_s: float = DEFAULT_UNARY_TIMEOUT_S,
    inside: Sequence[grpc.aio.ServerInterceptor] = (),
) -> tuple[grpc.aio.ServerInterceptor, ...]:
    """Return telemetry, access log, errors, auth, deadline, validation, and then those ``inside``.

    Telemetry and the log come first so that they see the status which is really sent, refusals by auth
    included. Errors come before everything that may raise. Auth comes before validation: a stranger
    learns nothing of the contract. One chain serves one server.
    """
    return (
        TelemetryInterceptor(),
        AccessLogInterceptor(),
        ErrorInterceptor(),
        AuthInterceptor(authenticator),
        DeadlineInterceptor(unary_timeout_s),
        ValidationInterceptor(),
        *inside,
    )
