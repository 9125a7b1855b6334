"""Provides the caller's identity to what runs for a call."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from satchel.runtime.interceptors.middleware import Behaviour, Context, Middleware
from satchel.runtime.methods import Method
from satchel.runtime.propagation import Metadatum, forward_from


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls. ``subject`` names a person, a key or a service; ``claims`` is what its issuer says of it."""

    subject: str
    is_owner: bool = False
    claims: Mapping[str, str] = field(default_factory=dict)


# Takes the metadata of a call and says who calls. Raises `Unauthenticated` to refuse.
Authenticator: TypeAlias = Callable[[Sequence[Metadatum]], Awaitable[Principal]]

LOCAL_OWNER = Principal(subject="local", is_owner=True)

_principal: ContextVar[Principal | None] = ContextVar("satchel_principal", default=None)


async def local_owner(_metadata: Sequence[Metadatum]) -> Principal:
    """Take every caller for the owner: for a service that only this machine can reach."""
    return LOCAL_OWNER


def current_principal() -> Principal | None:
    """Return who made the current call; `None` outside of one."""
    return _principal.get()


class AuthInterceptor(Middleware):
    """Asks the authenticator who calls, and lets outgoing calls carry the same credentials."""

    def __init__(self, authenticator: Authenticator) -> None:
        super().__init__()
        self._authenticator = authenticator

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401, ARG002
        """Identify the caller before anything else looks at the request."""
        metadata = cast("Sequence[Metadatum]", context.invocation_metadata() or ())
        _principal.set(await self._authenticator(metadata))
        forward_from(metadata)
        return await inner(request, context)
