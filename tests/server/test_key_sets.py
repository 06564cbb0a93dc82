"""Tokens and key sets as they may come: whatever they are, they are read or they are not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.identity import part

from ninefold.plan.authentication import ASYMMETRIC, SYMMETRIC
from ninefold.runtime.http.work import kept_seconds
from ninefold.runtime.request.proofs import Expected, Key, claim_values, fitting, read_keys, read_token

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(["kty", "n", "e", "crv", "x", "y", "k", "kid", "alg", "use", "key_ops"])
WORDS = st.sampled_from(["RSA", "EC", "OKP", "oct", "P-256", "Ed25519", "AQAB", "sig", "RS256", "", "AA" * 200])
KEYS = st.dictionaries(MEMBERS, WORDS | JSON)
CLAIMS = st.dictionaries(st.sampled_from(["iss", "aud", "sub", "exp", "nbf", "iat", "role"]), JSON)


@given(st.lists(KEYS, max_size=4))
def test_a_key_set_is_read_whatever_its_keys_are(keys: list[dict[str, Any]]) -> None:
    for key in read_keys(json.dumps({"keys": keys}).encode()):
        assert isinstance(key, Key)
        for algorithm in (*ASYMMETRIC, *SYMMETRIC):
            # No public key is ever the secret of an HMAC.
            assert not (key.verifies(algorithm) and (algorithm in SYMMETRIC) is not (key.kind[0] == "oct"))


@given(st.binary(max_size=200))
def test_what_is_no_key_set_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"not JSON|no set of keys"):
        read_keys(data)


@given(st.text() | st.builds(lambda a, b, c: f"{a}.{b}.{c}", *[st.binary().map(part)] * 3))
def test_no_text_is_a_token_by_chance(text: str) -> None:
    assert read_token(text) is None


@given(JSON, CLAIMS)
def test_a_token_is_read_or_is_none(header: Any, claims: dict[str, Any]) -> None:
    token = read_token(".".join((part(json.dumps(header).encode()), part(json.dumps(claims).encode()), "AA")))
    assert token is None or (token.claims == claims and "alg" in header)


@given(CLAIMS)
def test_only_a_token_with_an_end_for_this_audience_is_expected(claims: dict[str, Any]) -> None:
    claim_values(claims)
    if Expected(("https://id.example",), "orders").met_by(claims, 0):
        assert claims["iss"] == "https://id.example" and "orders" in claims["aud"] and claims["exp"] > -60


def test_a_secret_is_as_long_as_the_digest() -> None:
    secret = {"kty": "oct", "k": part(bytes(range(32)))}
    keys = read_keys(json.dumps({"keys": [secret]}).encode())
    assert [fitting(keys, name, None) is not None for name in SYMMETRIC] == [True, False, False]


def test_a_set_of_too_many_keys_is_none() -> None:
    with pytest.raises(ValueError, match="more than 100"):
        read_keys(json.dumps({"keys": [{}] * 101}).encode())


@pytest.mark.parametrize(
    ("fields", "seconds"),
    [
        ([], None),
        (["public"], None),
        (["max-age=300"], 300),
        (["public, Max-Age=300"], 300),
        (["public", 'max-age="60"'], 60),
        (["max-age=-1"], None),
        (["max-age=99999999999999"], None),
        (["max-age=300, no-cache"], 0),
        (["no-store"], 0),
    ],
)
def test_how_long_an_answer_may_be_kept(fields: list[str], seconds: float | None) -> None:
    assert kept_seconds(fields) == seconds
