"""Which URLs may be called for somebody else."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satchel.runtime.addresses import UnusableUrl, is_local_name, is_public, literal, resolve, target_of

PRIVATE = (
    "127.0.0.1", "127.1", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "2130706433", "017700000001",
    "127.0.0.1.", "10.0.0.1", "172.16.0.1", "192.168.1.1", "0xc0a80101", "100.64.0.1", "100.100.100.200",
    "169.254.169.254", "0xa9fea9fe", "2852039166", "168.63.129.16", "0.0.0.0", "0", "255.255.255.255",  # noqa: S104  # to be refused
    "224.0.0.1", "240.0.0.1", "192.0.0.192", "198.18.0.1", "203.0.113.1", "::", "::1", "0:0:0:0:0:0:0:1",
    "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a9fe:a9fe", "::127.0.0.1", "64:ff9b::7f00:1",
    "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:4136:e378:8000:63bf:80ff:fffe", "fe80::1", "fe80::1%eth0",
    "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "100::1", "64:ff9b:1::1", "5f00::1",
    "3fff::1", "4000::1", "192.88.99.1",
)  # fmt: skip
PUBLIC = (
    "93.184.215.14", "8.8.8.8", "0x08080808", "134744072", "2606:4700:4700::1111", "::ffff:8.8.8.8",
    "64:ff9b::808:808", "2002:808:808::1",
)  # fmt: skip


@pytest.mark.parametrize("text", PRIVATE)
def test_an_address_that_is_not_public_is_known_in_every_form(text: str) -> None:
    address = literal(text)

    assert address is not None
    assert not is_public(address)


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_is_known_in_every_form(text: str) -> None:
    address = literal(text)

    assert address is not None
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_is_as_public_as_the_one_that_it_carries(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    carriers = [f"::ffff:{address}", f"64:ff9b::{number >> 16:x}:{number & 0xFFFF:x}"]

    assert [is_public(ipaddress.ip_address(text)) for text in carriers] == [is_public(address)] * 2


@given(st.ip_addresses(v=4, network="10.0.0.0/8"), st.sampled_from(["{:d}", "{:#x}", "0{:o}"]))
def test_a_private_address_written_as_one_number_is_private(
    address: ipaddress.IPv4Address, form: str
) -> None:
    assert literal(form.format(int(address))) == address


@pytest.mark.parametrize("name", ["localhost", "LOCALHOST.", "a.localhost", "db.internal", "nas.local"])
def test_a_name_that_means_this_network_is_known(name: str) -> None:
    assert is_local_name(name)
    assert literal(name) is None


@pytest.mark.parametrize(
    ("url", "limit"),
    [
        ("ftp://a.example/", "of http or https"),
        ("file:///etc/passwd", "of http or https"),
        ("//a.example/", "of http or https"),
        ("http://", "one with a host"),
        ("http:///path", "one with a host"),
        ("http://a%2eexample/", "one with a host"),
        ("http://a.example:99999/", "a URL"),
        ("http://[::1/", "a URL"),
        ("http://user:word@a.example/", "without user name and password"),
        ("http://a.example\\@127.0.0.1/", "without user name and password"),
        ("http://a.example/#b", "without a fragment"),
        ("http://127\u30020.0.1/", "of printable ASCII characters"),
        ("http://a.example/\r\nHost: b", "of printable ASCII characters"),
        (" http://a.example/", "of printable ASCII characters"),
    ],
)
def test_a_url_that_is_not_called_says_what_it_must_be(url: str, limit: str) -> None:
    with pytest.raises(UnusableUrl) as refused:
        target_of(url)

    assert refused.value.limit == limit
    assert refused.value.remedy


def test_a_url_is_taken_apart() -> None:
    target = target_of("HTTPS://Hooks.Example:8443/a/b?c=d")

    assert (target.scheme, target.host, target.port, target.path) == (
        "https",
        "hooks.example",
        8443,
        "/a/b?c=d",
    )
    assert target_of("http://[2606:4700::1111]").host == "2606:4700::1111"


async def test_a_name_that_is_not_known_has_no_addresses() -> None:
    assert await resolve("name.invalid", 80) == []
    assert await resolve("a" * 64 + ".example", 80) == []
    assert "127.0.0.1" in await resolve("127.0.0.1", 80)
