"""Behind a reverse proxy: whatever comes to it, the service sees the requests that it sends, and others get their own
answers over the connections that they share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from uuid import uuid4

import httpx
import pytest
from tests.door.attacks import ATTACKS, LAST, SMUGGLED, Attack, post, sized
from tests.door.doors import Address, Seen, answers, own, served, told
from tests.door.fronts import FRONTS, Front, Tap, before, tapped
from tests.waiting import until

pytestmark = pytest.mark.serves


@pytest.fixture(scope="module", params=FRONTS, ids=lambda front: front.name)
def front(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Address, Seen, Tap]]:
    found: Front = request.param
    if found.program is None:
        assert found.name != "caddy", "it comes with the test extra"
        pytest.skip(f"{found.name} is not on the PATH")
    directory = tmp_path_factory.mktemp(found.name)
    with served(own, directory) as (service, seen), tapped(service) as tap, before(found, tap.address, directory) as it:
        yield it, seen, tap


def victim(http: httpx.Client) -> None:
    """Somebody else, who wants nothing but an answer to what they have asked."""
    text = uuid4().hex
    answer = http.post("/notes", json={"text": text})
    assert (answer.status_code, answer.json()) == (201, {"text": text})


@pytest.mark.parametrize("whole", [True, False], ids=["at once", "the body behind"])
def test_what_a_front_sends_is_what_is_seen(front: tuple[Address, Seen, Tap], whole: bool) -> None:
    address, seen, tap = front
    seen.taken()
    seen.refusals = 0
    already = Counter(tap.requests())
    found: list[str] = []
    for attack in ATTACKS:
        with httpx.Client(base_url=f"http://{address[0]}:{address[1]}", timeout=60) as http:
            victim(http)
            told(address, [attack.sent + LAST] if whole else _head_and_body(attack), pause=0.01, patience=0.3)
            victim(http)
        found += seen.taken()

    def all_sent() -> Counter[str] | None:
        """What was sent, once as much has been seen: some is on its way yet."""
        found.extend(seen.taken())
        sent = Counter(tap.requests()) - already
        return sent if sum(sent.values()) == len(found) + seen.refusals else None

    sent = until(all_sent)
    # HAProxy reads what comes behind a CONNECT as a request of its own (RFC 9110, 9.3.6), and sends it as one.
    assert not Counter(found) - sent
    assert found.count("/private") >= 3 and found.count("/hello") >= 100, "the attacks have come as far as the service"


def _head_and_body(attack: Attack) -> list[bytes]:
    head, _, body = attack.sent.partition(b"\r\n\r\n")
    return [head + b"\r\n\r\n", body, LAST]


def test_an_upgrade_is_answered_like_any_request(front: tuple[Address, Seen, Tap]) -> None:
    """The way in which it was found: the body comes behind its head, and looks like a request."""
    address, seen, _ = front
    seen.taken()
    fields = (b"Connection: Upgrade", b"Upgrade: foo")
    for path, status in ((b"/private", 401), (b"/notes", 400)):
        request = post(*fields, sized(SMUGGLED), path=path)
        received = told(address, [request, SMUGGLED, LAST], pause=0.1, patience=2)
        assert answers(received)[0][0] == status
        assert "/smuggled" not in seen.taken()
