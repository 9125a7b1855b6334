"""The errors of the allocator's own; those of other services pass through as they are."""

# ruff: noqa: N818  # the names say what happened; the base class says that it is an error

from satchel.runtime.errors import Code, ServiceError


class VectorMalformed(ServiceError):
    """A packed vector is not finite, or its bytes are not whole numbers."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_VECTOR_MALFORMED"

    def __init__(self, *, field: str) -> None:
        remedy = "Send little-endian float32 values, all of them finite."
        super().__init__(
            f"'{field}' is not a packed vector of finite numbers. {remedy}",
            field=field,
            limit="4 bytes a value, finite",
            remedy=remedy,
        )


class DimensionMismatch(ServiceError):
    """The vectors of one request have different lengths."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_DIMENSION_MISMATCH"

    def __init__(self, *, field: str, expected: int, actual: int) -> None:
        super().__init__(
            f"'{field}' has {actual} values, the vectors before it have {expected}. "
            "Send vectors of one model only.",
            field=field,
            expected_dimension=expected,
            actual_dimension=actual,
        )


class RevisionNotReached(ServiceError):
    """What answered, the store in place of the index included, is older than what the caller must see."""

    code = Code.UNAVAILABLE
    reason = "ERROR_REASON_REVISION_NOT_REACHED"

    def __init__(self, *, wanted: int, applied: int) -> None:
        super().__init__(
            f"The answer would reflect revision {applied}, not yet {wanted}. Retry, or allow more time.",
            retry_after_s=0.5,
            wanted_revision=wanted,
            applied_revision=applied,
        )


class StoreUnreachable(ServiceError):
    """The store did not answer, and nothing can be recalled without it."""

    code = Code.UNAVAILABLE
    reason = "ERROR_REASON_PEER_UNAVAILABLE"

    def __init__(self) -> None:
        super().__init__(
            "The store does not answer, and without it nothing can be recalled. Retry in 1 s.",
            retry_after_s=1.0,
            peer="store",
        )
