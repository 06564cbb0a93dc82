"""The version of a request that names none, where the account of its caller says it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.contracts import plan_of
from tests.events.receiver import receiving
from tests.events.service import CONTRACT as NOTES
from tests.events.service import running
from tests.http_cases import serving
from tests.parts import in_two_versions

from ninefold.cli import main

pytestmark = pytest.mark.serves

CASE = Path(__file__).parents[1] / "cases" / "a-version-pinned-by-the-account" / "contract.md"
CONTRACT = CASE.read_text(encoding="utf-8")
HEADER = "in: header\nname: Payments-Version"
DEFAULT = """default: "has(caller.account) ? caller.account.version : request.headers['Newcomer-Version']\""""
NEW, OLD = "2026-06-01", "2025-01-01"


@contextmanager
def service(directory: Path, scheme: str, default: str = DEFAULT, contract: str = CONTRACT) -> Iterator[httpx.Client]:
    text = contract.replace(HEADER, scheme).replace(DEFAULT, default)
    plan = plan_of(text)
    with serving(plan, directory / "service.db", {}) as client:
        yield client


def account(client: httpx.Client, version: str) -> dict[str, str]:
    """The credential of a new account."""
    made = client.post("/accounts", json={"version": version}, headers={"Newcomer-Version": NEW})
    return {"Api-Key": made.json()["key"]}


def test_in_the_path_an_address_without_a_version_is_of_the_accounts(tmp_path: Path) -> None:
    with service(tmp_path, "in: path") as client:
        old, new = account(client, OLD), account(client, NEW)
        assert "cents" in client.post("/charges", json={"cents": 5}, headers=old).json()
        charge = client.post("/charges", json={"amount": 5}, headers=new).json()
        assert client.get(f"/charges/{charge['id']}", headers=new).json() == charge
        assert client.get(f"/charge/{charge['id']}", headers=new).status_code == 404
        # A version that stands in the path is the version, whoever calls.
        cents = {"id": charge["id"], "cents": 5}
        assert client.get(f"/{OLD}/charge/{charge['id']}", headers=new).json() == cents
        assert client.post(f"/{NEW}/charges", json={"amount": 5}, headers=old).status_code == 201
        assert client.post("/charges", json={"amount": 5}).json() == {"code": "unknown_version"}
        assert client.get("/2024-01-01/charges/x", headers=new).json() == {"code": "unknown_version"}
        assert client.get("/nowhere", headers=new).json() == {"code": "no_such_path"}


@pytest.mark.parametrize("scheme", ["in: query\nname: version", "in: media type\nname: v"])
def test_a_request_that_names_a_version_is_not_asked(tmp_path: Path, scheme: str) -> None:
    with service(tmp_path, scheme) as client:
        old = account(client, OLD)
        pinned = client.post("/charges", json={"cents": 5}, headers=old)
        assert (pinned.status_code, "cents" in pinned.json()) == (201, True)
        if "query" in scheme:
            named = client.post("/charges", params={"version": NEW}, json={"amount": 5}, headers=old)
            assert pinned.headers["Vary"] == "Api-Key, Newcomer-Version"
        else:
            as_new = {"Content-Type": f"application/json; v={NEW}", **old}
            named = client.post("/charges", content=b'{"amount": 5}', headers=as_new)
            assert pinned.headers["Content-Type"] == f"application/json; v={OLD}"
            assert pinned.headers["Vary"] == "Accept, Api-Key, Newcomer-Version"
        assert (named.status_code, "amount" in named.json()) == (201, True)


def test_an_expression_without_a_value_names_no_version(tmp_path: Path) -> None:
    contract = CONTRACT.replace("  required: [version]\n", "").replace(", on create: \"'2026-06-01'\"}", "}")
    with service(tmp_path, HEADER, "default: caller.account.version", contract) as client:
        named = {"Payments-Version": NEW}
        without = client.post("/accounts", json={}, headers=named).json()["key"]
        assert client.post("/charges", json={"amount": 5}, headers={"Api-Key": without}).status_code == 400
        # Who is nobody has no account; the order of the conditions says which of the two is told.
        assert client.post("/charges", json={"amount": 5}).json() == {"code": "unknown_version"}
    (tmp_path / "2").mkdir()
    first = contract.replace("## 8.", "```yaml\nprecedence: [unauthenticated, unknown version]\n```\n\n## 8.")
    with service(tmp_path / "2", HEADER, "default: caller.account.version", first) as client:
        assert client.post("/charges", json={"amount": 5}).json() == {"code": "unauthenticated"}


def test_where_anyone_alone_may_call_nobodys_account_says_the_version(tmp_path: Path) -> None:
    with service(tmp_path, HEADER) as client:
        old = account(client, OLD)
        told = [
            "Deprecation" in client.post("/accounts", json={"version": NEW}, headers=headers).headers
            for headers in (
                {"Newcomer-Version": OLD},
                {**old, "Newcomer-Version": NEW},
                {**old, "Newcomer-Version": OLD},
            )
        ]
        assert told == [True, False, True]
        assert client.post("/accounts", json={"version": NEW}, headers=old).status_code == 400  # it names none


def test_an_account_of_a_retired_version_is_told_so(tmp_path: Path) -> None:
    contract = CONTRACT.replace('deprecated: "2026-06-01"', 'retired: "2026-01-01"')
    with service(tmp_path, HEADER, DEFAULT, contract) as client:
        old = account(client, OLD)
        assert client.post("/charges", json={"cents": 5}, headers=old).json() == {"code": "retired_version"}
        assert client.post("/charges", json={"amount": 5}, headers={**old, "Payments-Version": NEW}).status_code == 201


def test_a_rate_counts_the_requests_of_all_versions_once(tmp_path: Path) -> None:
    rate = "rates: {calls: {of: caller, allow: 2, per: PT1H, algorithm: fixed window, endpoints: [POST /charges]}}"
    with service(tmp_path, HEADER, DEFAULT, CONTRACT.replace("rates: none", rate)) as client:
        old = account(client, OLD)
        assert client.post("/charges", json={"cents": 5}, headers=old).status_code == 201
        named = {**old, "Payments-Version": NEW}
        assert client.post("/charges", json={"amount": 5}, headers=named).status_code == 201
        assert client.post("/charges", json={"cents": 5}, headers=old).status_code == 429


def test_explain_says_what_gives_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", str(CASE)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "a request that names no version asks for the one that `has(caller.account) ?" in told


def test_a_browser_is_told_what_any_version_allows(tmp_path: Path) -> None:
    open_to_all = "cors: {origins: all, headers: [Api-Key], preflight: 204}\n"
    contract = CONTRACT.replace("POST /accounts:  ", open_to_all + "POST /accounts:  ", 1)
    with service(tmp_path, HEADER, DEFAULT, contract) as client:
        asked = {"Origin": "https://shop.example", "Access-Control-Request-Method": "GET"}
        for path in ("/charge/1", "/charges/1"):
            told = client.options(path, headers=asked)
            assert (told.status_code, told.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")
            assert "GET" in told.headers["Access-Control-Allow-Methods"]
        assert client.options("/nowhere").status_code == 404


def test_a_subscription_tells_of_events_in_the_version_of_its_request(tmp_path: Path) -> None:
    old, new = account_of_notes("1"), account_of_notes("2")
    pinned = "\"has(caller.person) ? caller.person.version : '2'\""
    notes = in_two_versions(NOTES, "{rename: note.title, to: text}", default=pinned)
    notes = notes.replace("    role: {", '    version: {type: string, enum: ["2", "1"]}\n    role: {', 1)
    notes = notes.replace("required: [name, role]", "required: [name, role, version]").replace(
        "body: [name, role]", "body: [name, role, version]"
    )
    with receiving() as receiver, running(tmp_path / "service.db", notes) as at_work:
        by = [
            {"Authorization": "Bearer " + at_work.http.post("/people", json=each).json()["token"]}
            for each in (old, new)
        ]
        at_work.subscribe(by[0], receiver.url, "note.written")
        assert at_work.http.post("/notes", json={"title": "tea"}, headers=by[1]).status_code == 201
        [delivery] = receiver.until(1)
    assert delivery.json["data"]["text"] == "tea"


def account_of_notes(version: str) -> dict[str, str]:
    return {"name": f"of {version}", "role": "staff", "version": version}
