"""What can be set about metrics; variables ``SATCHEL_METRICS_<FIELD>``. Pure: reads nothing by itself."""

from collections.abc import Mapping
from dataclasses import dataclass

from satchel.runtime.settings import SettingsError, load, setting

PREFIX = "SATCHEL_METRICS"

_GREATEST_PORT = 65535


@dataclass(frozen=True)
class MetricsSettings:
    """Whether and where a process shows its metrics: numbers and names of parts, nothing that is stored."""

    enabled: bool = setting(default=True, description="Whether /metrics is served.")
    prometheus_addr: str = setting(
        "",
        "Address for /metrics and health alone; each process needs its own. Empty: `satchel server` takes "
        "127.0.0.1:9090, others none.",
    )
    report_interval_seconds: float = setting(
        60.0, "Seconds between two reports of the totals in the log.", minimum=1, maximum=86_400
    )

    def __post_init__(self) -> None:
        """Refuse an address without a host or a port."""
        host, _, port = self.prometheus_addr.rpartition(":")
        is_usable = host and port.isdecimal() and int(port) <= _GREATEST_PORT
        if self.prometheus_addr and not is_usable:
            raise SettingsError(f"{PREFIX}_PROMETHEUS_ADDR must be host:port, not '{self.prometheus_addr}'.")

    @property
    def place(self) -> tuple[str, int] | None:
        """Host and port to listen on, or `None`."""
        if not self.enabled or not self.prometheus_addr:
            return None
        host, _, port = self.prometheus_addr.rpartition(":")
        return host.strip("[]"), int(port)


def load_metrics(environ: Mapping[str, str] | None = None) -> MetricsSettings:
    """Read the variables ``SATCHEL_METRICS_*``.

    Raises:
        SettingsError: one of them is unusable.
    """
    return load(MetricsSettings, PREFIX, environ)
