"""Credentials are issued as of a scheme, by its name: where a contract calls it otherwise, what was issued before is
good for nothing, which is told when the contract comes, and can be decided otherwise. Over SQLite and PostgreSQL."""

from __future__ import annotations

from math import inf
from pathlib import Path

import httpx
import pytest
from tests.events.service import running
from tests.postgresql import server
from tests.upgrade.test_a_strangers_way import said
from tests.upgrade.test_what_is_issued import CONTRACT, loaded, plan_of, ran

from ninefold.diagnostics.source import Source
from ninefold.plan.schema import Schema
from ninefold.plan.service import ServicePlan
from ninefold.runtime.operator.audit import SECONDS, Audit, Ended, Kept
from ninefold.runtime.store.changing import Decide, Rehearsed
from ninefold.runtime.store.opening import open_database
from ninefold.runtime.store.protocol import Opened
from ninefold.runtime.store.record import Known
from ninefold.runtime.store.upgrading import upgrade_database
from ninefold.tools.decisions import document
from ninefold.tools.decisions.decide import decide
from ninefold.upgrade.changes import Outcome

pytestmark = pytest.mark.serves

CALLED = (
    ("schemes: {key:", "schemes: {login:"),
    ("issues: key", "issues: login"),
    ("all others: key", "all others: login"),
)
RENAMED = (("  account:\n", "  member:\n"), ("account: none", "member: none"), ("create account", "create member"),
           ("read account, where: account == caller.account, responses: {200: account}",
            "read member, where: member == caller.member, responses: {200: member}"),
           ("issued to: account", "issued to: member"))  # fmt: skip
WAYS = {
    "it alone": ((), ()),
    "the resource too": (RENAMED, ("{rename: account, to: member}",)),
    "another primary key": ((("primary key: id", "primary key: email"),), ()),
}


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "accounts.db") if request.param == "sqlite" else server.database()


def edited(text: str, *edits: tuple[str, str]) -> str:
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def place(database: str) -> Path | str:
    return database if database.startswith("postgresql:") else Path(database)


def issued(database: str, text: str = CONTRACT) -> str:
    """A credential that the service issues."""
    with running(place(database), text, name="accounts.yaml") as service:
        made = service.http.post("/accounts", json={"email": "a"})
        assert made.status_code == 201
        key: str = made.json()["key"]
        assert who(service.http, key) == 200
    return key


def who(http: httpx.Client, key: str) -> int:
    return http.get("/me", headers={"Authorization": f"Bearer {key}"}).status_code


def is_known(database: str, text: str, key: str) -> bool:
    with running(place(database), text, name="accounts.yaml") as service:
        return who(service.http, key) == 200


def audit_of(text: str, database: str, seconds: float = inf) -> tuple[ServicePlan, Audit]:
    found = loaded(text)
    plan = plan_of(found, database)
    return plan, Audit(plan.stored, seconds, Kept(found.source, lambda _: ()), plan.issuing)


def deciding(plan: ServicePlan, *lines: str) -> Decide:
    text = "\n".join(["changes:", *(f"  - {each}" for each in lines)]) if lines else ""
    read = document.read(Source("a.upgrade.yaml", text or "changes: []"))
    assert not read.diagnostics

    def decided(stored: Schema, known: Known) -> Outcome:
        found, wrong = decide(read.value, stored, plan.schema, issuing=plan.issuing)
        assert not wrong, [each.message for each in wrong]
        return found

    return decided


def upgraded(text: str, database: str, *lines: str, apply: bool = True) -> tuple[Rehearsed, tuple[Ended, ...]]:
    plan, audit = audit_of(text, database)
    done = upgrade_database(database, plan, deciding(plan, *lines), audit, apply, None)
    return done, audit.counted.ended


@pytest.mark.parametrize("way", WAYS)
def test_what_was_issued_is_of_the_scheme_that_it_is_called_now(database: str, way: str) -> None:
    edits, decisions = WAYS[way]
    key, now = issued(database), edited(CONTRACT, *CALLED, *edits)
    resource = "member" if edits is RENAMED else "account"
    done, ended = upgraded(now, database, *decisions, apply=False)
    assert done.goes and ended == (Ended("key", resource, 1),)
    done, ended = upgraded(now, database, *decisions, "{scheme: key, to: login}")
    assert done.made and ended == ()
    assert is_known(database, now, key)


def test_without_a_decision_it_ends_and_that_is_told_once(database: str) -> None:
    key, now = issued(database), edited(CONTRACT, *CALLED)
    told = []
    for _ in range(2):
        plan, audit = audit_of(now, database, SECONDS)
        opening = open_database(database, plan, None, audit)
        assert isinstance(opening, Opened)
        opening.database.close()
        told.append(list(audit.counted.words()))
    words = "1 credential of `key`, issued to rows of `account`, is good for nothing now"
    assert told == [[f"{words}: no scheme that issues is called so"], []]
    assert not is_known(database, now, key)
    assert is_known(database, CONTRACT, key)  # and comes back with the contract of before
    done, ended = upgraded(now, database, apply=False)
    assert done.goes and ended == (Ended("key", "account", 1),)
    done, _ = upgraded(now, database, "{scheme: key, to: login}")
    assert done.made
    assert is_known(database, now, key)


def test_a_scheme_that_issues_no_more_ends_what_it_issued(database: str) -> None:
    token = (
        "    required: [email]",
        "      own:   {type: string, secret: token, on create: token()}\n    required: [email]",
    )
    before = edited(CONTRACT, token)
    issued(database, before)
    now = edited(
        before,
        ("issued to: account, lasts: P1D, scopes: [reads], granted: \"['reads']\"", "matches: account.own"),
        ("issues: key, responses: {201: {key: caller.credential}}", "responses: {201: account}"),
    )
    done, ended = upgraded(now, database, apply=False)
    assert done.goes and ended == (Ended("key", "account", 1),)


def test_what_has_ended_by_itself_is_not_told(database: str) -> None:
    issued(database)
    statement = """UPDATE "$credential account" SET "$expires" = '2020-01-01T00:00:00.000000Z'"""
    ran(database, statement)
    assert upgraded(edited(CONTRACT, *CALLED), database, apply=False)[1] == ()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{scheme: key, to: log}", "the contract issues no credentials of `log`"),
        ("{scheme: login, to: login}", "the contract itself issues credentials of `login`"),
        ("{scheme: key}", "`scheme` says nothing without `to`"),
        ("{scheme: key, is: login}", "`is` does not stand beside `scheme`"),
    ],
)
def test_what_cannot_be_is_said_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    issued(str(tmp_path / "accounts.db"))
    Path("accounts.yaml").write_text(edited(CONTRACT, *CALLED), encoding="utf-8")
    Path("accounts.upgrade.yaml").write_text(f"changes:\n  - {line}\n", encoding="utf-8")
    told = said("ninefold upgrade accounts.yaml", 2, capsys)
    assert why in told and "accounts.upgrade.yaml:2:" in told


def test_the_preview_says_how_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    key = issued(str(tmp_path / "accounts.db"))
    Path("accounts.yaml").write_text(edited(CONTRACT, *CALLED), encoding="utf-8")
    told = said("ninefold upgrade accounts.yaml", 0, capsys)
    assert "ended       1 credential of `key`" in told and "{scheme: key, to: …}" in told
    assert '"ended": [{"scheme": "key", "of": "account", "count": 1}]' in " ".join(
        said("ninefold upgrade accounts.yaml --format json", 0, capsys).split()
    ).replace("[ {", "[{").replace("} ]", "}]").replace("{ ", "{").replace(" }", "}")
    Path("accounts.upgrade.yaml").write_text("changes:\n  - {scheme: key, to: login}\n", encoding="utf-8")
    assert "ended" not in said("ninefold upgrade accounts.yaml", 0, capsys)
    assert "upgraded." in said("ninefold upgrade accounts.yaml --apply", 0, capsys)
    assert is_known(str(tmp_path / "accounts.db"), edited(CONTRACT, *CALLED), key)
