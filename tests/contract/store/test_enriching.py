"""A language model adds facts after the write, and can spoil nothing."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from contract.store.backends import Category, RunningStore, belongs_to
from contract.store.models import Asked, Reply, ScriptedModel, facts, said, serving
from contract.store.test_storing import get
from unit.store.fakes import Client

from requirements import requirement
from satchel.api.store.v1 import change_service_pb2 as changes_pb
from satchel.api.store.v1 import lifecycle_service_pb2 as lifecycle_pb
from satchel.api.store.v1 import memory_service_pb2 as pb
from satchel.api.types.v1 import memory_pb2
from satchel.runtime.settings import Secret

TEXT = "Kafka it is for the event bus. RabbitMQ lost. Zoë takes care of it until the ides of March."
LATER, LATER_SAYS = "Plants first, and then the cat; peace matters.", {"reasons": ["peace matters"]}
SAYS = {"rejected": ["rabbitmq"], "assignee": "Zoe", "deadline": "the ides of March"}


def running(
    running_store: RunningStore,
    model: ScriptedModel,
    **settings: Any,  # noqa: ANN401  # fields of the settings
) -> AbstractAsyncContextManager[Client]:
    chosen = {"llm_enabled": True, "llm_endpoint": model.endpoint, "llm_model": "tiny:1b", **settings}
    return running_store(**chosen)


def always(content: str) -> Callable[[Asked], Any]:
    async def answer(asked: Asked) -> Reply:
        return said(asked, content)

    return answer


async def until_read(client: Client, memory_id: str, after: int) -> memory_pb2.Memory:
    """Wait, by the change feed, until a memory has facts of the model."""
    async with asyncio.timeout(10):
        request = changes_pb.WatchChangesRequest(after_revision=after)
        async for response in client.changes.WatchChanges(request):
            if any(change.memory_id == memory_id for change in response.changes):
                found: memory_pb2.Memory = await get(client, memory_id)
                if found.fingerprint.extracted_by != "rules":
                    return found
    raise AssertionError("The stream ended.")


async def waiting(client: Client, project: str = "") -> int:
    status = await client.memories.GetStoreStatus(pb.GetStoreStatusRequest(project=project))
    return status.stats.pending_enrichment_count


@requirement("llm:adds-facts")
@pytest.mark.parametrize("api", ["ollama", "openai"])
async def test_a_model_adds_facts_to_those_of_the_rules_under_the_same_version(
    running_store: RunningStore, api: str
) -> None:
    async with serving(always(facts(**SAYS))) as model, running(running_store, model, llm_api=api) as client:
        stored = await client.store(TEXT)
        found = await until_read(client, stored.id, stored.revision)

    read = found.fingerprint
    assert (list(read.rejected)[-1], read.assignee, read.deadline) == ("rabbitmq", "Zoe", "the ides of March")
    assert (read.extracted_by, found.version, found.content) == ("tiny:1b", 1, TEXT)
    assert found.revision > stored.revision
    assert read.fact_count > stored.fact_count
    assert found.token_costs.fingerprint > 0


@requirement("llm:adds-facts")
@pytest.mark.parametrize(
    ("api", "path", "form"),
    [("ollama", "/api/chat", "format"), ("openai", "/v1/chat/completions", "response_format")],
)
async def test_the_model_is_asked_by_name_with_the_key_for_json_of_the_schema(
    running_store: RunningStore, api: str, path: str, form: str
) -> None:
    chosen = {"llm_api": api, "llm_api_key": Secret("k3y")}
    async with serving(always(facts(**SAYS))) as model, running(running_store, model, **chosen) as client:
        stored = await client.store(TEXT)
        await until_read(client, stored.id, stored.revision)

    (asked,) = model.asked
    assert (asked.path, asked.headers["authorization"], asked.body["model"]) == (
        path,
        "Bearer k3y",
        "tiny:1b",
    )
    assert "additionalProperties" in str(asked.body[form])
    assert asked.text == TEXT


@requirement("llm:adds-facts")
async def test_a_server_without_schemas_is_asked_for_any_json_from_then_on(
    running_store: RunningStore,
) -> None:
    async def answer(asked: Asked) -> Reply:
        if asked.body["response_format"]["type"] == "json_schema":
            return Reply(b"unknown response_format", 400)
        return said(asked, facts(**SAYS))

    async with serving(answer) as model, running(running_store, model, llm_api="openai") as client:
        for text in (TEXT, f"{TEXT} Again."):
            stored = await client.store(text)
            await until_read(client, stored.id, stored.revision)

    forms = [asked.body["response_format"]["type"] for asked in model.asked]
    assert forms == ["json_schema", "json_object", "json_object"]


@requirement("llm:grounded")
async def test_what_does_not_stand_in_the_text_is_dropped(running_store: RunningStore) -> None:
    made_up = facts(decision="Pulsar", entities=["Kafka", "Kaf", "Confluent"], deadline="the ides of March")
    async with serving(always(made_up)) as model, running(running_store, model) as client:
        stored = await client.store(TEXT)
        read = (await until_read(client, stored.id, stored.revision)).fingerprint

    assert "Kafka" in read.entities
    assert not {"Kaf", "Confluent"} & set(read.entities)
    assert (read.decision, read.deadline) == ("", "the ides of March")


RUBBISH = {
    "no JSON": "Sure! Here are the facts:",
    "a list": "[]",
    "an unknown field": '{"mood": "good"}',
    "a number for a text": '{"decision": 1}',
    "a text for a list": '{"subjects": "Kafka"}',
    "too many values": facts(subjects=["Kafka"] * 33),
    "too long a value": facts(decision="Kafka " * 100),
    "nested too deeply": "[" * 100_000,
}


@requirement("llm:harmless")
@pytest.mark.parametrize("content", RUBBISH.values(), ids=list(RUBBISH))
async def test_an_answer_that_breaks_the_schema_is_tried_three_times_and_the_rules_stay(
    running_store: RunningStore, content: str
) -> None:
    async def answer(asked: Asked) -> Reply:
        return said(asked, content if asked.text == TEXT else facts(**LATER_SAYS))

    async with serving(answer) as model, running(running_store, model) as client:
        stored = await client.store(TEXT)
        before = await get(client, stored.id)
        after = await client.store(LATER)
        await until_read(client, after.id, after.revision)
        left = await get(client, stored.id)

        assert model.texts.count(TEXT) == 3
        assert left == before
        assert left.fingerprint.extracted_by == "rules"
        assert await waiting(client) == 0


@requirement("llm:harmless")
@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"{}"),
        Reply(b'{"message": 1}'),
        Reply(b'{"message": {"content": null}}'),
        Reply(b"x" * 2**21),
        Reply(b"", 500),
    ],
)
async def test_what_is_no_answer_of_the_interface_counts_as_a_failure(
    running_store: RunningStore, reply: Reply
) -> None:
    async def answer(asked: Asked) -> Reply:
        return reply if asked.text == TEXT else said(asked, facts(**LATER_SAYS))

    async with serving(answer) as model, running(running_store, model) as client:
        stored = await client.store(TEXT)
        after = await client.store(LATER)
        await until_read(client, after.id, after.revision)

        assert (await get(client, stored.id)).fingerprint.extracted_by == "rules"
        assert model.texts.count(TEXT) == 3


@requirement("llm:harmless")
async def test_writes_do_not_wait_for_a_slow_model_which_is_given_up_in_time(
    running_store: RunningStore,
) -> None:
    never = asyncio.Event()

    async def answer(asked: Asked) -> Reply:
        if asked.text == TEXT:
            await never.wait()
        return said(asked, facts(**LATER_SAYS))

    async with serving(answer) as model, running(running_store, model, llm_timeout_s=0.1) as client:
        await client.store(TEXT)
        async with asyncio.timeout(10):
            many = [await client.store(f"Note {n}. {LATER}") for n in range(20)]
        await until_read(client, many[0].id, many[0].revision)

    assert model.texts[:3] == [TEXT] * 3
    never.set()


@requirement("llm:harmless")
@pytest.mark.parametrize("status", [302, 503])
async def test_a_server_in_trouble_is_asked_again_until_it_answers(
    running_store: RunningStore, status: int
) -> None:
    troubles = iter(range(5))

    async def answer(asked: Asked) -> Reply:
        if next(troubles, None) is None:
            return said(asked, facts(**SAYS))
        return Reply(b"", status, "Location: http://127.0.0.1:1/elsewhere\r\n")

    async with serving(answer) as model, running(running_store, model) as client:
        stored = await client.store(TEXT)
        found = await until_read(client, stored.id, stored.revision)

    assert found.fingerprint.assignee == "Zoe"
    assert len(model.asked) == 6


@requirement("llm:harmless", "llm:waiting")
async def test_without_the_server_memories_wait_and_are_counted(running_store: RunningStore) -> None:
    async with serving(always(facts(**SAYS))) as gone:
        pass
    async with running(running_store, gone) as client:
        stored = await client.store(TEXT)
        await client.store(TEXT, project="other")

        assert (await get(client, stored.id)).content == TEXT
        assert [await waiting(client, name) for name in ("", "default", "other")] == [2, 1, 1]


@requirement("llm:harmless")
@pytest.mark.parametrize(
    "endpoint", ["nowhere", "ftp://a", "http://é.invalid", "http://[", "http://127.0.0.1:99999"]
)
async def test_an_endpoint_that_cannot_be_asked_fails_no_write(
    running_store: RunningStore, endpoint: str
) -> None:
    tried = asyncio.Event()

    class Noted(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.msg == "store.language_model_unavailable":
                tried.set()

    noted = Noted()
    logging.getLogger("satchel.store.engine.enriching").addHandler(noted)
    try:
        async with running_store(llm_enabled=True, llm_endpoint=endpoint) as client:
            await client.store(TEXT)
            async with asyncio.timeout(10):
                await tried.wait()
            again = await client.store(LATER)

            assert not again.duplicate
            assert await waiting(client) == 2
    finally:
        logging.getLogger("satchel.store.engine.enriching").removeHandler(noted)


@requirement("llm:waiting")
@belongs_to(Category.LASTING)
async def test_what_waits_is_read_after_a_restart(running_store: RunningStore) -> None:
    async with running_store() as client:
        stored = await client.store(TEXT)
        assert await waiting(client) == 0  # nobody is there to wait for
    async with serving(always(facts(**SAYS))) as model, running(running_store, model) as client:
        found = await until_read(client, stored.id, stored.revision)

    assert found.fingerprint.assignee == "Zoe"


@requirement("llm:private")
async def test_secrets_and_what_is_of_high_sensitivity_or_archived_is_never_sent(
    running_store: RunningStore,
) -> None:
    vault = memory_pb2.Component(vault=memory_pb2.VaultComponent(entry_type="key"))
    async with running_store(name="s") as client:  # without a model, so that the archive comes first
        await client.store("The password is swordfish.", component=vault, title="Key of the safe")
        await client.store("The diagnosis is measles.", sensitivity=memory_pb2.SENSITIVITY_HIGH)
        old = await client.store("An archived thing.")
        await client.lifecycle.ArchiveMemories(lifecycle_pb.ArchiveMemoriesRequest(ids=[old.id]))
        await client.store(TEXT)
        unread = await client.built.store.enrichment.unread(limit=10)

        assert [memory.content for memory in unread.memories] == [TEXT]
        assert await client.built.store.enrichment.unread_count("") == 1


@requirement("llm:private")
async def test_the_model_is_shown_nothing_but_what_it_may_see(running_store: RunningStore) -> None:
    vault = memory_pb2.Component(vault=memory_pb2.VaultComponent(entry_type="key"))
    async with serving(always(facts(**SAYS))) as model, running(running_store, model) as client:
        await client.store("The password is swordfish.", component=vault, title="Key of the safe")
        await client.store("The diagnosis is measles.", sensitivity=memory_pb2.SENSITIVITY_HIGH)
        stored = await client.store(TEXT)
        await until_read(client, stored.id, stored.revision)

    assert model.texts == [TEXT]


@requirement("llm:private")
async def test_a_memory_that_becomes_a_secret_is_no_longer_sent(running_store: RunningStore) -> None:
    vault = memory_pb2.Component(vault=memory_pb2.VaultComponent(entry_type="key"))
    async with running_store() as client:
        stored = await client.store(TEXT)
        request = pb.UpdateMemoryRequest(id=stored.id, component=vault)
        await client.memories.UpdateMemory(request)

        assert await client.built.store.enrichment.unread_count("") == 0


@requirement("llm:current-text")
async def test_a_changed_memory_is_read_again_and_gets_no_facts_of_its_old_text(
    running_store: RunningStore,
) -> None:
    asked_old, may_answer = asyncio.Event(), asyncio.Event()

    async def answer(asked: Asked) -> Reply:
        if asked.text == TEXT:
            asked_old.set()
            await may_answer.wait()
        return said(asked, facts(assignee="Zoë", **LATER_SAYS))

    async with serving(answer) as model, running(running_store, model) as client:
        stored = await client.store(TEXT)
        async with asyncio.timeout(10):
            await asked_old.wait()
        request = pb.UpdateMemoryRequest(id=stored.id, content=LATER)
        changed = (await client.memories.UpdateMemory(request)).memory
        may_answer.set()
        found = await until_read(client, stored.id, changed.revision)

    read = found.fingerprint
    assert (read.assignee, list(read.reasons)[-1], found.version) == ("", "peace matters", 2)
    assert model.texts == [TEXT, LATER]


@requirement("llm:harmless")
async def test_without_the_fallback_a_failure_leaves_only_the_subjects(running_store: RunningStore) -> None:
    text = "We chose PostgreSQL over MySQL because of ACID."
    without = {"llm_fallback_on_error": False}
    async with serving(always("rubbish")) as model, running(running_store, model, **without) as client:
        stored = await client.store(text)
        async with asyncio.timeout(10):
            await client.built.store.wait_beyond(stored.revision)
        found = (await get(client, stored.id)).fingerprint

    assert (found.decision, list(found.rejected), list(found.reasons)) == ("", [], [])
    assert (len(found.subjects) > 0, found.fact_count, found.extracted_by) == (True, 1, "rules")
