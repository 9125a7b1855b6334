import ipaddress

import pytest
from starlette.datastructures import Headers

from satchel.gateway.http.callers import client_address

PROXIES = [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("2001:db8:ffff::/48")]


def seen(peer: str | None, *forwarded: str) -> str:
    headers = Headers(raw=[(b"x-forwarded-for", one.encode()) for one in forwarded])
    return client_address({"client": (peer, 50000) if peer else None}, headers, PROXIES)


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        ("192.0.2.1", (), "192.0.2.1"),
        ("192.0.2.1", ("198.51.100.9",), "192.0.2.1"),
        ("10.1.2.3", (), "10.1.2.3"),
        ("10.1.2.3", ("198.51.100.9",), "198.51.100.9"),
        ("10.1.2.3", ("203.0.113.5, 198.51.100.9, 10.9.9.9",), "198.51.100.9"),
        ("10.1.2.3", ("203.0.113.5", "198.51.100.9"), "198.51.100.9"),
        ("10.1.2.3", ("203.0.113.5, unknown",), "10.1.2.3"),
        ("2001:db8:ffff::1", ("[2001:db8:1:2:3:4:5:6]",), "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", (), "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.1", (), "192.0.2.1"),
        (None, ("198.51.100.9",), ""),
    ],
)
def test_an_address_is_the_clients_without_port_and_what_a_client_writes_is_not_believed(
    peer: str | None, forwarded: tuple[str, ...], expected: str
) -> None:
    assert seen(peer, *forwarded) == expected
