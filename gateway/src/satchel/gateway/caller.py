"""Makes the call behind a request, the same for every door: read-your-writes, metrics."""

import logging
import time
from collections.abc import Iterator
from typing import Any, cast

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from satchel.gateway.clients import Clients
from satchel.gateway.metrics import GatewayMetrics
from satchel.gateway.transcoder.descriptors import Contract, Rpc
from satchel.runtime.errors import PeerUnavailable, ServiceError

_log = logging.getLogger("satchel.gateway")

_MIN_REVISION = "min_revision"
_REVISION = "revision"
_REVISION_NOT_REACHED = "ERROR_REASON_REVISION_NOT_REACHED"
_OUT_OF_RANGE = "ERROR_REASON_FIELD_OUT_OF_RANGE"


class Revisions:
    """The newest revision that a write through this gateway returned.

    Later reads that name no ``min_revision`` wait for it, so that a caller reads its own writes even from a
    part that follows the store at a distance. One number is enough: the store counts all changes as one.
    Where an older copy has taken the store's place, the number may never be reached, and is forgotten.
    """

    def __init__(self) -> None:
        self.newest = 0

    def note(self, response: Message) -> None:
        """Take in the answer to a write."""
        self.newest = max(self.newest, *_revisions(response, depth=2), 0)

    def ask_for(self, request: Message) -> int:
        """Let a request that names no revision wait for the newest; return that, or 0 for no such wait."""
        if not self.newest or _MIN_REVISION not in _fields(request) or _get(request, _MIN_REVISION):
            return 0
        setattr(request, _MIN_REVISION, self.newest)
        return self.newest

    def forget(self, revision: int, request: Message) -> None:
        """Let neither ``request`` nor later reads wait for a revision that the store has not reached."""
        request.ClearField(_MIN_REVISION)
        if self.newest <= revision:
            self.newest = 0


class Caller:
    """Calls RPCs of one contract for the doors."""

    def __init__(
        self,
        contract: Contract,
        clients: Clients,
        metrics: GatewayMetrics,
        *,
        timeout_s: float,
        revisions: Revisions | None = None,
    ) -> None:
        self.contract = contract
        self.metrics = metrics
        self.revisions = revisions or Revisions()
        self._clients = clients
        self._timeout_s = timeout_s

    def within(self, timeout_s: float) -> "Caller":
        """Return the same caller with another time for each call; what is written by one, both read."""
        return Caller(
            self.contract, self._clients, self.metrics, timeout_s=timeout_s, revisions=self.revisions
        )

    def over(self, clients: Clients) -> "Caller":
        """Return a caller that reaches the same services by other clients."""
        return Caller(
            self.contract, clients, self.metrics, timeout_s=self._timeout_s, revisions=self.revisions
        )

    async def call(self, rpc: Rpc, request: Message) -> Message:
        """Call an RPC.

        Raises:
            ServiceError: what the service reported, or what became of the call.
        """
        until = time.monotonic() + self._timeout_s
        pinned = self.revisions.ask_for(request)
        try:
            response = await self._counted(rpc, request, until)
        except ServiceError as error:
            if not pinned or not _is_unreached(error):
                raise
            _log.warning("revision.forgotten", extra={"revision": pinned, "reason": error.reason})
            self.revisions.forget(pinned, request)
            response = await self._counted(rpc, request, until)
        if rpc.is_write:
            self.revisions.note(response)
        return response

    async def _counted(self, rpc: Rpc, request: Message, until: float) -> Message:
        began = time.monotonic()
        try:
            response = await self._clients.call(rpc, request, timeout_s=max(until - began, 0.0))
        except ServiceError as error:
            self.metrics.count_call(rpc, error.code.name, time.monotonic() - began)
            if isinstance(error, PeerUnavailable):
                self.metrics.count_unanswered()
            raise
        self.metrics.count_call(rpc, "OK", time.monotonic() - began)
        return response


def _is_unreached(error: ServiceError) -> bool:
    """Say whether a read failed because the store has not come to the revision that it names."""
    return error.reason == _REVISION_NOT_REACHED or (
        error.reason == _OUT_OF_RANGE and error.metadata.get("field") == _MIN_REVISION
    )


def _revisions(message: Message, depth: int) -> Iterator[int]:
    fields = _fields(message)
    if _REVISION in fields:
        yield cast("int", _get(message, _REVISION))
    for field in fields.values() if depth > 1 else ():
        if field.message_type is not None and _REVISION in field.message_type.fields_by_name:
            inner = _get(message, field.name)
            for item in inner if field.is_repeated else (inner,):
                yield from _revisions(item, depth - 1)


def _fields(message: Message) -> Any:  # noqa: ANN401  # a mapping of descriptors that its stub does not name
    return cast("Descriptor", message.DESCRIPTOR).fields_by_name


def _get(message: Message, name: str) -> Any:  # noqa: ANN401
    return getattr(message, name)
