"""What `UpdateIdentity`, `PatchIdentity`, `SwapModel` and `DeleteIdentity` promise."""

import asyncio
import uuid

import grpc
import pytest
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
from contract.store.identity.conftest import Client, RunningIdentities
from contract.store.test_storing import refusal

from requirements import requirement
from satchel.api.store.v1 import identity_pb2
from satchel.api.store.v1 import identity_service_pb2 as pb


def trait(
    name: str, action: pb.TraitAction.ValueType = pb.TRAIT_ACTION_UPSERT, **fields: object
) -> pb.TraitChange:
    return pb.TraitChange(name=name, action=action, **fields)  # type: ignore[arg-type]


@requirement("soul:patch")
async def test_a_patch_on_a_new_agent_starts_from_a_neutral_identity(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        patched = await patch(client, humor_level=0.9)
        identity = await get(client)
        prompt = (await recall(client)).prompt

    assert (patched.version, patched.changed, list(patched.changes)) == (
        1,
        True,
        ["voice.humor: 0.30 -> 0.90"],
    )
    assert identity.voice.humor == 0.9
    assert (identity.voice.formality, identity.voice.empathy, identity.voice.vocabulary) == (0.5, 0.6, 0.6)
    assert identity.model_id == "unknown"
    assert "very humorous" in prompt


@requirement("soul:patch")
async def test_numbers_beyond_their_range_are_taken_as_the_nearer_end_and_this_is_told(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        patched = await patch(
            client, formality_level=1.7, warmth=-3, traits=[trait("patient", intensity=2.0, confidence=0.4)]
        )
        identity = await get(client)

    assert (identity.voice.formality, identity.emotion.warmth, identity.traits[0].intensity) == (
        1.0,
        0.0,
        1.0,
    )
    assert patched.notes == [
        "The field 'formality_level' was 1.7 and was taken as 1.",
        "The field 'warmth' was -3 and was taken as 0.",
        "The field 'traits[0].intensity' was 2 and was taken as 1.",
    ]


@requirement("soul:patch")
async def test_a_zero_and_a_false_are_values_like_others(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        await patch(client, uses_emojis=True, humor_level=0.5)
        patched = await patch(client, uses_emojis=False, humor_level=0)

    assert list(patched.changes) == ["voice.humor: 0.50 -> 0.00", "voice.uses_emojis: yes -> no"]


@requirement("soul:patch")
async def test_an_empty_patch_and_one_with_unknown_words_are_refused(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        code, reason, metadata = await refusal(patch(client, reason="only a reason"))
        unknown = await refusal(patch(client, response_length=99))
        infinite = await refusal(patch(client, warmth=float("nan")))
        listed = await client.identities.ListIdentities(pb.ListIdentitiesRequest())

    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "NOTHING_TO_CHANGE")
    assert "humor_level" in metadata["limit"]
    assert (unknown[1], unknown[2]["field"]) == ("FIELD_UNKNOWN_ENUM_VALUE", "response_length")
    assert (infinite[1], infinite[2]["field"]) == ("FIELD_OUT_OF_RANGE", "warmth")
    assert list(listed.identities) == []


@requirement("soul:patch")
async def test_phrases_are_added_and_removed_without_regard_to_case(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        await patch(
            client,
            add_catch_phrases=["Onwards", "As ever"],
            add_preferred_openings=["Ahoy!"],
            add_preferred_closings=["Yours"],
        )
        await patch(
            client,
            remove_catch_phrases=["ONWARDS", "never there"],
            remove_preferred_closings=["yours"],
            remove_preferred_openings=["ahoy"],
        )
        before, after = (await get(client, 1)).voice, (await get(client, 2)).voice

    assert (list(before.catch_phrases), list(before.openings), list(before.closings)) == (
        ["Onwards", "As ever"], ["Ahoy!"], ["Yours"],
    )  # fmt: skip
    assert (list(after.catch_phrases), list(after.openings), list(after.closings)) == (["As ever"], [], [])


@requirement("soul:patch")
async def test_traits_are_added_set_and_removed(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        await patch(
            client, traits=[trait("Curious"), trait("loyal", category=identity_pb2.TRAIT_CATEGORY_ETHICAL)]
        )
        await patch(
            client,
            traits=[
                trait("CURIOUS", pb.TRAIT_ACTION_ADD, intensity=0.1),
                trait("loyal", pb.TRAIT_ACTION_UNSPECIFIED, intensity=0.2, confidence=0.3),
            ],
        )
        second = {one.name: one for one in (await get(client)).traits}
        await patch(client, traits=[trait("loyal", pb.TRAIT_ACTION_REMOVE)])
        third = [one.name for one in (await get(client)).traits]

    curious, loyal = second["curious"], second["loyal"]
    assert (curious.intensity, curious.confidence, curious.declared) == (0.7, 0.7, True)
    assert curious.category == identity_pb2.TRAIT_CATEGORY_EPISTEMIC
    assert (loyal.intensity, loyal.confidence, loyal.category) == (
        0.2,
        0.3,
        identity_pb2.TRAIT_CATEGORY_ETHICAL,
    )
    assert third == ["curious"]


@requirement("soul:patch")
async def test_an_identity_has_a_hundred_traits_at_most(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        for start in (0, 50):
            await patch(client, traits=[trait(f"t{number}") for number in range(start, start + 50)])
        code, reason, metadata = await refusal(patch(client, traits=[trait("one more")]))
        identity = await get(client)

    assert (code, reason, metadata["field"]) == (
        grpc.StatusCode.INVALID_ARGUMENT, "TOO_MANY_ITEMS", "traits",
    )  # fmt: skip
    assert (identity.version, len(identity.traits)) == (2, 100)


@requirement("soul:update")
@pytest.mark.parametrize("directive", ["don't be formal", "ne sois pas formel", "be informal"])
async def test_a_directive_with_a_negation_lowers_the_level(
    running_identities: RunningIdentities, directive: str
) -> None:
    async with running_identities() as client:
        updated = await update(client, directive)
        identity = await get(client)

    assert list(updated.changes) == ["voice.formality: 0.50 -> 0.20"]
    assert identity.cause == identity_pb2.IDENTITY_CAUSE_UPDATE


@requirement("soul:update")
async def test_a_directive_that_is_not_understood_is_told_in_english_with_what_is(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        code, reason, metadata = await refusal(update(client, "sois meilleur"))
        listed = await client.identities.ListIdentities(pb.ListIdentitiesRequest())

    assert (code, reason, metadata["field"]) == (
        grpc.StatusCode.INVALID_ARGUMENT, "DIRECTIVE_NOT_UNDERSTOOD", "directive",
    )  # fmt: skip
    assert "formal, casual" in metadata["limit"]
    assert "be more formal" in metadata["remedy"]
    assert list(listed.identities) == []


@requirement("soul:update")
async def test_an_update_tells_what_it_understood_and_changes_nothing_twice(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        first = await update(client, "be formal, and use no emojis", reason="asked to")
        second = await update(client, "sois formel")
        identity = await get(client)

    assert list(first.understood) == ["formal: yes", "emojis: no"]
    assert (second.version, second.changed, list(second.changes)) == (1, False, [])
    assert (identity.version, identity.reason) == (1, "asked to")


@requirement("soul:versions")
async def test_every_change_makes_the_next_version_and_leaves_the_older_ones(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        await capture(client)
        first = await get(client, 1)
        await update(client, "be formal")
        await patch(client, humor_level=0.1)
        await swap(client, "unknown", "model-b")
        await capture(client, SOBER)
        again = await get(client, 1)
        versions = [await get(client, version) for version in range(1, 6)]

    assert [one.version for one in versions] == [1, 2, 3, 4, 5]
    assert [one.parent_version for one in versions] == [0, 1, 2, 3, 4]
    assert again == first


@requirement("soul:versions")
async def test_changes_at_the_same_time_all_land_one_after_the_other(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        patches = asyncio.gather(*(patch(client, traits=[trait(f"t{number}")]) for number in range(20)))
        captures = asyncio.gather(*(capture(client) for _ in range(5)))
        versions = [one.version for one in await patches] + [one.version for one in await captures]
        identity = await get(client)

    assert sorted(versions) == list(range(1, 26))
    assert {f"t{number}" for number in range(20)} <= {one.name for one in identity.traits}
    assert next(one for one in identity.traits if one.name == "curious").context_count == 5


@requirement("soul:swap")
async def test_a_swap_is_recorded_with_a_text_that_names_both_models(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        await capture(client, model_id="model-a")
        swapped = await swap(client, "model-a", "model-b", reason="cheaper")
        identity = await get(client)
        told = await status(client)
        listed = await history(client)

    assert (swapped.version, identity.version) == (2, 2)
    assert "model-a" in swapped.prompt
    assert "model-b" in swapped.prompt
    assert list(swapped.notes) == []
    assert (identity.model_id, identity.from_model) == ("model-b", "model-a")
    assert [trait.name for trait in identity.traits]
    assert [(one.from_model, one.model_id, one.reason) for one in told.swaps] == [
        ("model-a", "model-b", "cheaper")
    ]
    assert listed.snapshots[0].cause == identity_pb2.IDENTITY_CAUSE_SWAP
    assert list(listed.snapshots[0].changes) == ["model: model-a -> model-b"]
    assert "model-a, model-b" in listed.evolution


@requirement("soul:swap")
async def test_a_swap_from_another_model_than_is_on_record_says_so(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        await capture(client, model_id="model-a")
        swapped = await swap(client, "model-x", "model-b")

    assert list(swapped.notes) == ["The model on record was 'model-a', not 'model-x'."]


@requirement("soul:swap")
async def test_a_swap_needs_an_identity_and_two_models(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        missing = await refusal(swap(client, "a", "b"))
        await capture(client)
        same = await refusal(swap(client, "a", "a"))
        identity = await get(client)

    assert missing[:2] == (grpc.StatusCode.NOT_FOUND, "IDENTITY_NOT_FOUND")
    assert (same[1], same[2]["field"]) == ("FIELDS_CONFLICT", "to_model")
    assert identity.version == 1


@requirement("soul:swap")
async def test_the_text_for_a_new_model_keeps_to_its_budget_language_and_setting(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        await capture(client)
        small = await swap(client, "a", "b", budget=60)
        none = await swap(client, "b", "c", budget=3)
        french = await swap(client, "c", "d", language=pb.IDENTITY_LANGUAGE_FR)
    async with running_identities(name="other", swap_auto_reinforce=False) as client:
        await capture(client)
        off = await swap(client, "a", "b")

    assert 0 < small.token_count <= 60
    assert small.notes[0].endswith("lines were left out for the budget.")
    assert (none.prompt, none.token_count) == ("", 0)
    assert "too small" in none.notes[0]
    assert french.prompt.startswith("Tu es clara.")
    assert (off.prompt, list(off.notes)) == ("", [])


async def every_change(client: Client, request_id: str) -> list[tuple[object, object]]:
    """Make each kind of change twice with one request id, and return both answers."""
    ids = [str(uuid.uuid5(uuid.UUID(request_id), name)) for name in "cups"]
    changes = (
        lambda: capture(client, request_id=ids[0]),
        lambda: update(client, "be formal", request_id=ids[1]),
        lambda: patch(client, humor_level=0.1, request_id=ids[2]),
        lambda: swap(client, "a", "b", request_id=ids[3]),
    )
    return [(await make(), await make()) for make in changes]


@requirement("soul:request-id")
async def test_a_retry_gets_the_first_answer_and_makes_no_version(
    running_identities: RunningIdentities,
) -> None:
    request_id = str(uuid.uuid4())
    async with running_identities() as client:
        pairs = await every_change(client, request_id)
        identity = await get(client)
        reused = await refusal(
            patch(client, humor_level=0.2, request_id=str(uuid.uuid5(uuid.UUID(request_id), "p")))
        )

    assert [first == again for first, again in pairs] == [True] * 4
    assert identity.version == 4
    assert reused[1] == "REQUEST_ID_REUSED"


@requirement("soul:request-id")
async def test_a_retried_change_that_changed_nothing_still_changes_nothing(
    running_identities: RunningIdentities,
) -> None:
    request_id = str(uuid.uuid4())
    async with running_identities() as client:
        await patch(client, humor_level=0.1)
        first = await patch(client, humor_level=0.1, request_id=request_id)
        await patch(client, humor_level=0.9)
        again = await patch(client, humor_level=0.1, request_id=request_id)
        identity = await get(client)

    assert first == again
    assert (first.version, first.changed) == (1, False)
    assert identity.voice.humor == 0.9


@requirement("soul:delete")
async def test_a_deleted_identity_is_found_by_nothing(running_identities: RunningIdentities) -> None:
    request_id = str(uuid.uuid4())
    delete_id = str(uuid.uuid4())
    request = pb.DeleteIdentityRequest(agent_id="clara", request_id=delete_id)
    async with running_identities() as client:
        await capture(client, request_id=request_id)
        await patch(client, humor_level=0.9)
        await capture(client, agent_id="other")
        deleted = await client.identities.DeleteIdentity(request)
        retried = await client.identities.DeleteIdentity(request)
        gone = [
            await refusal(get(client)),
            await refusal(get(client, 1)),
            await refusal(recall(client)),
            await refusal(drift(client)),
            await refusal(history(client)),
            await refusal(status(client)),
            await refusal(capture(client, request_id=request_id)),
            await refusal(client.identities.DeleteIdentity(pb.DeleteIdentityRequest(agent_id="clara"))),
        ]
        listed = await client.identities.ListIdentities(pb.ListIdentitiesRequest())
        again = await capture(client)

    assert deleted.version_count == retried.version_count == 2
    assert {one[:2] for one in gone} == {(grpc.StatusCode.NOT_FOUND, "IDENTITY_NOT_FOUND")}
    assert all(one[2]["agent_id"] == "clara" for one in gone)
    assert [one.agent_id for one in listed.identities] == ["other"]
    assert again.version == 1
