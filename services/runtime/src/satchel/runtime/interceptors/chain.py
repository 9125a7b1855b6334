"""Provides the interceptors in order, outermost first."""

from collections.abc import Sequence

import grpc

from satchel.runtime.interceptors.access_log import AccessLogInterceptor
from satchel.runtime.interceptors.auth import (
    Authenticator,
    AuthInterceptor,
    current_principal,
    local_owner,
)
from satchel.runtime.interceptors.deadline import DeadlineInterceptor
from satchel.runtime.interceptors.errors import ErrorInterceptor
from satchel.runtime.interceptors.limits import ConcurrencyInterceptor, UnknownMethodInterceptor
from satchel.runtime.interceptors.named_project import NamedProjectInterceptor
from satchel.runtime.interceptors.telemetry import TelemetryInterceptor
from satchel.runtime.interceptors.validation import ValidationInterceptor
from satchel.runtime.keys import Principal

__all__ = ["MAX_CONCURRENT_CALLS", "Authenticator", "Principal", "current_principal", "default_chain"]

DEFAULT_UNARY_TIMEOUT_S = 60.0
MAX_CONCURRENT_CALLS = 1000


def default_chain(
    *,
    authenticator: Authenticator = local_owner,
    unary_timeout_s: float = DEFAULT_UNARY_TIMEOUT_S,
    max_concurrent_calls: int = MAX_CONCURRENT_CALLS,
    inside: Sequence[grpc.aio.ServerInterceptor] = (),
) -> tuple[grpc.aio.ServerInterceptor, ...]:
    """Return telemetry, access log, errors, bound, project, auth, deadline, validation, those ``inside``.

    Telemetry and the log come first so that they see the status which is really sent, refusals by auth
    included; only calls of methods that do not exist are refused before. Errors come before everything
    that may raise, and the bound on calls before everything that costs. The project comes before auth, which
    compares it with those of the key; auth comes before validation: a stranger learns nothing of the
    contract. One chain serves one server.
    """
    return (
        UnknownMethodInterceptor(),
        TelemetryInterceptor(),
        AccessLogInterceptor(),
        ErrorInterceptor(),
        ConcurrencyInterceptor(max_concurrent_calls),
        NamedProjectInterceptor(),
        AuthInterceptor(authenticator),
        DeadlineInterceptor(unary_timeout_s),
        ValidationInterceptor(),
        *inside,
    )
