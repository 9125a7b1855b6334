"""What is promised of the request that carries an event, and of the address that it goes to."""

import hashlib
import hmac
import json
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from contract.gateway.receiver import answer, receiving
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from requirements import requirement
from satchel.gateway.webhooks.connecting import Resolve
from satchel.gateway.webhooks.envelope import Event
from satchel.gateway.webhooks.sending import Outcome, Sender, open_sender, wait_of

EVENT = Event(
    delivery_id="d1",
    webhook_id="w1",
    event_id="e1",
    name="store.completed",
    occurred_at="2026-01-02T03:04:05.678Z",
    project="default",
    memory_id="m1",
    data={"wing": "billing", "version": 1},
)
NOW = 1_767_323_045.9
SECRET = "a secret of mine"  # noqa: S105  # it signs nothing but tests


async def to_loopback(host: str, port: int) -> Sequence[str]:
    """Resolve every name to this machine."""
    assert host
    assert port
    return ["127.0.0.1"]


@asynccontextmanager
async def sender(
    *, resolve: Resolve = to_loopback, timeout_s: float = 10, trust: ssl.SSLContext | None = None
) -> AsyncIterator[Sender]:
    async with open_sender(
        timeout_s=timeout_s, tasks=2, clock=lambda: NOW, resolve=resolve, trust=trust
    ) as found:
        yield found


async def send(found: Sender, url: str, *, secret: str = SECRET, allow_private: bool = True) -> Outcome:
    return await found.send(url, EVENT, secret=secret, allow_private=allow_private)


@requirement("webhook:sent")
async def test_an_event_is_one_post_with_the_documented_body_and_headers() -> None:
    async with receiving() as receiver, sender() as found:
        outcome = await send(found, receiver.url("/in?token=7"))
        got = await receiver.next()

    assert (outcome.status, outcome.error) == (204, "")
    assert got.line == "POST /in?token=7 HTTP/1.1"
    assert json.loads(got.body) == {
        "id": "e1",
        "type": "store.completed",
        "timestamp": "2026-01-02T03:04:05.678Z",
        "project": "default",
        "memory_id": "m1",
        "data": {"wing": "billing", "version": 1},
        "payload": {"wing": "billing", "version": 1},
    }
    assert {name: got.headers[name] for name in got.headers if name.startswith("x-")} == {
        "x-satchel-event": "store.completed",
        "x-satchel-delivery": "d1",
        "x-satchel-timestamp": "1767323045",
        "x-satchel-signature": got.headers["x-satchel-signature"],
        "x-webhook-id": "w1",
        "x-webhook-event": "store.completed",
        "x-mira-event-id": "e1",
        "x-mira-event-type": "store.completed",
        "x-mira-webhook-id": "w1",
        "x-mira-signature": got.headers["x-mira-signature"],
        "x-mira-signature-version": "v1",
    }
    assert got.headers["content-type"] == "application/json"
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"


@requirement("webhook:signed")
async def test_a_receiver_can_verify_the_signature_over_time_and_body() -> None:
    async with receiving() as receiver, sender() as found:
        await send(found, receiver.url())
        got = await receiver.next()

    def mac(text: bytes) -> str:
        return hmac.new(SECRET.encode(), text, hashlib.sha256).hexdigest()

    stamped = got.headers["x-satchel-timestamp"].encode() + b"." + got.body
    assert got.headers["x-satchel-signature"] == f"v1={mac(stamped)}"
    assert got.headers["x-mira-signature"] == f"sha256={mac(got.body)}"


@requirement("webhook:signed")
async def test_without_a_secret_nothing_is_signed() -> None:
    async with receiving() as receiver, sender() as found:
        await send(found, receiver.url(), secret="")
        got = await receiver.next()

    assert [name for name in got.headers if "signature" in name] == []


@requirement("webhook:sent")
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_a_failure_and_is_not_followed(status: int) -> None:
    async with receiving() as other, receiving() as receiver, sender() as found:
        receiver.answers.append(answer(status, Location=other.url()))
        outcome = await send(found, receiver.url())

    assert outcome.status == status
    assert "not followed" in outcome.error
    assert other.requests.empty()


@requirement("webhook:sent")
async def test_an_endpoint_that_does_not_answer_in_time_is_a_failure() -> None:
    async with receiving("") as receiver, sender(timeout_s=0.2) as found:
        outcome = await send(found, receiver.url())

    assert (outcome.status, outcome.error) == (0, "There was no answer within 0.2 s.")


@requirement("webhook:sent")
async def test_an_endpoint_that_is_not_there_or_speaks_no_http_is_a_failure() -> None:
    async with receiving("nonsense\r\n\r\n") as receiver, sender() as found:
        nonsense = await send(found, receiver.url())
        port = receiver.port
    async with sender() as found:
        absent = await send(found, f"http://127.0.0.1:{port}/")

    assert (nonsense.status, absent.status) == (0, 0)
    assert nonsense.error.startswith("RemoteProtocolError")
    assert absent.error.startswith("ConnectError")


@requirement("webhook:sent")
async def test_whatever_goes_wrong_with_one_endpoint_is_in_the_outcome() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise LookupError(f"{host}:{port}")

    async with sender(resolve=resolve) as found:
        outcome = await send(found, "http://odd.example/")

    assert (outcome.status, outcome.error) == (
        0,
        "The event could not be sent; the log of the gateway says why.",
    )


@requirement("webhook:private")
@pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "2130706433", "localhost", "inside.example"])
async def test_nothing_is_sent_to_an_address_that_is_private_when_it_is_called(host: str) -> None:
    async with receiving() as receiver, sender() as found:
        outcome = await send(found, receiver.url(host=host), allow_private=False)

    assert outcome.status == 0
    assert outcome.error.startswith("AddressRefused")
    assert "SATCHEL_WEBHOOKS_ALLOW_PRIVATE=true" in outcome.error
    assert receiver.requests.empty()


@requirement("webhook:private")
async def test_one_private_address_among_public_ones_is_enough_to_refuse() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        assert (host, port) == ("both.example", 80)
        return ["93.184.215.14", "::1"]

    async with sender(resolve=resolve) as found:
        outcome = await send(found, "http://both.example/", allow_private=False)

    assert outcome.error.startswith("AddressRefused")


@requirement("webhook:private")
async def test_the_address_that_was_checked_is_the_one_that_is_called() -> None:
    asked = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append((host, port))
        return ["127.0.0.1"] if len(asked) == 1 else ["192.0.2.1"]

    async with receiving() as receiver, sender(resolve=resolve) as found:
        outcome = await send(found, receiver.url(host="hooks.example"))
        got = await receiver.next()

    assert outcome.status == 204
    assert asked == [("hooks.example", receiver.port)]
    assert got.headers["host"] == f"hooks.example:{receiver.port}"


@requirement("webhook:private")
async def test_a_certificate_is_checked_against_the_name_and_not_the_address(tmp_path: Path) -> None:
    key, certificate = certificate_for("hooks.example", tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    trust = ssl.create_default_context(cafile=str(certificate))
    async with receiving(tls=tls) as receiver, sender(trust=trust) as found:
        right = await send(found, receiver.url(host="hooks.example", scheme="https"))
        wrong = await send(found, receiver.url(host="other.example", scheme="https"))

    assert right.status == 204
    assert wrong.status == 0
    assert "certificate" in wrong.error.lower()


def certificate_for(name: str, folder: Path) -> tuple[Path, Path]:
    """Write a key and a certificate that it signed itself; return their files."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject_name=subject, issuer_name=subject, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "key.pem", folder / "certificate.pem"
    files[0].write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    files[1].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return files


@requirement("webhook:retried")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("Fri, 02 Jan 2026 03:05:05 GMT", 59.1),
        ("Fri, 02 Jan 2026 03:00:00 GMT", 0.0),
        ("soon", 0.0),
        ("-5", 0.0),
        ("", 0.0),
        ("9" * 400, 86_400),
        ("Mon, 01 Jan 2024 00:00:00 +9999999999999999999", 0),
        ("Fri, 01 Jan 9999 00:00:00 GMT", 86_400),
    ],
)
def test_retry_after_is_read_in_both_of_its_forms(text: str, seconds: float) -> None:
    assert wait_of(text, NOW) == pytest.approx(seconds, abs=0.01)


@requirement("webhook:retried")
async def test_what_the_answer_says_of_when_to_come_back_is_in_the_outcome() -> None:
    async with receiving(answer(503, Retry_After="30")) as receiver, sender() as found:
        outcome = await send(found, receiver.url())

    assert (outcome.status, outcome.retry_after_s) == (503, 30.0)
    assert outcome.error == "The endpoint answered 503 (Service Unavailable)."
