"""Provides channels to other processes: deadlines, retries, balancing, limits, trace context."""

import json
from collections.abc import Sequence
from functools import cache

import grpc

from satchel.runtime.methods import idempotent_methods, parse_method
from satchel.runtime.outgoing import DEFAULT_TIMEOUT_S, CallPolicy, OutgoingChannel
from satchel.runtime.settings import Secret
from satchel.runtime.status import MAX_MESSAGE_BYTES

MAX_METADATA_BYTES = 64 * 1024

_HEALTH_CHECK = parse_method("/grpc.health.v1.Health/Check")

CHANNEL_OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    # A peer that vanished without a word is noticed after at most 40 s.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # Else only the first two pings of a silence are sent.
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5_000),
)


@cache
def service_config() -> str:
    """Return balancing and retries as gRPC reads them (https://github.com/grpc/grpc/blob/master/doc/service_config.md).

    UNAVAILABLE may hide an answer that was lost on its way, so only calls whose repeat has no further
    effect are repeated. gRPC does it itself, below our spans; what never left is sent again for any call.
    """
    repeatable = (*idempotent_methods(), _HEALTH_CHECK)
    retry_policy = {
        "maxAttempts": 3,
        "initialBackoff": "0.1s",
        "maxBackoff": "1s",
        "backoffMultiplier": 3,
        "retryableStatusCodes": ["UNAVAILABLE"],
    }
    names = [{"service": method.service, "method": method.name} for method in repeatable]
    return json.dumps(
        {
            "loadBalancingConfig": [{"round_robin": {}}],
            "methodConfig": [{"name": names, "retryPolicy": retry_policy}],
        }
    )


def open_channel(
    target: str,
    *,
    credentials: grpc.ChannelCredentials | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    api_key: Secret | None = None,
    interceptors: Sequence[grpc.aio.ClientInterceptor] = (),
) -> OutgoingChannel:
    """Open a channel; the caller closes it (``async with`` does).

    ``target`` is a gRPC name: ``host:port``, ``dns:///host:port``, ``unix:/path``. Without
    ``credentials`` the connection is in the clear. Connecting happens at the
    first call. Unary calls that are given no
    timeout get what is left of the incoming call's, or else ``timeout_s``. Calls that the
    contract calls idempotent are tried up to three times while the peer is UNAVAILABLE, over all its
    addresses in turn.
    """
    options = [*CHANNEL_OPTIONS, ("grpc.service_config", service_config())]
    inner = (
        grpc.aio.insecure_channel(target, options=options, interceptors=list(interceptors))
        if credentials is None
        else grpc.aio.secure_channel(target, credentials, options=options, interceptors=list(interceptors))
    )
    return OutgoingChannel(inner, CallPolicy(timeout_s=timeout_s, api_key=api_key))
