"""Names the states of gRPC's health service."""

from enum import IntEnum


class Serving(IntEnum):
    """Whether a server serves (`grpc.health.v1.HealthCheckResponse.ServingStatus`)."""

    UNKNOWN = 0
    SERVING = 1
    NOT_SERVING = 2
    SERVICE_UNKNOWN = 3
