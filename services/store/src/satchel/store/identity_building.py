"""Puts together what keeps identities of agents; a part of the composition root."""

from collections.abc import Callable
from dataclasses import dataclass

import grpc

from satchel.api.store.v1 import identity_service_pb2_grpc
from satchel.runtime.executor import BoundedExecutor
from satchel.runtime.tokens import count_tokens
from satchel.store.engine.identity_memories import IdentityMemories
from satchel.store.engine.identity_reading import IdentityReading
from satchel.store.engine.identity_rules import Rules
from satchel.store.engine.identity_writing import IdentityWriting
from satchel.store.engine.reading import Reading
from satchel.store.identity.prompts import Bar
from satchel.store.ports import MemoryStore
from satchel.store.servicers.identities import IdentityServicer
from satchel.store.settings import SoulSettings


@dataclass(frozen=True, slots=True)
class Identities:
    """What can be done with identities."""

    writing: IdentityWriting
    reading: IdentityReading

    def register(self, server: grpc.aio.Server) -> None:
        """Add the servicer to a server; it is there also while identities are off, and says so."""
        servicer = IdentityServicer(self.writing, self.reading)
        identity_service_pb2_grpc.add_IdentityServiceServicer_to_server(servicer, server)


def build_identities(
    settings: SoulSettings,
    store: MemoryStore,
    reading: Reading,
    *,
    reader: BoundedExecutor,
    clock: Callable[[], int],
) -> Identities:
    """Return the use cases; conversations are read by ``reader``, times are in microseconds."""
    rules = Rules(
        enabled=settings.enabled,
        bar=Bar(settings.min_trait_confidence, settings.min_observations_for_trait),
        budget=settings.default_budget_tokens,
        drift_threshold=settings.drift_threshold,
        drift_window=settings.drift_window_size,
        checks_after_capture=settings.drift_check_after_capture,
        reinforces_after_swap=settings.swap_auto_reinforce,
        evolves=settings.evolution_enabled,
        versions_kept=settings.max_history_versions,
        count_tokens=count_tokens,
    )
    limit = settings.max_mira_memories if settings.enrich_with_mira_memories else 0
    return Identities(
        IdentityWriting(store.identities, rules, reader=reader, clock=clock),
        IdentityReading(store.identities, rules, IdentityMemories(reading, limit=limit)),
    )
