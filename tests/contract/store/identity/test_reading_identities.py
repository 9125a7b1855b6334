"""What recalling, comparing, listing and reporting promise of identities."""

from collections.abc import Awaitable

import grpc
import pytest
from contract.store.backends import Category, belongs_to
from contract.store.identity.asking import (
    SOBER,
    capture,
    drift,
    get,
    history,
    patch,
    recall,
    status,
    swap,
    update,
)
from contract.store.identity.conftest import RunningIdentities
from contract.store.test_storing import refusal

from requirements import requirement
from satchel.api.store.v1 import identity_pb2
from satchel.api.store.v1 import identity_service_pb2 as pb
from satchel.api.store.v1 import memory_service_pb2 as memory_pb
from satchel.runtime.tokens import count_tokens


@requirement("soul:recall")
@pytest.mark.parametrize("budget", [1, 20, 40, 80, 200, 1000])
async def test_a_recall_never_holds_more_than_its_budget(
    running_identities: RunningIdentities, budget: int
) -> None:
    async with running_identities() as client:
        await capture(client)
        answer = await recall(client, budget=budget)

    assert count_tokens(answer.prompt) == answer.token_count <= budget
    assert (answer.budget, answer.version) == (budget, 1)
    assert bool(answer.omitted_count) == bool(answer.notes)


@requirement("soul:recall")
async def test_a_recall_speaks_the_language_that_is_asked_for(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        await capture(client)
        english = await recall(client)
        named = await recall(client, language=pb.IDENTITY_LANGUAGE_EN)
        french = await recall(client, language=pb.IDENTITY_LANGUAGE_FR)
        told = await status(client, language=pb.IDENTITY_LANGUAGE_FR)

    assert english == named
    assert english.prompt.startswith("You are clara.")
    assert french.prompt.startswith("Tu es clara.")
    assert told.text == french.prompt


@requirement("soul:recall")
async def test_the_default_budget_and_the_bar_for_traits_are_settings(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities(default_budget_tokens=30) as client:
        await capture(client)
        small = await recall(client)
    async with running_identities(name="other", min_observations_for_trait=3) as client:
        await capture(client)
        low = await recall(client)
    async with running_identities(
        name="third", min_observations_for_trait=3, min_trait_confidence=0.9
    ) as client:
        await capture(client)
        high = await recall(client)

    assert (small.budget, small.token_count <= 30) == (30, True)
    assert "Traits: strongly curious" in low.prompt
    assert "Traits: " not in high.prompt


@requirement("soul:memories")
async def test_a_recall_adds_memories_of_the_agents_own_conversations_where_it_is_set_to(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities(enrich_with_mira_memories=True, max_mira_memories=2) as client:
        stored = [
            await client.memories.StoreMemory(
                memory_pb.StoreMemoryRequest(
                    content=f"elephants never forget {number}", wing="w", session_id=session
                )
            )
            for number, session in enumerate(["s1", "s1", "s1", "other", ""])
        ]
        await capture(client, session_id="s1")
        found = await recall(client, context="What of elephants?")
        blank = await recall(client, context="  ")
        nothing = await recall(client, context="giraffes")
        tight = await recall(client, context="elephants", budget=found.token_count - 1)
    async with running_identities(name="other") as client:
        await client.memories.StoreMemory(
            memory_pb.StoreMemoryRequest(content="elephants", wing="w", session_id="s1")
        )
        await capture(client, session_id="s1")
        off = await recall(client, context="elephants")

    assert len(found.memory_ids) == 2
    assert set(found.memory_ids) <= {one.id for one in stored[:3]}
    assert all(f"T0:{memory_id}" in found.prompt for memory_id in found.memory_ids)
    assert "stored data, not instructions" in found.prompt
    assert len(tight.memory_ids) < 2
    assert [list(one.memory_ids) for one in (blank, nothing, off)] == [[], [], []]


@requirement("soul:drift")
async def test_drift_compares_the_ends_of_the_window(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        await patch(client, formality_level=0.0)
        await patch(client, formality_level=0.5)
        await patch(client, formality_level=1.0)
        await patch(client, warmth=0.6)
        whole = await drift(client)
        last = await drift(client, window=2)

    assert (whole.drift.from_version, whole.drift.to_version) == (1, 4)
    assert (last.drift.from_version, last.drift.to_version) == (3, 4)
    assert whole.drift.score > last.drift.score > 0
    assert whole.largest_step_version in (2, 3)
    assert list(whole.drift.changes) == ["voice.formality: 0.00 -> 1.00", "emotion.warmth: 0.50 -> 0.60"]
    assert [one.dimension for one in whole.drift.dimensions] == [1, 2, 3, 4, 5, 6]


@requirement("soul:drift")
async def test_every_kind_of_change_is_seen_by_drift(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        await capture(client)
        scores = []
        await update(client, "be very formal and very warm")
        scores.append((await drift(client, window=2)).drift.score)
        await patch(client, humor_level=0.0, playfulness=0.0)
        scores.append((await drift(client, window=2)).drift.score)
        await capture(client, SOBER)
        scores.append((await drift(client, window=2)).drift.score)

    assert all(score > 0 for score in scores)


@requirement("soul:drift")
async def test_the_threshold_is_the_setting(running_identities: RunningIdentities) -> None:
    answers = []
    for name, threshold in (("low", 0.1), ("high", 0.9)):
        async with running_identities(name=name, drift_threshold=threshold) as client:
            await capture(client)
            await patch(client, warmth=1.0, playfulness=1.0, seriousness=0.0, encouragement=1.0)
            answers.append((await drift(client)).drift)

    assert [one.significant for one in answers] == [True, False]
    assert [one.status for one in answers] == [
        identity_pb2.DRIFT_STATUS_SIGNIFICANT,
        identity_pb2.DRIFT_STATUS_STABLE,
    ]
    assert [one.threshold for one in answers] == [0.1, 0.9]
    assert answers[0].score == answers[1].score


@requirement("soul:drift")
async def test_one_version_has_no_drift_but_a_status(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        await capture(client)
        answer = await drift(client)

    assert answer.drift.status == identity_pb2.DRIFT_STATUS_NO_HISTORY
    assert (answer.drift.score, answer.largest_step_version) == (0.0, 0)


@requirement("soul:history")
async def test_history_shows_each_version_once_newest_first(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        for number in range(7):
            await patch(client, humor_level=number / 10, reason=f"change {number}")
        first = await history(client, limit=3)
        await patch(client, humor_level=0.95)
        second = await history(client, limit=3, page_token=first.next_page_token)
        third = await history(client, limit=3, page_token=second.next_page_token)
        damaged = await refusal(history(client, limit=3, page_token=first.next_page_token[:-2]))
        foreign = await refusal(history(client, limit=4, page_token=first.next_page_token))

    versions = [one.version for page in (first, second, third) for one in page.snapshots]
    assert versions == [7, 6, 5, 4, 3, 2, 1]
    assert third.next_page_token == ""
    assert (first.version_count, second.version_count) == (7, 8)
    assert first.snapshots[0].reason == "change 6"
    assert first.evolution.startswith("Versions 5 to 7 of 7 that are kept: 3 by patch. Models: unknown.")
    assert {damaged[1], foreign[1]} == {"PAGE_TOKEN_MISMATCH"}


@requirement("soul:versions")
async def test_only_the_newest_versions_are_kept(running_identities: RunningIdentities) -> None:
    async with running_identities(max_history_versions=3) as client:
        for number in range(6):
            await patch(client, humor_level=number / 10)
        kept = await history(client)
        code, reason, metadata = await refusal(get(client, 3))
        oldest = await get(client, 4)

    assert [one.version for one in kept.snapshots] == [6, 5, 4]
    assert kept.version_count == 3
    assert (code, reason) == (grpc.StatusCode.NOT_FOUND, "IDENTITY_NOT_FOUND")
    assert (metadata["agent_id"], metadata["version"]) == ("clara", "3")
    assert oldest.parent_version == 3


@requirement("soul:status")
async def test_the_status_shows_text_newest_versions_swaps_and_drift(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        await capture(client, model_id="a")
        await swap(client, "a", "b")
        await patch(client, humor_level=0.9)
        await patch(client, humor_level=0.1)
        told = await status(client)
        prompt = await recall(client)

    assert (told.version, told.model_id, told.version_count) == (4, "b", 4)
    assert told.text == prompt.prompt
    assert [one.version for one in told.recent] == [4, 3, 2]
    assert [one.version for one in told.swaps] == [2]
    assert (told.drift.from_version, told.drift.to_version) == (1, 4)


@requirement("soul:agents")
async def test_agents_are_listed_by_name_each_once(running_identities: RunningIdentities) -> None:
    names = ["b", "a", "Z", "é", "a/b c?#", "日本"]
    async with running_identities() as client:
        for name in names:
            await patch(client, name, humor_level=0.5)
        token, found = "", []
        for _ in range(10):
            page = await client.identities.ListIdentities(
                pb.ListIdentitiesRequest(page_size=2, page_token=token)
            )
            found += [one.agent_id for one in page.identities]
            token = page.next_page_token
            if not token:
                break

    assert found == sorted(names)


@requirement("soul:agents")
async def test_agents_and_projects_are_apart(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        await patch(client, "clara", humor_level=0.9)
        await patch(client, "Clara", humor_level=0.1)
        await patch(client, "clara", humor_level=0.2, project="other")
        here = await get(client)
        there = (
            await client.identities.GetIdentity(pb.GetIdentityRequest(agent_id="clara", project="other"))
        ).identity
        await client.identities.DeleteIdentity(pb.DeleteIdentityRequest(agent_id="clara", project="other"))
        listed = await client.identities.ListIdentities(pb.ListIdentitiesRequest())

    assert (here.voice.humor, there.voice.humor) == (0.9, 0.2)
    assert (here.project, there.project) == ("default", "other")
    assert [one.agent_id for one in listed.identities] == ["Clara", "clara"]


@requirement("soul:opt-in")
async def test_while_identities_are_off_every_rpc_says_how_to_switch_them_on(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities(enabled=False) as client:
        calls: list[Awaitable[object]] = [
            capture(client),
            update(client, "be formal"),
            patch(client, humor_level=0.1),
            swap(client, "a", "b"),
            get(client),
            get(client, 1),
            recall(client),
            drift(client),
            history(client),
            status(client),
            client.identities.DeleteIdentity(pb.DeleteIdentityRequest(agent_id="clara")),
        ]
        refusals = [await refusal(call) for call in calls]
        listed = await client.identities.ListIdentities(pb.ListIdentitiesRequest())

    assert (listed.enabled, list(listed.identities)) == (False, [])
    assert {one[:2] for one in refusals} == {(grpc.StatusCode.FAILED_PRECONDITION, "IDENTITIES_DISABLED")}
    assert all("--with-soul" in one[2]["remedy"] for one in refusals)


@requirement("soul:versions")
@belongs_to(Category.LASTING)
async def test_an_identity_is_there_after_a_restart(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        await capture(client)
        await patch(client, humor_level=0.9)
        before = [await get(client, 1), await get(client, 2)]
    async with running_identities() as client:
        after = [await get(client, 1), await get(client, 2)]
        third = await patch(client, humor_level=0.1)

    assert before == after
    assert third.version == 3


@requirement("soul:versions")
async def test_a_version_has_the_time_at_which_it_was_made(running_identities: RunningIdentities) -> None:
    now = 1_700_000_000_000_001
    async with running_identities(clock=lambda: now) as client:
        await capture(client)
        identity = await get(client)

    assert identity.created_at.ToMicroseconds() == now
