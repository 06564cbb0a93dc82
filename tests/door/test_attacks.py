"""Whatever bytes come, the service sees the requests that they are, and is asked for nothing that was a body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.door.attacks import ATTACKS, LAST, Attack
from tests.door.doors import Address, Seen, answers, own, served, told

pytestmark = pytest.mark.serves


def named(attack: Attack) -> str:
    return attack.name


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Address, Seen]]:
    with served(own, tmp_path_factory.mktemp("door")) as found:
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
