"""Connections to addresses that were checked: a name is resolved once, and what was looked at is called."""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpcore2

from satchel.runtime.addresses import is_public, literal

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


class AddressRefused(httpcore2.ConnectError):
    """A host leads to this machine or to a private network."""


class CheckedConnections(httpcore2.AsyncNetworkBackend):
    """Connects to hosts whose addresses are all public, or to any with ``allow_private``.

    Between the check and the connection no name is resolved again, so that a name cannot lead elsewhere
    meanwhile ("DNS rebinding"). The host of the URL stays in the Host header and in TLS.
    """

    def __init__(self, resolve: Resolve, *, allow_private: bool) -> None:
        self._resolve = resolve
        self._allow_private = allow_private
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # as the library has it
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address that answers.

        Raises:
            AddressRefused: one of the addresses is not public.
            httpcore2.ConnectError: the name is not known, or nothing answers.
        """
        failure: Exception = httpcore2.ConnectError("The name of the host is not known.")
        for address in await self._checked(host, port):
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure

    async def _checked(self, host: str, port: int) -> list[str]:
        written = literal(host)
        found = [str(written)] if written is not None else list(await self._resolve(host, port))
        if not self._allow_private:
            for text in found:
                address = literal(text)
                if address is None or not is_public(address):
                    raise AddressRefused(
                        "The host leads to an address of this machine or of a private network. "
                        "Set SATCHEL_WEBHOOKS_ALLOW_PRIVATE=true to allow that."
                    )
        return found
