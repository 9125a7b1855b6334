"""Reads memories again with a language model, long after they were acknowledged."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from satchel.runtime.errors import ServiceError
from satchel.runtime.tokens import count_tokens
from satchel.store.enrichment_ports import (
    Enriched,
    LanguageModel,
    LanguageModelFailed,
    LanguageModelUnavailable,
)
from satchel.store.extraction import Fingerprint, canonical_json, from_json, render_line
from satchel.store.llm.answers import UnusableAnswer, ground, join, read_answer
from satchel.store.model import Memory
from satchel.store.ports import MemoryStore

log = logging.getLogger(__name__)

_TRIES = 3  # for one memory; an endpoint that is away is waited for without an end


class Enriching:
    """Asks a language model about every memory that it has not read, ``max_concurrent`` at a time.

    What waits is in the database, so nothing is lost by a restart. Between failed tries it waits ``first_s``,
    doubling up to ``longest_s``. A memory about which the model says nothing usable keeps the facts that the
    rules found, or without ``keeps_rules`` only its subjects.
    """

    def __init__(
        self,
        store: MemoryStore,
        model: LanguageModel | None,
        *,
        max_concurrent: int,
        keeps_rules: bool,
        first_s: float,
        longest_s: float,
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        self._store = store
        self._model = model
        self._max_concurrent = max_concurrent
        self._keeps_rules = keeps_rules
        self._first_s = first_s
        self._longest_s = longest_s
        self._pause = pause

    async def waiting(self, project: str) -> int:
        """Count the memories that wait for the model; 0 without one. An empty project means every one."""
        return 0 if self._model is None else await self._store.enrichment.unread_count(project)

    async def run(self) -> None:
        """Work for ever; to be run as a task and cancelled. Without a model there is nothing to do."""
        if self._model is None:
            return
        wait_s = self._first_s
        while True:
            try:
                await self._read_some(self._model)
                wait_s = self._first_s
            except (LanguageModelUnavailable, ServiceError) as error:
                log.warning("store.language_model_unavailable", extra={"cause": str(error), "wait_s": wait_s})
                await self._pause(wait_s)
                wait_s = min(wait_s * 2, self._longest_s)

    async def _read_some(self, model: LanguageModel) -> None:
        """Read the oldest memories that wait; when there are none, wait for a change of the store.

        Raises:
            LanguageModelUnavailable: those that were not read still wait.
        """
        unread = await self._store.enrichment.unread(limit=self._max_concurrent)
        if not unread.memories:
            await self._store.wait_beyond(unread.head)
            return
        done = await asyncio.gather(
            *(self._read(model, memory) for memory in unread.memories), return_exceptions=True
        )
        for failure in done:
            if isinstance(failure, BaseException):
                raise failure

    async def _read(self, model: LanguageModel, memory: Memory) -> None:
        rules = from_json(memory.fingerprint)
        wait_s = self._first_s
        for attempt in range(_TRIES):
            try:
                found = read_answer(await model.ask(memory.content))
            except (LanguageModelFailed, UnusableAnswer) as error:
                log.info("store.language_model_failed", extra={"memory_id": memory.id, "cause": str(error)})
                if attempt < _TRIES - 1:
                    await self._pause(wait_s)
                    wait_s = min(wait_s * 2, self._longest_s)
            else:
                await self._keep(memory, rules, join(rules, ground(found, memory.content), model.name))
                return
        await self._keep(memory, rules, rules if self._keeps_rules else _bare(rules))

    async def _keep(self, memory: Memory, rules: Fingerprint, facts: Fingerprint) -> None:
        if facts == rules:
            await self._store.enrichment.settle(memory.id, version=memory.version)
            return
        await self._store.enrichment.enrich(
            Enriched(
                id=memory.id,
                version=memory.version,
                fingerprint=canonical_json(facts),
                fact_count=facts.fact_count,
                fingerprint_tokens=count_tokens(render_line(facts)),
            )
        )


def _bare(rules: Fingerprint) -> Fingerprint:
    """Return what a memory is about, without what it states."""
    return Fingerprint(type=rules.type, subjects=rules.subjects)
