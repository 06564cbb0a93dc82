"""`ninefold dev` as an author uses it: a process, a file that is saved, requests over a real socket."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import httpx
import pytest

from ninefold.cli import main

pytestmark = pytest.mark.serves

CONTRACT = """# Notes

## 1. What the service does

Keeps notes.

## 2. Resources and their fields

```yaml
person:
  primary key: id
  fields:
    id:    {type: string, on create: uuid()}
    email: {type: string, format: email, unique: true, sensitive: true}
    key:   {type: string, secret: token, on create: token()}
  required: [email]
note:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    owner: {references: person, on create: caller.person}
    text:  {type: string, maxLength: 20}
  required: [text]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /people:
  does: create person
  body: [email]
  responses: {201: {id: person.id, email: person.email, key: issued.key}}
POST /notes: {does: create note, body: [text], responses: {201: note}}
GET /notes: {does: list note, pages: none, sort: [id], responses: {200: page.items}}
GET /notes/{id}: {does: read note, responses: {200: note}}
```

## 5. Authentication

```yaml
schemes:
  key: {type: http, scheme: bearer, matches: person.key}
rows: all
unseen rows: not found
permissions:
  POST /people: anyone
  POST /notes: key
  GET /notes: key
```
"""


@dataclass
class Dev:
    process: subprocess.Popen[str]
    path: Path
    lines: SimpleQueue[str]
    said: list[str] = field(default_factory=list)

    def until(self, words: str, seconds: float = 60) -> str:
        """Read what is said until a line has these words: that line."""
        end = time.monotonic() + seconds
        while True:
            try:
                line = self.lines.get(timeout=max(end - time.monotonic(), 0.01))
            except Empty:
                raise AssertionError(f"{words!r} was not said:\n" + "\n".join(self.said)) from None
            self.said.append(line)
            if words in line:
                return line

    def save(self, change: Callable[[str], str]) -> None:
        before = self.path.read_text()
        after = change(before)
        assert before != after
        self.path.write_text(after)

    @property
    def url(self) -> str:
        return next(line.split()[1] for line in self.said if line.startswith("service "))

    @property
    def key(self) -> str:
        return next(found[1] for line in reversed(self.said) if (found := re.search(r"Bearer ([\w-]+)", line)))


@contextmanager
def developing(folder: Path, *arguments: str, contract: str = CONTRACT) -> Iterator[Dev]:
    path = folder / "notes.md"
    if not path.exists():
        path.write_text(contract)
    words = [sys.executable, "-m", "ninefold", "dev", str(path), "--listen", "127.0.0.1:0", "--operator", "127.0.0.1:0"]

    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*words, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        lines: SimpleQueue[str] = SimpleQueue()

        def read() -> None:
            assert process.stdout
            for line in process.stdout:
                lines.put(line.rstrip("\n"))

        reader = Thread(target=read, daemon=True)
        reader.start()
        try:
            yield Dev(process, path, lines)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
        finally:
            process.kill()
            reader.join(60)


@pytest.mark.slow
def test_a_contract_while_it_is_written(tmp_path: Path) -> None:
    with developing(tmp_path) as dev, httpx.Client(timeout=60) as client:
        dev.until("# key: person ")
        assert any("blocked" in line and "GET /notes/{id}" in line and "who may call" in line for line in dev.said)
        curl = shlex.split(next(line for line in dev.said if "# key: person " in line), comments=True)
        name, _, value = curl[curl.index("-H") + 1].partition(": ")
        headers = {name: value}
        assert client.get(curl[2], headers=headers).json() == []
        for text in ("one", "two"):
            assert client.post(dev.url + "/notes", json={"text": text}, headers=headers).status_code == 201

        # Every failure says what it is, where in the request, and which line of the contract says so.
        client.post(dev.url + "/notes", json={"text": "x" * 21, "more": 1}, headers=headers)
        line = dev.until("POST /notes  422")
        number = 1 + CONTRACT.splitlines().index("    text:  {type: string, maxLength: 20}")
        assert f"invalid: /text it is too long [{dev.path}:{number}]" in line
        assert "/more there is no field of this name" in line
        client.get(dev.url + "/notes")
        permission = 1 + CONTRACT.splitlines().index("  GET /notes: key")
        assert (
            f"unauthenticated: the request has no credential, or one that is not known [{dev.path}:{permission}]"
            in (dev.until("GET /notes  401"))
        )
        client.get(dev.url + "/notes/1", headers=headers)
        assert "blocked: not shown: who may call" in dev.until("GET /notes/1  501")
        client.get(dev.url + "/nothing")
        dev.until("GET /nothing  404  no such path: no endpoint of the contract has this path")

        # A save with an error: the last good service goes on, on the same connection.
        dev.save(lambda text: text.replace("serial()", "serail()"))
        dev.until("the last good service goes on")
        assert any("error[" in line for line in dev.said) and any("serail" in line for line in dev.said)
        assert len(client.get(dev.url + "/notes", headers=headers).json()) == 2

        # A good one: the endpoint is there, the key still good, the rows as well.
        dev.save(lambda text: text.replace("serail()", "serial()").replace("  GET /notes: key", "  all others: key"))
        dev.until("served  GET /notes/{id}")
        dev.until("what else is open is as it was")
        assert client.get(dev.url + "/notes/1", headers=headers).json()["text"] == "one"

        # A new required field that the contract itself gives, and a type that is another one now.
        dev.save(
            lambda text: text.replace("text:  {type: string, maxLength: 20}", "text:  {type: integer, on create: '7'}")
        )
        dev.until("the database was made anew: 3 rows carried over")
        dev.until("field `note.text` was a string and is an integer: 2 values stay behind")
        assert [note["text"] for note in client.get(dev.url + "/notes", headers=headers).json()] == [7, 7]
        # A save that is empty for a moment takes nothing away: what was there is named, kept, and back with the next.
        whole = dev.path.read_text()
        dev.save(lambda text: "")
        dev.until("resource `note` is not in the contract any more: 2 rows stay behind")
        dev.until("they are kept for an hour")
        dev.save(lambda text: whole)
        dev.until("resource `note`: 2 rows are back")
        dev.until("# key: person ")
        assert [note["text"] for note in client.get(dev.url + "/notes", headers=headers).json()] == [7, 7]
        key = dev.key
    # The next time: the same rows, and the same key, which is kept nowhere.
    with developing(tmp_path) as dev:
        dev.until("# key: person ")
        assert dev.key == key
        assert len(httpx.get(dev.url + "/notes", headers={"Authorization": f"Bearer {key}"}).json()) == 2
    for path in (tmp_path / "cache").rglob("*.db*"):
        assert key.encode() not in path.read_bytes() and path.stat().st_mode & 0o077 == 0
    with developing(tmp_path, "--fresh") as dev:
        dev.until("# key: person ")
        assert dev.key != key
        assert httpx.get(dev.url + "/notes", headers={"Authorization": f"Bearer {dev.key}"}).json() == []


def test_bodies_are_printed_when_asked_for_and_masked(tmp_path: Path) -> None:
    with developing(tmp_path, "--bodies") as dev:
        dev.until("# key: person ")
        made = httpx.post(dev.url + "/people", json={"email": "grace@example.org"}).json()
        dev.until("POST /people  201")
        assert dev.until("  > ") == '  > {"email":"***"}'
        answered = dev.until("  < ")
        assert answered == f'  < {{"id":"{made["id"]}","email":"***","key":"***"}}'
        httpx.post(dev.url + "/people", json={"key": "hunter2", "email": "no"})
        dev.until("POST /people  422")
        assert "***" in dev.until("  > ")
        httpx.post(dev.url + "/people", content=b'{"email": "x@y.org"', headers={"Content-Type": "application/json"})
        dev.until("POST /people  400")
        dev.until("  > (19 bytes)")
        assert not any(secret in line for line in dev.said for secret in ("grace", made["key"], "hunter2", "x@y.org"))


@pytest.mark.slow
def test_from_a_blank_contract_to_a_first_endpoint(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    assert main(["new", str(path)]) == 0
    with developing(tmp_path) as dev:
        dev.until("there is no endpoint yet")
        path.write_text("## 4. Endpoints\n\n```yaml\nGET /x: {does: read nothing}\n```\n")
        assert "not shown: which resources there are (line 1)" in dev.until("blocked  GET /x")
        path.write_text(CONTRACT)
        dev.until("# key: person ")
        assert httpx.get(dev.url + "/notes", headers={"Authorization": f"Bearer {dev.key}"}).json() == []


def test_a_broken_contract_is_waited_for(tmp_path: Path) -> None:
    with developing(tmp_path, contract=CONTRACT.replace("primary key: id", "primary key: no")) as dev:
        dev.until("nothing is served yet")
        assert httpx.get(dev.url + "/notes").status_code == 503
        dev.save(lambda text: CONTRACT)
        dev.until("# key: person ")
        assert httpx.get(dev.url + "/notes").status_code == 401
        # What would be waited for holds up neither what comes after it nor the stop.
        os.mkfifo(tmp_path / "pipe")
        os.replace(tmp_path / "pipe", dev.path)
        dev.until("cannot be read: it is a pipe, and no file")
        dev.until("the last good service goes on")


def test_two_of_them_do_not_share_a_file(tmp_path: Path) -> None:
    with developing(tmp_path) as first:
        first.until("# key: person ")
        with developing(tmp_path) as second:
            second.until("is already served by process")
            second.until("nothing is served yet")
        assert httpx.get(first.url + "/notes").status_code == 401


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-",), "standard input cannot be watched"),
        (("no.md",), "no.md is no file that can be watched"),
        (("notes.md", "--listen", "nowhere"), "is not HOST:PORT"),
    ],
)
def test_what_cannot_be_followed(
    arguments: tuple[str, ...],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.md").write_text(CONTRACT)
    assert main(["dev", *arguments]) == 2
    assert words in capsys.readouterr().err


ORDERS = Path(__file__).parents[2] / "examples" / "orders.md"


def curls(dev: Dev, who: str) -> list[list[str]]:
    """The lines to try of one scheme, as words."""
    return [shlex.split(line, comments=True) for line in dev.said if f"# {who}: " in line]


def test_dev_is_the_issuer_where_none_is_given(tmp_path: Path) -> None:
    # The keys are fetched while the first request waits, and what fetches is loaded: a machine may take long for that.
    patient = ORDERS.read_text().replace("timeout: PT10S", "timeout: PT2M")
    with developing(tmp_path, contract=patient) as dev, httpx.Client(timeout=60) as client:
        mint = shlex.split(dev.until("# staff: a token that claims more"), comments=True)
        assert not any("blocked" in line for line in dev.said)
        billing, warehouse, _ = curls(dev, "staff")
        told = [line.rpartition("# ")[2] for line in dev.said if "# staff: role" in line]
        assert told == [
            "staff: role=billing, for POST /orders/{id}/pay", "staff: role=warehouse, for POST /orders/{id}/ship",
        ]  # fmt: skip
        [key] = curls(dev, "key")
        headers = [dict([words[words.index("-H") + 1].split(": ", 1)]) for words in (key, billing, warehouse)]
        assert [client.get(billing[2], headers=each).status_code for each in headers] == [200] * 3
        lines = [{"sku": "ABC-1", "quantity": 1, "unit_price": 1}]
        order = client.post(dev.url + "/orders", json={"lines": lines}, headers=headers[0]).json()["id"]
        for action, who in (("place", 0), ("pay", 1), ("ship", 2)):
            assert client.post(f"{dev.url}/orders/{order}/{action}", headers=headers[2 - who]).status_code in (200, 403)
            assert client.post(f"{dev.url}/orders/{order}/{action}", headers=headers[who]).status_code in (200, 409)
        assert client.get(f"{dev.url}/orders/{order}", headers=headers[1]).json()["status"] == "shipped"

        # Whatever it is asked to, it signs; for nobody but this machine.
        issuer = mint[-1].removesuffix("/token")
        for claims, status in (({"role": "audit"}, 200), ({"exp": 1}, 401), ({"aud": "shipping"}, 401)):
            made = client.post(mint[-1], json=claims).json()["access_token"]
            assert client.get(dev.url + "/orders", headers={"Authorization": f"Bearer {made}"}).status_code == status
        assert client.post(mint[-1], data={"role": ["a", "b"]}).json()["token_type"] == "Bearer"
        assert client.post(mint[-1], content=b"[]", headers={"Content-Type": "application/json"}).status_code == 400
        assert client.get(mint[-1]).status_code == 405
        assert client.get(issuer + "/keys", headers={"Host": "evil.example"}).status_code == 421
        assert "d" not in client.get(issuer + "/keys").json()["keys"][0]
        assert client.get(issuer + "/nothing").status_code == client.get(issuer + "s/keys").status_code == 404
        operator = issuer.partition("/identity/")[0]
        assert client.get(operator + "/health/live").status_code == 200

        # The same tokens after a save: nothing new is printed.
        dev.save(lambda text: text.replace("title: Only JSON is read here", "title: JSON only"))
        dev.until("what else is open is as it was")
        assert client.get(billing[2], headers=headers[1]).status_code == 200


def test_dev_leaves_an_issuer_that_is_given_alone(tmp_path: Path) -> None:
    with developing(tmp_path, "--set", "staff_issuer=https://id.example", contract=ORDERS.read_text()) as dev:
        dev.until("# staff: its tokens are made by the issuer that the operator names")
        assert not any("/identity/" in line for line in dev.said)
    with developing(tmp_path, "--set", "staff_issuer=http://id.example", contract=ORDERS.read_text()) as dev:
        dev.until("operator.staff_issuer is a URL of http")
        dev.until("nothing is served yet")
