"""HOST:PORT, as it is given and as it is bound."""

from __future__ import annotations

import re

import pytest

from ninefold.cli.sockets import bound, url
from ninefold.cli.terminal import Unusable


@pytest.mark.parametrize("address", ["127.0.0.1:0", "localhost:0", "0.0.0.0:0"])
def test_port_0_is_one_that_is_free(address: str) -> None:
    with bound(address, "--listen") as listening:
        assert re.fullmatch(r"http://(\[?[\w.:]+\]?):[1-9]\d*", url(listening))


@pytest.mark.parametrize(
    "address",
    [
        "",
        "8080",
        ":8080",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:x",
        "127.0.0.1:70000",
        "::1:80",
        "a b:80",
        "http://x:80",
    ],
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(Unusable, match="is not HOST:PORT"):
        bound(address, "--listen")


def test_a_host_that_is_not_there() -> None:
    with pytest.raises(Unusable):
        bound("no-such-host.invalid:80", "--listen")
    with pytest.raises(Unusable, match="cannot be bound"):
        bound("192.0.2.1:0", "--listen")


def test_a_port_in_use() -> None:
    with bound("127.0.0.1:0", "--listen") as listening:
        port = listening.getsockname()[1]
        with pytest.raises(Unusable, match="in use") as refusal:
            bound(f"127.0.0.1:{port}", "--operator")
    assert refusal.value.help == ("--operator names another address",)
