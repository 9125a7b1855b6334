"""Provides the caller's identity to what runs for a call, and refuses what the caller may not do."""

from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias, cast

from satchel.api.options.v1 import options_pb2
from satchel.runtime.errors import PermissionDenied, ServiceError, Unauthenticated
from satchel.runtime.interceptors.middleware import Behaviour, Context, Handler, Middleware
from satchel.runtime.interceptors.projects import confined
from satchel.runtime.keys import KeyRing, Principal
from satchel.runtime.methods import Method, deletes, rules_of
from satchel.runtime.propagation import AUTHORIZATION, Metadatum, forward_from
from satchel.runtime.status import to_grpc_status

# Takes the metadata of a call and says who calls. Raises `Unauthenticated` to refuse.
Authenticator: TypeAlias = Callable[[Sequence[Metadatum]], Awaitable[Principal]]

LOCAL_OWNER = Principal("local", options_pb2.ACCESS_ADMIN)
ANONYMOUS = Principal("")

_UNKNOWN_KEY = "The key is not known here. Send one that is, as 'authorization: Bearer ...'."

_principal: ContextVar[Principal | None] = ContextVar("satchel_principal", default=None)


async def local_owner(_metadata: Sequence[Metadatum]) -> Principal:
    """Take every caller for the owner: for a service that only this machine can reach."""
    return LOCAL_OWNER


def authenticator_of(ring: KeyRing) -> Authenticator:
    """Return what asks every caller for a key of the ring; of an empty one, `local_owner`."""
    if not ring:
        return local_owner

    async def by_key(metadata: Sequence[Metadatum]) -> Principal:
        return identified(ring, [str(value) for key, value in metadata if key == AUTHORIZATION])

    return by_key


def identified(ring: KeyRing, sent: Sequence[str]) -> Principal:
    """Return who calls, told by all values of ``authorization`` that came.

    Raises:
        Unauthenticated: there is none, there are several, or its key is not known.
    """
    if not sent:
        raise Unauthenticated
    principal = ring.identify(sent[0]) if len(sent) == 1 else None
    if principal is None:
        raise Unauthenticated(_UNKNOWN_KEY)
    return principal


def current_principal() -> Principal | None:
    """Return who made the current call; `None` outside of one."""
    return _principal.get()


class AuthInterceptor(Middleware):
    """Asks the authenticator who calls, and compares its right with the one that the contract asks for.

    Outgoing calls carry the same credentials. An RPC that names no right is not one of ours, since
    `require_access_rules` lets no server register such a one: any known caller may use it. Reflection is one
    of these; health is for anybody.
    """

    def __init__(self, authenticator: Authenticator) -> None:
        super().__init__()
        self._authenticator = authenticator
        self._needed: dict[str, options_pb2.Access.ValueType] = {}
        self._deleting: set[str] = set()

    def concerns(self, method: Method) -> bool:
        """Stand before reflection too: it tells what there is."""
        return method.is_observed or method.is_reflection

    def wrap(self, handler: Handler, method: Method) -> Handler:
        """Remember which right the method needs, and whether it deletes."""
        self._needed[method.path] = rules_of(method).access
        if deletes(method):
            self._deleting.add(method.path)
        return super().wrap(handler, method)

    async def handle(self, inner: Behaviour, method: Method, request: Any, context: Context) -> Any:  # noqa: ANN401
        """Identify the caller before anything else looks at the request.

        Raises:
            Unauthenticated: the caller is not known, and the RPC is not for anybody.
            PermissionDenied: its right does not include the one that the RPC needs.
        """
        metadata = cast("Sequence[Metadatum]", context.invocation_metadata() or ())
        try:
            principal = await self._admitted(metadata, method)
        except ServiceError as error:
            if method.is_observed:
                raise
            # No interceptor for errors stands around reflection.
            status = to_grpc_status(error)
            await context.abort(status.code, status.details, status.trailing_metadata)
        _principal.set(principal)
        forward_from(metadata)
        return await inner(confined(request, principal, method), context)

    async def _admitted(self, metadata: Sequence[Metadatum], method: Method) -> Principal:
        needed = self._needed[method.path]
        principal = await self._identify(metadata, is_public=needed == options_pb2.ACCESS_PUBLIC)
        if principal.right < needed:
            raise _denied(method, options_pb2.Access.Name(needed).removeprefix("ACCESS_").lower())
        if not principal.may_delete and method.path in self._deleting:
            raise _denied(method, "delete")
        return principal

    async def _identify(self, metadata: Sequence[Metadatum], *, is_public: bool) -> Principal:
        try:
            return await self._authenticator(metadata)
        except Unauthenticated:
            if is_public:
                return ANONYMOUS
            raise


def _denied(method: Method, right: str) -> PermissionDenied:
    return PermissionDenied(
        f"{method.label} needs the right '{right}'. Call it with a key that carries this right.",
        needed=right,
    )
