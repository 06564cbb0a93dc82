"""`ninefold serve` as an operator uses it: a process, its output, its two ports, its end."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import httpx
import pytest
from tests.looking import looking_into

from ninefold.cli import main

ORDERS = Path(__file__).parents[2] / "examples" / "orders.md"

pytestmark = pytest.mark.serves

SECONDS = 120
"""How long a start may take."""


@dataclass(frozen=True)
class Serving:
    process: subprocess.Popen[str]
    announced: tuple[str, ...]

    def address(self, label: str) -> str:
        [line] = (line for line in self.announced if line.startswith(label + " "))
        return line.split()[1].removesuffix("/health/live")

    def ended(self) -> str:
        """What was written to standard output after the start; the process is told to end, and does so well."""
        assert self.process.stdout
        self.process.send_signal(signal.SIGTERM)
        rest = self.process.stdout.read()
        assert self.process.wait(60) == 0
        return rest


def command(folder: Path, *arguments: str, document: Path = ORDERS) -> list[str]:
    """On free ports and a database in `folder`, unless `arguments` say otherwise."""
    usual = {"--listen": "127.0.0.1:0", "--operator": "127.0.0.1:0", "--database": str(folder / "a.db")}
    options = [word for option, value in usual.items() if option not in arguments for word in (option, value)]
    return [sys.executable, "-m", "ninefold", "serve", str(document), *options, *arguments]


@contextmanager
def serving(folder: Path, *arguments: str, document: Path = ORDERS) -> Iterator[Serving]:
    with subprocess.Popen(command(folder, *arguments, document=document), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        silent = threading.Timer(SECONDS, process.kill)
        silent.start()
        try:
            announced: list[str] = []
            for line in process.stdout:
                announced.append(line.rstrip("\n"))
                if line == "\n" and "Try:" in announced:
                    break
            assert silent.is_alive(), f"nothing more came for {SECONDS} seconds after {announced}"
            silent.cancel()
            yield Serving(process, tuple(announced))
        finally:
            silent.cancel()
            process.kill()


Refused: TypeAlias = Callable[..., str]


@pytest.fixture
def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    """What is said to a call that ends before anything is served."""

    def call(*arguments: str, document: Path = ORDERS) -> str:
        assert main(command(tmp_path, *arguments, document=document)[3:]) == 2
        return capsys.readouterr().err

    return call


def test_a_service_from_start_to_end(tmp_path: Path) -> None:
    with serving(tmp_path) as service, httpx.Client() as client:
        shown = "\n".join(service.announced)
        assert "served   POST /customers" in shown
        assert "blocked  POST /orders/{id}/pay" in shown and "--set staff_issuer=VALUE" in shown
        assert "a.db (new)" in shown

        # The lines to try do what they say.
        lines = [shlex.split(line) for line in service.announced if line.startswith("  curl")]
        first, second, third = (dict(zip(line[3::2], line[4::2], strict=True)) | {"url": line[2]} for line in lines)
        made = client.post(first["url"], content=first["-d"], headers={"Content-Type": "application/json"})
        assert made.status_code == 201
        authorised = {"Authorization": f"Bearer {made.json()['api_key']}", "Content-Type": "application/json"}
        assert client.post(second["url"], content=second["-d"], headers=authorised).status_code == 201
        [order] = client.get(third["url"], headers=authorised, params={"status": "draft"}).json()["data"]
        url = service.address("service")
        assert client.get(f"{url}/orders/{order['id']}", headers=authorised).status_code == 200
        assert client.get(f"{url}/no/such/path?secret=hunter2").status_code == 404

        operator = service.address("operator")
        assert client.get(f"{operator}/health/live").text == "live\n"
        assert client.get(f"{operator}/health/ready").text == "ready\n"
        assert client.head(f"{operator}/health/ready").status_code == 200
        assert client.post(f"{operator}/health/ready").headers["allow"] == "GET, HEAD"
        assert client.get(f"{operator}/orders").status_code == 404
        metrics = client.get(f"{operator}/metrics").text
        assert 'ninefold_requests_total{method="GET",route="no such path",status="404"} 1.0' in metrics
        assert 'ninefold_request_seconds_count{route="GET /orders/{id}"} 1.0' in metrics
        # Two writes, and what the service does by itself.
        works = metrics.partition("\nninefold_database_works_total ")[2].partition("\n")[0]
        assert float(works) >= 2 and "/no/such" not in metrics

        log = service.ended()
        assert len(log.splitlines()) == 5
        for secret in (made.json()["api_key"], "hunter2", "/no/such", order["id"], "draft", "ada@example.com"):
            assert secret not in log
    assert sorted(os.listdir(tmp_path)) == ["a.db"]
    with looking_into(tmp_path / "a.db") as connection:
        assert connection.execute('SELECT count(*) FROM "order"').fetchone() == (1,)


def tried(shown: Sequence[str]) -> list[str]:
    """The statuses of the lines under Try, which are run one after the other in one shell; what a line asks the reader
    to take from the answer before it is taken from there."""
    script = ""
    for line in shown[shown.index("Try:") + 1 :]:
        line = line.strip()
        if told := re.fullmatch(r"(\w+)='the (\w+) of that answer'", line):
            variable, member = told.groups()
            line = f'{variable}=$(printf %s "$ANSWER" | sed \'s/.*"{member}":"\\([^"]*\\)".*/\\1/\')'
        elif line.startswith("curl"):
            line = f'ANSWER=$({line.replace("curl -i", "curl -s -w %{http_code}")})\necho "$ANSWER"'
        script += line + "\n"
    ran = subprocess.run(["bash", "-eu"], input=script, capture_output=True, text=True, check=True)
    return [line[-3:] for line in ran.stdout.splitlines()]


WITH_CURL = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not there")


@WITH_CURL
def test_every_endpoint_of_the_example_is_served_with_lines_that_a_shell_takes(tmp_path: Path) -> None:
    """What `make serve` starts."""
    # The keys are fetched while the first request waits, and what fetches is loaded: a machine may take long for that.
    patient = tmp_path / "orders.md"
    patient.write_text(ORDERS.read_text().replace("timeout: PT10S", "timeout: PT2M"))
    with serving(tmp_path, "--development-issuer", document=patient) as service:
        shown = service.announced
        assert sum(line.startswith("served  ") for line in shown) == 13
        assert not any("blocked" in line for line in shown)
        statuses = tried(shown)
        assert len(statuses) == 5 and set(statuses) <= {"200", "201"}, statuses


@WITH_CURL
@pytest.mark.parametrize("media_type", ["application/json", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize(
    "scheme",
    [
        "{type: http, scheme: bearer, matches: user.key}",
        "{type: apiKey, in: header, name: 'X$Key', matches: user.key}",
        "{type: apiKey, in: cookie, name: key, matches: user.key}",
        "{type: apiKey, in: query, name: 'a$key', matches: user.key}",
    ],
)
def test_a_shell_takes_a_credential_and_a_body_in_one_line(tmp_path: Path, scheme: str, media_type: str) -> None:
    document = tmp_path / "tickets.yaml"
    document.write_text(
        f"""
purpose: Keeps tickets.
resources:
  user: {{primary key: id, required: [name], fields: {{
    id: {{type: integer, on create: serial()}}, key: {{type: string, secret: token, on create: token()}},
    name: {{type: string}}}}}}
  ticket: {{primary key: id, required: [about], fields: {{
    id: {{type: integer, on create: serial()}}, about: {{type: string}}, more: {{type: string}}}}}}
states: none
endpoints:
  requests: {{media type: {media_type}, unknown members: refused, unknown parameters: refused}}
  produces: application/json
  POST /users: {{does: create user, body: [name], responses: {{201: {{key: issued.key}}}}}}
  POST /tickets: {{does: create ticket, body: [about, more], responses: {{201: ticket}}}}
  GET /tickets: {{does: list ticket, sort: [id], pages: none, responses: {{200: {{tickets: page.items}}}}}}
authentication:
  schemes: {{own: {scheme}}}
  rows: all
  permissions: {{POST /users: anyone, all others: own}}
events: none
errors: none
limits: none
versioning: none
"""
    )
    with serving(tmp_path, document=document) as service:
        assert tried(service.announced) == ["201", "201", "200"], service.announced


def test_a_development_issuer_is_for_this_machine_alone(refused: Refused) -> None:
    said = refused("--development-issuer", "--operator", "0.0.0.0:0")
    assert "other machines may reach" in said and "--operator 127.0.0.1:8081" in said


def test_the_log_as_json_and_an_operator_value(tmp_path: Path) -> None:
    with serving(tmp_path, "--log", "json", "--set", "staff_issuer=https://id.example") as service:
        shown = "\n".join(service.announced)
        assert "served  POST /orders/{id}/pay" in shown and "Not given" not in shown
        assert httpx.post(f"{service.address('service')}/orders/1/pay").status_code == 401
        [line] = service.ended().splitlines()
    assert json.loads(line)["route"] == "POST /orders/{id}/pay"


def test_a_response_says_what_caused_it_where_that_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path, "--trace") as service:
        refused = httpx.get(f"{service.address('service')}/orders")
        service.ended()
    # Another process makes the same plan of the document.
    command = ["explain", str(ORDERS), "--response", refused.headers["Ninefold-Trace"]]
    assert main(command) == 0
    out = capsys.readouterr().out
    assert out.startswith("GET /orders: answered 401")
    assert '`no_key: {status: 401, title: "Who are you?", for: unauthenticated}`' in out
    assert main([*command, "--all"]) == 0
    facts, _, meanings = capsys.readouterr().out.partition("\nMeanings")
    assert meanings and facts == out.rpartition("\nWith the meanings")[0]


def test_what_cannot_be_used_is_said(tmp_path: Path, refused: Refused) -> None:
    with serving(tmp_path) as service:
        port = service.address("service").rpartition(":")[2]
        assert "already served by process" in refused()
        assert "is in use" in refused("--listen", f"127.0.0.1:{port}")
        service.ended()
    assert "the database postgresql://127.0.0.1:1/y cannot be used" in refused(
        "--database", "postgresql://127.0.0.1:1/y"
    )
    assert "is a directory" in refused("--database", str(tmp_path))
    assert "no operator.staf_issuer" in refused("--set", "staf_issuer=x")
    assert "operator.staff_issuer is a URL of http" in refused("--set", "staff_issuer=http://id.example")
    assert "operator.staff_issuer is not a URL of https" in refused("--set", "staff_issuer=id.example")
    assert "is no network" in refused("--trusted-proxy", "10.0.0.1/8")


def test_a_database_of_another_contract_is_refused_with_all_differences(tmp_path: Path, refused: Refused) -> None:
    with serving(tmp_path) as service, httpx.Client() as client:
        made = client.post(f"{service.address('service')}/customers", json={"email": "ada@example.org", "name": "Ada"})
        assert made.status_code == 201
        service.ended()
    other = tmp_path / "other.md"
    other.write_text(
        ORDERS.read_text()
        .replace("    name:       {", "    town:       {type: string}\n    name:       {", 1)
        .replace("  required: [email, name]", "  required: [email, name, town]")
        .replace("body: [email, name]", "body: [email, name, town]")
    )
    said = refused(document=other)
    assert "  - 1 row has no value for field `customer.town` (new, required)\n" in said
    assert "ninefold upgrade" in said and "--database" in said


def test_a_clock_that_the_operator_sets(tmp_path: Path) -> None:
    with serving(tmp_path, "--clock", "2026-01-01T00:00:00+01:00") as service, httpx.Client() as client:
        assert any(line.startswith("clock     2025-12-31T23:00:0") for line in service.announced)
        url, operator = service.address("service"), service.address("operator")
        made = client.post(f"{url}/customers", json={"email": "ada@example.org", "name": "Ada"}).json()
        authorised = {"Authorization": f"Bearer {made['api_key']}"}
        line = {"sku": "A-1", "quantity": 1, "unit_price": 5}
        order = client.post(f"{url}/orders", json={"lines": [line]}, headers=authorised).json()
        assert order["created_at"].startswith("2025-12-31T23:00:")
        assert client.post(f"{url}/orders/{order['id']}/place", headers=authorised).json()["status"] == "placed"
        assert client.get(f"{operator}/clock").text.startswith("2025-12-31T23:00:")
        assert client.put(f"{operator}/clock", content="2026-01-01T12:00:00Z").text.startswith("2026-01-01T12:00:00.")
        shown = client.get(f"{url}/orders/{order['id']}", headers=authorised).json()
        assert shown["status"] == "cancelled" and shown["updated_at"].startswith("2025-12-31T23:30:")
        for wrong in ("tomorrow", "9999-12-31T00:00:00Z", "\u00fc", "1" * 10_000):
            assert client.put(f"{operator}/clock", content=wrong.encode()).status_code == 422
        assert client.delete(f"{operator}/clock").headers["allow"] == "GET, HEAD, PUT"


def test_a_clock_cannot_show_everything(refused: Refused) -> None:
    assert "--clock noon cannot be" in refused("--clock", "noon")
