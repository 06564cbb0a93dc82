"""TLS to the servers that a node is given: whom it does not trust by its certificate it tells nothing."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from tests.contracts import compiled
from tests.http_cases import serving_from
from tests.postgresql import server
from tests.postgresql.nodes import CONTRACT, person
from tests.postgresql.tls_front import ASKED, Front, behind_tls
from tests.postgresql.valkey_server import PASSWORD, Server, valkey
from tests.server.authority import Authority, Issued

from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened, Refused, Unavailable
from ninefold.runtime.store.valkey_states import ValkeyStates

pytestmark = pytest.mark.serves


class Certificates:
    """Of servers, by what is right or wrong with them, and the authority that is trusted."""

    def __init__(self, folder: Path) -> None:
        one, other = folder / "one", folder / "other"
        one.mkdir()
        other.mkdir()
        trusted = Authority(one)
        self.trusted = trusted.file
        self.of = {
            "right": trusted.server(),
            "another name": trusted.server("db.example"),
            "expired": trusted.server(lasts=-timedelta(minutes=1)),
            "of nobody known": Authority(other, "Another Authority").server(),
        }


WRONG = {
    "another name": "Hostname mismatch, certificate is not valid for 'localhost'",
    "expired": "certificate has expired",
    "of nobody known": "unable to get local issuer certificate",
}


UNREAD = "its URL cannot be read, or a file that it names"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


@contextmanager
def postgresql(own: Issued) -> Iterator[Front]:
    async def to() -> tuple[StreamReader, StreamWriter]:
        return await asyncio.open_unix_connection(f"{server.directory()}/.s.PGSQL.5432")

    with behind_tls(own, to, is_asked=True) as front:
        yield front


@pytest.mark.parametrize("wrong", WRONG)
def test_of_several_postgresql_the_one_with_the_right_certificate_is_taken(
    wrong: str, certificates: Certificates
) -> None:
    name = server.database().partition("?")[0].rpartition("/")[2]
    plan = compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    with postgresql(certificates.of[wrong]) as bad, postgresql(certificates.of["right"]) as good:

        def url(*fronts: Front) -> str:
            hosts = ",".join(f"localhost:{each.port}" for each in fronts)
            return (
                f"postgresql://ninefold:hunter2@{hosts}/{name}?sslmode=verify-full&sslrootcert={certificates.trusted}"
            )

        refused = open_database(url(bad), plan)
        assert isinstance(refused, Refused)
        assert f"its certificate is not taken: {WRONG[wrong]}" in refused.message and "hunter2" not in refused.message
        opened = open_database(url(bad, good), plan)
        assert isinstance(opened, Opened) and "hunter2" not in opened.path
        with serving_from(plan, opened.database, {}) as client:
            person(client)
        assert set(bad.clear) | set(good.clear) == {ASKED} and not bad.agreed and good.agreed


def test_postgresql_is_believed_by_the_authorities_of_the_machine(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    """libpq, "Client Verification of Server Certificates": `system`, which asks for the name of the host too."""
    name = server.database().partition("?")[0].rpartition("/")[2]
    plan = compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None

    def refused(own: Issued, more: str = "") -> str | None:
        with postgresql(own) as front:
            url = f"postgresql://ninefold@localhost:{front.port}/{name}?sslrootcert=system{more}"
            opened = open_database(url, plan)
            if isinstance(opened, Opened):
                opened.database.close()
                assert front.agreed and set(front.clear) == {ASKED}
                return None
            assert not front.agreed
            return opened.message

    right = certificates.of["right"]
    assert WRONG["of nobody known"] in str(refused(right))
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.trusted))
    assert refused(right) is None
    assert refused(right, f"&sslcert={right.certificate}&sslkey={right.key}") is None
    assert UNREAD in str(refused(right, f"&sslcert={right.key}"))
    for wrong, why in WRONG.items():
        assert why in str(refused(certificates.of[wrong], "&sslmode=require"))


@pytest.mark.parametrize("name", ["sslrootcert", "sslcrl", "sslcert", "sslkey"])
def test_a_file_that_a_url_names_has_to_be_there(name: str) -> None:
    plan = compiled(CONTRACT).plan_for("postgresql")
    assert plan is not None
    refused = open_database(f"postgresql://ninefold@localhost:1/orders?sslmode=verify-full&{name}=/nowhere.pem", plan)
    assert isinstance(refused, Refused) and UNREAD in refused.message


@contextmanager
def counting(own: Issued, behind: Server) -> Iterator[Front]:
    with behind_tls(own, partial(asyncio.open_connection, "127.0.0.1", behind.port), is_asked=False) as front:
        yield front


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with valkey(tmp_path_factory.mktemp("valkey")) as found:
        yield found


@pytest.mark.parametrize("which", ["right", *WRONG])
def test_rates_are_counted_over_tls(which: str, certificates: Certificates, running: Server) -> None:
    async def counted() -> int:
        states = ValkeyStates(url, bytes(32))
        assert PASSWORD not in states.name
        try:
            return await states.change([b"a"], lambda before, now: ({b"a": (b"1", now + 10**12)}, 7))
        finally:
            await states.close()

    with counting(certificates.of[which], running) as front:
        url = f"valkeys://:{PASSWORD}@localhost:{front.port}?ssl_ca_certs={certificates.trusted}"
        if which == "right":
            assert asyncio.run(counted()) == 7 and front.agreed
        else:
            with pytest.raises(Unavailable) as found:
                asyncio.run(counted())
            assert WRONG[which] in str(found.value) and not front.agreed
