"""Tokens by the client credentials grant, asked for as RFC 6749 says and by a client library that others wrote; and the
scopes of credentials that the service issues."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote_plus

import httpx
import pytest
from authlib.integrations.base_client.errors import OAuthError  # type: ignore[import-untyped]
from authlib.integrations.requests_client import OAuth2Session  # type: ignore[import-untyped]
from tests.contracts import plan_of
from tests.server.conftest import Running, running

from ninefold.diagnostics.render import render
from ninefold.pipeline import Loaded, compile_document

pytestmark = pytest.mark.serves

ORDERS = """
purpose: Keeps the orders of other programs.
resources:
  client:
    primary key: id
    fields:
      id:      {type: string, on create: "'c-' + random(12)"}
      name:    {type: string, unique: true, normalise: value.lowerAscii(), minLength: 2}
      secret:  {type: string, secret: SECRET}
      scopes:  {type: array, items: {type: string}}
      blocked: {type: boolean, on create: "false"}
      asked:   {type: integer, on create: "0"}
    required: [name, secret, scopes]
  order:
    primary key: id
    fields:
      id:     {type: integer, on create: serial()}
      client: {references: client, on create: caller.client, on delete: cascade}
      text:   {type: string}
    required: [text, client]
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /clients:
    does: create client
    body: BODY
    issues: first
    responses:
      201: {id: client.id, secret: "MADE", token: caller.credential, scopes: granted.scopes, left: granted.expires_in}
  PATCH /clients/{id}: {does: update client, body: [blocked, scopes], patch: merge, responses: {200: client}}
  DELETE /clients/{id}: {does: delete client, responses: {204: none}}
  POST /token:
    does: sign in client
    grant: client_credentials
    requests: {media type: application/x-www-form-urlencoded, unknown members: ignored}
    body: {client_id: client.NAME, client_secret: client.secret}
    check: {that: "!client.blocked", else: unauthorized_client}
    sets: {asked: client.asked + 1}
    issues: app
    responses:
      200:
        access_token: caller.credential
        token_type: "'Bearer'"
        expires_in: granted.expires_in
        scope: granted.scope
        asked: client.asked
    headers: {Cache-Control: "'no-store'"}
    error shape: {media type: application/json, body: {error: error.code}}
    errors:
      sign in refused: invalid_client
      invalid: invalid_request
      malformed: invalid_request
      invalid grant_type: unsupported_grant_type
      invalid scope: invalid_scope
  POST /orders: {does: create order, body: [text], responses: {201: order}}
  GET /orders:  {does: list order, sort: [id], pages: none, responses: {200: {orders: page.items}}}
  GET /me: {does: compute, responses: {200: {scopes: caller.scopes, client: caller.client.id}}}
authentication:
  schemes:
    app:
      type: oauth2
      issued to: client
      lasts: PT1H
      scopes: [orders.read, orders.write]
      granted: client.scopes
      realm: Orders "of" others
    first:
      {type: apiKey, in: header, name: First, issued to: client, lasts: none,
       scopes: orders.read, granted: client.scopes}
    desk: {type: http, scheme: basic, realm: Desk, matches: client.name}
  rows:
    order: {app: order.client == caller.client, first: true}
    client: all
  unseen rows: not found
  permissions:
    all others: anyone
    POST /orders: {app: "'orders.write' in caller.scopes"}
    GET /orders: {app: "'orders.read' in caller.scopes", first: "'orders.read' in caller.scopes"}
    GET /me: [app, first]
events: none
errors:
  error shape: {media type: application/json, body: {code: error.code, fields: error.fields}}
  codes:
    invalid_client:         {status: 401}
    invalid_request:        {status: 400}
    unsupported_grant_type: {status: 400}
    invalid_scope:          {status: 400}
    unauthorized_client:    {status: 400}
    no:                     {status: 403, for: forbidden}
    who:                    {status: 401, for: unauthenticated}
limits: {rates: none, timeout: none, body size: none}
versioning: none
"""


def contract(secret: str) -> Loaded:
    """The clients have a random secret, and are called by their identifier; or a password, and go by their name."""
    text = ORDERS.replace("SECRET}", f"{secret}, on create: token()}}" if secret == "token" else f"{secret}}}")
    if secret == "token":
        text = (
            text.replace("BODY", "[name, scopes]").replace("MADE", "issued.secret").replace("client.NAME", "client.id")
        )
        text = text.replace("    desk: {type: http, scheme: basic, realm: Desk, matches: client.name}\n", "")
    else:
        text = (
            text.replace("BODY", "[name, scopes, secret]")
            .replace("MADE", "'told'")
            .replace("client.NAME", "client.name")
        )
    loaded = compile_document("orders.yaml", text.encode())
    assert loaded.plan is not None, render(loaded.diagnostics, loaded.source)
    return loaded


@pytest.fixture(scope="module", params=["token", "password"])
def service(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, str]]:
    plan = contract(request.param).plan
    assert plan is not None
    folder: Path = tmp_path_factory.mktemp("grants")
    with running(plan, folder / "service.db") as served:
        yield served, request.param


class Client:
    """A client that is registered with the service."""

    count = 0

    def __init__(self, service: tuple[Running, str], *scopes: str) -> None:
        self.http, kind = service[0].http, service[1]
        Client.count += 1
        body: dict[str, object] = {"name": f"Client {Client.count} +%:ü", "scopes": list(scopes)}
        if kind == "password":
            body["secret"] = f"s ü+%:{Client.count}"
        made = self.http.post("/clients", json=body)
        assert made.status_code == 201, made.text
        self.made = made.json()
        self.id = str(body["name"]).lower() if kind == "password" else self.made["id"]
        self.secret = str(body["secret"]) if kind == "password" else self.made["secret"]

    def basic(self, secret: str | None = None) -> dict[str, str]:
        """RFC 6749, section 2.3.1: both are written as in a form."""
        pair = f"{quote_plus(self.id)}:{quote_plus(self.secret if secret is None else secret)}"
        return {"Authorization": "Basic " + b64encode(pair.encode()).decode()}

    def ask(self, headers: dict[str, str] | None = None, **form: str | list[str]) -> httpx.Response:
        form = {"grant_type": "client_credentials", **form}
        return self.http.post("/token", data=form, headers=self.basic() if headers is None else headers)


def outcome(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
def test_a_client_library_is_granted_a_token(
    service: tuple[Running, str], method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTHLIB_INSECURE_TRANSPORT", "1")
    known = Client(service, "orders.read", "orders.write")
    address = f"http://{service[0].address[0]}:{service[0].address[1]}"
    if method == "client_secret_basic" and service[1] == "password":
        pytest.skip("the library does not write the two as in a form (RFC 6749, section 2.3.1)")
    with OAuth2Session(known.id, known.secret, token_endpoint_auth_method=method, scope="orders.write") as client:
        token = client.fetch_token(f"{address}/token", grant_type="client_credentials")
        assert (token["token_type"], token["expires_in"], token["scope"]) == ("Bearer", 3600, "orders.write")
        assert client.post(f"{address}/orders", json={"text": "one"}).status_code == 201
        refused = client.get(f"{address}/orders")
        assert refused.status_code == 403
        assert refused.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="orders.read"'
    with OAuth2Session(known.id, "wrong", token_endpoint_auth_method=method) as stranger:
        with pytest.raises(OAuthError) as refusal:
            stranger.fetch_token(f"{address}/token", grant_type="client_credentials")
        assert refusal.value.error == "invalid_client"


def test_a_token_has_what_is_asked_for_or_all(service: tuple[Running, str]) -> None:
    client = Client(service, "orders.write", "orders.read", "another")
    whole = client.ask()
    assert whole.headers["cache-control"] == "no-store"
    assert whole.json()["scope"] == "orders.read orders.write"  # in the scheme's order, and those that it lists
    one = client.ask(scope="orders.write")
    assert one.json()["scope"] == "orders.write"
    both = client.ask({}, client_id=client.id, client_secret=client.secret, scope="orders.write orders.read")
    assert both.json()["scope"] == "orders.read orders.write"
    assert both.json()["asked"] == 3  # `sets`
    seen = client.http.get("/me", headers=bearer(one.json()["access_token"])).json()
    assert seen == {"scopes": ["orders.write"], "client": client.made["id"]}
    # Parameters without a value are left out (RFC 6749, section 3.1); others are ignored (section 3.2).
    assert client.ask(scope="", resource="x", client_id="").json()["scope"] == "orders.read orders.write"


def test_a_client_that_may_have_nothing_has_a_token_without_scopes(service: tuple[Running, str]) -> None:
    client = Client(service)
    granted = client.ask().json()
    assert "scope" not in granted
    headers = bearer(granted["access_token"])
    assert client.http.get("/me", headers=headers).json()["scopes"] == []
    assert client.http.get("/orders", headers=headers).status_code == 403
    assert outcome(client.ask(scope="orders.read")) == (400, "invalid_scope")


@pytest.mark.parametrize("scope", ["orders.write", "orders.read orders.write", "x", "orders.read  ", " ", "another"])
def test_a_scope_that_is_not_granted_is_refused(service: tuple[Running, str], scope: str) -> None:
    assert outcome(Client(service, "orders.read", "another").ask(scope=scope)) == (400, "invalid_scope")


def test_whoever_is_no_client_is_told_how_to_be_one(service: tuple[Running, str]) -> None:
    client = Client(service, "orders.read")
    nobody = {"Authorization": "Basic " + b64encode(b"nobody:wrong").decode()}
    wrong = [
        client.ask(client.basic("wrong")),
        client.ask(client.basic("")),
        client.ask(nobody),
        client.ask({}),
        client.ask({}, client_id=client.id),
        client.ask({}, client_id=client.id, client_secret="wrong"),
        client.ask({"Authorization": "Basic"} | {"Authorization": "Basic ???"}),
        client.ask({"Authorization": "Basic " + b64encode(b"no colon").decode()}),
        client.ask({"Authorization": "Basic " + b64encode(b"%ff:%ff").decode()}),
    ]
    for each in wrong:
        assert outcome(each) == (401, "invalid_client")
        assert each.headers["www-authenticate"] == 'Basic realm="Orders \\"of\\" others"'
    assert len({each.content for each in wrong}) == 1


def test_what_is_no_request_for_a_token(service: tuple[Running, str]) -> None:
    client = Client(service, "orders.read")
    assert outcome(client.ask(grant_type="password")) == (400, "unsupported_grant_type")
    assert outcome(client.ask(grant_type="")) == (400, "invalid_request")
    assert outcome(client.http.post("/token", headers=client.basic(), data={"scope": "x"})) == (400, "invalid_request")
    assert outcome(client.ask(scope=["a", "b"])) == (400, "invalid_request")
    assert outcome(client.ask(client_secret=client.secret)) == (400, "invalid_request")
    assert outcome(client.ask(client_id="another")) == (400, "invalid_request")
    assert client.ask(client_id=client.id).status_code == 200
    malformed = client.http.post(
        "/token", content=b"\xff", headers={**client.basic(), "Content-Type": "application/x-www-form-urlencoded"}
    )
    assert outcome(malformed) == (400, "invalid_request")
    # Another credential than a client's is a caller's, and a bad one.
    # For anyone alone: no credential is read, and there is no client in what is left.
    assert outcome(client.ask(bearer("x"))) == (401, "invalid_client")


def test_a_client_that_may_not_have_tokens_is_told_so_only_with_its_secret(service: tuple[Running, str]) -> None:
    client = Client(service, "orders.read")
    client.http.patch(f"/clients/{client.made['id']}", json={"blocked": True})
    assert outcome(client.ask()) == (400, "unauthorized_client")
    assert outcome(client.ask(client.basic("wrong"))) == (401, "invalid_client")
    # `invalid` comes before `guard`.
    assert outcome(client.ask(scope="x")) == (400, "invalid_scope")


def test_scopes_are_kept_with_the_token(service: tuple[Running, str]) -> None:
    client = Client(service, "orders.read", "orders.write")
    token = bearer(client.ask().json()["access_token"])
    client.http.patch(f"/clients/{client.made['id']}", json={"scopes": []})
    assert client.http.get("/me", headers=token).json()["scopes"] == ["orders.read", "orders.write"]
    client.http.delete(f"/clients/{client.made['id']}")
    assert client.http.get("/me", headers=token).status_code == 401
    assert outcome(client.ask()) == (401, "invalid_client")


def test_what_is_issued_on_sign_up_has_scopes_too(service: tuple[Running, str]) -> None:
    client = Client(service, "orders.write", "orders.read")
    assert client.made["scopes"] == ["orders.read"]
    assert "left" not in client.made  # `lasts: none`
    assert client.http.get("/orders", headers={"First": client.made["token"]}).status_code == 200
    other = Client(service, "orders.write")
    assert other.made["scopes"] == []
    refused = other.http.get("/orders", headers={"First": other.made["token"]})
    assert (refused.status_code, refused.json()["code"]) == (403, "no")


def test_only_digests_are_kept(tmp_path: Path) -> None:
    plan = contract("token").plan
    assert plan is not None
    with running(plan, tmp_path / "service.db") as served:
        client = Client((served, "token"), "orders.read")
        token = client.ask().json()["access_token"]
        stored = b"".join(each.read_bytes() for each in tmp_path.iterdir())
    assert b"orders.read" in stored
    assert token.encode() not in stored and client.secret.encode() not in stored


VERSIONED = """
versioning:
  in: path
  default: none
  versions:
    v2: {changes: none}
    v1:
      changes:
        - {rename: client.scopes, to: rights}
        - {rename: client.secret, to: key}
        - {rename: invalid_scope, to: bad_scope}
  compatible: none
"""


def test_an_older_version_grants_the_same(tmp_path: Path) -> None:
    text = ORDERS.replace("SECRET}", "token, on create: token()}").replace("BODY", "[name, scopes]")
    text = text.replace("MADE", "issued.secret").replace("client.NAME", "client.id")
    text = text.replace("    desk: {type: http, scheme: basic, realm: Desk, matches: client.name}\n", "")
    plan = plan_of(text.replace("versioning: none\n", VERSIONED), "orders.yaml")
    with running(plan, tmp_path / "service.db") as served:
        made = served.http.post("/v1/clients", json={"name": "old", "rights": ["orders.read"]})
        assert made.status_code == 201, made.text
        form = {"grant_type": "client_credentials", "client_id": made.json()["id"]}
        form["client_secret"] = made.json()["secret"]
        for version in ("v1", "v2"):
            granted = served.http.post(f"/{version}/token", data=form)
            assert granted.json()["scope"] == "orders.read", granted.text
            me = served.http.get(f"/{version}/me", headers=bearer(granted.json()["access_token"]))
            assert me.json()["scopes"] == ["orders.read"]
        refused = [served.http.post(f"/{each}/token", data={**form, "scope": "x"}) for each in ("v1", "v2")]
        assert [outcome(each)[1] for each in refused] == ["bad_scope", "invalid_scope"]


def test_a_scheme_may_get_scopes_later(tmp_path: Path) -> None:
    """What was issued before has none; the table of scopes comes to the tables that are there, and may go and come."""
    text = ORDERS.replace("SECRET}", "token, on create: token()}").replace("BODY", "[name, scopes]")
    text = text.replace("MADE", "issued.secret").replace("client.NAME", "client.id")
    text = text.replace("    desk: {type: http, scheme: basic, realm: Desk, matches: client.name}\n", "")
    bare = text.replace(",\n       scopes: orders.read, granted: client.scopes", "")
    bare = bare.replace("      scopes: [orders.read, orders.write]\n      granted: client.scopes\n", "")
    bare = bare.replace(", scopes: granted.scopes", "").replace("        scope: granted.scope\n", "")
    bare = bare.replace("{scopes: caller.scopes, client", "{client").replace("      invalid scope: invalid_scope\n", "")
    bare = bare.replace("    invalid_scope:          {status: 400}\n", "")
    for right in ("read", "write"):
        bare = bare.replace(f"\"'orders.{right}' in caller.scopes\"", "true")
    plans = {}
    for name, each in (("without", bare), ("with", text)):
        loaded = compile_document(f"{name}.yaml", each.encode())
        assert loaded.plan is not None, render(loaded.diagnostics, loaded.source)
        plans[name] = loaded.plan
    tokens: list[str] = []
    form: dict[str, str] = {"grant_type": "client_credentials"}
    for turn, name in enumerate(("without", "with", "without", "with")):
        with running(plans[name], tmp_path / "service.db") as served:
            if turn == 0:
                made = served.http.post("/clients", json={"name": "old", "scopes": ["orders.read"]}).json()
                form |= {"client_id": made["id"], "client_secret": made["secret"]}
            if name == "without":
                refused = served.http.post("/token", data={**form, "scope": "orders.read"})
                assert outcome(refused) == (400, "invalid_request")
            tokens.append(served.http.post("/token", data=form).json()["access_token"])
            if name == "with":
                seen = [served.http.get("/me", headers=bearer(each)).json()["scopes"] for each in tokens]
                assert seen == [[], ["orders.read"], [], ["orders.read"]][: turn + 1]


def test_where_nothing_is_granted_a_token_has_no_scopes(tmp_path: Path) -> None:
    text = ORDERS.replace("SECRET}", "token, on create: token()}").replace("BODY", "[name, scopes]")
    text = text.replace("MADE", "issued.secret").replace("client.NAME", "client.id")
    text = text.replace("    desk: {type: http, scheme: basic, realm: Desk, matches: client.name}\n", "")
    plan = plan_of(text.replace("granted: client.scopes", "granted: none"), "orders.yaml")
    with running(plan, tmp_path / "service.db") as served:
        client = Client((served, "token"), "orders.read")
        assert client.made["scopes"] == []
        granted = client.ask().json()
        assert "scope" not in granted
        assert served.http.get("/me", headers=bearer(granted["access_token"])).json()["scopes"] == []
        assert outcome(client.ask(scope="orders.read")) == (400, "invalid_scope")


def test_an_idempotency_key_is_one_clients(tmp_path: Path) -> None:
    """Two clients may send the same body, and the same key by chance: neither is told of the other's token."""
    text = ORDERS.replace("SECRET}", "token, on create: token()}").replace("BODY", "[name, scopes]")
    text = text.replace("MADE", "issued.secret").replace("client.NAME", "client.id")
    text = text.replace("    desk: {type: http, scheme: basic, realm: Desk, matches: client.name}\n", "")
    text = text.replace("    does: sign in client\n", "    does: sign in client\n    idempotency key: optional\n")
    text = text.replace("body size: none}", "body size: none, idempotency keys kept: PT1H}")
    plan = plan_of(text, "orders.yaml")
    with running(plan, tmp_path / "service.db") as served:
        one, other = (Client((served, "token"), "orders.read") for _ in range(2))
        key = {"Idempotency-Key": '"0ed5e2b1-4f5b-4f0c-8c0a-9c1d2f1b7a11"'}
        first = one.ask({**one.basic(), **key})
        assert first.status_code == 200
        assert one.ask({**one.basic(), **key}).json() == first.json()
        second = other.ask({**other.basic(), **key})
        assert second.status_code == 422 and b"access_token" not in second.content
