"""`If-Match` and `If-None-Match` on writes of every kind, and on what shows rows, with entity tags and
without (RFC 9110, section 13)."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.events.service import Running, running
from tests.parts import CALLERS_AND_EVENTS, LIMITS_AND_VERSIONS

pytestmark = pytest.mark.serves

CONTRACT = (
    """# Leaves

## 1. What the service does

Keeps leaves.

## 2. Resources and their fields

```yaml
leaf:
  primary key: name
  fields:
    name:  {type: string, pattern: '^[a-z]+$'}
    text:  {type: string, on create: "''"}
    phase: {state: true}
```

## 3. States and transitions

```yaml
leaf:
  initial: open
  states: [open, shut]
  transitions: {shut: {from: open, to: shut}, open: {from: shut, to: open}}
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /leaves:             {does: create leaf, body: [name, text], etag: true, responses: {201: leaf}}
PATCH /leaves:            {does: update all leaf, body: [text], patch: merge, responses: {200: {n: page.total}}}
GET /tags/{name}:        {does: read leaf, etag: true, responses: {200: leaf}}
PUT /tags/{name}:
  does: put leaf
  body: [text]
  etag: true
  responses: {created: {201: leaf}, replaced: {200: leaf}, unchanged: {202: leaf}}
PATCH /tags/{name}:      {does: update leaf, body: [text], patch: merge, etag: true, responses: {200: leaf}}
DELETE /tags/{name}:     {does: delete leaf, etag: true, responses: {deleted: {204: none}, absent: {200: none}}}
POST /tags/{name}/shut:  {does: shut leaf, body: none, etag: true, responses: {200: leaf}}
POST /tags/{name}/twice:
  does: [update leaf, shut leaf]
  body: none
  sets: {text: "'twice'"}
  etag: true
  responses: {200: leaf}
GET /more/{name}:        {does: read leaf, etag: true, responses: {200: {text: leaf.text, of: all(leaf).size()}}}
PATCH /more/{name}:      {does: update leaf, body: [text], patch: merge, etag: true, responses: {200: leaf}}
PUT /plain/{name}:
  does: put leaf
  body: [text]
  responses: {created: {201: leaf}, replaced: {200: leaf}, unchanged: {202: leaf}}
PUT /whole/{name}:       {does: put leaf, body: [text], responses: {replaced: {200: leaf}}}
PUT /same/{name}:        {does: put leaf, body: [text], responses: {created: {201: leaf}, unchanged: {202: leaf}}}
GET /plain/{name}:       {does: read leaf, responses: {200: leaf}}
GET /leaves:             {does: list leaf, sort: [name], pages: none, responses: {200: page.items}}
GET /count:              {does: compute, responses: {200: {n: all(leaf).size()}}}
GET /own/{name}:
  does: read leaf
  headers:
    ETag: |-
      '"' + leaf.text + '"'
  responses: {200: leaf}
GET /moved/{name}:       {does: read leaf, headers: {Location: "'/plain/' + leaf.name"}, responses: {302: none}}
GET /moved-tag/{name}:
  does: read leaf
  etag: true
  headers: {Location: "'/plain/' + leaf.name"}
  responses: {302: none}
POST /found:             {does: list leaf, body: none, sort: [name], pages: none, responses: {200: page.items}}
POST /found-tag:
  does: list leaf
  body: none
  sort: [name]
  pages: none
  etag: true
  responses: {200: page.items}
PATCH /plain/{name}:     {does: update leaf, body: [text], patch: merge, responses: {200: leaf}}
DELETE /plain/{name}:    {does: delete leaf, responses: {204: none}}
DELETE /maybe/{name}:    {does: delete leaf, responses: {deleted: {204: none}, absent: {200: none}}}
POST /plain/{name}/shut: {does: shut leaf, body: none, responses: {200: leaf}}
POST /plain/{name}/also:
  does: shut leaf
  body: none
  also: [{does: update leaf, where: leaf.name == 'beside', sets: {text: this.name}}]
  responses: {200: leaf}
POST /plain/{name}/then: {does: [shut leaf, open leaf], body: none, responses: {200: leaf}}
```

"""
    + CALLERS_AND_EVENTS
    + """## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes:
  stale:     {status: 412, for: precondition failed leaf}
  wrong:     {status: 422, for: invalid}
  malformed: {status: 400, for: malformed}
  missing:   {status: 404, for: [not found, no such path]}
  state:     {status: 409, for: illegal transition}
  taken:     {status: 409, for: [conflict, different]}
  media:     {status: 415, for: unsupported media type}
  accept:    {status: 406, for: not acceptable}
  method:    {status: 405, for: method not allowed}
  busy:      {status: 503, for: unavailable}
  broken:    {status: 500, for: internal}
  large:     {status: 413, for: too large}
```
"""
    + LIMITS_AND_VERSIONS
)

THERE = "at"
ANY, NONE, OTHER = {"If-Match": "*"}, {"If-None-Match": "*"}, {"If-Match": '"other"'}
NOT_OTHER = {"If-None-Match": '"other", W/"another"'}

TEXT = {"text": "new"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(tmp_path_factory.mktemp("leaves") / "service.db", CONTRACT) as served:
        yield served


@pytest.mark.parametrize(
    ("asked", "body", "done"),
    [
        ("PUT /tags/", TEXT, 200),
        ("PATCH /tags/", TEXT, 200),
        ("DELETE /tags/", None, 204),
        ("POST /tags//shut", None, 200),
        ("POST /tags//twice", None, 200),
        ("PUT /plain/", TEXT, 200),
        ("PUT /whole/", TEXT, 200),
        ("PUT /same/", {"text": "old"}, 202),
        ("PATCH /plain/", TEXT, 200),
        ("PATCH /more/", TEXT, 200),
        ("DELETE /plain/", None, 204),
        ("DELETE /maybe/", None, 204),
        ("POST /plain//shut", None, 200),
        ("POST /plain//also", None, 200),
        ("POST /plain//then", None, 200),
    ],
)
def test_of_a_row_that_is_there(service: Running, asked: str, body: object, done: int) -> None:
    for headers, expected in ((NONE, 412), (OTHER, 412), ({**ANY, **NONE}, 412), ({**ANY, **NOT_OTHER}, done)):
        _there(service)
        assert _ask(service, asked, "there", body, headers).status_code == expected, headers
        if expected == 412:
            row = service.http.get("/plain/there").json()
            assert (row["text"], row["phase"]) == ("old", "open")


@pytest.mark.parametrize(
    ("asked", "body", "done"),
    [
        ("PUT /tags/", TEXT, 201),
        ("PUT /plain/", TEXT, 201),
        ("PUT /same/", TEXT, 201),
        ("DELETE /tags/", None, 200),
        ("DELETE /maybe/", None, 200),
    ],
)
def test_of_a_row_that_is_not_there(service: Running, asked: str, body: object, done: int) -> None:
    for headers, expected in ((ANY, 412), (OTHER, 412), ({**ANY, **NONE}, 412), ({**NONE, **NOT_OTHER}, done)):
        assert _ask(service, asked, "gone", body, headers).status_code == expected, headers
        service.http.delete("/maybe/gone")


def test_what_comes_before_is_told_before(service: Running) -> None:
    """Conditions are asked of a request that would be answered well but for what comes after them in the list."""
    assert _ask(service, "PUT /whole/", "gone", TEXT, ANY).status_code == 404
    assert _ask(service, "PATCH /plain/", "gone", TEXT, OTHER).status_code == 404
    _there(service)
    assert _ask(service, "PATCH /plain/", "there", {"text": 5}, NONE).status_code == 422
    service.http.post("/plain/there/shut")
    assert _ask(service, "POST /plain//shut", "there", None, NONE).json() == {"code": "stale"}
    assert _ask(service, "POST /plain//shut", "there", None, ANY).json() == {"code": "state"}


@pytest.mark.parametrize("path", ["/tags/there", "/more/there"])
def test_tags_that_if_none_match_names_are_those_of_get(service: Running, path: str) -> None:
    _there(service)
    tag = service.http.get(path).headers["ETag"]
    for named in (tag, f'"x", W/{tag}'):
        assert service.http.patch(path, json=TEXT, headers={"If-None-Match": named}).status_code == 412
    assert service.http.patch(path, json=TEXT, headers={"If-Match": tag, "If-None-Match": '"x"'}).status_code == 200
    assert service.http.patch(path, json=TEXT, headers={"If-None-Match": tag}).status_code == 200


def test_what_looks_for_no_row_heeds_neither(service: Running) -> None:
    for headers in (NONE, OTHER):
        service.http.delete("/maybe/fresh")
        assert service.http.post("/leaves", json={"name": "fresh"}, headers=headers).status_code == 201
        assert service.http.patch("/leaves", json=TEXT, headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/plain/there", "/tags/there", "/leaves", "/count", "/own/there"])
def test_what_get_shows_is_there_with_a_tag_or_without(service: Running, path: str) -> None:
    _there(service)
    plain = service.http.get(path)
    for headers, status in ((NONE, 304), (OTHER, 412), ({**OTHER, **NONE}, 412), (ANY, 200), (NOT_OTHER, 200)):
        for method in ("GET", "HEAD"):
            answer = service.http.request(method, path, headers=headers)
            assert answer.status_code == status, headers
            assert answer.headers.get("ETag") == (None if status == 412 else plain.headers.get("ETag"))
            assert answer.content == (plain.content if status == 200 and method == "GET" else answer.content)
            assert status != 304 or "content-type" not in answer.headers
    assert service.http.get("/plain/nobody", headers=NONE).status_code == 404


def test_a_tag_that_headers_give_is_one_of_what_is_shown(service: Running) -> None:
    _there(service)
    assert service.http.get("/own/there").headers["ETag"] == '"old"'
    for named, status in (('"x", W/"old"', 304), ('"new"', 200)):
        assert service.http.get("/own/there", headers={"If-None-Match": named}).status_code == status
    for named, status in (('"x", "old"', 200), ('W/"old"', 412)):
        assert service.http.get("/own/there", headers={"If-Match": named}).status_code == status


def test_what_is_no_success_or_selects_nothing_is_asked_nothing(service: Running) -> None:
    _there(service)
    for path in ("/moved/there", "/moved-tag/there"):
        tag = service.http.get(path).headers.get("ETag", '"x"')
        for headers in (NONE, OTHER, {"If-None-Match": tag}):
            assert service.http.get(path, headers=headers).status_code == 302
    for headers in (NONE, OTHER):
        assert service.http.post("/found", headers=headers).status_code == 200


def test_only_get_has_304(service: Running) -> None:
    _there(service)
    tag = service.http.post("/found-tag").headers["ETag"]
    for headers, status in ((NONE, 412), ({"If-None-Match": tag}, 412), (OTHER, 412), ({"If-Match": tag}, 200)):
        assert service.http.post("/found-tag", headers=headers).status_code == status


def _there(service: Running) -> None:
    service.http.delete("/maybe/there")
    assert service.http.put("/plain/there", json={"text": "old"}).status_code == 201


def _ask(service: Running, asked: str, name: str, body: object, headers: dict[str, str]) -> httpx.Response:
    method, _, path = asked.partition(" ")
    before, _, after = path.removeprefix("/").partition("/")
    target = f"/{before}/{name}{after}"
    if body is None:
        return service.http.request(method, target, headers=headers)
    return service.http.request(method, target, json=body, headers=headers)


def test_the_tag_of_a_row_that_was_made_is_the_one_of_what_get_shows(service: Running) -> None:
    """RFC 9110, section 15.3.2: the validators of a 201 are those of what was created. So it is with the tag that a
    GET gives, at a path where there is no GET: nobody could have had another one."""
    made = service.http.post("/leaves", json={"name": "made", "text": "a"})
    shown = service.http.get("/tags/made")
    assert made.headers["ETag"] == shown.headers["ETag"]
    changed = service.http.patch("/tags/made", json={"text": "b"}, headers={"If-Match": made.headers["ETag"]})
    assert (changed.status_code, changed.headers["ETag"]) == (200, service.http.get("/tags/made").headers["ETag"])
    for tag, status in ((made, 412), (changed, 200)):
        shut = service.http.post("/tags/made/shut", headers={"If-Match": tag.headers["ETag"]})
        assert shut.status_code == status
    assert shut.headers["ETag"] == service.http.get("/tags/made").headers["ETag"]


def test_where_get_shows_more_a_tag_is_of_all_that(service: Running) -> None:
    """What GET shows there may have changed while the row has not. Where no GET is, the row is what a tag is of."""
    made = service.http.post("/leaves", json={"name": "more", "text": "a"}).headers["ETag"]
    assert service.http.patch("/more/more", json=TEXT, headers={"If-Match": made}).status_code == 412
    more = service.http.get("/more/more").headers["ETag"]
    service.http.post("/leaves", json={"name": "beyond", "text": "a"})
    assert service.http.patch("/more/more", json=TEXT, headers={"If-Match": more}).status_code == 412
    assert service.http.post("/tags/more/shut", headers={"If-Match": more}).status_code == 200
    assert service.http.post("/tags/more/shut", headers={"If-Match": more}).status_code == 412
