"""Provides the caller's identity to what runs for a call."""

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from satchel.api.options.v1 import options_pb2
from satchel.runtime.errors import PermissionDenied, Unauthenticated
from satchel.runtime.interceptors.middleware import Behaviour, Context, Handler, Middleware
from satchel.runtime.methods import Method, rules_of
from satchel.runtime.propagation import Metadatum, forward_from


@dataclass(frozen=True, slots=True)
class Principal:
    """Who calls and what it may do. ``subject`` names a person, a key or a service.

    ``right`` is a value of ``satchel.api.options.v1.Access``; each includes the ones before it.
    """

    subject: str
    right: "options_pb2.Access.ValueType" = options_pb2.ACCESS_PUBLIC


# Takes the metadata of a call and says who calls. Raises `Unauthenticated` to refuse.
Authenticator: TypeAlias = Callable[[Sequence[Metadatum]], Awaitable[Principal]]

LOCAL_OWNER = Principal("local", options_pb2.ACCESS_ADMIN)
ANONYMOUS = Principal("")

_principal: ContextVar[Principal | None] = ContextVar("satchel_principal", default=None)


async def local_owner(_metadata: Sequence[Metadatum]) -> Principal:
    """Take every caller for the owner: for a service that only this machine can reach."""
    return LOCAL_OWNER


def current_principal() -> Principal | None:
    """Return who made the current call; `None` outside of one."""
    return _principal.get()


class AuthInterceptor(Middleware):
    """Asks the authenticator who calls, and compares its right with the one that the contract asks for.

    Outgoing calls carry the same credentials. An RPC that names no right is not one of ours, since
    `require_access_rules` lets no server register such a one: any known caller may use it.
    """

    def __init__(self, authenticator: Authenticator) -> None:
        super().__init__()
        self._authenticator = authenticator
        self._needed: dict[str, options_pb2.Access.ValueType] = {}

    def wrap(self, handler: Handler, method: Method) -> Handler:
        """Remember which right the method needs."""
        self._needed[method.path] = rules_of(method).access
        return super().wrap(handler, method)

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401
        """Identify the caller before anything else looks at the request.

        Raises:
            Unauthenticated: the caller is not known, and the RPC is not for anybody.
            PermissionDenied: its right does not include the one that the RPC needs.
        """
        metadata = cast("Sequence[Metadatum]", context.invocation_metadata() or ())
        needed = self._needed[method.path]
        principal = await self._identify(metadata, is_public=needed == options_pb2.ACCESS_PUBLIC)
        if principal.right < needed:
            raise _denied(method, needed)
        _principal.set(principal)
        forward_from(metadata)
        return await inner(request, context)

    async def _identify(self, metadata: Sequence[Metadatum], *, is_public: bool) -> Principal:
        try:
            return await self._authenticator(metadata)
        except Unauthenticated:
            if is_public:
                return ANONYMOUS
            raise


def _denied(method: Method, right: "options_pb2.Access.ValueType") -> PermissionDenied:
    needed = options_pb2.Access.Name(right).removeprefix("ACCESS_").lower()
    return PermissionDenied(
        f"{method.label} needs the right '{needed}'. Call it with a key that carries this right.",
        needed=needed,
    )
