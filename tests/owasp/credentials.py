"""API2, broken authentication; and API7 and API10 as far as they are about tokens and their issuers."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from typing import Any

from joserfc.jwk import RSAKey
from tests.owasp.asking import REFUSALS, Asking, Finding, admitted, anyone_may, digest, is_good
from tests.owasp.world import NOBODY, Person, carried
from tests.server.identity import WELL_KNOWN, Answer, Provider, part, rsa, signed


def credentials_that_are_none(a: Asking) -> Iterator[Finding]:
    """Whatever stands in the place of a credential and is none, is answered `unauthenticated` and does nothing."""
    for endpoint in a.endpoints.values():
        row = next(iter(a.rows(endpoint)), None)
        path = a.path(endpoint, row)
        if path is None:
            continue
        for person in a.kinds(endpoint):
            if person is NOBODY or not admitted(endpoint, person):
                continue
            for words, headers, query in _no_credentials(a, person, a.provider):
                if words in _NOTHING and anyone_may(endpoint):
                    continue  # nothing stands in the place of a credential
                nobody = Person(person.scheme, words, headers=headers, query=query)
                response, same = a.untouched(endpoint.key, nobody, path, a.body(endpoint, person))
                expected = a.statuses("unauthenticated", endpoint) | a.statuses("unavailable", endpoint)
                if response.status_code not in expected and response.status_code not in REFUSALS - {403}:
                    yield Finding("API2", endpoint.key, person.scheme, f"{words}: {response.status_code}")
                if not same:
                    yield Finding("API2", endpoint.key, person.scheme, f"{words}: something was stored")
                if response.status_code == 401 and "www-authenticate" not in response.headers:
                    yield Finding("API2", endpoint.key, person.scheme, f"{words}: 401 without a challenge")


def _no_credentials(
    a: Asking, person: Person, provider: Provider
) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    scheme = next(each for each in a.world.plan.schemes if each.scheme == person.scheme)
    good = person.credential
    yield "nothing at all", {}, {}
    yield "an empty credential", *carried(scheme, "")
    yield "another credential", *carried(scheme, "x" * 43)
    yield "a credential with a letter less", *carried(scheme, good[:-3])
    yield "a credential with a letter changed", *carried(scheme, good[:8] + chr(ord(good[8]) ^ 1) + good[9:])
    yield "a credential twice", *carried(scheme, f"{good} {good}")
    yield "what is stored of a credential", *carried(scheme, digest(good))
    if scheme.where == "authorization":
        yield "a scheme of another name", {"Authorization": f"X{scheme.name} {good}"}, {}
        yield "a credential in the query", {}, {"access_token": good}
        yield "a credential in a cookie", {"Cookie": f"Authorization={good}; token={good}"}, {}
    if scheme.signed is not None:
        claims = {**person.claims}
        for words, token in _forged(claims, provider):
            yield words, *carried(scheme, token)


def _forged(claims: dict[str, Any], provider: Provider) -> Iterator[tuple[str, str]]:
    """Tokens as those forge them who have read RFC 8725."""
    key = provider.keys["one"]
    assert isinstance(key, RSAKey)
    payload = part(json.dumps(claims).encode())
    for name in ("none", "None", "NONE", ""):
        yield f"signed by {name!r}", f"{part(json.dumps({'alg': name}).encode())}.{payload}."
    for kind, secret in (("PEM", key.as_pem(private=False)), ("JWK", json.dumps(key.as_dict(private=False)).encode())):
        begun = f"{part(json.dumps({'alg': 'HS256', 'kid': 'one'}).encode())}.{payload}"
        signature = part(hmac.digest(secret, begun.encode(), "sha256"))
        yield f"HS256 with the public key as {kind}", f"{begun}.{signature}"
    other = rsa("one")
    yield "another key of the same name", signed({"alg": "RS256", "kid": "one"}, claims, other)
    own = {"alg": "RS256", "kid": "one", "jwk": other.as_dict(private=False)}
    yield "a key that the token brings along", signed(own, claims, other)
    yield "no end", signed({"alg": "RS256", "kid": "one"}, {**claims, "exp": None}, key)
    for words, changed in (
        ("past its end", {"exp": claims["iat"] - 3600}),
        ("not begun", {"nbf": claims["iat"] + 3600}),
        ("another audience", {"aud": "somebody-else"}),
        ("no audience", {"aud": None}),
        ("another issuer", {"iss": "https://id.example"}),
        ("an issuer with a slash", {"iss": claims["iss"] + "/"}),
    ):
        yield (
            words,
            signed(
                {"alg": "RS256", "kid": "one"}, {k: v for k, v in {**claims, **changed}.items() if v is not None}, key
            ),
        )
    whole = signed({"alg": "RS256", "kid": "one"}, claims, key)
    head, _, signature = whole.split(".")
    yield "claims exchanged", f"{head}.{part(json.dumps({**claims, 'sub': 'root'}).encode())}.{signature}"


_NOTHING = ("nothing at all", "a credential in the query", "a credential in a cookie")


def keys_that_a_token_names(a: Asking, url: str) -> Iterator[Finding]:
    """A token that says where its key is (`jku`, `x5u`) is not believed. Whether anybody asks at `url`, its server
    sees."""
    other = rsa("one")
    for scheme in a.world.plan.schemes:
        if scheme.signed is None:
            continue
        person = next(iter(a.world.persons(scheme.scheme)), NOBODY)
        for name in ("jku", "x5u"):
            token = signed({"alg": "RS256", "kid": "two", name: url}, dict(person.claims), other)
            headers, query = carried(scheme, token)
            for endpoint in a.endpoints.values():
                path = a.path(endpoint, next(iter(a.rows(endpoint)), None))
                if path is not None and admitted(endpoint, person):
                    response = a.ask(endpoint.key, Person(scheme.scheme, name, headers=headers, query=query), path)
                    if is_good(response):
                        yield Finding("API7", endpoint.key, scheme.scheme, f"{name}: {response.status_code}")


def webhooks_to_this_machine(a: Asking, port: int) -> Iterator[Finding]:
    """Subscriptions to addresses of this machine, and something that happens then. Whether anything is delivered to
    `port`, its server sees."""
    for endpoint in a.endpoints.values():
        if endpoint.resource != "subscription" or endpoint.verb != "create":
            continue
        path = a.path(endpoint, None)
        for person in a.everybody():
            for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1", "[::ffff:127.0.0.1]"):
                if path is not None and a.admits(endpoint, person, None):
                    a.ask(endpoint.key, person, path, a.body(endpoint, person, {"url": f"http://{host}:{port}/"}))
    for endpoint in a.endpoints.values():
        for person in a.everybody():
            for row in a.rows(endpoint)[:2] if endpoint.verb != "create" else [None]:
                path = a.path(endpoint, row)
                if path is not None and endpoint.verb in ("create", "transition") and admitted(endpoint, person):
                    a.ask(endpoint.key, person, path, a.body(endpoint, person))
    return
    yield


def issuers_that_misbehave(a: Asking, provider: Provider, elsewhere: str) -> Iterator[Finding]:
    """To be asked of a service that knows no keys yet. Whatever an issuer answers, its tokens do nothing then."""
    for scheme in a.world.plan.schemes:
        if scheme.signed is None:
            continue
        person = next(iter(a.world.persons(scheme.scheme)), NOBODY)
        endpoint = next(
            (each for each in a.endpoints.values() if admitted(each, person) and each.verb != "stream event"), None
        )
        path = None if endpoint is None else a.path(endpoint, next(iter(a.rows(endpoint)), None))
        if endpoint is None or path is None:
            continue
        for words, answer in (
            ("a redirect", Answer(b"", 302, {"Location": elsewhere})),
            ("more than anybody reads", Answer(b"[" + b" " * 2_000_000 + b"]")),
            ("what is no JSON", Answer(b"<html>")),
            ("another issuer", Answer(json.dumps({"issuer": elsewhere, "jwks_uri": elsewhere}).encode())),
            ("keys by file", Answer(json.dumps({"issuer": provider.url, "jwks_uri": "file:///etc/passwd"}).encode())),
            ("nests", Answer(b"[" * 100_000)),
        ):
            provider.instead = {WELL_KNOWN: answer, "/keys": answer}
            response, same = a.untouched(endpoint.key, person, path, a.body(endpoint, person))
            if response.status_code not in a.statuses("unavailable", endpoint) or not same:
                yield Finding("API10", endpoint.key, scheme.scheme, f"{words}: {response.status_code}")
        provider.instead = {}
