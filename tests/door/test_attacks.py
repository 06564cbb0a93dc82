"""Whatever bytes come, the service sees the requests that they are, and is asked for nothing that was a body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.door.attacks import ATTACKS, HELLO, LAST, NOTE, TE, Attack, chunked, post, sized
from tests.door.doors import Address, Seen, answers, own, served, served_without_asgi, told

pytestmark = pytest.mark.serves


def named(attack: Attack) -> str:
    return attack.name


@pytest.fixture(scope="module", params=[served, served_without_asgi], ids=["over ASGI", "without ASGI"])
def door(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Address, Seen]]:
    with request.param(own, tmp_path_factory.mktemp("door")) as found:
        yield found


def asked(door: tuple[Address, Seen], attack: Attack, pieces: Sequence[bytes], pause: float = 0.0) -> None:
    """What comes of an attack, in pieces that end with a last request."""
    address, seen = door
    seen.taken()
    received = told(address, pieces, pause)
    statuses = tuple(status for status, _ in answers(received, methods=[attack.sent[:4].rstrip()]))
    assert statuses == attack.answers + (() if attack.ends else (200,)), received
    assert seen.taken() == attack.sees + (() if attack.ends else ("/hello",))


@pytest.mark.parametrize("attack", ATTACKS, ids=named)
def test_in_one_piece(door: tuple[Address, Seen], attack: Attack) -> None:
    asked(door, attack, [attack.sent + LAST])


@pytest.mark.parametrize("attack", [each for each in ATTACKS if len(each.sent) < 2_000], ids=named)
def test_byte_by_byte(door: tuple[Address, Seen], attack: Attack) -> None:
    asked(door, attack, [bytes((byte,)) for byte in attack.sent + LAST])


@pytest.mark.parametrize("attack", ATTACKS, ids=named)
@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(places=st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_in_any_pieces(door: tuple[Address, Seen], attack: Attack, places: list[float]) -> None:
    """The door has time to look at each piece before the next one comes."""
    whole = attack.sent + LAST
    cuts = [0, *sorted(int(place * len(whole)) for place in places), len(whole)]
    asked(door, attack, [whole[begin:end] for begin, end in pairwise(cuts)], pause=0.003)


def test_what_has_come_whole_is_asked_without_asgi(tmp_path: Path) -> None:
    many = post(sized(NOTE), body=NOTE) * 40
    with served_without_asgi(own, tmp_path) as (address, seen):
        found = answers(told(address, [many + HELLO + post(TE, body=chunked(NOTE)) + LAST]))
        assert [status for status, _ in found] == [201] * 40 + [200, 201, 200]
        assert (seen.direct, len(seen.taken())) == (42, 43)
