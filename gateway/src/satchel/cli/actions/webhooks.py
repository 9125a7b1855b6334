"""What the commands about webhooks do."""

import os
from collections.abc import Mapping, Sequence

from google.protobuf.message import Message

from satchel.api.store.v1 import webhook_service_pb2 as pb
from satchel.cli.output import tell, write_json, write_line
from satchel.cli.place import Place, Show
from satchel.cli.session import request, run
from satchel.gateway.clients import Clients
from satchel.gateway.transcoder import codec

_TEST_S = 62.0
_SECRET = "SATCHEL_WEBHOOK_SECRET"  # noqa: S105  # the name of a variable


def show(place: Place, show: Show) -> None:
    """Print the endpoints."""
    message = request(pb.ListWebhooksRequest, project=place.project)

    async def work(clients: Clients) -> pb.ListWebhooksResponse:
        return await clients.webhooks.ListWebhooks(message)

    answer = run(place, show, "webhooks", work)
    if _is_json(show, answer):
        return
    for webhook in answer.webhooks:
        write_line(format_webhook(webhook))
    if not answer.webhooks:
        tell("There are no endpoints. Add one with 'satchel webhooks add URL'.")


def format_webhook(webhook: pb.Webhook) -> str:
    """Return an endpoint as lines for a person."""
    state = "enabled" if webhook.enabled else f"disabled. {webhook.disabled_reason}".rstrip(". ")
    if webhook.HasField("open_until"):
        state += f", failing ({webhook.failures} in a row)"
    rows = {
        "events": ", ".join(webhook.events) or "all",
        "project": webhook.project or "all",
        "state": state,
        "waiting": str(webhook.pending_count),
        "given up": str(webhook.dead_count),
        "for": webhook.description,
    }
    head = f"{webhook.id}  {webhook.url}"
    return "\n".join([head, *(f"    {name:<9} {value}" for name, value in rows.items() if value)])


def add(place: Place, show: Show, fields: Mapping[str, object]) -> None:
    """Register an endpoint; its id goes to stdout, and a secret that was made there too."""
    secret = os.environ.get(_SECRET, "")
    message = request(pb.CreateWebhookRequest, project=place.project, secret=secret, **fields)

    async def work(clients: Clients) -> pb.CreateWebhookResponse:
        return await clients.webhooks.CreateWebhook(message)

    answer = run(place, show, "webhooks", work)
    if _is_json(show, answer):
        return
    write_line(answer.webhook.id)
    if answer.secret:
        write_line(answer.secret)
        tell("The second line is the secret that signs the events. It is not shown again.")


def test(place: Place, show: Show, webhook_id: str) -> bool:
    """Have the test event sent; tell whether the endpoint took it."""
    message = request(pb.TestWebhookRequest, id=webhook_id)

    async def work(clients: Clients) -> pb.TestWebhookResponse:
        return await clients.webhooks.TestWebhook(message, timeout=_TEST_S)

    answer = run(place, show, "webhooks", work)
    if not _is_json(show, answer):
        what = f"Delivered: status {answer.status}" if answer.delivered else answer.error.rstrip(".")
        write_line(f"{what}, after {answer.latency_ms:.0f} ms." if answer.latency_ms else f"{what}.")
    return answer.delivered


def delete(place: Place, show: Show, webhook_id: str) -> None:
    """Remove an endpoint."""
    message = request(pb.DeleteWebhookRequest, id=webhook_id)

    async def work(clients: Clients) -> pb.DeleteWebhookResponse:
        return await clients.webhooks.DeleteWebhook(message)

    answer = run(place, show, "webhooks", work)
    if not _is_json(show, answer):
        tell(f"Deleted {answer.id}.")


def dead(place: Place, show: Show, webhook_id: str, limit: int) -> None:
    """Print the dead letters, newest first."""
    message = request(
        pb.ListDeliveriesRequest,
        state="dead",
        webhook_id=webhook_id,
        project=place.project,
        page_size=limit,
    )

    async def work(clients: Clients) -> pb.ListDeliveriesResponse:
        return await clients.webhooks.ListDeliveries(message)

    answer = run(place, show, "webhooks", work)
    if _is_json(show, answer):
        return
    for delivery in answer.deliveries:
        write_line(format_delivery(delivery))
    if answer.next_page_token:
        tell("There are more: list them with a larger --limit, or over REST page by page.")


def format_delivery(delivery: pb.Delivery) -> str:
    """Return a delivery as one line, with its time to the second."""
    when = str(codec.encode(delivery)["occurred_at"])[:19].replace("T", " ")
    subject = delivery.memory_id or "-"
    return f"{when}  {delivery.id}  {delivery.event}  {subject}  {delivery.last_error}"


def redrive(place: Place, show: Show, delivery_ids: Sequence[str], webhook_id: str) -> None:
    """Let dead letters wait again."""
    message = request(pb.RedriveDeliveriesRequest, ids=list(delivery_ids), webhook_id=webhook_id)

    async def work(clients: Clients) -> pb.RedriveDeliveriesResponse:
        return await clients.webhooks.RedriveDeliveries(message)

    answer = run(place, show, "webhooks", work)
    if not _is_json(show, answer):
        tell(f"{answer.redriven_count} events wait again.")


def _is_json(show: Show, answer: Message) -> bool:
    """Print the answer as JSON where that is asked for, and tell whether it is."""
    if show.as_json:
        write_json(codec.encode(answer))
    return show.as_json
