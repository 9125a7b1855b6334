"""What the command ping does: ask one gRPC server whether it serves."""

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from satchel.cli.exits import CommandError, Exit

LIMIT_S = 3.0


def ping(address: str) -> None:
    """Return when the server at the address says that it serves.

    Raises:
        CommandError: nothing answers there, or it does not serve (yet, or any more).
    """
    with grpc.insecure_channel(address) as channel:
        try:
            health = health_pb2_grpc.HealthStub(channel)
            answer = health.Check(health_pb2.HealthCheckRequest(), timeout=LIMIT_S)
        except grpc.RpcError as exc:
            message = f"Nothing answers at {address} within {LIMIT_S:g} s."
            raise CommandError(message, Exit.UNAVAILABLE) from exc
    if answer.status != health_pb2.HealthCheckResponse.SERVING:
        raise CommandError(f"The server at {address} does not serve now.", Exit.UNAVAILABLE)
