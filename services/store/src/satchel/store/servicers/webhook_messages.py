"""The messages of `WebhookService` as the store's nouns and back; refuses what no field option can say."""

from google.protobuf import json_format, struct_pb2

from satchel.api.store.v1 import webhook_service_pb2 as pb
from satchel.runtime.errors import InvalidRequest
from satchel.store.engine.delivering import Tested
from satchel.store.servicers import encoding, listing
from satchel.store.webhooks.model import Delivery, DeliveryQuery, DeliveryState, Leased, Report, Webhook
from satchel.store.webhooks.pacing import is_delivered

_NOT_TAKEN = "No gateway took the event in time. See that one runs and is not overloaded."
_CHANGEABLE = ("enabled", "include_content", "description", "secret")


def wanted(request: pb.CreateWebhookRequest) -> Webhook:
    """Decode an endpoint to register."""
    return Webhook(
        id="",
        url=request.url,
        secret=request.secret,
        created_at=0,
        events=tuple(dict.fromkeys(request.events)),
        project=request.project,
        description=request.description,
        include_content=request.include_content,
    )


def named(message: pb.WebhookConfiguration) -> Webhook:
    """Decode an endpoint of the configuration."""
    return Webhook(
        id="",
        url=message.url,
        secret=message.secret,
        created_at=0,
        events=tuple(dict.fromkeys(message.events)),
        description=message.description,
    )


def changes(request: pb.UpdateWebhookRequest) -> dict[str, object]:
    """Decode what to change of an endpoint."""
    return {name: getattr(request, name) for name in _CHANGEABLE if request.HasField(name)}  # type: ignore[arg-type]  # literals


def webhook(found: Webhook) -> pb.Webhook:
    """Encode an endpoint, without its secret."""
    return pb.Webhook(
        id=found.id,
        url=found.url,
        events=found.events,
        project=found.project,
        description=found.description,
        include_content=found.include_content,
        enabled=found.enabled,
        disabled_reason=found.disabled_reason,
        configured=found.configured,
        is_signed=bool(found.secret),
        created_at=encoding.timestamp(found.created_at),
        pending_count=found.pending,
        dead_count=found.dead,
        failures=found.failures,
        open_until=encoding.timestamp(found.open_until) if found.open_until else None,
    )


def tested(found: Tested) -> pb.TestWebhookResponse:
    """Encode what became of a test."""
    report = found.report
    if report is None:
        return pb.TestWebhookResponse(delivery_id=found.delivery_id, error=_NOT_TAKEN)
    return pb.TestWebhookResponse(
        delivered=is_delivered(report),
        status=report.status,
        latency_ms=report.latency_ms,
        error=report.error,
        delivery_id=found.delivery_id,
    )


def query(request: pb.ListDeliveriesRequest) -> DeliveryQuery:
    """Decode which deliveries to list."""
    return DeliveryQuery(
        state=DeliveryState(request.state) if request.state else None,
        webhook_id=request.webhook_id.lower(),
        project=request.project,
        limit=listing.page_size(request.page_size),
    )


def delivery(found: Delivery) -> pb.Delivery:
    """Encode a delivery."""
    return pb.Delivery(
        id=found.id,
        webhook_id=found.webhook_id,
        event_id=found.event_id,
        event=found.event,
        memory_id=found.memory_id,
        project=found.project,
        state=pb.DeliveryState.ValueType(found.state),
        occurred_at=encoding.timestamp(found.occurred_at),
        tries=found.tries,
        due_at=encoding.timestamp(found.due_at) if found.due_at else None,
        finished_at=encoding.timestamp(found.finished_at) if found.finished_at else None,
        last_status=found.last_status,
        last_error=found.last_error,
    )


def meant(request: pb.RedriveDeliveriesRequest) -> tuple[tuple[str, ...], str]:
    """Decode which dead letters to try again: ids, or the id of an endpoint.

    Raises:
        InvalidRequest: both are named, or nothing is.
    """
    if bool(request.ids) == bool(request.webhook_id):
        reason = "FIELDS_CONFLICT" if request.ids else "FIELD_REQUIRED"
        limit = "empty with 'ids'" if request.ids else "required without 'ids'"
        fault = f"must be {limit}" if request.ids else "is required where 'ids' is empty"
        remedy = "Set either 'ids' or 'webhook_id'."
        raise InvalidRequest.of(
            "webhook_id",
            f"ERROR_REASON_{reason}",
            f"The field 'webhook_id' {fault}. {remedy}",
            limit=limit,
            remedy=remedy,
        )
    return tuple(one.lower() for one in request.ids), request.webhook_id.lower()


def leased(found: Leased, *, allow_private: bool) -> pb.LeasedDelivery:
    """Encode a delivery to be made."""
    data = json_format.ParseDict(dict(found.data), struct_pb2.Struct())
    one = found.delivery
    return pb.LeasedDelivery(
        id=one.id,
        lease_id=found.lease_id,
        url=found.url,
        secret=found.secret,
        webhook_id=one.webhook_id,
        event_id=one.event_id,
        event=one.event,
        memory_id=one.memory_id,
        project=one.project,
        occurred_at=encoding.timestamp(one.occurred_at),
        data=data,
        tries=one.tries + 1,
        allow_private=allow_private,
    )


def report(request: pb.FinishDeliveryRequest) -> Report:
    """Decode what became of a try."""
    return Report(
        id=request.id.lower(),
        lease_id=request.lease_id.lower(),
        status=request.status,
        error=request.error,
        latency_ms=request.latency_ms,
        retry_after_s=request.retry_after_s,
    )


def maintenance(request: pb.ReportMaintenanceRequest) -> dict[str, object]:
    """Decode what the index did."""
    return {
        "action": request.action,
        "passage_count": request.passage_count,
        "duration_s": request.duration_s,
        "revision": request.revision,
    }
