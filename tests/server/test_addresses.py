from __future__ import annotations

from ipaddress import ip_network

import pytest

from ninefold.runtime.http.capacity import client_address

PROXY, CLIENT = "10.0.0.1", "203.0.113.9"


@pytest.mark.parametrize(
    ("peer", "headers", "expected"),
    [
        (PROXY, {"x-forwarded-for": CLIENT}, CLIENT),
        (PROXY, {"x-forwarded-for": f"1.2.3.4, {CLIENT}"}, CLIENT),
        (PROXY, {"x-forwarded-for": f"{CLIENT}, 10.0.0.7"}, CLIENT),
        (PROXY, {"x-forwarded-for": f"{CLIENT}:4711"}, CLIENT),
        (PROXY, {"x-forwarded-for": "[2001:db8::1]:80"}, "2001:db8::1"),
        (PROXY, {"x-forwarded-for": "2001:db8::1"}, "2001:db8::1"),
        (PROXY, {"x-forwarded-for": "10.0.0.7"}, "10.0.0.7"),
        (PROXY, {"x-forwarded-for": "nonsense"}, PROXY),
        (PROXY, {"x-forwarded-for": f"{CLIENT}, unknown"}, PROXY),
        (PROXY, {"forwarded": f"for={CLIENT};proto=https"}, CLIENT),
        (PROXY, {"forwarded": f'proto=https;For="{CLIENT}:80"'}, CLIENT),
        (PROXY, {"forwarded": 'for="[2001:db8::1]:80", for=10.0.0.9'}, "2001:db8::1"),
        (PROXY, {"forwarded": f"for=1.2.3.4, for={CLIENT}"}, CLIENT),
        (PROXY, {"forwarded": "for=_hidden"}, PROXY),
        (PROXY, {"forwarded": "for=1.2.3.4", "x-forwarded-for": "1.2.3.5"}, PROXY),
        (PROXY, {}, PROXY),
        ("::ffff:10.0.0.1", {"x-forwarded-for": CLIENT}, CLIENT),
        (CLIENT, {"x-forwarded-for": "1.2.3.4"}, CLIENT),
        (CLIENT, {"forwarded": "for=1.2.3.4"}, CLIENT),
        ("", {"x-forwarded-for": "1.2.3.4"}, ""),
    ],
)
def test_only_a_trusted_proxy_says_whose_request_it_is(peer: str, headers: dict[str, str], expected: str) -> None:
    assert client_address((ip_network("10.0.0.0/8"),))(peer, headers) == expected


def test_without_a_trusted_proxy_no_header_is_believed() -> None:
    assert client_address(())("1.2.3.4", {"x-forwarded-for": CLIENT}) == "1.2.3.4"


@pytest.mark.parametrize("hop", ["10.0.0.7", "::ffff:10.0.0.7"])
def test_a_hundred_addresses_are_looked_at(hop: str) -> None:
    find = client_address((ip_network("10.0.0.0/8"),))
    assert find(PROXY, {"x-forwarded-for": ",".join([CLIENT, *[hop] * 99])}) == CLIENT
    assert find(PROXY, {"x-forwarded-for": ",".join([CLIENT, *[hop] * 100])}) == "10.0.0.7"
    assert find(PROXY, {"forwarded": ",".join(f'for="{each}"' for each in [CLIENT, *["10.0.0.7"] * 99])}) == CLIENT
    assert find(PROXY, {"forwarded": ",".join(f"for={each}" for each in [CLIENT, *["10.0.0.7"] * 100])}) == "10.0.0.7"
