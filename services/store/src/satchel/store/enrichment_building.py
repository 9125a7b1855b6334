"""Puts together what reads memories with a language model; a part of the composition root."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from satchel.store.adapters.language_model import HttpLanguageModel
from satchel.store.engine.enriching import Enriching
from satchel.store.ports import MemoryStore
from satchel.store.settings import StoreSettings


@asynccontextmanager
async def open_enriching(
    settings: StoreSettings, store: MemoryStore, *, pause: Callable[[float], Awaitable[None]]
) -> AsyncIterator[Enriching]:
    """Yield the use case, with the language model that the settings name or without one."""
    async with AsyncExitStack() as stack:
        model = None
        if settings.llm_enabled:
            model = await stack.enter_async_context(
                HttpLanguageModel.open(
                    api=settings.llm_api,
                    endpoint=settings.llm_endpoint,
                    name=settings.llm_model,
                    api_key=settings.llm_api_key,
                    timeout_s=settings.llm_timeout_s,
                )
            )
        yield Enriching(
            store,
            model,
            max_concurrent=settings.llm_max_concurrent,
            keeps_rules=settings.llm_fallback_on_error,
            first_s=settings.retry_first_s,
            longest_s=settings.retry_longest_s,
            pause=pause,
        )
