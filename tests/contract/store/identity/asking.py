"""Calls of `IdentityService` that tests make again and again."""

from contract.store.identity.conftest import Client

from satchel.api.store.v1 import identity_pb2
from satchel.api.store.v1 import identity_service_pb2 as pb

TALK = """\
User: I am so formal, therefore answer kindly. I wonder.
Assistant: Good question! Haha, just kidding \U0001f604. Tell me more, that's interesting!
User: Furthermore, thank you.
Assistant: Good question! Let's break it down. I wonder what the root cause is.
"""
SOBER = """\
User: Haha, I wonder, tell me more!
Assistant: Be careful and make sure you back up first. Let me verify it: according to the source, it is exact.
"""


async def capture(
    client: Client, conversation: str = TALK, agent_id: str = "clara", **fields: object
) -> pb.CaptureIdentityResponse:
    """Capture a conversation."""
    request = pb.CaptureIdentityRequest(agent_id=agent_id, conversation=conversation, **fields)  # type: ignore[arg-type]
    return await client.identities.CaptureIdentity(request)


async def patch(client: Client, agent_id: str = "clara", **fields: object) -> pb.PatchIdentityResponse:
    """Patch an identity."""
    return await client.identities.PatchIdentity(pb.PatchIdentityRequest(agent_id=agent_id, **fields))  # type: ignore[arg-type]


async def update(client: Client, directive: str, **fields: object) -> pb.UpdateIdentityResponse:
    """Follow a directive."""
    request = pb.UpdateIdentityRequest(**{"agent_id": "clara", **fields}, directive=directive)  # type: ignore[arg-type]
    return await client.identities.UpdateIdentity(request)


async def swap(client: Client, from_model: str, to_model: str, **fields: object) -> pb.SwapModelResponse:
    """Swap the model."""
    request = pb.SwapModelRequest(agent_id="clara", from_model=from_model, to_model=to_model, **fields)  # type: ignore[arg-type]
    return await client.identities.SwapModel(request)


async def recall(client: Client, **fields: object) -> pb.RecallIdentityResponse:
    """Recall an identity."""
    return await client.identities.RecallIdentity(pb.RecallIdentityRequest(agent_id="clara", **fields))  # type: ignore[arg-type]


async def get(client: Client, version: int = 0, agent_id: str = "clara") -> identity_pb2.Identity:
    """Return one version."""
    request = pb.GetIdentityRequest(agent_id=agent_id, version=version)
    return (await client.identities.GetIdentity(request)).identity


async def drift(client: Client, **fields: object) -> pb.GetIdentityDriftResponse:
    """Measure drift."""
    return await client.identities.GetIdentityDrift(pb.GetIdentityDriftRequest(agent_id="clara", **fields))  # type: ignore[arg-type]


async def history(client: Client, **fields: object) -> pb.ListIdentityHistoryResponse:
    """List versions."""
    request = pb.ListIdentityHistoryRequest(agent_id="clara", **fields)  # type: ignore[arg-type]
    return await client.identities.ListIdentityHistory(request)


async def status(client: Client, **fields: object) -> pb.GetIdentityStatusResponse:
    """Report on an identity."""
    return await client.identities.GetIdentityStatus(
        pb.GetIdentityStatusRequest(agent_id="clara", **fields)  # type: ignore[arg-type]
    )
