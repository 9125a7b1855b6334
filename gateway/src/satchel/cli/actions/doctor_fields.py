"""The fields that scripts for MIRA read in the answer of `doctor --json`."""

from collections.abc import Mapping
from importlib.metadata import version

from satchel.api.allocator.v1 import allocator_service_pb2 as pb
from satchel.cli.actions.status import encoded
from satchel.cli.place import Place
from satchel.gateway.settings import ProcessSettings
from satchel.runtime.settings import load
from satchel.store.settings import SOUL_PREFIX, WEBHOOK_PREFIX, SoulSettings, WebhookRules

_OF_STATUS = ("stats", "models", "uptime")


def fields_of_mira(place: Place, status: pb.GetStatusResponse | None) -> Mapping[str, object]:
    """Return the fields as configured, and those that only the services know, empty without a ``status``.

    ``hnsw_key_set`` is false: an index is never encrypted here.
    """
    found = {} if status is None else encoded(status)
    models = found.get("models")
    file = place.configuration.file
    return {
        "version": version("satchel"),
        "config_file": str(file) if file else None,
        "storage_path": place.url or str(place.data_dir),
        "model": models[0] if isinstance(models, list) and models else None,
        **{name: found.get(name) for name in _OF_STATUS},
        **_configured(place),
        "hnsw_key_set": False,
    }


def _configured(place: Place) -> Mapping[str, object]:
    settings = ProcessSettings.load(place.values)
    return {
        "mcp_transport": settings.mcp.transport,
        "mcp_address": settings.mcp.address,
        "api_enabled": settings.gateway.rest,
        "api_address": settings.gateway.http_address,
        "metrics_enabled": settings.metrics.enabled,
        "prometheus_addr": settings.metrics.prometheus_addr,
        "soul_enabled": load(SoulSettings, SOUL_PREFIX, place.values).enabled,
        "webhooks_enabled": load(WebhookRules, WEBHOOK_PREFIX, place.values).enabled,
        "webhook_count": len(settings.webhooks.endpoints),
    }
