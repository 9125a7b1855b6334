"""The errors of the index that a client can see, and one that it cannot.

ServiceError
|-- DimensionMismatch      the query has another length than the index
|-- VectorMalformed        the bytes are not rows of finite numbers of unit norm
|-- ModelMismatch          another model made the vectors
|-- IndexNotReady          neither the index nor the store could answer
|-- RevisionNotReached     the wanted revision was not applied in time
`-- ChangeGap              pushed changes leave a gap
SnapshotUnusable           internal: the reason of a rebuild
"""

# ruff: noqa: N818  # the names say what happened; the base class says that it is an error

from satchel.runtime.errors import Code, ServiceError


class DimensionMismatch(ServiceError):
    """Vectors have another length than those of the index."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_DIMENSION_MISMATCH"

    def __init__(self, *, field: str, expected: int, actual: int) -> None:
        super().__init__(
            f"The index holds vectors of length {expected}; '{field}' has {actual}. "
            "Embed with the model that made the stored vectors.",
            field=field,
            expected_dimension=expected,
            actual_dimension=actual,
        )


class VectorMalformed(ServiceError):
    """Packed vectors are not whole rows of finite numbers of unit norm."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_VECTOR_MALFORMED"

    def __init__(self, *, field: str, problem: str) -> None:
        remedy = "send packed little-endian float32 of L2 norm 1"
        super().__init__(
            f"'{field}' {problem}. {remedy[0].upper()}{remedy[1:]}.",
            field=field,
            limit="whole rows of finite float32, each of L2 norm 1",
            remedy=remedy,
        )


class ModelMismatch(ServiceError):
    """Vectors come from another model than those of the index."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_MODEL_MISMATCH"

    def __init__(self, *, expected: str, actual: str) -> None:
        super().__init__(
            f"The index holds vectors of the model {expected[:12]}, not of {actual[:12]}. Embed with the "
            "model of the store, or run 'satchel reembed', which makes all vectors anew with the embedder's.",
            expected_model=expected,
            actual_model=actual,
        )


class IndexNotReady(ServiceError):
    """The index cannot answer yet, and the store did not answer in its place."""

    code = Code.UNAVAILABLE
    reason = "ERROR_REASON_INDEX_NOT_READY"

    def __init__(self, *, state: str) -> None:
        super().__init__(
            f"The index is {state} and the store does not answer in its place. Retry in 1 s.",
            retry_after_s=1.0,
            state=state,
        )


class RevisionNotReached(ServiceError):
    """The wanted revision was not applied in time, and the store did not answer in its place."""

    code = Code.UNAVAILABLE
    reason = "ERROR_REASON_REVISION_NOT_REACHED"

    def __init__(self, *, wanted: int, applied: int) -> None:
        super().__init__(
            f"The index has applied revision {applied}, not yet {wanted}. Retry, or allow more time.",
            retry_after_s=0.5,
            wanted_revision=wanted,
            applied_revision=applied,
        )


class RevisionUnknown(ServiceError):
    """The wanted revision is newer than the newest of the store."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_FIELD_OUT_OF_RANGE"

    def __init__(self, *, wanted: int, newest: int) -> None:
        remedy = "use a revision that a write returned"
        super().__init__(
            f"min_revision must be at most {newest}, the store's newest revision, not {wanted}: {remedy}.",
            field="min_revision",
            limit=f"at most {newest}",
            actual=wanted,
            remedy=remedy,
        )


class ChangeGap(ServiceError):
    """Pushed changes do not follow the last applied revision."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_CHANGE_GAP"

    def __init__(self, *, expected: int, actual: int) -> None:
        super().__init__(
            f"The next revision must be {expected}, not {actual}. Send the missing changes first.",
            expected_revision=expected,
            actual_revision=actual,
        )


class SnapshotUnusable(Exception):
    """A snapshot cannot be used; the text is a sentence that becomes the reason of the rebuild."""
