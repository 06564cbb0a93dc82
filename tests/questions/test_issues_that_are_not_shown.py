"""Where it is not shown what a credential is, what tells of it waits for that, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ninefold.pipeline import compile_document

CONTRACT = """purpose: Tokens.
resources:
  client:
    primary key: id
    fields:
      id: {type: string, maxLength: 20}
      secret: {type: string, secret: password}
states: none
endpoints:
  requests: {media type: application/x-www-form-urlencoded, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /token:
    does: sign in client
    grant: client_credentials
    issues: ISSUES
    body: {client_id: client.id, client_secret: client.secret}
    responses: {200: SHOWN}
authentication:
  schemes: {token: {type: http, scheme: bearer, issued to: client, lasts: PT1H, realm: x}}
  rows: {client: {token: true, anyone: false}}
  unseen rows: not found
  permissions: {all others: anyone}
events: none
errors: none
limits: {rates: none, body size: none, timeout: none}
versioning: none
"""


CASES = Path(__file__).parent.parent / "cases"

TELLING = (
    "{expires_in: granted.expires_in}",
    "{scope: \"has(granted.scope) ? granted.scope : ''\"}",
    "{access_token: caller.credential}",
)


@pytest.mark.parametrize(
    ("issues", "shown", "blocked"),
    [
        *(("not shown", each, True) for each in TELLING),
        *(("!proposed token", each, True) for each in TELLING),
        ("not shown", "{id: client.id}", False),
    ],
)
def test_what_tells_of_the_credential_is_blocked(issues: str, shown: str, blocked: bool) -> None:
    text = CONTRACT.replace("ISSUES", issues).replace("SHOWN", shown)
    loaded = compile_document("contract.yaml", text.encode())
    assert [each.message for each in loaded.diagnostics if each.code.severity.value == "error"] == []
    (question,) = loaded.open_questions
    assert loaded.source.text[question.span.start :].startswith(issues.removeprefix("!proposed "))
    assert question.blocks == (("POST /token",) if blocked else ())


@pytest.mark.parametrize("open_one", ["issued to: not shown", "issued to: !proposed client"])
def test_that_the_service_makes_a_credential_may_be_a_gap_beside_what_it_is_granted(open_one: str) -> None:
    text = (CASES / "clients-of-oauth" / "contract.md").read_text()
    assert "issued to: client" in text
    loaded = compile_document("contract.md", text.replace("issued to: client", open_one, 1).encode())
    assert [each.message for each in loaded.diagnostics if each.code.severity.value == "error"] == []
    assert [each.text for each in loaded.open_questions] == [
        "how a credential of `app` is recognised: looked up, issued, or signed"
    ]
