"""Tokens of an identity provider that others wrote: `oidc-provider-mock`, an OpenID provider on Authlib, a program of
its own here. What comes of forged and misshapen tokens is in `test_tokens.py`; here a genuine one is got as clients get
it, by the authorization code flow (OpenID Connect Core 1.0, section 3.1), and then misused."""

from __future__ import annotations

import hmac
import json
import subprocess
import sys
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey
from tests.ports import free_port
from tests.server.conftest import Running, running
from tests.server.identity import part
from tests.server.test_tokens import TIMES, Time, bearer, orders
from tests.waiting import begun

from ninefold.runtime.request.issuers import KEPT_SECONDS

pytestmark = [pytest.mark.serves, pytest.mark.slow]

GRACE = {"sub": "grace", "role": "billing"}
LASTS = 20_000
"""Seconds that a token is good."""
BACK = "https://app.example/back"


@dataclass
class Issuer:
    """The provider at work."""

    url: str
    process: subprocess.Popen[bytes]

    def token(self, subject: str = "grace", audience: str = "orders") -> str:
        """An ID token, as a client of that name gets it for a user."""
        with httpx.Client() as browser:
            found = browser.get(self.url + "/.well-known/openid-configuration").json()
            asked = {"response_type": "code", "client_id": audience, "redirect_uri": BACK, "scope": "openid"}
            sent = browser.post(found["authorization_endpoint"], params=asked, data={"sub": subject})
            [code] = parse_qs(urlsplit(sent.headers["location"]).query)["code"]
            body = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK}
            answer = browser.post(found["token_endpoint"], data=body, auth=(audience, "secret"))
            return str(answer.json()["id_token"])

    def key(self) -> RSAKey:
        [key] = httpx.get(self.url + "/jwks").json()["keys"]
        return RSAKey.import_key(key)


@contextmanager
def issuing(port: int, claims: Mapping[str, object]) -> Iterator[Issuer]:
    arguments = ["--port", str(port), "--host", "localhost", "--token-max-age", str(LASTS)]
    arguments += ["--user-claims", json.dumps(claims)]
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            begun(process, "localhost", port)
            yield Issuer(f"http://localhost:{port}", process)
        finally:
            process.kill()


@dataclass
class Desk:
    issuer: Issuer
    service: Running
    time: Time

    def status(self, token: str) -> int:
        [found] = {self.service.http.get("/orders", headers=bearer(token)).status_code for _ in range(TIMES)}
        return found


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ExitStack() as stack:
        issuer = stack.enter_context(issuing(free_port(), GRACE))
        moment = Time()
        operator = {"staff_issuer": issuer.url}
        service = stack.enter_context(running(orders(), tmp_path / "a.db", moment.sources(), operator))
        yield Desk(issuer, service, moment)


def test_a_genuine_token_is_taken_and_a_misused_one_is_not(desk: Desk) -> None:
    token = desk.issuer.token()
    assert desk.status(token) == 200
    assert desk.service.http.post("/orders/x/pay", headers=bearer(token)).status_code == 404, "the role is billing's"
    assert desk.service.http.post("/orders/x/ship", headers=bearer(token)).status_code == 403

    head, claims, signature = token.split(".")
    said = json.loads(urlsafe_b64decode(claims + "=="))
    as_root = part(json.dumps({**said, "sub": "root"}).encode())
    key = desk.issuer.key()
    shared = f"{part(json.dumps({'alg': 'HS256', 'typ': 'JWT'}).encode())}.{claims}"
    confused = part(hmac.digest(key.as_pem(private=False), shared.encode(), "sha256"))
    misused = {
        "no signature": f"{part(json.dumps({'alg': 'none'}).encode())}.{claims}.",
        "the public key as a shared secret": f"{shared}.{confused}",
        "other claims": f"{head}.{as_root}.{signature}",
        "another signature": f"{head}.{claims}.{signature[:-6]}AAAAAA",
        "another audience": desk.issuer.token(audience="somebody-else"),
    }
    for words, each in misused.items():
        assert desk.status(each) == 401, words
    desk.time.pass_by(LASTS + 61)
    assert desk.status(token) == 401, "expired"


def test_the_issuer_exchanges_its_keys(desk: Desk) -> None:
    """This provider gives its keys no names, so that a new one is asked for only when the old ones are old."""
    before = desk.issuer.token()
    assert desk.status(before) == 200
    port = urlsplit(desk.issuer.url).port
    assert port is not None
    desk.issuer.process.kill()
    desk.issuer.process.wait()
    assert desk.status(before) == 200, "its keys are known"
    with issuing(port, GRACE) as again:
        after = again.token()
        assert desk.status(after) == 401
        desk.time.pass_by(KEPT_SECONDS + 1)
        assert (desk.status(after), desk.status(before)) == (200, 401)


def test_an_issuer_that_is_not_there_is_unavailable(desk: Desk) -> None:
    token = desk.issuer.token()
    desk.issuer.process.kill()
    desk.issuer.process.wait()
    assert desk.status(token) == 503


def test_a_token_of_another_issuer(desk: Desk) -> None:
    with issuing(free_port(), GRACE) as other:
        assert desk.status(other.token()) == 401
