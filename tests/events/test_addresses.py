"""Which addresses nothing is delivered to."""

from __future__ import annotations

from ipaddress import ip_network

import pytest

from ninefold.runtime.background.sender import refused

PRIVATE = (
    "0.0.0.0", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1", "198.18.0.1", "203.0.113.5", "224.0.0.1",
    "239.255.255.250", "240.0.0.1", "255.255.255.255", "168.63.129.16",
    "::", "::1", "fe80::1", "fe80::1%eth0", "fec0::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1",
    # IPv4 in IPv6: mapped, compatible, NAT64, 6to4, Teredo
    "::ffff:127.0.0.1", "::ffff:a9fe:a9fe", "::127.0.0.1", "::a00:1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "not an address", "", "127.1",
)  # fmt: skip

PUBLIC = (
    "1.1.1.1", "93.184.216.34", "172.32.0.1", "192.167.255.255", "2606:4700::1111", "::ffff:1.1.1.1",
    "64:ff9b::101:101", "2002:101:101::1",
)  # fmt: skip


@pytest.mark.parametrize("address", PRIVATE)
def test_what_is_not_of_the_public_internet_is_refused(address: str) -> None:
    assert refused(address, ())


@pytest.mark.parametrize("address", PUBLIC)
def test_the_public_internet_is_not(address: str) -> None:
    assert not refused(address, ())


def test_the_operator_allows_networks() -> None:
    allowed = [ip_network("10.1.0.0/16"), ip_network("fd00::/8")]
    for address in ("10.1.2.3", "::ffff:10.1.2.3", "fd00::5"):
        assert not refused(address, allowed)
    for address in ("10.2.0.1", "127.0.0.1", "fe80::1", "::ffff:127.0.0.1"):
        assert refused(address, allowed)
