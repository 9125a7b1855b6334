"""Errors that only a door can raise: of paths, verbs, content types, hosts, rates and confirmations."""

# ruff: noqa: N818  # the names say what happened, as those of the runtime do

from collections.abc import Sequence

from satchel.runtime.errors import Code, Overloaded, RouteNotFound, ServiceError


class PathNotFound(RouteNotFound):
    """No RPC has this path."""

    def __init__(self, verb: str, path: str) -> None:
        super().__init__(
            f"There is nothing at {_shown(path)}. The paths are listed at /openapi.json.",
            method=_shown(verb),
            path=_shown(path),
        )


class VerbNotAllowed(ServiceError):
    """The path is known, but not with this verb."""

    code = Code.UNIMPLEMENTED
    reason = "ERROR_REASON_UNIMPLEMENTED"

    def __init__(self, verb: str, allowed: Sequence[str]) -> None:
        self.allowed = ", ".join(allowed)
        super().__init__(
            f"This path does not take {_shown(verb)}. Use one of {self.allowed}.", method=_shown(verb)
        )


class WrongContentType(ServiceError):
    """The body is not declared as JSON in UTF-8."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_MALFORMED_MESSAGE"

    def __init__(self) -> None:
        remedy = "send JSON in UTF-8 with the header Content-Type: application/json"
        super().__init__(f"The body has no content type, or one that is not taken: {remedy}.", remedy=remedy)


class WrongContentCoding(ServiceError):
    """The body is declared as compressed."""

    code = Code.INVALID_ARGUMENT
    reason = "ERROR_REASON_MALFORMED_MESSAGE"

    def __init__(self) -> None:
        remedy = "send it as it is, without the header Content-Encoding"
        super().__init__(f"The body has a content coding, and none is taken: {remedy}.", remedy=remedy)


class BodyTooLarge(ServiceError):
    """The body is larger than the door takes."""

    code = Code.RESOURCE_EXHAUSTED
    reason = "ERROR_REASON_MESSAGE_TOO_LARGE"

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(
            f"The body has more than {limit_bytes} bytes. Send the data in smaller parts.",
            limit=limit_bytes,
            remedy="send the data in smaller parts",
        )


class TooManyRequests(Overloaded):
    """As many requests are under way as the gateway takes; nothing was done."""

    def __init__(self, limit: int, queue: str = "requests") -> None:
        super().__init__(queue=queue, limit=limit)


class RateLimited(ServiceError):
    """One caller asks more often than the gateway allows; nothing was done."""

    code = Code.RESOURCE_EXHAUSTED
    reason = "ERROR_REASON_RATE_LIMITED"

    def __init__(self, limit: int, retry_after_s: float) -> None:
        super().__init__(
            f"The gateway takes {limit} requests a minute of one caller. Retry in {retry_after_s:.0f} s.",
            retry_after_s=retry_after_s,
            limit=limit,
        )


class SlowBody(ServiceError):
    """The body of a request did not arrive in time."""

    code = Code.DEADLINE_EXCEEDED
    reason = "ERROR_REASON_DEADLINE_EXCEEDED"

    def __init__(self, limit_s: float) -> None:
        super().__init__(
            f"The body did not arrive within {limit_s:g} s. Send it faster, or in smaller parts."
        )


class HostRefused(ServiceError):
    """The request names a host, or comes from a page, that is not served here."""

    code = Code.PERMISSION_DENIED
    reason = "ERROR_REASON_PERMISSION_DENIED"

    def __init__(self, header: str) -> None:
        super().__init__(
            f"The header {header} names a host that is not served here. "
            "Use 127.0.0.1 or localhost, or add the host to SATCHEL_GATEWAY_ALLOWED_HOSTS or the origin of a "
            "page to SATCHEL_GATEWAY_ALLOWED_ORIGINS.",
            needed=f"an allowed {header}",
        )


class UnknownTool(RouteNotFound):
    """No MCP tool has this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(
            f"There is no tool named '{_shown(name)}'. The tools are {', '.join(known)}.",
            method="tools/call",
            path=_shown(name),
        )


class UnknownPrompt(RouteNotFound):
    """No MCP prompt has this name."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        super().__init__(
            f"There is no prompt named '{_shown(name)}'. The prompts are {', '.join(known)}.",
            method="prompts/get",
            path=_shown(name),
        )


class UnknownResource(RouteNotFound):
    """No MCP resource has this address."""

    def __init__(self, uri: str, known: Sequence[str]) -> None:
        super().__init__(
            f"There is no resource at '{_shown(uri)}'. The resources are {', '.join(known)}.",
            method="resources/read",
            path=_shown(uri),
        )


class ConfirmationRequired(ServiceError):
    """A tool would destroy something, and the user has not agreed; nothing was changed."""

    code = Code.FAILED_PRECONDITION
    reason = "ERROR_REASON_CONFIRMATION_REQUIRED"

    def __init__(self, tool: str, deed: str, remedy: str = "") -> None:
        """Take what would be done as a sentence; without a ``remedy`` the user was asked and declined."""
        told = f"{remedy[:1].upper()}{remedy[1:]}." if remedy else "The user was asked and did not agree."
        super().__init__(f"{deed} {told}", tool=tool)
        self.add_metadata({"remedy": remedy} if remedy else {})


def _shown(text: str) -> str:
    return text.encode("utf-8", "replace").decode()[:100]
