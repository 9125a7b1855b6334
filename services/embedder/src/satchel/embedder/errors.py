"""The embedder's own errors; bad fields are those of `satchel.runtime.errors`."""

# ruff: noqa: N818  # the names say what happened; the base class says that it is an error

from satchel.runtime.errors import Code, Overloaded, ServiceError


class ModelMissing(ServiceError):
    """The embedding model cannot be loaded; raised at start-up, never while serving."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_MODEL_MISSING"

    def __init__(self, *, model: str, cause: str, remedy: str) -> None:
        """``cause`` and ``remedy`` are complete sentences."""
        super().__init__(
            f"The embedding model '{model}' cannot be loaded. {cause} {remedy}", model=model, remedy=remedy
        )


class QueueFull(Overloaded):
    """So much waits that a request does not fit beside it; it fits later."""

    def __init__(self, queue: str, unit: str, waiting: int, limit: int, retry_after_s: float) -> None:
        """``unit`` is what ``waiting`` and ``limit`` count, in the plural."""
        super().__init__(queue=queue, limit=limit, retry_after_s=retry_after_s)
        self.message = (
            f"The queue '{queue}' holds {waiting:,} of at most {limit:,} {unit}, and the request does not "
            f"fit beside them. Retry in {retry_after_s:g} s."
        )
        self.args = (self.message,)
