"""Webhooks that go to rows of the contract's own: which of them, by what they say now, and in which version."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import apsw
import httpx
import pytest
from standardwebhooks import Webhook, WebhookVerificationError
from tests.events.receiver import Answer, receiving
from tests.events.service import CONTRACT, Running, running
from tests.parts import in_two_versions
from tests.postgresql import server
from tests.waiting import until

from ninefold.checks.events import LIKE_BASE64
from ninefold.cli import main
from ninefold.runtime import unanswered

pytestmark = pytest.mark.serves

HOOK = """hook:
  primary key: id
  fields:
    id: {type: integer, on create: serial()}
    owner: {references: person, on create: caller.person, on delete: cascade}
    url: {type: string, maxLength: 200}
    key: {type: [string, "null"]}
    kinds: {type: array, items: {type: string}}
    status: {state: true}
  required: [url, kinds]
note:
"""

CONTRACT_OF_ROWS = (
    CONTRACT.replace("note:\n  primary key", HOOK + "  primary key", 1)
    .replace(
        "person: none\n",
        """person: none
hook:
  initial: on
  states: [on, off]
  gone: [off]
  transitions:
    stop: {from: on, to: off}
""",
    )
    .replace(
        CONTRACT[CONTRACT.index("POST /webhooks:") : CONTRACT.index("GET /events")],
        """POST /hooks: {does: create hook, body: [url, key, kinds], responses: {201: hook}}
PATCH /hooks/{id}: {does: update hook, body: [url, key, kinds], patch: merge, responses: {200: hook}}
POST /hooks/{id}/stop: {does: stop hook, body: none, responses: {204: none}}
DELETE /hooks/{id}: {does: delete hook, responses: {204: none}}
""",
    )
    .replace("  subscription: {token: true}", "  hook: {token: hook.owner == caller.person}")
    .replace(
        "  webhooks: {to: subscription, signature",
        """  webhooks:
    to: hook
    where: "event.kind in hook.kinds && event.payload.owner == hook.owner.id"
    url: hook.url
    secret: hook.key
    signature""",
    )
    .replace(
        "standard-webhooks, attempts: 3, backoff: [PT0.05S, PT0.2S]}",
        "standard-webhooks\n    attempts: 3\n    backoff: [PT0.05S, PT0.2S]",
    )
    .replace("title: note.title, owner: note.owner.name", "title: note.title, owner: note.owner.id")
    .replace("status: note.status, at: now}", "status: note.status, owner: note.owner.id}")
    .replace("payload: note}", "payload: {id: note.id, title: note.title, owner: note.owner.id}}")
)  # fmt: skip

NUMBERED = "id: {type: integer, on create: serial()}"

KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """Where the rows are to be."""
    return tmp_path / "service.db" if request.param == "sqlite" else server.database()


@pytest.fixture
def service(place: Path | str) -> Iterator[Running]:
    with running(place, CONTRACT_OF_ROWS) as service:
        yield service


def hook(service: Running, by: dict[str, str], url: str, *kinds: str, key: str | None = KEY) -> int:
    made = service.http.post("/hooks", json={"url": url, "key": key, "kinds": kinds}, headers=by)
    assert made.status_code == 201, made.text
    return int(made.json()["id"])


def until_left(service: Running, wanted: list[tuple[object, ...]]) -> None:
    until(lambda: service.rows(LEFT) == wanted, lambda: service.rows(LEFT))


LEFT = 'SELECT subscription, event, attempts, dead FROM "$delivery" ORDER BY event'


def test_events_go_to_the_rows_of_which_the_condition_holds(service: Running) -> None:
    ann, bob = service.person("Ann"), service.person("Bob")
    with receiving() as receiver:
        hook(service, ann, receiver.url + "/ann", "note.written", "note.finished")
        hook(service, bob, receiver.url + "/bob", "note.written")
        first = service.note(ann, "tea")
        service.http.post(f"/notes/{first}/finish", headers=ann)
        service.note(bob, "milk")
        came = receiver.until(3)
        until_left(service, [])
    told = sorted((each.json["type"], each.json["data"].get("title")) for each in came)
    assert told == [("note.finished", None), ("note.written", "milk"), ("note.written", "tea")]
    verified = Webhook(KEY).verify(came[0].body, came[0].headers)
    assert verified["type"] == "note.written"
    with pytest.raises(WebhookVerificationError):
        Webhook(KEY).verify(came[0].body + b" ", came[0].headers)


def test_what_a_row_says_now_is_what_counts(service: Running) -> None:
    ann = service.person("Ann")
    with receiving(lambda number: Answer(500 if number == 0 else 204)) as first, receiving() as second:
        id = hook(service, ann, first.url, "note.written")
        service.note(ann, "tea")
        first.until(1)
        service.http.patch(f"/hooks/{id}", json={"url": second.url, "key": "plain words"}, headers=ann)
        service.note(ann, "milk")
        came = second.until(1)
    import base64

    Webhook(base64.b64encode(b"plain words").decode()).verify(came[0].body, came[0].headers)


def test_rows_that_are_stopped_or_deleted_are_told_nothing(service: Running) -> None:
    ann = service.person("Ann")
    with receiving() as receiver:
        stopped, deleted = (hook(service, ann, receiver.url, "note.written") for _ in range(2))
        service.note(ann, "tea")
        receiver.until(2)
        assert service.http.post(f"/hooks/{stopped}/stop", headers=ann).status_code == 204
        assert service.http.delete(f"/hooks/{deleted}", headers=ann).status_code == 204
        with receiving() as other:
            another = hook(service, ann, other.url, "note.written")
            service.note(ann, "milk")
            other.until(1)
            until_left(service, [])
        assert len(receiver.came) == 2
    assert service.rows('SELECT id FROM "$subscription" ORDER BY id') == [(str(stopped),), (str(another),)]


@pytest.mark.parametrize(
    ("url", "key", "why"),
    [
        ("", KEY, "the row has no address"),
        ("ftp://example.com/", KEY, unanswered.OF_HTTP),
        ("http://me:pass@127.0.0.1/", KEY, unanswered.OF_NOBODY),
        ("http://[::1", KEY, unanswered.NO_URL),
        ("http://2130706433/", KEY, unanswered.NUMBER),
        ("http://127.0.0.1:99999/", KEY, unanswered.PORT),
        ("http://10.9.8.7/", KEY, "the address is not one of the public internet, and no --allow-private admits it"),
        ("http://127.0.0.1:1/", None, "the row has no secret to sign with"),
        ("http://127.0.0.1:1/", "", "the row has no secret to sign with"),
        ("http://127.0.0.1:1/", "whsec_***", "the row's secret begins with `whsec_`, and is not base64 behind it"),
        ("http://127.0.0.1:1/", "whsec_abcde", "the row's secret begins with `whsec_`, and is not base64 behind it"),
    ],
)
def test_a_row_that_says_nothing_to_deliver_to_is_given_up(
    service: Running, url: str, key: str | None, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    ann = service.person("Ann")
    id = hook(service, ann, url, "note.written", key=key)
    service.note(ann, "tea")
    until_left(service, [(str(id), 1, 3, why)])
    said = [
        f"deliveries to hook {id} fail, and are tried again: {why}",
        f"the delivery of event 1 to hook {id} is given up after attempt 3: {why}",
    ]
    until(lambda: told(caplog) == said, lambda: told(caplog))


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.name == "ninefold.delivery"]


@pytest.mark.parametrize(
    ("key", "read"),
    [
        ("whsec_" + "abcd1234" * 4, "abcd1234" * 4),
        ("whsec_-_abcd1234-_abcd1234-_abcd1234ab", "+/abcd1234+/abcd1234+/abcd1234ab"),
        ("whsec_" + "-_ab" * 8 + "abc", "+/ab" * 8 + "abc="),
        ("whsec_" + "abcd" * 8 + "ab", "abcd" * 8 + "ab=="),
        ("whsec_" + "abcd" * 8 + "ab==", "abcd" * 8 + "ab=="),
    ],
)
def test_a_secret_is_base64_of_any_kind(place: Path | str, key: str, read: str) -> None:
    with running(place, CONTRACT_OF_ROWS) as service, receiving() as receiver:
        ann = service.person("Ann")
        hook(service, ann, receiver.url, "note.written", key=key)
        service.note(ann, "tea")
        [came] = receiver.until(1)
    Webhook(read).verify(came.body, came.headers)


def test_the_secret_that_the_reference_recommends_is_verified_as_it_is_shown(place: Path | str) -> None:
    contract = CONTRACT_OF_ROWS.replace(
        'key: {type: [string, "null"]}', f"""key: {{type: string, on create: "{LIKE_BASE64}"}}"""
    ).replace("body: [url, key, kinds]", "body: [url, kinds]")
    with running(place, contract) as service, receiving() as receiver:
        ann = service.person("Ann")
        made = service.http.post("/hooks", json={"url": receiver.url, "kinds": ["note.written"]}, headers=ann)
        service.note(ann, "tea")
        [came] = receiver.until(1)
    Webhook(made.json()["key"]).verify(came.body, came.headers)


def test_the_log_says_once_that_a_receiver_fails_until_something_arrives(
    service: Running, caplog: pytest.LogCaptureFixture
) -> None:
    ann = service.person("Ann")
    with receiving(lambda number: Answer(500 if number in (0, 1, 3) else 204)) as receiver:
        id = hook(service, ann, receiver.url, "note.written")
        service.note(ann, "tea")
        receiver.until(3)
        until_left(service, [])
        service.note(ann, "milk")
        receiver.until(5)
        until_left(service, [])
    assert told(caplog) == [f"deliveries to hook {id} fail, and are tried again: answered 500"] * 2


def test_what_waits_for_a_receiver_that_is_gone_is_given_up_until_the_operator_says_otherwise(
    service: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = tmp_path / "contract.md"
    document.write_text(CONTRACT_OF_ROWS, encoding="utf-8")
    ann = service.person("Ann")
    with receiving(lambda number: Answer(410 if number == 0 else 204)) as receiver:
        id = hook(service, ann, receiver.url, "note.written")
        service.note(ann, "tea")
        receiver.until(1)
        until_left(service, [(str(id), 1, 0, "the receiver is gone (410)")])
        service.note(ann, "milk")
        receiver.until(2)
        arguments = ["--database", str(service.path)]
        assert main(["events", str(document), "dead", *arguments]) == 0
        assert "the receiver is gone (410)" in capsys.readouterr().out
        assert main(["events", str(document), "replay", "--event", "1", "--subscription", str(id), *arguments]) == 0
        assert [came.json["data"]["title"] for came in receiver.until(3)] == ["tea", "milk", "tea"]
        for more in ((), ("--event", "1")):
            assert main(["events", str(document), "replay", *more, "--subscription", "77", *arguments]) == 2
            assert "there is no subscription 77" in capsys.readouterr().err
        assert main(["events", str(document), "rotate", "--subscription", str(id), *arguments]) == 2


def test_a_row_is_told_in_the_version_in_which_it_was_made(place: Path | str) -> None:
    contract = in_two_versions(
        CONTRACT_OF_ROWS,
        "{rename: note.title, to: text}",
        "{rename: note.written, to: note.made}",
        "{rename: hook.url, to: address}",
    )
    with running(place, contract) as service, receiving() as new, receiving() as old:
        ann = service.person("Ann")
        hook(service, ann, new.url, "note.written")
        made = {"address": old.url, "key": KEY, "kinds": ["note.made"]}
        answer = service.http.post("/hooks", json=made, headers={**ann, "Api-Version": "1"})
        assert (answer.status_code, answer.json()["address"]) == (201, old.url)
        service.note(ann, "tea")
        [newest], [older] = new.until(1), old.until(1)
        assert (newest.json["type"], newest.json["data"]["title"]) == ("note.written", "tea")
        assert (older.json["type"], older.json["data"]["text"]) == ("note.made", "tea")
        assert "title" not in older.json["data"]
        until_left(service, [])


def test_nobody_else_is_told_by_a_row_that_only_the_owner_sees(service: Running) -> None:
    ann, bob = service.person("Ann"), service.person("Bob")
    id = hook(service, ann, "http://127.0.0.1:1/", "note.written")
    answer: httpx.Response = service.http.patch(f"/hooks/{id}", json={"kinds": []}, headers=bob)
    assert answer.status_code == 404


def of_two_fields() -> str:
    """A contract whose receivers are identified by their owner and a name."""
    contract = CONTRACT_OF_ROWS
    for written, instead in (
        ("hook:\n  primary key: id\n", "hook:\n  primary key: [owner, name]\n"),
        (
            "    id: {type: integer, on create: serial()}\n    owner",
            "    name: {type: string, maxLength: 20}\n    owner",
        ),
        ("body: [url, key, kinds], responses: {201: hook}", "body: [name, url, key, kinds], responses: {201: hook}"),
        (
            "PATCH /hooks/{id}: {does: update hook, body: [",
            "PATCH /people/{owner}/hooks/{name}: {does: update hook, body: [name, ",
        ),
        ("POST /hooks/{id}/stop", "POST /people/{owner}/hooks/{name}/stop"),
        ("DELETE /hooks/{id}", "DELETE /people/{owner}/hooks/{name}"),
        (
            "DELETE /notes/{id}:",
            "DELETE /people/{id}: {does: delete person, responses: {204: none}}\nDELETE /notes/{id}:",
        ),
    ):
        assert written in contract, written
        contract = contract.replace(written, instead, 1)
    return contract


def test_receivers_of_two_fields_are_told_in_the_version_in_which_they_were_made(place: Path | str) -> None:
    old = {"Api-Version": "1"}
    versions = """```yaml
in: header
name: Api-Version
default: "2"
versions:
  "2": {}
  "1": {changes: [{rename: note.written, to: note.made}]}
compatible: none
```"""
    contract = of_two_fields()
    contract = contract[: contract.index("Versions: none.")] + versions + "\n"
    with running(place, contract) as service, receiving() as newest, receiving() as older:
        ann = service.person("Ann")
        for name, receiver, version in (("new", newest, {}), ("old", older, old)):
            given = {"name": name, "url": receiver.url, "key": KEY, "kinds": ["note.written", "note.made"]}
            assert service.http.post("/hooks", json=given, headers={**ann, **version}).status_code == 201
        service.note(ann, "tea")
        assert [each.until(1)[0].json["type"] for each in (newest, older)] == ["note.written", "note.made"]


def test_receivers_that_several_fields_identify(place: Path | str) -> None:
    with (
        running(place, of_two_fields()) as service,
        receiving() as shop,
        receiving() as till,
        receiving() as other,
    ):
        ann, bob = service.person("Ann"), service.person("Bob")
        people = dict(service.rows("SELECT name, id FROM person"))
        for by, name, receiver in ((ann, "shop", shop), (ann, "till 2", till), (bob, "shop", other)):
            given = {"name": name, "url": receiver.url, "key": KEY, "kinds": ["note.written"]}
            made = service.http.post("/hooks", json=given, headers=by)
            assert made.status_code == 201, made.text
        service.note(ann, "tea")
        assert shop.until(1)[0].id == till.until(1)[0].id
        path = f"/people/{people['Ann']}/hooks/till 2"
        assert service.http.delete(path, headers=ann).status_code == 204
        service.note(ann, "milk")
        assert shop.until(2)[1].json["data"]["title"] == "milk"
        kept = [id for (id,) in service.rows('SELECT id FROM "$subscription" ORDER BY id')]
        assert kept == sorted(f'["{people[name]}","shop"]' for name in ("Ann", "Bob"))
        # A receiver that goes with its owner is no longer there either.
        assert service.http.delete(f"/people/{people['Bob']}", headers=bob).status_code == 204
        assert len(service.rows('SELECT id FROM "$subscription"')) == 1
        assert len(till.came) == 1 and not other.came


def test_the_one_row_of_a_resource_is_told(place: Path | str) -> None:
    contract = CONTRACT_OF_ROWS
    for written, instead in (
        ("hook:\n  primary key: id\n", "hook:\n  primary key: none\n"),
        ("    id: {type: integer, on create: serial()}\n    owner: {references: person, on create: caller.person, on delete: cascade}\n", ""),  # noqa: E501
        ("    url: {type: string, maxLength: 200}", "    url: {type: string, maxLength: 200, on create: \"''\"}"),
        ("    kinds: {type: array, items: {type: string}}", "    kinds: {type: array, items: {type: string}, on create: \"['note.written']\"}"),  # noqa: E501
        ("POST /hooks: {does: create hook, body: [url, key, kinds], responses: {201: hook}}\n", ""),
        ("PATCH /hooks/{id}", "PATCH /hook"),
        ("POST /hooks/{id}/stop", "POST /hook/stop"),
        ("DELETE /hooks/{id}: {does: delete hook, responses: {204: none}}\n", ""),
        (" && event.payload.owner == hook.owner.id", ""),
        ("hook: {token: hook.owner == caller.person}", "hook: {token: true}"),
    ):  # fmt: skip
        assert written in contract, written
        contract = contract.replace(written, instead, 1)
    with running(place, contract) as service, receiving() as receiver:
        ann = service.person("Ann")
        given = {"url": receiver.url, "key": KEY}
        assert service.http.patch("/hook", json=given, headers=ann).status_code == 200
        service.note(ann, "tea")
        assert receiver.until(1)[0].json["data"]["title"] == "tea"
        until_left(service, [])  # that it has come is noted a moment later
        assert service.rows('SELECT id FROM "$subscription"') == [("[]",)]
        assert service.http.post("/hook/stop", headers=ann).status_code == 204
        service.note(ann, "milk")
        assert service.rows(LEFT) == [] and len(receiver.came) == 1


def till_and_shop(service: Running, contract: str) -> tuple[dict[str, str], bool]:
    ann, named = service.person("Ann"), "name: {type: string, maxLength: 20}" in contract
    for name in ("till", "shop"):
        known = {"name": name} if named else {}
        given = {**known, "url": f"http://127.0.0.1:1/{name}", "key": KEY, "kinds": ["note.written"]}
        assert service.http.post("/hooks", json=given, headers=ann).status_code == 201
    service.note(ann, "tea")
    return ann, named


@pytest.mark.parametrize("contract", [CONTRACT_OF_ROWS, of_two_fields()], ids=["one field", "two fields"])
def test_deliveries_end_with_rows_whose_table_was_made_anew(place: Path | str, contract: str) -> None:
    url = "    url: {type: string, maxLength: 200}"
    before = contract.replace(url, f"{url}\n    weight: {{type: integer}}", 1)
    with running(place, before) as service:
        ann, named = till_and_shop(service, contract)
        [[ann_id]] = service.rows("SELECT id FROM person")
        assert len(service.rows('SELECT id FROM "$subscription"')) == 2
    with running(place, before.replace("weight: {type: integer}", "weight: {type: number}")) as service:
        path = f"/people/{ann_id}/hooks/till" if named else "/hooks/1"
        assert service.http.delete(path, headers=ann).status_code == 204
        assert service.rows('SELECT id FROM "$subscription"') == [(f'["{ann_id}","shop"]' if named else "2",)]
        assert {each for (each, *_) in service.rows(LEFT)} <= {"2", f'["{ann_id}","shop"]'}


@pytest.mark.parametrize("of", ["{type: integer, on create: serial()}", '{type: number, on create: "0.1 + 0.2"}'])
def test_what_goes_to_a_row_follows_its_primary_key(place: Path | str, of: str) -> None:
    """Which an upgrade may change: with all that was written of the row."""
    contract = in_two_versions(CONTRACT_OF_ROWS.replace(NUMBERED, f"id: {of}"), "{rename: note.title, to: text}")
    with running(place, contract) as service:
        ann = service.person("Ann")
        given = {"url": "http://127.0.0.1:1/", "key": KEY, "kinds": ["note.written"]}
        assert service.http.post("/hooks", json=given, headers=ann).status_code == 201
        service.note(ann, "tea")
        until(lambda: service.rows(LEFT)[0][2] == 3, lambda: service.rows(LEFT))
    if isinstance(place, str):
        server.run(place, "UPDATE hook SET id = 9")
    else:
        with closing(apsw.Connection(str(place))) as database:
            database.execute("PRAGMA foreign_keys = ON; UPDATE hook SET id = 9")
    kept = 'SELECT subscription FROM "$delivery" UNION ALL SELECT id FROM "$subscribed in"'
    assert (
        service.rows(f'{kept} UNION ALL SELECT id FROM "$subscription"') == [("9" if "integer" in of else "9.0",)] * 3
    )


def test_what_waits_for_rows_that_an_upgrade_knows_otherwise_waits_for_them(
    place: Path | str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(place, CONTRACT_OF_ROWS) as service:
        ann = service.person("Ann")
        hook(service, ann, "http://127.0.0.1:1/", "note.written")
        service.note(ann, "tea")
    contract, decisions = tmp_path / "contract.md", tmp_path / "contract.upgrade.yaml"
    assert NUMBERED in CONTRACT_OF_ROWS
    contract.write_text(CONTRACT_OF_ROWS.replace(NUMBERED, "id: {type: string, on create: uuid()}"))
    decisions.write_text("changes:\n  - {set: hook.id, is: \"'h' + string(old.id)\"}")
    assert main(["upgrade", str(contract), "--database", str(place), "--apply"]) == 0
    assert "the deliveries of events, kept, by the new primary key of `hook`" in capsys.readouterr().out
    waits = 'SELECT kept.id, waits.subscription FROM "$subscription" AS kept, "$delivery" AS waits'
    assert service.rows(waits) == [("h1", "h1")]


@pytest.mark.parametrize("contract", [CONTRACT_OF_ROWS, of_two_fields()], ids=["one field", "two fields"])
def test_what_goes_to_rows_that_an_upgrade_removes_ends_with_them_and_is_told(
    place: Path | str, tmp_path: Path, contract: str, capsys: pytest.CaptureFixture[str]
) -> None:
    contract = in_two_versions(contract, "{rename: note.title, to: text}")
    with running(place, contract) as service:
        till_and_shop(service, contract)
        [kept] = [id for (id,) in service.rows('SELECT id FROM "$subscription"') if "till" not in id and id != "1"]
    document, decisions = tmp_path / "contract.md", tmp_path / "contract.upgrade.yaml"
    document.write_text(contract)
    decisions.write_text("changes:\n  - {remove rows: hook, where: \"old.url.endsWith('till')\"}")
    assert main(["upgrade", str(document), "--database", str(place), "--apply"]) == 0
    assert "deliveries: 1 still to be made, or given up" in capsys.readouterr().out
    assert [id for (id, *_) in service.rows(LEFT)] == [kept]
    assert service.rows('SELECT id FROM "$subscription" UNION SELECT id FROM "$subscribed in"') == [(kept,)]
