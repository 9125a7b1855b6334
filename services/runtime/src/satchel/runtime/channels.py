"""Provides channels to other processes: deadlines, retries, balancing, limits, trace context."""

import json
from collections.abc import Sequence

import grpc

from satchel.runtime.outgoing import DEFAULT_TIMEOUT_S, CallPolicy, OutgoingChannel
from satchel.runtime.settings import Secret
from satchel.runtime.status import MAX_MESSAGE_BYTES

MAX_METADATA_BYTES = 64 * 1024

# Only UNAVAILABLE says that the server did nothing (AIP-194). Sent by gRPC itself, below our spans.
_SERVICE_CONFIG = json.dumps(
    {
        "loadBalancingConfig": [{"round_robin": {}}],
        "methodConfig": [
            {
                "name": [{}],
                "retryPolicy": {
                    "maxAttempts": 3,
                    "initialBackoff": "0.1s",
                    "maxBackoff": "1s",
                    "backoffMultiplier": 3,
                    "retryableStatusCodes": ["UNAVAILABLE"],
                },
            }
        ],
    }
)

CHANNEL_OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.service_config", _SERVICE_CONFIG),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_metadata_size", MAX_METADATA_BYTES),
    # A peer that vanished without a word is noticed after at most 40 s.
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5_000),
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
    timeout get what is left of the incoming call's, or else ``timeout_s``. Calls are tried up to three
    times while the peer is UNAVAILABLE, over all its addresses in turn.
    """
    options = list(CHANNEL_OPTIONS)
    inner = (
        grpc.aio.insecure_channel(target, options=options, interceptors=list(interceptors))
        if credentials is None
        else grpc.aio.secure_channel(target, credentials, options=options, interceptors=list(interceptors))
    )
    return OutgoingChannel(inner, CallPolicy(timeout_s=timeout_s, api_key=api_key))
