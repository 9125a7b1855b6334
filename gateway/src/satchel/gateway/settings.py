"""Settings of the gateway, read from SATCHEL_GATEWAY_* variables."""

import ipaddress
from dataclasses import dataclass

from satchel.runtime.settings import SettingsError, setting

PREFIX = "SATCHEL_GATEWAY"


@dataclass(frozen=True)
class GatewaySettings:
    """Where the gateway listens, what it accepts, and where the services are."""

    http_address: str = setting("127.0.0.1:8080", "Host and port of REST and MCP; port 0 takes a free one.")
    open_to_network: bool = setting(
        default=False, description="Serves an address that other machines reach although callers need no key."
    )
    allowed_hosts: tuple[str, ...] = setting(
        (), "Host names, without a port and beside 127.0.0.1, localhost and ::1, that requests may be for."
    )
    max_requests: int = setting(1000, "Requests that may be under way at a time; more get 503.", minimum=1)
    max_body_bytes: int = setting(4 * 1024 * 1024, "Greatest size of a request's body.", minimum=1024)
    timeout_s: float = setting(30.0, "Seconds that a request may take.", minimum=0.1, maximum=3600)
    grace_s: float = setting(10.0, "Seconds that requests under way get when the gateway stops.", minimum=0)
    embedder: str = setting("127.0.0.1:50061", "gRPC name of the embedder.")
    index: str = setting("127.0.0.1:50062", "gRPC name of the index.")
    store: str = setting("127.0.0.1:50063", "gRPC name of the store.")
    allocator: str = setting("127.0.0.1:50064", "gRPC name of the allocator.")

    def __post_init__(self) -> None:
        """Refuse to serve the network by accident."""
        if not self.is_loopback and not self.open_to_network:
            raise SettingsError(
                f"{PREFIX}_HTTP_ADDRESS={self.http_address} can be reached from other machines, and callers "
                f"need no key yet. Use 127.0.0.1, or set {PREFIX}_OPEN_TO_NETWORK=true behind a proxy that "
                "asks for one."
            )

    @property
    def host(self) -> str:
        """The host of the address, without brackets."""
        return self.http_address.rpartition(":")[0].strip("[]")

    @property
    def port(self) -> int:
        """The port of the address.

        Raises:
            SettingsError: the address has none.
        """
        text = self.http_address.rpartition(":")[2]
        if not text.isdecimal() or int(text) > 65535:  # noqa: PLR2004  # the greatest port
            raise SettingsError(f"{PREFIX}_HTTP_ADDRESS must be host:port, not '{self.http_address}'.")
        return int(text)

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False
