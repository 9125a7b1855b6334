"""Registering endpoints: whose URL may be called, with which secret, and what the configuration names."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from satchel.runtime.addresses import Target, UnusableUrl, is_local_name, is_public, literal, target_of
from satchel.store.errors import WebhooksDisabled, WebhookUrlRefused
from satchel.store.ids import Stamps
from satchel.store.ports import MemoryStore
from satchel.store.settings import WebhookRules
from satchel.store.webhooks.model import Webhook
from satchel.store.webhooks.naming import id_of
from satchel.store.webhooks.ports import Resolve

_SECRET_BYTES = 32
_PUBLIC = "one that leads to a public address"
_REMEDY = (
    "Name a host that the Internet can reach, or set SATCHEL_WEBHOOKS_ALLOW_PRIVATE=true if everybody who "
    "may register endpoints may reach this network."
)


class Endpoints:
    """Use cases of those who want to be told; ``on_change`` is called after every change."""

    def __init__(
        self,
        store: MemoryStore,
        stamps: Stamps,
        rules: WebhookRules,
        *,
        resolve: Resolve,
        on_change: Callable[[bool], None],
    ) -> None:
        self._store = store.webhooks
        self._stamps = stamps
        self._rules = rules
        self._resolve = resolve
        self._on_change = on_change

    async def open(self) -> None:
        """Begin to write events, or to write none, as the rules say."""
        await self._store.open(queue_size=self._rules.queue_size, enabled=self._rules.enabled)
        await self._tell()

    async def create(self, wanted: Webhook) -> tuple[Webhook, str]:
        """Register an endpoint, and return it with the secret if that was made here.

        Raises:
            WebhookUrlRefused, WebhookLimitReached, WebhooksDisabled: it was not registered.
        """
        self.require_enabled()
        await self._check_resolved(self._checked(wanted.url, "url"), "url")
        made = "" if wanted.secret else secrets.token_urlsafe(_SECRET_BYTES)
        stamp = self._stamps.next()
        webhook = replace(wanted, id=stamp.id, created_at=stamp.at, secret=wanted.secret or made)
        await self._store.add(webhook)
        await self._tell()
        return webhook, made

    async def configure(self, wanted: Sequence[Webhook]) -> tuple[Webhook, ...]:
        """Register the endpoints of the configuration, whose names are resolved when they are called.

        Raises:
            WebhookUrlRefused, WebhookLimitReached, WebhooksDisabled: nothing was changed.
        """
        self.require_enabled()
        for number, webhook in enumerate(wanted):
            self._checked(webhook.url, f"webhooks[{number}].url")
        now = self._stamps.next().at
        named = {
            webhook.url: replace(webhook, id=id_of(webhook.url), created_at=now, configured=True)
            for webhook in wanted
        }
        registered = await self._store.configure(tuple(named.values()))
        await self._tell()
        return registered

    async def all(self, project: str) -> tuple[Webhook, ...]:
        """Return the endpoints of a project; empty means any."""
        self.require_enabled()
        return await self._store.webhooks(project)

    async def get(self, webhook_id: str) -> Webhook:
        """Return an endpoint.

        Raises:
            WebhookNotFound: there is none.
        """
        self.require_enabled()
        return await self._store.webhook(webhook_id)

    async def update(self, webhook_id: str, fields: Mapping[str, object]) -> Webhook:
        """Set fields of an endpoint; one that is enabled starts anew.

        Raises:
            WebhookNotFound: there is none.
        """
        self.require_enabled()
        fresh: dict[str, object] = {"disabled_reason": "", "failures": 0, "open_until": 0}
        anew = fresh if fields.get("enabled") else {}
        changed = await self._store.change(webhook_id, {**fields, **anew})
        await self._tell()
        return changed

    async def delete(self, webhook_id: str) -> None:
        """Remove an endpoint with its deliveries.

        Raises:
            WebhookNotFound: there is none.
        """
        self.require_enabled()
        await self._store.remove(webhook_id)
        await self._tell()

    @property
    def are_enabled(self) -> bool:
        """Whether webhooks are on."""
        return self._rules.enabled

    def require_enabled(self) -> None:
        """Refuse where webhooks are turned off.

        Raises:
            WebhooksDisabled: they are.
        """
        if not self._rules.enabled:
            raise WebhooksDisabled

    async def _tell(self) -> None:
        self._on_change(self._rules.enabled and bool(await self._store.webhooks()))

    def _checked(self, url: str, field: str) -> Target:
        try:
            target = target_of(url)
        except UnusableUrl as error:
            raise WebhookUrlRefused(limit=error.limit, remedy=error.remedy, field=field) from error
        address = literal(target.host)
        is_private = is_local_name(target.host) if address is None else not is_public(address)
        if is_private and not self._rules.allow_private:
            raise WebhookUrlRefused(limit=_PUBLIC, remedy=_REMEDY, field=field)
        return target

    async def _check_resolved(self, target: Target, field: str) -> None:
        """Refuse a name that leads to private addresses now; one that leads nowhere may do so later."""
        if self._rules.allow_private or literal(target.host) is not None:
            return
        found = map(literal, await self._resolve(target.host, target.port))
        if not all(address is not None and is_public(address) for address in found):
            raise WebhookUrlRefused(limit=_PUBLIC, remedy=_REMEDY, field=field)
