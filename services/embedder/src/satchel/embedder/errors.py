"""The embedder's own errors; overload and bad fields are those of `satchel.runtime.errors`."""

# ruff: noqa: N818  # the names say what happened; the base class says that it is an error

from satchel.runtime.errors import Code, ServiceError


class ModelMissing(ServiceError):
    """The embedding model cannot be loaded; raised at start-up, never while serving."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_MODEL_MISSING"

    def __init__(self, *, model: str, cause: str, remedy: str) -> None:
        """``cause`` and ``remedy`` are complete sentences."""
        super().__init__(
            f"The embedding model '{model}' cannot be loaded. {cause} {remedy}", model=model, remedy=remedy
        )
