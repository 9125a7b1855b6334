"""The door `IdentityService`."""

import grpc

from satchel.api.store.v1 import identity_service_pb2 as pb
from satchel.api.store.v1 import identity_service_pb2_grpc as rpc
from satchel.store.engine.identity_reading import IdentityReading
from satchel.store.engine.identity_writing import IdentityWriting
from satchel.store.servicers import decoding, listing
from satchel.store.servicers import identity_answers as answers
from satchel.store.servicers import identity_decoding as requests
from satchel.store.servicers import identity_encoding as encoding


class IdentityServicer(rpc.IdentityServiceServicer):
    """Answers `IdentityService` with the store's use cases."""

    def __init__(self, writing: IdentityWriting, reading: IdentityReading) -> None:
        self._writing = writing
        self._reading = reading

    async def CaptureIdentity(  # the contract's name
        self,
        request: pb.CaptureIdentityRequest,
        context: grpc.aio.ServicerContext[pb.CaptureIdentityRequest, pb.CaptureIdentityResponse],  # noqa: ARG002
    ) -> pb.CaptureIdentityResponse:
        """Read a conversation."""
        key = decoding.request_key(request, request.request_id)
        return answers.captured(
            await self._writing.capture(requests.agent(request), requests.capture(request), key)
        )

    async def RecallIdentity(  # the contract's name
        self,
        request: pb.RecallIdentityRequest,
        context: grpc.aio.ServicerContext[pb.RecallIdentityRequest, pb.RecallIdentityResponse],  # noqa: ARG002
    ) -> pb.RecallIdentityResponse:
        """Show an identity within a budget."""
        return answers.recalled(
            await self._reading.recall(
                requests.agent(request),
                context=request.context,
                language=requests.language(request.language),
                budget=request.budget,
            )
        )

    async def GetIdentityDrift(  # the contract's name
        self,
        request: pb.GetIdentityDriftRequest,
        context: grpc.aio.ServicerContext[pb.GetIdentityDriftRequest, pb.GetIdentityDriftResponse],  # noqa: ARG002
    ) -> pb.GetIdentityDriftResponse:
        """Measure drift over a window."""
        found = await self._reading.drift(requests.agent(request), request.window)
        return answers.drifted(request.agent_id, found)

    async def SwapModel(  # the contract's name
        self,
        request: pb.SwapModelRequest,
        context: grpc.aio.ServicerContext[pb.SwapModelRequest, pb.SwapModelResponse],  # noqa: ARG002
    ) -> pb.SwapModelResponse:
        """Record a change of the model."""
        swapped = await self._writing.swap(
            requests.agent(request),
            requests.swap(request),
            decoding.request_key(request, request.request_id),
        )
        return answers.swapped(swapped)

    async def GetIdentityStatus(  # the contract's name
        self,
        request: pb.GetIdentityStatusRequest,
        context: grpc.aio.ServicerContext[pb.GetIdentityStatusRequest, pb.GetIdentityStatusResponse],  # noqa: ARG002
    ) -> pb.GetIdentityStatusResponse:
        """Report on an identity."""
        language = requests.language(request.language)
        return answers.status(await self._reading.status(requests.agent(request), language))

    async def ListIdentityHistory(  # the contract's name
        self,
        request: pb.ListIdentityHistoryRequest,
        context: grpc.aio.ServicerContext[pb.ListIdentityHistoryRequest, pb.ListIdentityHistoryResponse],  # noqa: ARG002
    ) -> pb.ListIdentityHistoryResponse:
        """List versions, newest first."""
        arguments = listing.arguments(request)
        found = await self._reading.history(
            requests.agent(request),
            limit=requests.history_limit(request),
            before=requests.before_version(request, arguments),
        )
        return answers.history(request.agent_id, found, arguments)

    async def UpdateIdentity(  # the contract's name
        self,
        request: pb.UpdateIdentityRequest,
        context: grpc.aio.ServicerContext[pb.UpdateIdentityRequest, pb.UpdateIdentityResponse],  # noqa: ARG002
    ) -> pb.UpdateIdentityResponse:
        """Follow a directive."""
        key = decoding.request_key(request, request.request_id)
        updated = await self._writing.update(requests.agent(request), request.directive, request.reason, key)
        return answers.updated(updated)

    async def PatchIdentity(  # the contract's name
        self,
        request: pb.PatchIdentityRequest,
        context: grpc.aio.ServicerContext[pb.PatchIdentityRequest, pb.PatchIdentityResponse],  # noqa: ARG002
    ) -> pb.PatchIdentityResponse:
        """Set single fields."""
        key = decoding.request_key(request, request.request_id)
        evolved = await self._writing.patch(
            requests.agent(request), requests.patch(request), request.reason, key
        )
        return answers.patched(evolved, requests.clamping_notes(request))

    async def GetIdentity(  # the contract's name
        self,
        request: pb.GetIdentityRequest,
        context: grpc.aio.ServicerContext[pb.GetIdentityRequest, pb.GetIdentityResponse],  # noqa: ARG002
    ) -> pb.GetIdentityResponse:
        """Return one version."""
        found = await self._reading.version(requests.agent(request), request.version)
        return pb.GetIdentityResponse(identity=encoding.identity(found))

    async def ListIdentities(  # the contract's name
        self,
        request: pb.ListIdentitiesRequest,
        context: grpc.aio.ServicerContext[pb.ListIdentitiesRequest, pb.ListIdentitiesResponse],  # noqa: ARG002
    ) -> pb.ListIdentitiesResponse:
        """List agents by name."""
        arguments, size = listing.arguments(request), requests.page_size(request)
        found = await self._reading.agents(
            request.project or decoding.DEFAULT_PROJECT,
            after=requests.after_agent(request, arguments),
            limit=size,
        )
        return answers.agents(found, size, arguments, enabled=self._reading.enabled)

    async def DeleteIdentity(  # the contract's name
        self,
        request: pb.DeleteIdentityRequest,
        context: grpc.aio.ServicerContext[pb.DeleteIdentityRequest, pb.DeleteIdentityResponse],  # noqa: ARG002
    ) -> pb.DeleteIdentityResponse:
        """Delete an identity for good."""
        key = decoding.request_key(request, request.request_id)
        versions = await self._writing.delete(requests.agent(request), key)
        return pb.DeleteIdentityResponse(agent_id=request.agent_id, version_count=versions)
