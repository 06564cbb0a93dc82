"""Clients known by their certificates: real certificates, real TLS, a real service."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

import apsw
import httpx
import pytest
from cryptography import x509
from tests.contracts import plan_of
from tests.server.authority import Authority, Issued
from tests.server.conftest import recorded, running
from tests.serving import in_a_thread

from ninefold.cli.sockets import tls_context
from ninefold.plan.service import ServicePlan
from ninefold.runtime.http.access_log import Record
from ninefold.runtime.http.app import Application
from ninefold.runtime.request.proofs import read_certificate
from ninefold.runtime.request.service import ready
from ninefold.runtime.sources import Sources
from ninefold.runtime.store.sqlite import Opened, open_sqlite

pytestmark = pytest.mark.serves

PRESSES = """\
# Presses

## 1. What the service does

Takes jobs.

## 2. Resources and their fields

```yaml
press:
  primary key: id
  fields:
    id:          {type: integer, on create: serial()}
    name:        {type: string, maxLength: 80}
    certificate: {type: string, unique: true, maxLength: 200}
  required: [name, certificate]
job:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    press: {references: press, on create: caller.press, inverse: jobs, on delete: restrict}
    title: {type: string, maxLength: 80}
  required: [title]
```

## 3. States and transitions

No states: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /presses: {does: create press, body: [name, certificate], responses: {201: press}}
POST /jobs:    {does: create job, body: [title], responses: {201: job}}
GET /jobs:     {does: list job, sort: [id], pages: {by: none}, responses: {200: {jobs: page.items}}}
GET /me:
  does: compute
  responses:
    200:
      subject: caller.subject
      name:    caller.name
      dns:     caller.dns
      email:   caller.email
      uri:     caller.uri
      ip:      caller.ip
GET /events: {does: stream event, responses: {200: stream}}
```

## 5. Authentication

```yaml
schemes:
  press: {type: mutualTLS, credential: claims.fingerprint, matches: press.certificate}
  staff:
    type: mutualTLS
    matches: all
    caller:
      subject: claims.subject
      issuer:  claims.issuer
      name:    claims.common_name
      dns:     claims.san_dns
      email:   claims.san_email
      uri:     claims.san_uri
      ip:      claims.san_ip
rows:
  press: {press: "press == caller.press", staff: true, anyone: true}
  job:   {press: "job.press == caller.press", staff: true}
unseen rows: not found
permissions:
  POST /presses: anyone
  POST /jobs:    press
  GET /jobs:     {press: true, staff: "caller.subject.startsWith('CN=boss')"}
  GET /me:       staff
  GET /events:   {staff: "caller.issuer == 'CN=Test Authority'"}
```

## 6. Events

```yaml
kinds: {job.created: {upon: create job, payload: job}}
delivery: {stream: server-sent events}
kept: P7D
```

## 7. Errors

No errors: none.

## 8. Limits

No limits: none.

## 9. Versioning

No versions: none.
"""


@dataclass
class Time:
    ahead: timedelta = field(default_factory=timedelta)

    def sources(self) -> Sources:
        return Sources(clock=lambda: datetime.now(UTC) + self.ahead)


@dataclass
class Works:
    """The service, and who signs the certificates of its clients."""

    url: str
    authority: Authority
    time: Time
    records: list[Record]

    def client(self, certificate: Issued | None = None) -> httpx.Client:
        context = ssl.create_default_context(cafile=str(self.authority.file))
        if certificate is not None:
            context.load_cert_chain(*certificate.pair)
        return httpx.Client(base_url=self.url, verify=context, timeout=60)

    def press(self, name: str) -> Issued:
        """A press with a certificate of its own."""
        issued = self.authority.client(name)
        read = read_certificate(issued.certificate.read_text())
        assert read is not None
        with self.client() as anyone:
            body = {"name": name, "certificate": read.claims["fingerprint"]}
            assert anyone.post("/presses", json=body).status_code == 201
        return issued


@contextmanager
def working(folder: Path, plan: ServicePlan, client_ca: bool = True) -> Iterator[Works]:
    folder.mkdir(exist_ok=True)
    authority, time, records = Authority(folder), Time(), list[Record]()
    own = authority.server()
    opened = open_sqlite(str(folder / "a.db"), plan.schema)
    assert isinstance(opened, Opened), opened
    context = tls_context(own.certificate, own.key, authority.file if client_ca else None)
    service = ready(plan, opened.database.key("cursors"), {}, time.sources())
    application = Application(service, opened.database, records.append)
    with closing(opened.database), in_a_thread(application, tls=context) as (_, port):
        yield Works(f"https://localhost:{port}", authority, time, records)


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    with working(tmp_path / "works", plan_of(PRESSES)) as found:
        yield found


def test_a_certificate_is_of_a_row(works: Works) -> None:
    with works.client(works.press("Heidelberg")) as one, works.client(works.press("Roland")) as other:
        made = one.post("/jobs", json={"title": "Poster"})
        assert (made.status_code, made.json()) == (201, {"id": 1, "press": 1, "title": "Poster"})
        assert other.post("/jobs", json={"title": "Leaflet"}).json()["press"] == 2
        assert [job["title"] for job in one.get("/jobs").json()["jobs"]] == ["Poster"]
        assert [job["title"] for job in other.get("/jobs").json()["jobs"]] == ["Leaflet"]
        assert one.get("/me").json()["name"] == "Heidelberg", "the next scheme takes it too, where that one is admitted"
    assert {record.scheme for record in recorded(works.records, 7)} == {None, "press", "staff"}


def test_what_a_certificate_says_is_the_callers(works: Works) -> None:
    names = [
        x509.DNSName("desk.example"),
        x509.RFC822Name("grace@example.com"),
        x509.UniformResourceIdentifier("spiffe://example/desk"),
        x509.IPAddress(ip_address("192.0.2.7")),
    ]
    with works.client(works.authority.client("grace", "Acme, Inc.", names)) as grace:
        assert grace.get("/me").json() == {
            "subject": "CN=grace,O=Acme\\, Inc.",
            "name": "grace",
            "dns": ["desk.example"],
            "email": ["grace@example.com"],
            "uri": ["spiffe://example/desk"],
            "ip": ["192.0.2.7"],
        }
        assert grace.get("/jobs").status_code == 403
    with works.client(works.authority.client("boss")) as boss:
        assert boss.get("/jobs").json() == {"jobs": []}
        assert boss.get("/me").json() == {
            "subject": "CN=boss",
            "name": "boss",
            "dns": [],
            "email": [],
            "uri": [],
            "ip": [],
        }
    logged = {record.caller for record in recorded(works.records, 4) if record.scheme == "staff"}
    assert len(logged) == 2 and all(each and "grace" not in each and len(each) == 32 for each in logged)


def test_without_a_certificate_nobody_is_known(works: Works) -> None:
    with works.client() as anyone:
        refused = anyone.get("/jobs")
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "mutualTLS")
        assert anyone.get("/jobs", headers={"X-Client-Cert": "CN=boss", "Client-Cert": ":AAAA:"}).status_code == 401


def test_a_certificate_that_cannot_be_verified_ends_the_handshake(works: Works, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    same_name = Authority(elsewhere)
    wrong: tuple[Callable[[], Issued], ...] = (
        lambda: same_name.client("boss"),
        lambda: works.authority.client("boss", lasts=timedelta(hours=-1), began=timedelta(hours=2)),
        lambda: works.authority.client("boss", began=timedelta(hours=-1)),
        works.authority.server,
    )
    for made in wrong:
        with works.client(made()) as client, pytest.raises(httpx.TransportError):
            client.get("/jobs")
    assert not works.records


def test_a_connection_does_not_outlive_its_certificate(works: Works) -> None:
    with works.client(works.authority.client("boss")) as boss:
        assert boss.get("/jobs").status_code == 200
        works.time.ahead += timedelta(days=2)
        assert boss.get("/jobs").status_code == 401


def test_without_authorities_no_certificate_is_asked_for(tmp_path: Path) -> None:
    with working(tmp_path / "works", plan_of(PRESSES), client_ca=False) as works:
        with works.client(works.authority.client("boss")) as boss:
            assert boss.get("/jobs").status_code == 401


def test_a_row_that_is_deleted_takes_its_callers_along(tmp_path: Path) -> None:
    document = PRESSES.replace(
        "GET /me:\n", "DELETE /presses/{id}: {does: delete press, responses: {204: none}}\nGET /me:\n"
    ).replace("  GET /me:       staff", "  DELETE /presses/{id}: press\n  GET /me:       staff")
    with working(tmp_path / "works", plan_of(document)) as works:
        with works.client(works.press("Heidelberg")) as press:
            assert press.get("/jobs").status_code == 200
            assert press.delete("/presses/1").status_code == 204
            assert press.get("/jobs").status_code == 403, "what is left is any certificate, and not the boss's"


def test_plain_http_has_no_certificates(tmp_path: Path) -> None:
    with running(plan_of(PRESSES), tmp_path / "a.db") as service:
        assert service.http.get("/jobs").status_code == 401


def test_a_certificate_is_read_or_is_none() -> None:
    assert read_certificate("") is None
    assert read_certificate("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n") is None


def test_a_stream_is_its_certificates_as_of_now(tmp_path: Path) -> None:
    """A row that knows the certificate no more ends the stream of its press; its end ends any."""
    text = PRESSES.replace("  GET /events:   {staff:", "  GET /events:   {press: true, staff:")
    with working(tmp_path / "works", plan_of(text)) as works:
        issued, staff = works.press("Heidelberg"), works.authority.client("boss")
        with works.client(issued) as press, works.client(staff) as boss:
            with press.stream("GET", "/events") as one, boss.stream("GET", "/events") as other:
                assert one.status_code == other.status_code == 200
                told, all_ = (
                    (line for line in each.iter_lines() if line.startswith("event:")) for each in (one, other)
                )
                assert press.post("/jobs", json={"title": "Poster"}).status_code == 201
                assert next(told) == next(all_) == "event: job.created"
                press_of_another = works.press("Roland")
                with works.client(press_of_another) as second:
                    assert second.post("/jobs", json={"title": "Leaflet"}).status_code == 201
                assert next(all_) == "event: job.created"
                connection = apsw.Connection(str(tmp_path / "works" / "a.db"))
                connection.execute("UPDATE press SET certificate = 'another' WHERE id = 1")
                connection.close()
                assert list(told) == []
                works.time.ahead = timedelta(days=10_000)
                assert list(all_) == []


def test_an_idempotency_key_is_of_the_row_of_a_certificate(tmp_path: Path) -> None:
    """Not of the next one with its primary key, and of it whatever that is."""
    text = PRESSES.replace("create job, body: [title],", "create job, body: [title], idempotency key: required,")
    text = text.replace("No limits: none.", "```yaml\nrates: none\ntimeout: none\nidempotency keys kept: PT1H\n```")
    with working(tmp_path / "works", plan_of(text)) as works:
        issued = works.press("Heidelberg")
        with works.client(issued) as press, closing(apsw.Connection(str(tmp_path / "works" / "a.db"))) as beside:

            def made() -> int:
                answer = press.post("/jobs", json={"title": "Poster"}, headers={"Idempotency-Key": "one"})
                assert answer.status_code == 201, answer.text
                return int(answer.json()["id"])

            assert made() == 1
            beside.execute("UPDATE press SET id = 7")
            assert made() == 1
            again = 'INSERT INTO press (id, name, certificate, "$revision") VALUES (7, ?, ?, ?)'
            [row] = beside.execute('SELECT name, certificate, "$revision" FROM press').fetchall()
            beside.execute("DELETE FROM press")
            beside.execute(again, row)
            assert made() == 2
