"""The sections of the file that Satchel's own settings make: nothing is listed twice."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import get_origin, get_type_hints

from satchel.allocator import settings as allocator
from satchel.cli import settings as command
from satchel.embedder import settings as embedder
from satchel.gateway import settings as gateway
from satchel.index import settings as index
from satchel.runtime import keys
from satchel.runtime.metrics import settings as metrics
from satchel.runtime.setting_types import inner_type
from satchel.runtime.settings import SettingDoc, describe
from satchel.store import settings as store


@dataclass(frozen=True, slots=True)
class Section:
    """A settings class, its section in the file, and its heading in the documentation."""

    name: str
    title: str
    cls: type
    prefix: str


@dataclass(frozen=True, slots=True)
class NativeKey:
    """A key of the file that is a setting of Satchel's own."""

    path: str
    section: Section
    doc: SettingDoc
    is_structured: bool


SECTIONS = (
    Section("satchel", "Commands", command.CommandSettings, command.PREFIX),
    Section("satchel", "Keys", keys.KeySettings, keys.PREFIX),
    Section("embedder", "Embedder", embedder.EmbedderSettings, embedder.PREFIX),
    Section("index", "Index", index.IndexSettings, index.PREFIX),
    Section("store", "Store", store.StoreSettings, store.PREFIX),
    Section("allocator", "Allocator", allocator.AllocatorSettings, allocator.PREFIX),
    Section("gateway", "Gateway", gateway.GatewaySettings, gateway.PREFIX),
    Section("mcp", "MCP", gateway.McpSettings, gateway.MCP_PREFIX),
    Section("metrics", "Metrics", metrics.MetricsSettings, metrics.PREFIX),
    Section("webhooks", "Webhooks", store.WebhookRules, store.WEBHOOK_PREFIX),
    Section("webhooks", "Sending of webhooks", gateway.WebhookSettings, gateway.WEBHOOK_PREFIX),
    Section("soul", "Identities (SOUL)", store.SoulSettings, store.SOUL_PREFIX),
)


@cache
def native_keys() -> Mapping[str, NativeKey]:
    """Return every key of Satchel's own by its path, in order."""
    found: dict[str, NativeKey] = {}
    for section in SECTIONS:
        hints = get_type_hints(section.cls)
        for doc in describe(section.cls, section.prefix):
            path = f"{section.name}.{doc.field}"
            found[path] = NativeKey(path, section, doc, _is_structured(hints[doc.field]))
    return found


def _is_structured(hint: object) -> bool:
    return get_origin(inner_type(hint)) is tuple
