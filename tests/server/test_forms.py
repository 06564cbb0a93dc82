"""Bodies that are forms: what they give is what the same JSON would."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from urllib.parse import unquote_to_bytes, urlencode

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contracts import plan_of
from tests.server.conftest import running
from tests.slices import examples

from ninefold.runtime.messages.forms import decoded, parse, typed
from ninefold.runtime.messages.parameters import parse_query
from ninefold.values import Array, Boolean, Integer, Number, Text, Type

FORM = {"Content-Type": "application/x-www-form-urlencoded"}

NOTES = b"""
purpose: Takes notes, by form and as JSON.
resources:
  note:
    primary key: id
    fields:
      id:     {type: integer, on create: serial()}
      text:   {type: string, minLength: 1, normalise: value.lowerAscii()}
      stars:  {type: integer, minimum: 1, maximum: 5}
      open:   {type: boolean}
      weight: {type: number}
      tags:   {type: array, items: {type: string, maxLength: 5}, maxItems: 3}
      sizes:  {type: array, items: {type: integer}}
      due:    {type: string, format: date-time}
      after:  {references: note, on delete: set null}
    required: [text]
  types: {said: {type: object, properties: {text: {type: string}, after: {type: [integer, string]}}, minProperties: 2}}
states: none
endpoints:
  requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /notes:
    does: create note
    requests: {media type: application/x-www-form-urlencoded}
    body: [text, stars, open, weight, tags, sizes, due, after]
    responses: {201: note}
  POST /said:
    does: create note
    requests: {media type: application/x-www-form-urlencoded}
    body: {$ref: "#/types/said"}
    responses: {201: note}
  POST /json: {does: create note, body: [text, stars, open, weight, tags, sizes, due, after], responses: {201: note}}
  PATCH /notes/{id}:
    does: update note
    requests: {media type: application/x-www-form-urlencoded, unknown members: ignored, unknown parameters: ignored}
    body: [text, stars, tags]
    patch: merge
    error shape: {media type: application/problem+json, body: {type: error.code, status: error.status}}
    responses: {200: note}
  POST /notes/{id}/bare:
    does: update note
    requests: {media type: application/x-www-form-urlencoded}
    body: [stars]
    patch: merge
    error shape: none
    responses: {204: none}
  DELETE /notes/{id}:
    does: delete note
    requests: {media type: application/x-www-form-urlencoded}
    body: none
    responses: {204: none}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors:
  error shape:
    media type: application/json
    body: {code: error.code, fields: "error.fields.map(f, f.pointer + ' ' + f.rule)"}
  codes:
    wrong: {status: 422, for: invalid}
    unread: {status: 400, for: malformed}
    other: {status: 415, for: unsupported media type}
    large: {status: 413, for: too large}
limits: {rates: none, timeout: none, body size: 4 KiB}
versioning: none
"""


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    plan = plan_of(NOTES, "notes.yaml")
    folder: Path = tmp_path_factory.mktemp("forms")
    with running(plan, folder / "service.db") as service:
        yield service.http


def post(http: httpx.Client, content: bytes, path: str = "/notes") -> httpx.Response:
    return http.post(path, content=content, headers=FORM)


@pytest.mark.serves
def test_members_become_what_the_same_json_gives(http: httpx.Client) -> None:
    form = b"text=A+b%26%C3%A9&stars=3&open=true&weight=1.5e0&tags=x&tags=y+z&sizes=7&due=2026-01-01T00:00:00Z"
    as_json = {
        "text": "A b&é",
        "stars": 3,
        "open": True,
        "weight": 1.5,
        "tags": ["x", "y z"],
        "sizes": [7],
        "due": "2026-01-01T00:00:00Z",
    }
    sent, other = post(http, form), http.post("/json", json=as_json)
    assert sent.status_code == other.status_code == 201
    assert {**sent.json(), "id": 0} == {**other.json(), "id": 0}
    assert sent.json()["text"] == "a b&é"
    for path in ("/notes", "/said"):
        referring = post(http, f"text=b&after={sent.json()['id']}".encode(), path)
        assert referring.json().get("after") == sent.json()["id"], path


@pytest.mark.serves
@pytest.mark.parametrize(
    ("content", "fields"),
    [
        (b"", ["/text required"]),
        (b"text=", ["/text minLength"]),
        (b"text=a&stars=&open=yes&weight=x", ["/stars type", "/open type", "/weight type"]),
        (b"text=a&stars=9", ["/stars maximum"]),
        (b"text=a&stars=" + b"9" * 30, ["/stars maximum"]),
        (b"text=a&stars=" + b"9" * 3000, ["/stars maximum"]),
        (b"text=a&stars=3.5", ["/stars type"]),
        (b"text=a&text=b&stars=1&stars=2", ["/text repeated", "/stars repeated"]),
        (b"text=a&tags=x&tags=too+long", ["/tags/1 maxLength"]),
        (b"text=a&tags=a&tags=b&tags=c&tags=d", ["/tags maxItems"]),
        (b"text=a&sizes=1&sizes=x", ["/sizes/1 type"]),
        (b"text=a&due=tomorrow", ["/due format"]),
        (b"text=a&after=9999", ["/after references"]),
        (b"text=a&nope=1&nope=2&x[y]=1", ["/nope unknown", "/x[y] unknown"]),
        (b"text=%00", ["/text range"]),
        (b"text=a&%%%=&&&==&", ["/%%% unknown", "/ unknown"]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_wrong_is_said_at_its_member(http: httpx.Client, content: bytes, fields: list[str]) -> None:
    response = post(http, content)
    assert (response.status_code, response.json()) == (422, {"code": "wrong", "fields": fields})


@pytest.mark.serves
@pytest.mark.parametrize(
    ("member", "number"),
    [
        *product(["stars", "weight"], ["3", "-0", "9" * 19, "-" + "9" * 30, "1e400", "-1e999", "9" * 3000]),
        ("weight", "0." + "1" * 900),
    ],
    ids=lambda value: value[:8],
)
def test_a_number_is_what_the_same_json_is(http: httpx.Client, member: str, number: str) -> None:
    as_json = f'{{"text": "a", "{member}": {number}}}'.encode()
    sent = post(http, f"text=a&{member}={number}".encode())
    other = http.post("/json", content=as_json, headers={"Content-Type": "application/json"})
    assert sent.status_code == other.status_code
    assert {**sent.json(), "id": 0} == {**other.json(), "id": 0}


@pytest.mark.serves
@pytest.mark.parametrize("content", [b"\xff", b"text=%ff", b"%c3=1", b"text=%ed%a0%80"])
def test_what_is_not_utf_8_is_malformed(http: httpx.Client, content: bytes) -> None:
    assert post(http, content).json()["code"] == "unread"


@pytest.mark.serves
def test_other_media_types_are_refused_on_either_side(http: httpx.Client) -> None:
    assert http.post("/notes", json={"text": "a"}).json()["code"] == "other"
    assert post(http, b"text=a", "/json").json()["code"] == "other"
    charset = "application/x-www-form-urlencoded; charset=%s"
    assert http.post("/notes", content=b"text=a", headers={"Content-Type": charset % "latin-1"}).status_code == 415
    assert http.post("/notes", content=b"text=a", headers={"Content-Type": charset % "UTF-8"}).status_code == 201
    assert post(http, b"text=" + b"a" * 5000).json()["code"] == "large"


@pytest.mark.serves
def test_an_update_by_a_form_keeps_what_it_does_not_give(http: httpx.Client) -> None:
    made = post(http, b"text=a&stars=2&tags=x").json()
    path = f"/notes/{made['id']}"
    sent = http.patch(path, content=b"tags=y&other=1", params={"any": "thing"}, headers=FORM)
    assert sent.json() == {**made, "tags": ["y"]}
    merged = http.patch(path, json={"stars": 5}, headers={"Content-Type": "application/merge-patch+json"})
    assert merged.json() == {**made, "tags": ["y"], "stars": 5}


@pytest.mark.serves
def test_an_endpoint_has_an_error_shape_of_its_own(http: httpx.Client) -> None:
    refused = http.patch("/notes/1", content=b"stars=9", headers=FORM)
    assert (refused.headers["content-type"], refused.json()) == (
        "application/problem+json",
        {"type": "wrong", "status": 422},
    )
    bare = http.post("/notes/1/bare", content=b"stars=9", headers=FORM)
    assert (bare.status_code, bare.content) == (422, b"")


@pytest.mark.serves
def test_a_body_that_is_none_takes_an_empty_form(http: httpx.Client) -> None:
    path = f"/notes/{post(http, b'text=a').json()['id']}"
    assert http.request("DELETE", path, content=b"a=1", headers=FORM).status_code == 422
    assert http.request("DELETE", path, content=b"&", headers=FORM).status_code == 204


@pytest.mark.serves
@given(content=st.binary(max_size=200))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_bytes_are_too_much(http: httpx.Client, content: bytes) -> None:
    assert post(http, content).status_code in (201, 400, 422)


@given(members=st.lists(st.tuples(st.text(), st.text())))
def test_what_is_written_is_read(members: list[tuple[str, str]]) -> None:
    members = [(name, value) for name, value in members if (name + value).isprintable()]
    read = parse(urlencode(members).encode())
    several: dict[str, list[str]] = {}
    for name, value in members:
        several.setdefault(name, []).append(value)
    assert read == {name: values[0] if len(values) == 1 else values for name, values in several.items()}


@pytest.mark.parametrize(
    ("given_", "type_", "becomes"),
    [
        ("7", Integer(), 7),
        ("-0", Integer(), 0),
        ("7.0", Integer(), "7.0"),
        ("1e3", Number(), 1000.0),
        ("true", Boolean(), True),
        ("True", Boolean(), "True"),
        ("7", Text(), "7"),
        ("7", Array(items=Integer()), [7]),
        (["7", "x"], Array(items=Integer()), [7, "x"]),
        (["7", "8"], Integer(), ["7", "8"]),
    ],
)
def test_a_member_is_of_the_type_of_its_field_where_it_can_be(given_: object, type_: Type, becomes: object) -> None:
    assert typed({"a": given_, "b": "1"}, [("a", type_)]) == {"a": becomes, "b": "1"}


WRITTEN = st.lists(
    st.sampled_from([b"%", b"%4", b"%41", b"%c3", b"%A9", b"\xc3", b"\xa9", b"\xff", "é".encode(), b"+", b"a"])
)


@given(written=WRITTEN.map(b"".join))
def test_what_is_escaped_is_decoded_as_bytes_are(written: bytes) -> None:
    content = unquote_to_bytes(written.replace(b"+", b" "))
    assert parse_query(written) == ({content.decode("utf-8", "surrogateescape"): [""]} if written else {})
    try:
        meant = content.decode("utf-8")
    except UnicodeDecodeError:
        with pytest.raises(UnicodeDecodeError):
            decoded(written)
    else:
        assert decoded(written) == meant and parse(written) == ({meant: ""} if written else {})
