"""What can be set about the gateway, its MCP door, metrics and webhooks. Pure: reads nothing."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Self
from urllib.parse import urlsplit

from satchel.runtime.keys import KeySettings, load_keys
from satchel.runtime.metrics.settings import PREFIX as METRICS_PREFIX
from satchel.runtime.metrics.settings import MetricsSettings
from satchel.runtime.setting_types import BadValue
from satchel.runtime.settings import Secret, SettingsError, load, setting

PREFIX = "SATCHEL_GATEWAY"
MCP_PREFIX = "SATCHEL_MCP"
WEBHOOK_PREFIX = "SATCHEL_WEBHOOKS"

ANY_ORIGIN = "*"
DEFAULT_REQUESTS_PER_MINUTE = 600

_GREATEST_PORT = 65535


@dataclass(frozen=True)
class GatewaySettings:
    """Where the gateway listens, what it accepts, and where the services are."""

    http_address: str = setting("127.0.0.1:8080", "Host and port of REST and MCP; port 0 takes a free one.")
    rest: bool = setting(default=True, description="Whether REST and its documentation are served.")
    open_to_network: bool = setting(
        default=False, description="Serves an address that other machines reach although callers need no key."
    )
    allowed_hosts: tuple[str, ...] = setting(
        (), "Host names, without a port and beside 127.0.0.1, localhost and ::1, that requests may be for."
    )
    allowed_origins: tuple[str, ...] = setting(
        (),
        "Origins, such as https://app.example, whose pages may call from a browser (CORS). '*' for all, "
        "which needs keys.",
    )
    trusted_proxies: tuple[str, ...] = setting(
        (), "Addresses or networks of proxies whose X-Forwarded-For is believed."
    )
    requests_per_minute: int | None = setting(
        None,
        "Requests a minute of one key, or of one address without a key; 0 for any number. Empty: any number "
        f"on a loopback address, {DEFAULT_REQUESTS_PER_MINUTE} on others.",
        minimum=0,
        maximum=1_000_000,
    )
    max_requests: int = setting(1000, "Requests that may be under way at a time; more get 503.", minimum=1)
    max_streams: int = setting(
        1000,
        "Streams of server-sent events that may be open at a time, beside the requests; more get 503.",
        minimum=1,
    )
    max_body_bytes: int = setting(4 * 1024 * 1024, "Greatest size of a request's body.", minimum=1024)
    timeout_s: float = setting(30.0, "Seconds that a request may take.", minimum=0.1, maximum=3600)
    read_timeout_s: float = setting(
        30.0, "Seconds that a client may take to send a body.", minimum=0.1, maximum=3600
    )
    write_timeout_s: float = setting(
        30.0, "Seconds that a client may take to receive a part of an answer.", minimum=0.1, maximum=3600
    )
    grace_s: float = setting(10.0, "Seconds that requests under way get when the gateway stops.", minimum=0)
    embedder: str = setting("127.0.0.1:50061", "gRPC name of the embedder.")
    index: str = setting("127.0.0.1:50062", "gRPC name of the index.")
    store: str = setting("127.0.0.1:50063", "gRPC name of the store.")
    allocator: str = setting("127.0.0.1:50064", "gRPC name of the allocator.")

    def __post_init__(self) -> None:
        """Refuse an address without a port, and what no origin or address of a request could equal."""
        split_address(self.http_address)
        for origin in self.allowed_origins:
            _check_origin(origin)
        for proxy in self.trusted_proxies:
            _check_network(proxy)

    @property
    def host(self) -> str:
        """The host of the address, without brackets."""
        return split_address(self.http_address)[0]

    @property
    def port(self) -> int:
        """The port of the address.

        Raises:
            SettingsError: the address has none.
        """
        return split_address(self.http_address)[1]

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the address."""
        return is_loopback(self.host)

    @property
    def request_rate(self) -> int:
        """Requests a minute of one caller; 0 for any number."""
        if self.requests_per_minute is not None:
            return self.requests_per_minute
        return 0 if self.is_loopback else DEFAULT_REQUESTS_PER_MINUTE


@dataclass(frozen=True)
class McpSettings:
    """What the MCP door calls itself, and where it is when it has an address of its own."""

    name: str = setting("satchel", "Name of the server that clients are told.")
    version: str = setting("", "Version of the server that clients are told. Empty: that of Satchel.")
    transport: Literal["stdio", "sse", "http"] = setting(
        "stdio", "What `satchel server` speaks: on stdin and stdout, or over HTTP."
    )
    address: str = setting("127.0.0.1:3001", "Address of `satchel server` for the transports sse and http.")
    timeout_seconds: float = setting(
        30.0, "Seconds that a call of a tool may take.", minimum=0.1, maximum=3600
    )
    sessions: bool = setting(
        default=True,
        description="Whether a client over streamable HTTP that can ask its user gets a session of this "
        "process. Turn it off where several gateways answer in turn.",
    )


@dataclass(frozen=True)
class WebhookEndpoint:
    """Where events are sent to, and which; without ``events`` all of them."""

    url: str
    secret: Secret = Secret("")
    events: tuple[str, ...] = ()
    description: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be called. The URL is not told: it may carry a password."""
        try:
            parts = urlsplit(self.url)
            usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
        except ValueError:
            usable = False
        if not usable:
            raise BadValue("has an endpoint whose url is no http or https URL", "an http or https URL")


@dataclass(frozen=True)
class WebhookSettings:
    """Who is told of what happens, and with how much patience; what waits is the store's to keep."""

    workers: int = setting(3, "Events that are sent at a time.", minimum=1, maximum=100)
    timeout_seconds: float = setting(
        30.0, "Seconds that an endpoint may take to answer.", minimum=0.1, maximum=600
    )
    endpoints: tuple[WebhookEndpoint, ...] = setting(
        (), "Endpoints, as a JSON list of URLs or of objects: 'url', 'secret', 'events' and 'description'."
    )


@dataclass(frozen=True, slots=True)
class ProcessSettings:
    """What the gateway's process reads."""

    gateway: GatewaySettings = field(default_factory=GatewaySettings)
    mcp: McpSettings = field(default_factory=McpSettings)
    metrics: MetricsSettings = field(default_factory=MetricsSettings)
    keys: KeySettings = field(default_factory=KeySettings)
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Read the variables.

        Raises:
            SettingsError: names every variable that is unusable.
        """
        return cls(
            load(GatewaySettings, PREFIX, environ),
            load(McpSettings, MCP_PREFIX, environ),
            load(MetricsSettings, METRICS_PREFIX, environ),
            load_keys(environ),
            load(WebhookSettings, WEBHOOK_PREFIX, environ),
        )


def require_guarded(settings: ProcessSettings) -> None:
    """Refuse to serve the network by accident.

    Raises:
        SettingsError: an address can be reached from other machines, and callers need no key.
    """
    if settings.keys.are_set or settings.gateway.open_to_network:
        return
    addresses = {
        f"{PREFIX}_HTTP_ADDRESS": settings.gateway.http_address,
        f"{METRICS_PREFIX}_PROMETHEUS_ADDR": settings.metrics.prometheus_addr,
    }
    for name, address in addresses.items():
        if address and not is_loopback(split_address(address, name)[0]):
            raise SettingsError(
                f"{name}={address} can be reached from other machines, and callers need no key. Set "
                f"SATCHEL_AUTH_TOKEN, use 127.0.0.1, or set {PREFIX}_OPEN_TO_NETWORK=true behind a proxy "
                "that asks for a key."
            )


def split_address(address: str, name: str = f"{PREFIX}_HTTP_ADDRESS") -> tuple[str, int]:
    """Return host, without brackets, and port; ``name`` is that of the setting.

    Raises:
        SettingsError: it is not ``host:port``.
    """
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or int(port) > _GREATEST_PORT:
        raise SettingsError(f"{name} must be host:port, not '{address}'.")
    return host.strip("[]"), int(port)


def is_loopback(host: str) -> bool:
    """Say whether only this machine can reach a host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_origin(origin: str) -> None:
    if origin == ANY_ORIGIN:
        return
    try:
        parts = urlsplit(origin)
        is_origin = bool(parts.scheme and parts.netloc) and origin == f"{parts.scheme}://{parts.netloc}"
    except ValueError:
        is_origin = False
    if not is_origin:
        raise SettingsError(
            f"{PREFIX}_ALLOWED_ORIGINS has '{origin}', which is no origin. Write scheme and host, and the "
            "port if there is one, as in https://app.example."
        )


def _check_network(proxy: str) -> None:
    try:
        ipaddress.ip_network(proxy, strict=False)
    except ValueError:
        raise SettingsError(
            f"{PREFIX}_TRUSTED_PROXIES has '{proxy}', which is no address. Write addresses or networks, "
            "as in 10.0.0.5 or 10.0.0.0/8."
        ) from None
