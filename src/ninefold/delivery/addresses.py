"""Which addresses a webhook may go to.

A subscriber says where the service sends to. Without bounds that reaches what only the service's own network does:
other machines there, the host itself, the metadata of a cloud. So an address is looked at after its name was resolved,
for each connection, and refused unless it is one of the public internet, or of a network that the operator allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_NAT64 = IPv6Network("64:ff9b::/96")
"""RFC 6052 2.1: the last 32 bits are an IPv4 address."""

_COMPATIBLE = IPv6Network("::/96")
"""RFC 4291 2.5.5.1, deprecated: the same."""

_NEVER: tuple[Network, ...] = tuple(
    ip_network(text)
    for text in (
        "192.0.0.0/24",  # RFC 6890, and the metadata of Oracle's cloud; earlier Pythons take it for public
        "168.63.129.16/32",  # the host of a virtual machine in Azure: a public address that is not routed
        "64:ff9b:1::/48",  # RFC 8215: NAT64 within a network
        "2001::/23",  # RFC 2928: protocols, among them Teredo (RFC 4380), which tunnels to any IPv4 address
        "3fff::/20",  # RFC 9637: documentation
        "5f00::/16",  # RFC 9602: segments of a network
        "fec0::/10",  # RFC 3879: the private addresses of earlier IPv6
    )
)


def refused(text: str, allowed: Sequence[Network]) -> bool:
    """Whether nothing may be sent to an address. What is no address is refused."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return True
    meant = _embedded(address)
    if any(each in network for network in allowed for each in (address, meant) if each.version == network.version):
        return False
    return _is_private(meant)


def _embedded(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for (RFC 4291 2.5.5, RFC 6052, RFC 3056), else the address."""
    if isinstance(address, IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _is_private(address: Address) -> bool:
    return (
        not address.is_global
        or address.is_multicast
        or address.is_reserved
        or any(address in network for network in _NEVER if network.version == address.version)
    )
