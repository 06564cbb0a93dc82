"""Whose address a request comes from, where a trusted proxy stands before the service."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

Network: TypeAlias = IPv4Network | IPv6Network

ClientAddress: TypeAlias = Callable[[str, Mapping[str, str]], str]
"""From the peer's address and the request's headers to the client's address."""

MOST_HOPS = 100
"""Addresses that are looked at, from the right: no request goes through so many proxies."""

_FOR = re.compile(r'(?:^|[;,])[ \t]*for=(?:"([^"]*)"|([^;,"\s]*))', re.IGNORECASE)


def client_address(trusted: Sequence[Network]) -> ClientAddress:
    """Headers are believed of a trusted peer alone: X-Forwarded-For, or Forwarded (RFC 7239), read from the right
    up to the first address that is no trusted proxy's, `MOST_HOPS` at most. If both came, one of them is not the
    proxy's, and neither is believed."""
    if not trusted:
        return lambda peer, headers: peer

    def is_trusted(address: IPv4Address | IPv6Address | None) -> bool:
        return address is not None and any(address in network for network in trusted)

    def find(peer: str, headers: Mapping[str, str]) -> str:
        if not is_trusted(_address(peer)) or ("forwarded" in headers and "x-forwarded-for" in headers):
            return peer
        if "forwarded" in headers:
            hops = [quoted or plain for quoted, plain in _FOR.findall(headers["forwarded"])][-MOST_HOPS:]
        else:
            hops = headers.get("x-forwarded-for", "").rsplit(",", MOST_HOPS)[-MOST_HOPS:]
        client = peer
        for hop in reversed(hops):
            address = _address(hop.strip())
            if address is None:
                break
            client = str(address)
            if not is_trusted(address):
                break
        return client

    return find


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """An address as these headers write it: perhaps with a port, IPv6 in brackets."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
