"""What `CaptureIdentity` promises."""

import json

import grpc
import pytest
from contract.store.identity.asking import SOBER, TALK, capture, get, patch
from contract.store.identity.conftest import RunningIdentities
from contract.store.test_storing import refusal
from google.protobuf.json_format import MessageToDict
from google.protobuf.struct_pb2 import Struct

from requirements import requirement
from satchel.api.store.v1 import identity_pb2
from satchel.api.store.v1 import identity_service_pb2 as pb


@requirement("soul:reads-the-agent")
async def test_a_capture_reads_what_the_agent_said_and_nothing_else(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        captured = await capture(client, model_id="model-a", session_id="s1", reason="first talk")
        identity = await get(client)

    assert captured.observed_traits == ["curious", "analytical", "humorous"]
    assert (captured.version, captured.reply_count, captured.changed) == (1, 2, True)
    assert captured.trait_count == len(identity.traits) == 3
    assert [(trait.name, trait.evidence_count) for trait in identity.traits if trait.name == "curious"] == [
        ("curious", 3)
    ]
    assert identity.voice.formality < 0.5
    assert identity.voice.humor > 0.3
    assert identity.voice.uses_emojis
    assert identity.voice.openings == ["Good question!"]
    assert (identity.model_id, identity.session_id, identity.reason) == ("model-a", "s1", "first talk")
    assert identity.cause == identity_pb2.IDENTITY_CAUSE_CAPTURE
    assert identity.confidence == pytest.approx(sum(t.confidence for t in identity.traits) / 3)
    assert identity.created_at == captured.created_at


@requirement("soul:reads-the-agent")
async def test_two_different_conversations_give_two_different_identities(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        first = await capture(client, TALK, "one")
        second = await capture(client, SOBER, "two")

    assert set(first.observed_traits).isdisjoint(second.observed_traits)
    assert second.observed_traits == ["responsible", "rigorous"]


@requirement("soul:reads-the-agent")
async def test_messages_and_json_give_the_same_as_a_labelled_text(
    running_identities: RunningIdentities,
) -> None:
    messages = [
        {"role": "user", "content": "I wonder, haha!"},
        {"role": "assistant", "content": "Tell me more.\nI wonder."},
    ]
    speakers = {"user": pb.CAPTURED_SPEAKER_USER, "assistant": pb.CAPTURED_SPEAKER_ASSISTANT}
    typed = [pb.CapturedMessage(role=speakers[one["role"]], content=one["content"]) for one in messages]
    async with running_identities() as client:
        await capture(client, "User: I wonder, haha!\nAssistant: Tell me more.\nI wonder.", "text")
        await capture(client, json.dumps(messages), "json")
        await capture(client, "", "messages", messages=typed)
        identities = [await get(client, agent_id=name) for name in ("text", "json", "messages")]

    assert identities[0].traits == identities[1].traits == identities[2].traits
    assert identities[0].voice == identities[1].voice == identities[2].voice
    assert [trait.name for trait in identities[0].traits] == ["curious"]


@requirement("soul:evidence")
async def test_a_second_capture_adds_evidence_and_keeps_what_was_there(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities() as client:
        await capture(client)
        before = {trait.name: trait for trait in (await get(client)).traits}
        await capture(client, SOBER)
        after = {trait.name: trait for trait in (await get(client)).traits}
        await capture(client, TALK)
        again = {trait.name: trait for trait in (await get(client)).traits}

    assert before["curious"] == after["curious"]
    assert again["curious"].evidence_count == 2 * before["curious"].evidence_count
    assert again["curious"].confidence > before["curious"].confidence
    assert again["curious"].intensity >= before["curious"].intensity
    assert after.keys() == again.keys() == {"analytical", "curious", "humorous", "responsible", "rigorous"}


@requirement("soul:evidence")
async def test_a_capture_does_not_wipe_out_what_was_declared(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        await patch(
            client, humor_level=0.9, warmth=0.9, response_length=identity_pb2.RESPONSE_LENGTH_EXHAUSTIVE
        )
        await capture(client, SOBER)
        identity = await get(client)

    assert identity.voice.humor > 0.85
    assert identity.emotion.warmth > 0.85
    assert identity.communication.response_length == identity_pb2.RESPONSE_LENGTH_EXHAUSTIVE


@requirement("soul:evidence")
async def test_measures_of_the_caller_are_kept_until_others_come(
    running_identities: RunningIdentities,
) -> None:
    metrics = Struct()
    metrics.update({"proactivity": 0.8, "notes": ["a"]})
    async with running_identities() as client:
        await capture(client, behavioral_metrics=metrics)
        await capture(client)
        identity = await get(client)

    assert MessageToDict(identity.behavioral_metrics) == {"proactivity": 0.8, "notes": ["a"]}


@requirement("soul:drift")
async def test_a_capture_tells_how_far_the_identity_moved(running_identities: RunningIdentities) -> None:
    async with running_identities() as client:
        first = await capture(client)
        second = await capture(client, SOBER)
    async with running_identities(name="other", drift_check_after_capture=False) as client:
        await capture(client)
        unchecked = await capture(client, SOBER)

    assert not first.HasField("drift")
    assert (second.drift.from_version, second.drift.to_version) == (1, 2)
    assert second.drift.score > 0
    assert not unchecked.HasField("drift")


@requirement("soul:evidence")
async def test_without_evolution_a_capture_reads_but_changes_nothing(
    running_identities: RunningIdentities,
) -> None:
    async with running_identities(evolution_enabled=False) as client:
        first = await capture(client)
        second = await capture(client, SOBER)
        identity = await get(client)

    assert (first.version, first.changed) == (1, True)
    assert (second.version, second.changed, list(second.changes)) == (1, False, [])
    assert second.observed_traits == ["responsible", "rigorous"]
    assert identity.version == 1


@pytest.mark.parametrize(
    "conversation",
    ["no labels at all", "User: hello\nHuman: again", "Assistant: ...", "Assistant: \U0001f680"],
)
@requirement("soul:reads-the-agent")
async def test_a_conversation_without_a_word_of_the_agent_is_refused_and_makes_nothing(
    running_identities: RunningIdentities, conversation: str
) -> None:
    async with running_identities() as client:
        code, reason, metadata = await refusal(capture(client, conversation))
        listed = await client.identities.ListIdentities(pb.ListIdentitiesRequest())

    assert (code, reason) == (grpc.StatusCode.INVALID_ARGUMENT, "FIELD_PATTERN_MISMATCH")
    assert metadata["field"] == "conversation"
    assert "Assistant:" in metadata["remedy"]
    assert list(listed.identities) == []


@requirement("soul:reads-the-agent")
async def test_one_conversation_is_needed_and_no_more(running_identities: RunningIdentities) -> None:
    message = pb.CapturedMessage(role=pb.CAPTURED_SPEAKER_ASSISTANT, content="x" * 60_000)
    unnamed = pb.CapturedMessage(content="who said that")
    async with running_identities() as client:
        none = await refusal(capture(client, ""))
        two = await refusal(capture(client, TALK, messages=[message]))
        long = await refusal(capture(client, "", messages=[message] * 4))
        nobody = await refusal(capture(client, "", messages=[unnamed]))

    assert [one[1] for one in (none, two, long, nobody)] == [
        "FIELD_REQUIRED", "FIELDS_CONFLICT", "FIELD_TOO_LONG", "FIELD_REQUIRED",
    ]  # fmt: skip
    assert [one[2]["field"] for one in (none, two, long, nobody)] == [
        "conversation", "messages", "messages", "messages[0].role",
    ]  # fmt: skip
