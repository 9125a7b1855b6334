"""The door `WebhookService`."""

import grpc

from satchel.api.store.v1 import webhook_service_pb2 as pb
from satchel.api.store.v1 import webhook_service_pb2_grpc as rpc
from satchel.store.engine.delivering import Delivering
from satchel.store.engine.endpoints import Endpoints
from satchel.store.servicers import listing
from satchel.store.servicers import webhook_messages as messages


class WebhookServicer(rpc.WebhookServiceServicer):
    """Answers `WebhookService` with the store's use cases."""

    def __init__(self, endpoints: Endpoints, delivering: Delivering, *, allow_private: bool) -> None:
        self._endpoints = endpoints
        self._delivering = delivering
        self._allow_private = allow_private

    async def CreateWebhook(  # the contract's name
        self,
        request: pb.CreateWebhookRequest,
        context: grpc.aio.ServicerContext[pb.CreateWebhookRequest, pb.CreateWebhookResponse],  # noqa: ARG002
    ) -> pb.CreateWebhookResponse:
        """Register an endpoint."""
        created, secret = await self._endpoints.create(messages.wanted(request))
        return pb.CreateWebhookResponse(webhook=messages.webhook(created), secret=secret)

    async def ListWebhooks(  # the contract's name
        self,
        request: pb.ListWebhooksRequest,
        context: grpc.aio.ServicerContext[pb.ListWebhooksRequest, pb.ListWebhooksResponse],  # noqa: ARG002
    ) -> pb.ListWebhooksResponse:
        """Return the endpoints."""
        found = await self._endpoints.all(request.project)
        return pb.ListWebhooksResponse(webhooks=map(messages.webhook, found))

    async def GetWebhook(  # the contract's name
        self,
        request: pb.GetWebhookRequest,
        context: grpc.aio.ServicerContext[pb.GetWebhookRequest, pb.GetWebhookResponse],  # noqa: ARG002
    ) -> pb.GetWebhookResponse:
        """Return one endpoint."""
        found = await self._endpoints.get(request.id.lower())
        return pb.GetWebhookResponse(webhook=messages.webhook(found))

    async def UpdateWebhook(  # the contract's name
        self,
        request: pb.UpdateWebhookRequest,
        context: grpc.aio.ServicerContext[pb.UpdateWebhookRequest, pb.UpdateWebhookResponse],  # noqa: ARG002
    ) -> pb.UpdateWebhookResponse:
        """Change an endpoint."""
        changed = await self._endpoints.update(request.id.lower(), messages.changes(request))
        return pb.UpdateWebhookResponse(webhook=messages.webhook(changed))

    async def DeleteWebhook(  # the contract's name
        self,
        request: pb.DeleteWebhookRequest,
        context: grpc.aio.ServicerContext[pb.DeleteWebhookRequest, pb.DeleteWebhookResponse],  # noqa: ARG002
    ) -> pb.DeleteWebhookResponse:
        """Remove an endpoint."""
        await self._endpoints.delete(request.id.lower())
        return pb.DeleteWebhookResponse(id=request.id.lower())

    async def TestWebhook(  # the contract's name
        self,
        request: pb.TestWebhookRequest,
        context: grpc.aio.ServicerContext[pb.TestWebhookRequest, pb.TestWebhookResponse],  # noqa: ARG002
    ) -> pb.TestWebhookResponse:
        """Have the test event sent."""
        self._endpoints.require_enabled()
        return messages.tested(await self._delivering.test(request.id.lower()))

    async def ListDeliveries(  # the contract's name
        self,
        request: pb.ListDeliveriesRequest,
        context: grpc.aio.ServicerContext[pb.ListDeliveriesRequest, pb.ListDeliveriesResponse],  # noqa: ARG002
    ) -> pb.ListDeliveriesResponse:
        """Return a page of deliveries."""
        self._endpoints.require_enabled()
        arguments = listing.arguments(request)
        page = await self._delivering.page(messages.query(request), request.page_token, arguments)
        return pb.ListDeliveriesResponse(
            deliveries=map(messages.delivery, page.deliveries), next_page_token=page.next_token
        )

    async def RedriveDeliveries(  # the contract's name
        self,
        request: pb.RedriveDeliveriesRequest,
        context: grpc.aio.ServicerContext[pb.RedriveDeliveriesRequest, pb.RedriveDeliveriesResponse],  # noqa: ARG002
    ) -> pb.RedriveDeliveriesResponse:
        """Let dead letters wait again."""
        self._endpoints.require_enabled()
        count = await self._delivering.redrive(*messages.meant(request))
        return pb.RedriveDeliveriesResponse(redriven_count=count)

    async def ConfigureWebhooks(  # the contract's name
        self,
        request: pb.ConfigureWebhooksRequest,
        context: grpc.aio.ServicerContext[pb.ConfigureWebhooksRequest, pb.ConfigureWebhooksResponse],  # noqa: ARG002
    ) -> pb.ConfigureWebhooksResponse:
        """Register the endpoints of the configuration."""
        if not self._endpoints.are_enabled:
            return pb.ConfigureWebhooksResponse()
        found = await self._endpoints.configure(tuple(map(messages.named, request.webhooks)))
        return pb.ConfigureWebhooksResponse(webhooks=map(messages.webhook, found), enabled=True)

    async def LeaseDeliveries(  # the contract's name
        self,
        request: pb.LeaseDeliveriesRequest,
        context: grpc.aio.ServicerContext[pb.LeaseDeliveriesRequest, pb.LeaseDeliveriesResponse],  # noqa: ARG002
    ) -> pb.LeaseDeliveriesResponse:
        """Hand out what is due."""
        self._endpoints.require_enabled()
        found = await self._delivering.lease(
            request.limit or 1, lease_s=request.lease_s, wait_s=request.wait_s
        )
        leased = [messages.leased(one, allow_private=self._allow_private) for one in found]
        return pb.LeaseDeliveriesResponse(deliveries=leased)

    async def FinishDelivery(  # the contract's name
        self,
        request: pb.FinishDeliveryRequest,
        context: grpc.aio.ServicerContext[pb.FinishDeliveryRequest, pb.FinishDeliveryResponse],  # noqa: ARG002
    ) -> pb.FinishDeliveryResponse:
        """Note what became of a delivery."""
        self._endpoints.require_enabled()
        verdict = await self._delivering.finish(messages.report(request))
        state = pb.DeliveryState.ValueType(0 if verdict is None else verdict.state)
        return pb.FinishDeliveryResponse(state=state)

    async def ReportMaintenance(  # the contract's name
        self,
        request: pb.ReportMaintenanceRequest,
        context: grpc.aio.ServicerContext[pb.ReportMaintenanceRequest, pb.ReportMaintenanceResponse],  # noqa: ARG002
    ) -> pb.ReportMaintenanceResponse:
        """Write the event of a maintenance."""
        await self._delivering.report(messages.maintenance(request))
        return pb.ReportMaintenanceResponse()
