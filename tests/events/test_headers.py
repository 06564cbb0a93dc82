"""Headers of webhooks, and webhooks that are not signed: of subscriptions, and of rows of the contract's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from standardwebhooks import Webhook
from tests.events.receiver import receiving
from tests.events.service import CONTRACT, running
from tests.events.test_rows import CONTRACT_OF_ROWS, KEY, hook

from ninefold.pipeline import compile_document
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

pytestmark = pytest.mark.serves

OF_SUBSCRIPTIONS = CONTRACT.replace(
    "  webhooks: {to: subscription, signature: standard-webhooks, ",
    """  webhooks:
    to: subscription
    signature: none
    headers: {Authorization: "'Bearer ' + subscription.kinds[0] + ' ' + event.kind", X-Row: event.row}
    """,
).replace("attempts: 3, backoff: [PT0.05S, PT0.2S]}", "attempts: 3\n    backoff: [PT0.05S, PT0.2S]")
OF_SUBSCRIPTIONS = OF_SUBSCRIPTIONS.replace(", secret: issued.secret", "")
OF_ROWS = CONTRACT_OF_ROWS.replace(
    "    attempts: 3\n",
    """    attempts: 3
    headers: {Authorization: "'Bearer ' + hook.url", X-Title: event.payload.title, X-Made: string(event.time)}
""",
)


def named_subscription(contract: str) -> str:
    """The same with receivers that are called as the resource is that the language has itself."""
    return re.sub(r"\bhook\b", "subscription", contract)


def test_a_subscription_is_told_with_headers_and_no_signature(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", OF_SUBSCRIPTIONS) as service, receiving() as receiver:
        ann = service.person("Ann")
        service.subscribe(ann, receiver.url, "note.written")
        note = service.note(ann, "tea")
        [came] = receiver.until(1)
    headers = {name.lower(): value for name, value in came.headers.items()}
    assert headers["authorization"] == "Bearer note.written note.written"
    assert headers["x-row"] == note and headers["webhook-id"] == came.id
    assert "webhook-signature" not in headers


@pytest.mark.parametrize("contract", [OF_ROWS, named_subscription(OF_ROWS)], ids=["hook", "subscription"])
def test_a_row_is_told_with_headers(tmp_path: Path, contract: str, caplog: pytest.LogCaptureFixture) -> None:
    with running(tmp_path / "service.db", contract) as service, receiving() as receiver:
        ann = service.person("Ann")
        hook(service, ann, receiver.url + "/ann", "note.written")
        service.note(ann, "tea")
        receiver.until(1)  # of several rows the order is nobody's
        service.note(ann, "\u0001")
        first, second = receiver.until(2)
        assert Webhook(KEY).verify(first.body, first.headers)
    said = [{name.lower(): value for name, value in came.headers.items()} for came in (first, second)]
    assert [each["authorization"] for each in said] == [f"Bearer {receiver.url}/ann"] * 2
    assert (said[0]["x-title"], said[0]["x-made"][-1]) == ("tea", "Z")
    assert "x-title" not in said[1]
    assert "the header X-Title of a delivery is left out: its value is no field value" in caplog.text


def test_openapi_tells_of_the_headers() -> None:
    loaded = compile_document("contract.md", OF_SUBSCRIPTIONS.encode())
    assert loaded.checked is not None and loaded.plan is not None
    told = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))["webhooks"]
    names = [each["name"] for each in told["note.written"]["post"]["parameters"]]
    assert names == ["webhook-id", "webhook-timestamp", "Authorization", "X-Row"]


ASKED = [
    ("signature: standard-webhooks", "signature: none", []),
    ("    secret: hook.key\n", "", ["webhooks"]),
    ("    to: hook\n", "", ["webhooks"]),
]


@pytest.mark.parametrize(("old", "new", "asked"), ASKED)
def test_what_is_asked_of_webhooks(old: str, new: str, asked: list[str]) -> None:
    loaded = compile_document("contract.md", OF_ROWS.replace(old, new).encode())
    assert [each.subject for each in loaded.open_questions if each.question.part == 6] == asked


def test_a_secret_signs_nothing_where_nothing_is_signed() -> None:
    text = OF_ROWS.replace("signature: standard-webhooks", "signature: none")
    assert "NF0535" in {each.code.id for each in compile_document("contract.md", text.encode()).diagnostics}
    text = text.replace("    secret: hook.key\n", "")
    loaded = compile_document("contract.md", text.encode())
    assert loaded.plan is not None and [each.subject for each in loaded.open_questions if each.question.part == 6] == []


def test_a_subscription_has_a_secret_where_deliveries_are_signed() -> None:
    text = CONTRACT.replace("signature: standard-webhooks", "signature: none")
    found = compile_document("contract.md", text.encode())
    assert [each.message for each in found.diagnostics] == ["`issued` is not a name that can be read here"]
    without = compile_document("contract.md", text.replace(", secret: issued.secret", "").encode())
    assert without.plan is not None and not without.diagnostics


def test_what_a_delivery_says_of_itself_is_not_said_again() -> None:
    found = compile_document("contract.md", OF_ROWS.replace("X-Title", "Webhook-Id").encode()).diagnostics
    assert [each.message for each in found if "Webhook-Id" in each.message] != []
