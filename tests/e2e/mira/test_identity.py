"""Identities as a client of MIRA with SOUL asks for them."""

from typing import Any

import pytest

from e2e.door import Door, text_of
from requirements import requirement

CURIOUS = "User: Which index?\nAssistant: I wonder why. Let's break it down step by step. Tell me more!"
WARM = (
    "User: I failed.\nAssistant: I'm so sorry to hear that, I understand how you feel. "
    "You are not alone, I'm here to help!"
)
NUMBERS = (
    "enthusiasm_level",
    "formality_level",
    "humor_level",
    "empathy_level",
    "technical_depth",
    "directness_level",
    "vocabulary_richness",
    "metaphor_usage",
)


async def soul(door: Door, tool: str, agent: str, **arguments: object) -> Any:  # noqa: ANN401  # JSON
    result = await door.tool(f"soul_{tool}", agent_id=agent, **arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


@requirement("soul:patch", "soul:recall", "soul:tools")
async def test_what_is_patched_is_recalled_and_kept_within_its_range(door: Door) -> None:
    await soul(door, "patch", "hal", humor_level=0.9, reason="asked for")
    prompt = (await soul(door, "recall", "hal"))["prompt"]
    clamped = await soul(door, "patch", "hal", humor_level=1.7)
    voice = door.ask("GET", "/identities/hal")["voice"]

    assert "humor" in prompt.lower()
    assert clamped["version"] == 2
    assert voice["humor"] == 1.0


@requirement("soul:patch", "soul:update")
@pytest.mark.parametrize(
    ("tool", "arguments"), [("patch", {}), ("update", {"directive": "be xylophonic"}), ("recall", {})]
)
async def test_a_change_of_nothing_an_unknown_directive_and_an_unknown_agent_are_errors(
    door: Door, tool: str, arguments: dict[str, object]
) -> None:
    result = await door.tool(f"soul_{tool}", agent_id="nobody", **arguments)

    assert result.is_error
    assert door.send("GET", "/identities/nobody").status_code == 404


@requirement("soul:versions", "soul:drift", "soul:history")
async def test_versions_count_up_and_a_large_change_is_drift(door: Door) -> None:
    await soul(door, "capture", "ida", conversation=CURIOUS, model_id="m1")
    await soul(door, "update", "ida", directive="be more formal")
    await soul(door, "patch", "ida", **dict.fromkeys(NUMBERS, 1.0))
    history = await soul(door, "history", "ida", limit=10)
    drift = await soul(door, "drift", "ida")

    assert [one["version"] for one in history["snapshots"]] == [3, 2, 1]
    assert drift["drift"]["score"] > 0


@requirement("soul:reads-the-agent")
async def test_two_conversations_give_two_sets_of_traits(door: Door) -> None:
    curious = await soul(door, "capture", "two-a", conversation=CURIOUS)
    warm = await soul(door, "capture", "two-b", conversation=WARM)

    assert curious["observed_traits"]
    assert warm["observed_traits"]
    assert set(curious["observed_traits"]) != set(warm["observed_traits"])


@requirement("soul:swap", "soul:status")
async def test_a_change_of_model_needs_an_identity_names_both_and_stays_on_record(door: Door) -> None:
    models = {"from_model": "model-one", "to_model": "model-two"}
    refused = await door.tool("soul_swap", agent_id="swapless", **models)
    await soul(door, "capture", "swapped", conversation=CURIOUS, model_id="model-one")
    told = text_of(await door.tool("soul_swap", agent_id="swapped", **models))
    status = await soul(door, "status", "swapped")

    assert refused.is_error
    assert "model-one" in told
    assert "model-two" in told
    assert [(one["from_model"], one["model_id"]) for one in status["swaps"]] == [("model-one", "model-two")]
