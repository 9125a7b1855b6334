"""Errors of the store that a client can see; each carries a published reason.

ServiceError
|-- MemoryNotFound, VersionNotFound, LinkTargetNotFound
|-- PathTaken, MemoryIdTaken
|-- VersionMismatch, CountMismatch, RequestIdReused
|-- UpdateMaskInvalid, PageTokenMismatch
|-- DimensionMismatch, VectorMalformed, ModelMismatch
|-- WebhookNotFound, WebhookUrlRefused, WebhooksDisabled, WebhookLimitReached
|-- IdentityNotFound, IdentitiesDisabled, DirectiveNotUnderstood, NothingToChange
`-- StoreUnavailable, StoreFull
"""

# ruff: noqa: N818  # the names say what happened; the base class says that it is an error

from typing import Self

from satchel.runtime.errors import Code, ServiceError


class MemoryNotFound(ServiceError):
    """No memory has this id, or the caller may not see it."""

    code = Code.NOT_FOUND
    reason = "ERROR_REASON_MEMORY_NOT_FOUND"

    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"No memory has the id {memory_id}. Use an id that a store, a recall or a list returned.",
            memory_id=memory_id,
        )


class VersionNotFound(ServiceError):
    """The memory never had this version, or it is not kept any more."""

    code = Code.NOT_FOUND
    reason = "ERROR_REASON_VERSION_NOT_FOUND"

    def __init__(self, *, memory_id: str, version: int) -> None:
        super().__init__(
            f"Version {version} of the memory {memory_id} is not kept. Use one that its list shows.",
            memory_id=memory_id,
            version=version,
        )


class BatchNotFound(ServiceError):
    """No memory was archived by such a run, or the caller may not see it."""

    code = Code.NOT_FOUND
    reason = "ERROR_REASON_BATCH_NOT_FOUND"

    def __init__(self, batch_id: str) -> None:
        super().__init__(
            f"No memory was archived by a run with the id {batch_id}. Use the id that archiving or "
            "consolidating returned, or 'archive_batch_id' of an archived memory.",
            batch_id=batch_id,
        )


class LinkedBackwards(ServiceError):
    """The memories are linked by this relation in the other direction."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_LINKED_BACKWARDS"

    def __init__(self, *, cause_id: str, effect_id: str) -> None:
        super().__init__(
            f"By this relation {effect_id} is the cause of {cause_id} already, and cannot be its effect too. "
            "Remove that link first, or swap the ids.",
            cause_id=cause_id,
            effect_id=effect_id,
        )


class LinkTargetNotFound(ServiceError):
    """A causal link names a memory that the project does not have."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_LINK_TARGET_NOT_FOUND"

    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"A causal link names {memory_id}, which the project does not have. Store that memory first.",
            memory_id=memory_id,
        )


class PathTaken(ServiceError):
    """Another memory of the project already has this path."""

    code = Code.ALREADY_EXISTS
    reason = "ERROR_REASON_PATH_TAKEN"

    def __init__(self, *, path: str, memory_id: str) -> None:
        super().__init__(
            f"The path '{path}' belongs to the memory {memory_id}. "
            "Update that memory, or choose another path.",
            path=path,
            memory_id=memory_id,
        )


class MemoryIdTaken(ServiceError):
    """Another memory already has this id, with another content."""

    code = Code.ALREADY_EXISTS
    reason = "ERROR_REASON_MEMORY_ID_TAKEN"

    def __init__(self, memory_id: str) -> None:
        super().__init__(
            f"The id {memory_id} belongs to a memory with another text or in another project. "
            "Update that memory, or import this one as a new memory.",
            memory_id=memory_id,
        )


class VersionMismatch(ServiceError):
    """The memory has another version than the caller expected."""

    code = Code.ABORTED
    reason = "ERROR_REASON_VERSION_MISMATCH"

    def __init__(self, *, memory_id: str, expected: int, actual: int) -> None:
        super().__init__(
            f"The memory {memory_id} has version {actual}, not {expected}. "
            "Read it again and repeat the change.",
            memory_id=memory_id,
            expected_version=expected,
            actual_version=actual,
        )


class CountMismatch(ServiceError):
    """Another number of memories would be deleted than the caller expected."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_COUNT_MISMATCH"

    def __init__(self, *, expected: int, actual: int) -> None:
        super().__init__(
            f"There are {actual} memories to delete, not {expected}; nothing was deleted. "
            "Count again with 'dry_run', and repeat the call if that is what you want.",
            expected_count=expected,
            actual_count=actual,
        )


class RequestIdReused(ServiceError):
    """The same request id came before with another body."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_REQUEST_ID_REUSED"

    def __init__(self, request_id: str) -> None:
        super().__init__(
            f"The request id {request_id} was used for another request within 24 hours. "
            "Give every new request an id of its own.",
            request_id=request_id,
        )


class UpdateMaskInvalid(ServiceError):
    """An update mask names a path that cannot be updated."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_UPDATE_MASK_INVALID"

    def __init__(self, *, path: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"The field 'update_mask' names '{path}', which cannot be updated. "
            f"The paths that can are {', '.join(known)}.",
            field="update_mask",
            limit=", ".join(known),
            remedy=f"Leave '{path}' out of 'update_mask'.",
        )


class PageTokenMismatch(ServiceError):
    """The page token is damaged or belongs to other arguments."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_PAGE_TOKEN_MISMATCH"

    def __init__(self, *, field: str = "page_token") -> None:
        remedy = f"Send 'next_{field}' as it was returned, with every other field as before, or start anew."
        super().__init__(
            f"The field '{field}' is damaged or belongs to other arguments. {remedy}",
            field=field,
            remedy=remedy,
        )


class DimensionMismatch(ServiceError):
    """The query has another length than the stored vectors."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_DIMENSION_MISMATCH"

    def __init__(self, *, expected: int, actual: int) -> None:
        super().__init__(
            f"The store holds vectors of length {expected}, the field 'vector' has {actual}. "
            "Embed the query with the model that made the stored vectors.",
            field="vector",
            expected_dimension=expected,
            actual_dimension=actual,
        )


class VectorMalformed(ServiceError):
    """A packed vector is not finite, is zero, or its bytes are not whole numbers."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_VECTOR_MALFORMED"

    def __init__(self, *, limit: str) -> None:
        remedy = "Send packed little-endian float32 numbers of unit norm."
        super().__init__(
            f"The field 'vector' must be {limit}. {remedy}", field="vector", limit=limit, remedy=remedy
        )


class ModelMismatch(ServiceError):
    """The query's vector comes from another model than the stored ones."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_MODEL_MISMATCH"

    def __init__(self, *, expected: str, actual: str) -> None:
        super().__init__(
            f"The stored vectors were made by the model {expected[:16]}, the query by {actual[:16]}. Embed "
            "the query with the model that made the stored vectors, or run 'satchel reembed', which makes "
            "all vectors anew with the embedder's.",
            expected_model=expected,
            actual_model=actual,
        )


class StoreUnavailable(ServiceError):
    """The database could not be read or written; the cause is in the service's log.

    ``retry_after_s`` is `None` where a retry will not help.
    """

    code = Code.UNAVAILABLE
    reason = "ERROR_REASON_STORE_UNAVAILABLE"

    def __init__(
        self,
        message: str = "The database cannot be read or written. Retry shortly.",
        *,
        retry_after_s: float | None = 1.0,
    ) -> None:
        super().__init__(message, retry_after_s=retry_after_s)

    @classmethod
    def damaged(cls) -> Self:
        """Make the error for a file that holds no whole database."""
        return cls(
            "The database is damaged: run 'satchel doctor' to see what is wrong and what to do.",
            retry_after_s=None,
        )

    @classmethod
    def read_only(cls) -> Self:
        """Make the error for a file that cannot be written."""
        return cls(
            "The database can only be read: its disk was full when it was opened, or its folder or file is "
            "read-only. Free disk space or allow writing, then start Satchel again.",
            retry_after_s=None,
        )


class StoreFull(ServiceError):
    """The disk or the database's size limit is reached; nothing was stored."""

    code = Code.RESOURCE_EXHAUSTED
    reason = "ERROR_REASON_STORE_FULL"

    def __init__(self) -> None:
        remedy = "Free disk space or delete memories, then retry."
        super().__init__(f"The disk is full and nothing was stored. {remedy}", remedy=remedy)


class WebhookNotFound(ServiceError):
    """No webhook endpoint has this id."""

    code = Code.NOT_FOUND
    reason = "ERROR_REASON_WEBHOOK_NOT_FOUND"

    def __init__(self, webhook_id: str) -> None:
        super().__init__(
            f"No webhook endpoint has the id {webhook_id}. Use an id that a list of webhooks shows.",
            webhook_id=webhook_id,
        )


class WebhookUrlRefused(ServiceError):
    """The URL of an endpoint cannot be called, or leads to an address that is not public."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_WEBHOOK_URL_REFUSED"

    def __init__(self, *, limit: str, remedy: str, field: str = "url") -> None:
        super().__init__(
            f"The field '{field}' must be {limit}. {remedy}", field=field, limit=limit, remedy=remedy
        )


class WebhooksDisabled(ServiceError):
    """This store is not started with webhooks."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_WEBHOOKS_DISABLED"

    def __init__(self) -> None:
        remedy = "Set SATCHEL_WEBHOOKS_ENABLED=true, or webhooks.enabled in the file, and start again."
        super().__init__(f"Webhooks are turned off. {remedy}", remedy=remedy)


class WebhookLimitReached(ServiceError):
    """There are as many webhook endpoints as there may be."""

    code = Code.RESOURCE_EXHAUSTED
    reason = "ERROR_REASON_WEBHOOK_LIMIT_REACHED"

    def __init__(self, limit: int) -> None:
        remedy = "Delete endpoints that nobody needs."
        super().__init__(
            f"There may be at most {limit} webhook endpoints. {remedy}", limit=limit, remedy=remedy
        )


class IdentityNotFound(ServiceError):
    """No identity is kept of this agent in the project, or not of this version."""

    code = Code.NOT_FOUND
    reason = "ERROR_REASON_IDENTITY_NOT_FOUND"

    def __init__(self, agent_id: str, *, version: int = 0) -> None:
        what = f"Version {version} of the identity" if version else "The identity"
        super().__init__(
            f"{what} of the agent '{agent_id}' is not kept in this project. Capture a conversation of the "
            "agent or patch its identity first, or use a name and a version that a list returned.",
            agent_id=agent_id,
        )
        if version:
            self.add_metadata({"version": version})


class IdentitiesDisabled(ServiceError):
    """This store is not started with identities of agents."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_IDENTITIES_DISABLED"

    def __init__(self) -> None:
        remedy = "Start Satchel by 'satchel server --with-soul', or set SATCHEL_SOUL_ENABLED=true."
        super().__init__(f"Identities of agents are off. {remedy}", remedy=remedy)


class DirectiveNotUnderstood(ServiceError):
    """A directive holds nothing that is understood."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_DIRECTIVE_NOT_UNDERSTOOD"

    def __init__(self, known: tuple[str, ...]) -> None:
        limit = ", ".join(known)
        remedy = "Say one of these in English or French, such as 'be more formal', or patch single fields."
        super().__init__(
            f"The field 'directive' holds nothing that is understood. What is: {limit}. {remedy}",
            field="directive",
            limit=limit,
            remedy=remedy,
        )


class NothingToChange(ServiceError):
    """A patch of an identity sets no field."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_NOTHING_TO_CHANGE"

    def __init__(self, known: tuple[str, ...]) -> None:
        limit = ", ".join(known)
        remedy = "Set at least one of the fields that can be patched."
        super().__init__(f"The request sets nothing. {remedy}", limit=limit, remedy=remedy)
