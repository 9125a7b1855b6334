"""One try: an event is posted, and the status of the answer is all that counts."""

import asyncio
import email.utils
import logging
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

import httpcore2

from satchel.gateway.webhooks.connecting import CheckedConnections, Resolve
from satchel.gateway.webhooks.envelope import Event, body_of, headers_of
from satchel.runtime.addresses import Target, UnusableUrl, resolve, target_of

log = logging.getLogger(__name__)

_MILLIS = 1000
_FAILURES = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.TimeoutException, OSError)
_SUCCESSES = range(200, 300)
_LONGEST_WAIT_S = 86_400.0
_REDIRECTS = range(300, 400)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a try: status 0 without an answer; an error is a sentence, empty for a success."""

    status: int
    error: str
    latency_ms: float
    retry_after_s: float = 0.0


class Sender:
    """Posts events; nothing is followed and nothing of the answer but status and headers is read.

    Each try resolves and connects anew. ``clock`` gives seconds since 1970.
    """

    def __init__(
        self,
        pools: dict[bool, httpcore2.AsyncConnectionPool],
        *,
        timeout_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._pools = pools
        self._timeout_s = timeout_s
        self._clock = clock

    async def send(self, url: str, event: Event, *, secret: str, allow_private: bool) -> Outcome:
        """Post an event; whatever goes wrong is in the outcome."""
        began = time.perf_counter()
        status, error, retry_after_s = 0, "", 0.0
        try:
            async with asyncio.timeout(self._timeout_s):
                status, asked = await self._post(target_of(url), event, secret, allow_private=allow_private)
        except TimeoutError:
            error = f"There was no answer within {self._timeout_s:g} s."
        except UnusableUrl as refused:
            error = str(refused)
        except _FAILURES as failed:
            error = f"{type(failed).__name__}: {failed}"[:500]
        except Exception:  # one endpoint must not end the sending to all others
            log.exception("webhooks.sending_broke", extra={"webhook": event.webhook_id})
            error = "The event could not be sent; the log of the gateway says why."
        else:
            error, retry_after_s = _fault(status), wait_of(asked, self._clock())
        return Outcome(status, error, (time.perf_counter() - began) * _MILLIS, retry_after_s)

    async def _post(
        self, target: Target, event: Event, secret: str, *, allow_private: bool
    ) -> tuple[int, str]:
        """Return the status, and what the answer says of when to come back."""
        body = body_of(event)
        headers = headers_of(event, body, secret=secret, sent_at=int(self._clock()))
        headers |= {"Host": _authority(target), "Connection": "close", "Content-Length": str(len(body))}
        url = httpcore2.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        async with self._pools[allow_private].stream(
            "POST", url, headers=list(headers.items()), content=body
        ) as response:
            asked = [value for name, value in response.headers if name.lower() == b"retry-after"]
            return response.status, asked[0].decode("latin-1") if asked else ""


@asynccontextmanager
async def open_sender(
    *,
    timeout_s: float,
    tasks: int,
    clock: Callable[[], float] = time.time,
    resolve: Resolve = resolve,
    trust: ssl.SSLContext | None = None,
) -> AsyncIterator[Sender]:
    """Yield a sender for so many tasks at a time; without ``trust`` the system's authorities count."""
    async with AsyncExitStack() as stack:
        pools = {
            allow_private: await stack.enter_async_context(
                httpcore2.AsyncConnectionPool(
                    ssl_context=trust,
                    max_connections=tasks,
                    max_keepalive_connections=0,
                    network_backend=CheckedConnections(resolve, allow_private=allow_private),
                )
            )
            for allow_private in (False, True)
        }
        yield Sender(pools, timeout_s=timeout_s, clock=clock)


def wait_of(text: str, now: float) -> float:
    """Return the seconds of a Retry-After header, of either form, at most a day; 0 for none that can be read.

    Source: RFC 9110, section 10.2.3.
    """
    if text.strip().isdecimal():
        return min(float(text), _LONGEST_WAIT_S)
    try:
        moment = email.utils.parsedate_to_datetime(text)
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        wait_s = (aware - datetime.fromtimestamp(now, UTC)).total_seconds()
    except (ValueError, OverflowError):  # an offset of a billion years is no time
        return 0.0
    return min(max(0.0, wait_s), _LONGEST_WAIT_S)


def _fault(status: int) -> str:
    if status in _SUCCESSES:
        return ""
    if status in _REDIRECTS:
        return f"The endpoint answered {status}: redirects are not followed. Register the new URL."
    known = status in HTTPStatus._value2member_map_
    return f"The endpoint answered {status}{f' ({HTTPStatus(status).phrase})' if known else ''}."


def _authority(target: Target) -> str:
    host = f"[{target.host}]" if ":" in target.host else target.host
    is_usual = target.port == {"http": 80, "https": 443}[target.scheme]
    return host if is_usual else f"{host}:{target.port}"
