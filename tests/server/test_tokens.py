"""Tokens that somebody else signs: a real service, a real identity provider, real sockets between them."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc.jwk import OctKey, RSAKey
from tests.contracts import plan_of
from tests.server.conftest import Running, recorded, running
from tests.server.identity import WELL_KNOWN, Answer, Provider, ec, okp, part, providing, rsa, signed
from tests.waiting import until

from ninefold.plan.service import ServicePlan
from ninefold.runtime.sources import Sources

pytestmark = pytest.mark.serves

ORDERS = Path(__file__).parents[2] / "examples" / "orders.md"


TIMES = 3
"""What is asked again and again is answered without the steps (`ninefold.runtime.request.likewise`)."""

INVALID = 'Bearer error="invalid_token"'
"""The challenge to a token that is not good (RFC 6750 3.1)."""


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@dataclass
class Time:
    """The clock goes as it does, and faster when it is told to. How long ago something was (what is kept, and what is
    not asked again so soon) it counts by what it is told alone, however long a test takes."""

    ahead: timedelta = field(default_factory=timedelta)
    begun: int = field(default_factory=time.monotonic_ns)

    def pass_by(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)

    def sources(self) -> Sources:
        return Sources(
            clock=lambda: datetime.now(UTC) + self.ahead,
            elapsed=lambda: self.begun + int(self.ahead.total_seconds() * 1e9),
        )


@cache
def orders() -> ServicePlan:
    return compiled(ORDERS.read_bytes())


def compiled(document: bytes) -> ServicePlan:
    return plan_of(document)


@dataclass
class Shop:
    """The orders service, and who signs the tokens of its staff."""

    provider: Provider
    service: Running
    time: Time

    @property
    def http(self) -> httpx.Client:
        return self.service.http

    def status(self, token: str) -> int:
        """What a staff member with this token gets for the list of orders."""
        found = [self.http.get("/orders", headers=bearer(token)) for _ in range(TIMES)]
        assert all(each.status_code != 401 or each.headers["www-authenticate"] == INVALID for each in found)
        [status] = {each.status_code for each in found}
        return status

    def customer(self) -> dict[str, str]:
        made = self.http.post("/customers", json={"email": f"{time.monotonic_ns()}@example.com", "name": "Kim"})
        return bearer(made.json()["api_key"])

    def placed(self, customer: dict[str, str]) -> str:
        lines = [{"sku": "ABC-1", "quantity": 2, "unit_price": 50}]
        made = self.http.post("/orders", json={"lines": lines}, headers=customer).json()
        assert self.http.post(f"/orders/{made['id']}/place", headers=customer).status_code == 200
        return str(made["id"])


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with ExitStack() as stack:
        yield opened(stack, tmp_path)


def opened(stack: ExitStack, folder: Path, plan: ServicePlan | None = None, **given: object) -> Shop:
    provider, moment = stack.enter_context(providing()), Time()
    operator = given or {"staff_issuer": provider.url}
    service = stack.enter_context(running(plan or orders(), folder / "a.db", moment.sources(), operator))
    return Shop(provider, service, moment)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """One for requests that leave nothing behind."""
    with ExitStack() as stack:
        yield opened(stack, tmp_path_factory.mktemp("shared"))


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with ExitStack() as stack:
        yield opened(stack, tmp_path_factory.mktemp("lasting"))


@pytest.fixture
def later(lasting: Shop) -> Shop:
    """One that runs for long: nothing that it fetched before may be kept any more."""
    lasting.time.pass_by(100_000)
    lasting.provider.asked.clear()
    lasting.provider.instead.clear()
    lasting.provider.configured.clear()
    return lasting


# ── Who may ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_what_each_role_may_do(shop: Shop) -> None:
    kim, lee = shop.customer(), shop.customer()
    order = shop.placed(kim)
    nobody, billing, warehouse = (bearer(shop.provider.token(role=role)) for role in (None, "billing", "warehouse"))
    assert shop.http.post(f"/orders/{order}/pay").status_code == 401
    for who in (kim, nobody, warehouse):
        refused = shop.http.post(f"/orders/{order}/pay", headers=who)
        assert (refused.status_code, refused.json()["title"]) == (403, "This is not yours to do")
    assert shop.http.post(f"/orders/{order}/pay", headers=billing).json()["status"] == "paid"
    assert shop.http.post(f"/orders/{order}/ship", headers=billing).status_code == 403
    assert shop.http.post(f"/orders/{order}/ship", headers=warehouse).json()["status"] == "shipped"
    # Every row is the staff's to see, and of the customers each their own.
    assert [len(shop.http.get("/orders", headers=who).json()["data"]) for who in (nobody, kim, lee)] == [1, 1, 0]
    assert shop.http.get(f"/orders/{order}", headers=nobody).status_code == 200
    assert shop.http.get(f"/orders/{order}", headers=lee).status_code == 404
    # Creating is for customers alone.
    assert shop.http.post("/orders", json={"lines": []}, headers=billing).status_code == 403


def test_the_log_tells_callers_apart_and_names_none(shop: Shop) -> None:
    token = shop.provider.token(sub="grace@example.com")
    for each in (token, shop.provider.token(sub="grace@example.com", role="x"), shop.provider.token(sub="ada")):
        assert shop.status(each) == 200
    first, second, third = _callers(shop, 3)
    assert first == second != third
    assert first is not None and len(first) == 32 and "grace" not in str(shop.service.records)
    assert {record.scheme for record in shop.service.records} == {"staff"}


def test_a_token_that_names_nobody_is_its_bearer_alone(shop: Shop) -> None:
    first, second = shop.provider.token(sub=None), shop.provider.token(sub=None, jti="2")
    assert [shop.status(each) for each in (first, first, second)] == [200, 200, 200]
    one, again, two = _callers(shop, 3)
    assert one == again != two


def _callers(shop: Shop, asked: int) -> list[str | None]:
    """Who the log says asked for the status, each time."""
    callers = [record.caller for record in recorded(shop.service.records, asked * TIMES)]
    found = [set(callers[at : at + TIMES]) for at in range(0, len(callers), TIMES)]
    return [caller for (caller,) in found]


@pytest.mark.parametrize("role", [["billing"], {"billing": True}, 1, True, "", "billing\u0000", 2**70])
def test_a_claim_of_another_kind_is_not_the_role(shared: Shop, role: object) -> None:
    token = shared.provider.token(role=role)
    assert shared.status(token) == 200
    assert shared.http.post("/orders/x/pay", headers=bearer(token)).status_code in (403, 404)
    path = "/orders/00000000-0000-4000-8000-000000000000/pay"
    assert shared.http.post(path, headers=bearer(token)).status_code == 403


# ── What is no good token ─────────────────────────────────────────────────────────────────────────────────────

NOW = int(time.time())
"""When this was imported, which may be hours ago."""
FAR = NOW + 10_000_000_000


def changed(**claims: Any) -> Callable[[Provider], str]:
    return lambda provider: provider.token(**claims)


def headed(**header: Any) -> Callable[[Provider], str]:
    """A token that is good but for its header."""

    def make(provider: Provider) -> str:
        said = {name: value for name, value in {"alg": "RS256", "kid": "one", **header}.items() if value is not None}
        return signed(said, provider.claims(), provider.keys["one"])

    return make


def parts(*values: object) -> str:
    return ".".join(part(json.dumps(value).encode()) for value in values)


def unsigned(provider: Provider) -> str:
    return parts({"alg": "none", "kid": "one"}, provider.claims()) + "."


def by_the_public_key(provider: Provider) -> str:
    """HMAC with what everybody knows as its secret (RFC 8725 2.1)."""
    public = provider.keys["one"]
    assert isinstance(public, RSAKey)
    begun = parts({"alg": "HS256", "kid": "one"}, provider.claims())
    return f"{begun}.{part(hmac.digest(public.as_pem(private=False), begun.encode(), 'sha256'))}"


def by_a_key_of_its_own(provider: Provider) -> str:
    key = rsa("one")
    header = {"alg": "RS256", "kid": "one", "jwk": key.as_dict(private=False), "jku": provider.url + "/other"}
    return signed(header, provider.claims(), key)


def cut(provider: Provider) -> str:
    return provider.token()[:-8]


def exchanged(provider: Provider) -> str:
    """The claims of one token under the signature of another."""
    head, _, signature = provider.token().split(".")
    return f"{head}.{provider.token(role='billing').split('.')[1]}.{signature}"


def deep(provider: Provider) -> str:
    return signed({"alg": "RS256", "kid": "one"}, b"[" * 9_000 + b"]" * 9_000, provider.keys["one"])


def written(**times: str) -> Callable[[Provider], str]:
    """A token with claims that Python would write in another way."""

    def token(provider: Provider) -> str:
        claims = json.dumps(provider.claims(**dict.fromkeys(times, "WRITTEN")))
        for each in times.values():
            claims = claims.replace('"WRITTEN"', each, 1)
        return signed({"alg": "RS256", "kid": "one"}, claims.encode(), provider.keys["one"])

    return token


BAD: dict[str, Callable[[Provider], str]] = {
    "another audience": changed(aud="shipping"),
    "no audience": changed(aud=None),
    "a longer audience": changed(aud="orders-of-others"),
    "other audiences": changed(aud=["shipping", "billing"]),
    "another issuer": changed(iss="https://id.example"),
    "an issuer with a slash": lambda provider: provider.token(iss=provider.url + "/"),
    "no issuer": changed(iss=None),
    "expired": changed(exp=NOW - 3_600),
    "no end": changed(exp=None),
    "an end that is no time": changed(exp="tomorrow"),
    "an end that is true": changed(exp=True),
    "an end beyond all numbers": changed(exp=10**400),
    "an end beyond all doubles": written(exp="1e400"),
    "a beginning before all doubles": written(nbf="-1e400"),
    "not yet valid": changed(nbf=NOW + 30 * 86_400),
    "a beginning that is no time": changed(nbf="now"),
    "made in the future": changed(iat=NOW + 30 * 86_400),
    "a subject that is no text": changed(sub=7),
    "alg none": unsigned,
    "HMAC with the public key": by_the_public_key,
    "a key that it brings itself": by_a_key_of_its_own,
    "an extension to be understood": headed(crit=["exp"], exp=1),
    "cut off": cut,
    "claims exchanged": exchanged,
    "too deep": deep,
    "claims that are no object": lambda provider: signed({"alg": "RS256", "kid": "one"}, b"[]", provider.keys["one"]),
    "three words": lambda provider: "a.b.c",
    "not ASCII": lambda provider: "é.é.é",
    "five parts": lambda provider: provider.token() + ".a.b",
    "too long": lambda provider: provider.token(padding="x" * 40_000),
    "a key of the service": lambda provider: "not-a-key",
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_good_token_is_unauthenticated(shared: Shop, name: str) -> None:
    token = BAD[name](shared.provider)
    headers = {b"Authorization": f"Bearer {token}".encode("latin-1")}
    for path in ("/orders", "/orders/00000000-0000-4000-8000-000000000000"):
        refused = shared.http.get(path, headers=headers)
        assert refused.status_code == 401, name
        assert refused.json()["title"] == "Who are you?"


def test_clocks_may_differ_by_a_minute(shared: Shop) -> None:
    def answered(**ahead: int) -> int:
        """To a token whose times are so many seconds from the moment in which it is made."""
        now = int(time.time())
        claims: dict[str, Any] = {claim: now + seconds for claim, seconds in ahead.items()}
        return shared.status(shared.provider.token(**claims))

    assert [answered(exp=-50, iat=-99), answered(nbf=50, iat=50)] == [200, 200]
    assert [answered(exp=-61), answered(nbf=70), answered(iat=70)] == [401, 401, 401]


def test_an_audience_among_others_and_headers_that_nobody_knows(shared: Shop) -> None:
    assert shared.status(shared.provider.token(aud=["shipping", "orders"])) == 200
    assert shared.status(headed(typ="at+jwt", x5t="abc", odd="x" * 600)(shared.provider)) == 200


def test_a_stream_ends_with_the_key_of_its_token(shop: Shop) -> None:
    """Keys are asked for again when they are old; while their issuer cannot be asked, a stream waits."""
    token = shop.provider.token(exp=int(time.time()) + 86_400)
    customer = shop.customer()
    with shop.http.stream("GET", "/events", headers=bearer(token)) as response:
        assert response.status_code == 200
        lines = (line for line in response.iter_lines() if line.startswith("event:"))
        shop.placed(customer)
        first = next(lines)
        listed = shop.provider.answer("/keys")
        shop.provider.instead["/keys"] = Answer(b"", 500)
        shop.time.pass_by(3_601)
        shop.placed(customer)
        until(lambda: shop.provider.asked.count("/keys") >= 2)
        shop.provider.instead["/keys"] = listed
        shop.time.pass_by(3)
        assert any(line == first for line in lines)  # the first order was cancelled meanwhile, which is told as well
        del shop.provider.instead["/keys"]
        shop.provider.keys["two"] = ec("two")
        del shop.provider.keys["one"]
        shop.time.pass_by(3_601)
        shop.placed(customer)
        assert list(lines) == []
    assert shop.status(token) == 401


def test_a_stream_ends_with_its_token(shop: Shop) -> None:
    token = shop.provider.token(exp=int(time.time()) + 300)
    with shop.http.stream("GET", "/events", headers=bearer(token)) as response:
        assert response.status_code == 200
        lines = response.iter_lines()
        assert next(lines) == ":"
        shop.time.pass_by(400)
        assert list(lines) == []


# ── Keys ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_fetched_before_a_token_needs_it_and_then_once(shop: Shop) -> None:
    assert shop.http.get("/orders").status_code == 401
    for make in BAD.values():
        if make not in (BAD["cut off"], BAD["claims exchanged"], BAD["a key that it brings itself"]):
            headers = {b"Authorization": f"Bearer {make(shop.provider)}".encode("latin-1")}
            assert shop.http.get("/orders", headers=headers).status_code == 401
    assert shop.provider.asked == []
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(shop.status, [shop.provider.token()] * 24)) == {200}
    assert shop.provider.asked == [WELL_KNOWN, "/keys"]


def test_keys_are_exchanged(shop: Shop) -> None:
    old = shop.provider.token()
    assert shop.status(old) == 200
    shop.provider.keys["two"] = ec("two")
    new = [shop.provider.token("two", "ES256")] * 8
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(shop.status, new)) == {200}
    assert shop.provider.asked == [WELL_KNOWN, "/keys", "/keys"]
    # Anybody can make up the name of a key: that is asked about now and then, and known keys stay good.
    strange = shop.provider.keys["one"]
    made_up = [signed({"alg": "RS256", "kid": f"k{n}"}, shop.provider.claims(), strange) for n in range(5)]
    assert [shop.status(each) for each in made_up] == [401] * 5
    assert shop.provider.asked.count("/keys") == 2
    shop.time.pass_by(11)
    shop.provider.keys["three"] = okp("three")
    assert shop.status(shop.provider.token("three", "EdDSA")) == 200
    # A key that is withdrawn is good for as long as the keys may be kept, and no longer.
    withdrawn = shop.provider.token(exp=int(time.time()) + 86_400)
    del shop.provider.keys["one"]
    assert shop.status(withdrawn) == 200
    shop.time.pass_by(3_601)
    assert shop.status(withdrawn) == 401


def test_how_long_keys_are_kept_is_the_issuers_to_say(shop: Shop) -> None:
    body = shop.provider.answer("/keys").body
    shop.provider.instead["/keys"] = Answer(body, headers={"cache-control": "public, max-age=300"})
    shop.provider.asked.clear()
    token = shop.provider.token(exp=int(time.time()) + 86_400)
    for seconds, times in ((0, 1), (299, 1), (2, 2)):
        shop.time.pass_by(seconds)
        assert shop.status(token) == 200
        assert shop.provider.asked.count("/keys") == times


def test_algorithms_are_those_that_the_issuer_publishes(shop: Shop) -> None:
    assert shop.status(shop.provider.token(algorithm="PS256")) == 200
    shop.provider.configured["id_token_signing_alg_values_supported"] = ["RS256", "none", "HS256", 7]
    shop.time.pass_by(3_601)
    later = int(time.time()) + 9_999
    assert shop.status(shop.provider.token(algorithm="PS256", exp=later)) == 401
    assert shop.status(shop.provider.token(exp=later)) == 200


def test_which_of_several_keys_has_to_be_said(shop: Shop) -> None:
    provider = shop.provider
    nameless = signed({"alg": "RS256"}, provider.claims(), provider.keys["one"])
    assert shop.status(nameless) == 200
    provider.keys["two"] = rsa("two")
    shop.time.pass_by(3_601)
    nameless = signed({"alg": "RS256"}, provider.claims(exp=int(time.time()) + 9_999), provider.keys["one"])
    assert shop.status(nameless) == 401
    assert shop.status(provider.token(exp=int(time.time()) + 9_999)) == 200


@pytest.mark.parametrize(
    "key",
    [
        {"kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "one"},
        {"kty": "RSA", "n": "!", "e": 3, "kid": "one"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "one"},
        {"kty": "what", "kid": "one"},
        {"kid": "one"},
        "key",
        7,
    ],
)
def test_a_key_that_is_none_is_passed_over(later: Shop, key: object) -> None:
    shop = later
    listed = json.loads(shop.provider.answer("/keys").body)["keys"]
    shop.provider.instead["/keys"] = Answer(json.dumps({"keys": [key, *listed]}).encode())
    assert shop.status(shop.provider.token(exp=FAR)) == 200


def test_a_key_that_is_meant_for_something_else_is_not_taken(shop: Shop) -> None:
    [key] = json.loads(shop.provider.answer("/keys").body)["keys"]
    for other in ({"use": "enc"}, {"key_ops": ["encrypt"]}, {"alg": "RS512"}):
        shop.provider.instead["/keys"] = Answer(json.dumps({"keys": [{**key, **other}]}).encode())
        shop.time.pass_by(3_601)
        assert shop.status(shop.provider.token(exp=int(time.time()) + 86_400)) == 401


# ── Issuers that do not answer as they should ─────────────────────────────────────────────────────────────────


def unavailable(shop: Shop, token: str) -> httpx.Response:
    response = shop.http.get("/orders", headers=bearer(token))
    assert (response.status_code, response.json()["title"]) == (503, "Try again shortly")
    assert response.headers["retry-after"] == "1"
    return response


FALSE_ANSWERS: dict[str, Answer] = {
    "no such document": Answer(b"", 404),
    "a failure": Answer(b"{}", 500),
    "not JSON": Answer(b"<html>"),
    "a list": Answer(b"[]"),
    "too long": Answer(b'{"issuer": "' + b"x" * 300_000 + b'"}'),
    "too deep": Answer(b"[" * 100_000),
    "another issuer": Answer(b'{"issuer": "https://id.example", "jwks_uri": "https://id.example/keys"}'),
    "elsewhere": Answer(b"", 302, {"location": "/else"}),
    "compressed": Answer(b"\x1f\x8b", headers={"content-encoding": "gzip"}),
}


@pytest.mark.parametrize("name", FALSE_ANSWERS)
@pytest.mark.parametrize("path", [WELL_KNOWN, "/keys"])
def test_an_issuer_that_answers_something_else_is_unavailable(later: Shop, path: str, name: str) -> None:
    shop = later
    kim, token = shop.customer(), shop.provider.token(exp=FAR)
    shop.provider.instead["/else"] = shop.provider.answer(path)
    shop.provider.asked.clear()
    shop.provider.instead[path] = FALSE_ANSWERS[name]
    unavailable(shop, token)
    unavailable(shop, token)
    assert shop.provider.asked.count(path) == 1 and "/else" not in shop.provider.asked
    # Whoever does not need it goes on, and what is no token at all is still told so.
    assert shop.http.get("/orders", headers=kim).status_code == 200
    assert shop.status("not-a-key") == shop.status(shop.provider.token(aud="shipping", exp=FAR)) == 401
    del shop.provider.instead[path]
    shop.time.pass_by(3)
    assert shop.status(token) == 200


@pytest.mark.parametrize("keys", [None, 7, "keys", "file:///etc/passwd", "http://id.example/keys", "https://a@b/k"])
def test_an_issuer_whose_keys_are_nowhere_is_unavailable(later: Shop, keys: object) -> None:
    later.provider.configured["jwks_uri"] = keys
    unavailable(later, later.provider.token(exp=FAR))


def test_an_issuer_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with ExitStack() as stack:
        shop = opened(stack, tmp_path, staff_issuer="http://127.0.0.1:9")
        unavailable(shop, shop.provider.token(iss="http://127.0.0.1:9"))


def test_an_issuer_that_goes_away_is_unavailable_for_keys_that_are_not_known(shop: Shop) -> None:
    assert shop.status(shop.provider.token()) == 200
    shop.provider.instead["/keys"] = Answer(b"", 500)
    shop.provider.keys["two"] = ec("two")
    new = shop.provider.token("two", "ES256")
    unavailable(shop, new)
    assert shop.status(shop.provider.token()) == 200
    shop.time.pass_by(3)
    unavailable(shop, new)
    del shop.provider.instead["/keys"]
    shop.time.pass_by(3)
    assert shop.status(new) == 200


@pytest.mark.slow
def test_an_issuer_that_is_slow_holds_up_nobody_else(shop: Shop) -> None:
    kim = shop.customer()
    shop.provider.instead[WELL_KNOWN] = Answer(b"{}", seconds=20)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(unavailable, shop, shop.provider.token()) for _ in range(3)]
        assert shop.http.get("/orders", headers=kim).status_code == 200
        assert not any(each.done() for each in waiting)
        for each in waiting:
            each.result()
    assert shop.provider.asked == [WELL_KNOWN]


# ── Other ways to state a scheme ──────────────────────────────────────────────────────────────────────────────

STATED = b"""  staff: {type: http, scheme: bearer, issuer: operator.issuer, keys: operator.keys, audience: orders,
          algorithms: [ES256, HS256], caller: {role: claims.role}}
"""


def stated() -> ServicePlan:
    document = ORDERS.read_bytes()
    [line] = [line for line in document.splitlines(keepends=True) if line.startswith(b"  staff: {type:")]
    return compiled(document.replace(line, STATED))


def test_keys_that_are_stated_as_text(tmp_path: Path) -> None:
    key, secret = ec("one"), OctKey.generate_key(256, {"kid": "two"})
    keys = json.dumps({"keys": [key.as_dict(private=False), secret.as_dict()]})
    with ExitStack() as stack:
        shop = opened(stack, tmp_path, stated(), issuer="our own", keys=keys)
        claims = shop.provider.claims(iss="our own")
        assert shop.status(signed({"alg": "ES256", "kid": "one"}, claims, key)) == 200
        assert shop.status(signed({"alg": "HS256", "kid": "two"}, claims, secret)) == 200
        assert shop.status(signed({"alg": "RS256", "kid": "one"}, claims, shop.provider.keys["one"])) == 401
        assert shop.status(signed({"alg": "ES256", "kid": "one"}, shop.provider.claims(), key)) == 401
        assert shop.provider.asked == []


def test_keys_that_are_stated_by_their_address(tmp_path: Path) -> None:
    with ExitStack() as stack:
        provider = stack.enter_context(providing())
        provider.keys["two"] = ec("two")
        shop = opened(stack, tmp_path, stated(), issuer="our own", keys=provider.url + "/keys")
        claims = provider.claims(iss="our own")
        assert shop.status(signed({"alg": "ES256", "kid": "two"}, claims, provider.keys["two"])) == 200
        assert shop.status(signed({"alg": "RS256", "kid": "one"}, claims, provider.keys["one"])) == 401
        assert provider.asked == ["/keys"]


def test_the_address_of_the_configuration_is_as_good_as_the_issuer(tmp_path: Path) -> None:
    with ExitStack() as stack:
        provider = stack.enter_context(providing())
        shop = opened(stack, tmp_path, staff_issuer=provider.url + WELL_KNOWN)
        assert shop.status(provider.token()) == 200
        # Nobody can tell from it whether the issuer's name ends in a slash; the configuration says that it does not.
        assert shop.status(provider.token(iss=provider.url + "/")) == 401


def test_without_an_issuer_the_other_scheme_goes_on(tmp_path: Path) -> None:
    with ExitStack() as stack:
        provider, moment = stack.enter_context(providing()), Time()
        service = stack.enter_context(running(orders(), tmp_path / "a.db", moment.sources()))
        shop = Shop(provider, service, moment)
        kim = shop.customer()
        assert shop.http.get("/orders", headers=kim).status_code == 200
        assert shop.status(provider.token()) == 401
        assert shop.http.post(f"/orders/{shop.placed(kim)}/pay", headers=kim).status_code == 501
