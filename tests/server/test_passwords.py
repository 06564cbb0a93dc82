"""Passwords as they are hashed, and as HTTP's Basic scheme sends them."""

from __future__ import annotations

from base64 import b64encode

import pytest

from ninefold.runtime.operations.credentials import UserAndPassword, basic, cost, hashed, is_password


@pytest.mark.usefixtures("hashes_that_cost")
def test_a_hash_is_argon2id_and_salted() -> None:
    one, other = hashed("a long secret"), hashed("a long secret")
    # RFC 9106, section 4: the second recommended option is 64 MiB, three passes, four lanes.
    assert one.startswith("$argon2id$v=19$m=65536,t=3,p=4$") and one != other
    assert is_password(one, "a long secret") and is_password(one.encode(), "a long secret")
    assert not is_password(one, "a long secre") and not is_password(one, "")


@pytest.mark.usefixtures("hashes_that_cost")
def test_nobody_has_the_password_of_nobody() -> None:
    assert not is_password(None, "a long secret") and not is_password(None, "")
    assert not is_password(cost().nobodys, "a long secret")
    assert not is_password("no hash at all", "a long secret")


def test_a_password_may_be_any_text() -> None:
    for password in ("Ünïcödé 🔑", "\ud800", "x" * 10_000):
        assert is_password(hashed(password), password)


@pytest.mark.parametrize(
    ("sent", "user", "password"),
    [
        # The examples of RFC 7617, sections 2 and 2.1.
        ("QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Aladdin", "open sesame"),
        ("dGVzdDoxMjPCow==", "test", "123£"),
        (b64encode(b"ann:a:b").decode(), "ann", "a:b"),
        (b64encode(b":").decode(), "", ""),
    ],
)
def test_the_credentials_of_basic(sent: str, user: str, password: str) -> None:
    assert basic(sent) == UserAndPassword(user, password)


@pytest.mark.parametrize("content", [b"no colon", b"ann:\x00", b"a\nb:secret", b"ann:\x7f", b"ann:\xff\xfe", b""])
def test_what_is_no_credential_of_basic(content: bytes) -> None:
    assert basic(b64encode(content).decode()) is None


@pytest.mark.parametrize("sent", ["", "!", "QWxhZGRpbjpvcGVuIHNlc2FtZQ", "QWxh ZGRpbg==", "é", "=" * 8])
def test_what_is_not_base64(sent: str) -> None:
    assert basic(sent) is None
