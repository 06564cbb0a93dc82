"""`ninefold rows` and `ninefold add`, as an operator uses them: real files, real databases."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TypeAlias

import httpx
import pytest
from tests.cli.test_serving import serving
from tests.looking import looking_into

from ninefold.cli import main

ORDERS = str(Path(__file__).parents[2] / "examples" / "orders.md")
CUSTOMER = "123e4567-e89b-42d3-a456-426614174000"
LINES = 'lines=[{"sku": "TEA-250", "quantity": 2, "unit_price": 450}]'

STAFF = """# Staff

## 1. What the service does

Keeps people.

## 2. Resources and their fields

```yaml
person:
  primary key: id
  fields:
    id:       {type: integer, on create: serial()}
    name:     {type: string, minLength: 1, normalise: value.trim()}
    phone:    {type: string, sensitive: true}
    password: {type: string, minLength: 8, secret: password}
    boss:     {references: person, inverse: reports}
    salary:   {type: integer}
    author:   {type: string, on create: caller.person.name}
  required: [name, author]
  check: {that: "person.salary == null || person.salary > 0"}
```

## 3. States and transitions

States: none.
"""

Said: TypeAlias = Callable[..., tuple[int, str, str]]


@pytest.fixture
def said(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Said]:
    """What a command gives back and says; its database is in a folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    Path("staff.md").write_text(STAFF)

    def call(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        told = capsys.readouterr()
        return status, told.out, told.err

    yield call


def stored(database: str, query: str) -> list[tuple[object, ...]]:
    with looking_into(database) as connection:
        found: list[tuple[object, ...]] = connection.execute(query).fetchall()
    return found


def test_a_first_key_comes_to_be(said: Said, tmp_path: Path) -> None:
    status, out, err = said("add", ORDERS, "customer", "email=ada@example.org", "name=Ada", "--format", "json")
    assert status == 0 and "added 1 of customer to orders.db (new)" in err and "this once" in err
    row = json.loads(out)
    assert row["email"] == "ada@example.org" and len(row["api_key"]) > 30
    [(kept,)] = stored("orders.db", "SELECT api_key FROM customer")
    assert kept == hashlib.sha256(row["api_key"].encode()).digest()
    _, out, err = said("rows", ORDERS, "customer")
    assert row["id"] in out and "***" in out and row["api_key"] not in out and err == "1 row of customer\n"
    with serving(tmp_path, "--database", "orders.db") as service:
        answer = httpx.get(
            service.address("service") + "/orders", headers={"Authorization": f"Bearer {row['api_key']}"}
        )
        assert answer.status_code == 200


def test_the_database_keeps_the_contract(said: Said) -> None:
    assert said("add", ORDERS, "customer", "email=ada@example.org", "name=Ada")[0] == 0
    assert said("diff", "--database", "orders.db", ORDERS)[:2] == (0, "nothing differs\n")


def test_the_rules_of_the_contract_hold(said: Said) -> None:
    assert said("add", ORDERS, "customer", f"id={CUSTOMER}", "email=ada@example.org", "name=Ada")[0] == 0
    refused = {
        ("customer", "email=ada@example.org", "name=B"): "/email: another row has this value [",
        ("customer", "email=nobody", "name="): "/name: it is too short [",
        ("customer", "name=B"): "/email: it has to be given [",
        (
            "order",
            LINES,
            "customer=123e4567-e89b-42d3-a456-426614174001",
        ): "/customer: there is no such row to refer to [",
        ("order", "lines=[]"): "/lines: it has too few items [",
        ("order", "lines=nothing"): "/lines: the value is not of this field's type [",
    }
    for arguments, words in refused.items():
        status, out, err = said("add", ORDERS, *arguments)
        assert (status, out) == (1, "") and words in err and "nothing was added" in err
    assert said("rows", ORDERS, "customer")[2] == "1 row of customer\n"


TASKS = """
purpose: Keeps tasks.
resources:
  user:
    primary key: id
    fields: {id: {type: integer, on create: serial()}, made_by: {references: user, on create: caller.user}}
  task:
    primary key: id
    fields:
      id:      {type: integer, on create: serial()}
      owner:   {references: user, on create: caller.user}
      changed: {type: [string, "null"], on change: caller.user.name}
      agent:   {type: string, on create: "request.headers['user-agent']"}
      noted:   {type: string, format: date-time, on create: now}
      text:    {type: string}
states: none
"""
"""What the contract takes from a caller or a request, none of it required."""


def test_what_the_contract_takes_from_a_caller_has_to_be_given(said: Said) -> None:
    Path("tasks.yaml").write_text(TASKS)
    status, _, err = said("add", "tasks.yaml", "task", "text=A")
    assert status == 1 and "nothing was added" in err
    for field in ("owner", "changed", "agent"):
        assert f"/{field}: it has to be given [" in err
    assert "/noted" not in err and "/id" not in err
    assert said("add", "tasks.yaml", "user")[0] == 1
    # null says that there is none: the first user was made by nobody.
    assert said("add", "tasks.yaml", "user", "made_by=null")[0] == 0
    status, _, err = said("add", "tasks.yaml", "task", "owner=7", "changed=Ada", "agent=x")
    assert status == 1 and "/owner: there is no such row to refer to [" in err
    Path("rows.json").write_text('{"user": [{"made_by": 1}], "task": [{"owner": 2, "changed": null, "agent": null}]}')
    assert said("add", "tasks.yaml", "--from", "rows.json")[0] == 0
    assert stored("tasks.db", "SELECT owner, changed, agent, noted IS NULL FROM task") == [(2, None, None, 0)]


def test_a_row_begins_in_its_initial_state_with_what_the_contract_gives_it(said: Said) -> None:
    assert said("add", ORDERS, "customer", f"id={CUSTOMER}", "email=ada@example.org", "name=Ada")[0] == 0
    assert said("add", ORDERS, "order", LINES, f"customer={CUSTOMER}")[0] == 0
    _, out, _ = said(
        "rows", ORDERS, "order", "--where", f"customer={CUSTOMER}", "--where", "total=900", "--format", "json"
    )
    row = json.loads(out)
    assert (row["status"], row["total"], row["note"], row["customer"]) == ("draft", 900, None, CUSTOMER)
    assert row["created_at"].endswith("Z")
    status, _, err = said("add", ORDERS, "order", LINES, "status=placed")
    assert status == 2 and "status is no field of order that can be given" in err


def test_what_a_caller_would_give_has_to_be_given(said: Said) -> None:
    status, _, err = said("add", "staff.md", "person", "name=Ada")
    assert status == 1 and "/author: it has to be given" in err
    assert said("add", "staff.md", "person", "name= Ada ", "author=me", "password=open sesame", "phone=555")[0] == 0
    [(name, password)] = stored("staff.db", "SELECT name, password FROM person")
    assert name == "Ada" and isinstance(password, bytes) and password.startswith(b"$argon2id$")
    _, out, _ = said("rows", "staff.md", "person", "--format", "json")
    assert json.loads(out) == {
        "id": 1, "name": "Ada", "phone": "***", "password": "***", "boss": None, "salary": None, "author": "me"
    }  # fmt: skip
    assert '"phone":"555"' in said("rows", "staff.md", "person", "--format", "json", "--show-sensitive")[1]
    status, _, err = said("add", "staff.md", "person", "name=B", "author=me", "salary=0")
    assert status == 1 and "what has to hold does not, or a value cannot be made (person)" in err
    assert said("add", "staff.md", "person", "name=B", "author=me", "boss=1", "salary=1")[0] == 0
    _, out, _ = said("rows", "staff.md", "person", "--where", "boss=1", "--format", "json")
    assert json.loads(out)["name"] == "B"


def test_a_file_of_rows_is_added_whole_or_not_at_all(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    order = {"customer": CUSTOMER, "lines": [{"sku": "TEA", "quantity": 1, "unit_price": 1}]}
    people = [{"id": CUSTOMER, "email": "a@example.org", "name": "A"}, {"email": "b@example.org", "name": "B"}]
    Path("rows.json").write_text(
        json.dumps({"customer": people, "order": [order, {**order, "customer": people[0]["id"]}]})
    )
    status, out, err = said("add", ORDERS, "--from", "rows.json")
    assert status == 0 and "added 2 of customer, 2 of order" in err
    assert [line.split()[2] for line in out.splitlines()] == ["api_key", "api_key"]

    more = [{"email": "c@example.org", "name": "C"}, {"email": "b@example.org", "name": "B"}, people[1]]
    Path("more.json").write_text(json.dumps(more))
    status, out, err = said("add", ORDERS, "customer", "--from", "more.json")
    assert (status, out) == (1, "") and "/1 /email: another row has this value" in err and "were not tried" in err

    Path("wrong.json").write_text(json.dumps([{"email": "d@example.org"}, 3, {"email": "e@example.org", "name": "E"}]))
    status, _, err = said("add", ORDERS, "customer", "--from", "wrong.json")
    assert status == 1 and "/0 /name: it has to be given" in err and "/1 the row: the value is not of" in err
    assert said("rows", ORDERS, "customer", "--limit", "1")[2] == (
        "2 rows of customer, the first 1 shown (--limit shows more)\n"
    )

    lines = b'{"email": "f@example.org", "name": "F"}\n\n{"email": "g@example.org", "name": "G"}\n'
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines)))
    assert said("add", ORDERS, "customer", "--from", "-")[0] == 0
    _, out, _ = said("rows", ORDERS, "customer", "--sort", "-email", "--limit", "2", "--format", "json")
    assert [json.loads(line)["name"] for line in out.splitlines()] == ["G", "F"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[", "is not JSON"),
        ('{"customer": 3}', "is not an array of rows"),
        ("[]", "no resource that is named"),
        ('{"custmer": []}{', "is not JSON"),
        ('{"custmer": [{}]}', "did you mean `customer`?"),
        (None, "cannot be read: no such file"),
    ],
)
def test_a_file_that_holds_no_rows(said: Said, content: str | None, words: str) -> None:
    if content is not None:
        Path("rows.json").write_text(content)
    status, out, err = said("add", ORDERS, "--from", "rows.json")
    assert (status, out) == (2, "") and words in err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rows", ORDERS, "order"), "there is no database orders.db"),
        (("rows", ORDERS, "ordr"), "did you mean `order`?"),
        (("rows", ORDERS, "order", "--where", "totl=1"), "did you mean `total`?"),
        (("rows", ORDERS, "order", "--where", "total=many"), "not an integer"),
        (("rows", ORDERS, "order", "--where", "total"), "is not NAME=VALUE"),
        (("rows", ORDERS, "order", "--sort", "totl"), "did you mean `total`?"),
        (("rows", ORDERS, "order", "--limit", "0"), "--limit 0"),
        (("rows", ORDERS, "order", "--database", "folder"), "it is a directory"),
        (("rows", ORDERS, "order", "--database", "text.db"), "it is not a SQLite database"),
        (("rows", ORDERS, "order", "--database", "postgres://127.0.0.1:1/y"), "cannot be reached"),
        (("add", ORDERS), "no resource is named"),
        (("add", ORDERS, "customer", "name=A", "name=B"), "given twice"),
        (("add", ORDERS, "customer", "name=A", "--from", "x.json"), "--from as well"),
        (("add", ORDERS, "customer", "api_key=mine"), "no field of customer that can be given"),
    ],
)
def test_what_cannot_be_done(said: Said, arguments: tuple[str, ...], words: str) -> None:
    Path("folder").mkdir()
    Path("text.db").write_text("hello")
    status, out, err = said(*arguments)
    assert (status, out) == (2, "") and words in err


def test_what_part_3_does_not_show_blocks_adding(said: Said) -> None:
    Path("gap.md").write_text(STAFF.replace("States: none.", "States: not shown."))
    status, _, err = said("add", "gap.md", "person", "name=A", "author=B")
    assert status == 2 and "nothing can be added to person" in err and "which states there are, or none (line" in err


def test_a_contract_with_errors(said: Said) -> None:
    Path("broken.md").write_text(STAFF.replace("primary key: id", "primary key: no"))
    for command in ("rows", "add"):
        status, out, err = said(command, "broken.md", "person")
        assert (status, out) == (1, "") and "error[" in err


def test_a_database_of_another_contract(said: Said) -> None:
    assert said("add", "staff.md", "person", "name=A", "author=B", "--database", "x.db")[0] == 0
    status, _, err = said("rows", ORDERS, "order", "--database", "x.db")
    assert status == 2 and "made for another contract" in err and "resource `person`, its rows stay, hidden" in err
    Path("more.md").write_text(STAFF.replace("    salary:", "    town: {type: string}\n    salary:"))
    status, _, err = said("rows", "more.md", "person", "--database", "x.db")
    assert status == 2 and "field `person.town` is not there yet" in err


@pytest.mark.serves
def test_beside_a_service(said: Said, tmp_path: Path) -> None:
    """Looking works, and sees what is committed; adding is refused, because a database has one writer."""
    with serving(tmp_path, "--database", "orders.db") as service:
        made = httpx.post(service.address("service") + "/customers", json={"email": "ada@example.org", "name": "Ada"})
        status, out, _ = said("rows", ORDERS, "customer", "--format", "json")
        assert status == 0 and json.loads(out)["id"] == made.json()["id"]
        status, _, err = said("add", ORDERS, "customer", "email=b@example.org", "name=B")
        assert status == 2 and "already served by process" in err and "stop the service" not in err and "stop it" in err
        assert httpx.get(service.address("service") + "/orders").status_code == 401
        service.ended()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("orders.db-")]
    assert said("add", ORDERS, "customer", "email=b@example.org", "name=B")[0] == 0
