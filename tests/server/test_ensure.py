"""`ensure` and `remove` under races, under `unseen rows: forbidden`, and where the path does not say all."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from tests.events.service import Running, running
from tests.parts import LIMITS_AND_VERSIONS

pytestmark = pytest.mark.serves

CONTRACT = (
    """# Shelves

## 1. What the service does

Keeps shelves.

## 2. Resources and their fields

```yaml
person:
  primary key: id
  fields:
    id:    {type: string, format: uuid, on create: uuid()}
    name:  {type: string}
    role:  {type: string}
    token: {type: string, secret: token, on create: token()}
shelf:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    name:  {type: string, unique: true}
    owner: {references: person, on create: caller.person}
    note:  {type: string}
mark:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    shelf:  {references: shelf, inverse: marks, on delete: cascade}
    person: {references: person, on create: caller.person}
    kind:   {type: string}
  required: [kind]
  unique: [[shelf, person, kind]]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /people: {does: create person, body: [name, role], responses: {201: {id: person.id, token: issued.token}}}
PUT /shelves/{name}: {does: put shelf, body: [note], responses: {created: {201: shelf}, unchanged: {200: shelf}}}
DELETE /shelves/{name}: {does: delete shelf, responses: {deleted: {200: shelf}, absent: {204: none}}}
PUT /shelves/{shelf.name}/marks:
  does: put mark
  body: [kind]
  responses: {created: {201: {id: mark.id, marks: mark.shelf.marks.size()}}, unchanged: {200: {id: mark.id}}}
DELETE /shelves/{shelf.name}/likes:
  does: delete mark
  where: "mark.person == caller.person && mark.kind == 'like'"
  responses: {deleted or absent: {200: {was: mark.kind, marks: mark.shelf.marks.size()}}}
```

## 5. Authentication

```yaml
schemes: {token: {type: http, scheme: bearer, matches: person.token}}
permissions:
  POST /people: anyone
  DELETE /shelves/{name}: {token: "shelf.note != 'kept'"}
  all others: token
rows: {person: {token: true, anyone: true}, shelf: {token: shelf.owner == caller.person}, mark: {token: true}}
unseen rows: forbidden
```

## 6. Events

```yaml
kinds: {shelf.made: {upon: create shelf, payload: shelf}, shelf.gone: {upon: delete shelf, payload: shelf}}
delivery: {stream: not shown}
kept: P1D
```

## 7. Errors

Errors: not shown.

"""
    + LIMITS_AND_VERSIONS
)


def put(service: Running, path: str, who: dict[str, str], **body: object) -> httpx.Response:
    return service.http.put(path, json=body, headers=who)


def test_of_many_at_once_one_creates(tmp_path: Path) -> None:
    """Each of the others finds the row that the one has made: no request fails, and there is one event."""
    with running(tmp_path / "service.db", CONTRACT) as service:
        ann = service.person("Ann")
        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(lambda _: put(service, "/shelves/a", ann, note="n"), range(48)))
        assert sorted(each.status_code for each in answers) == [200] * 47 + [201]
        assert len({each.json()["id"] for each in answers}) == 1
        with ThreadPoolExecutor(16) as pool:
            gone = list(pool.map(lambda _: service.http.delete("/shelves/a", headers=ann), range(48)))
        assert sorted(each.status_code for each in gone) == [200] + [204] * 47
        kinds = [row[0] for row in service.rows('SELECT kind FROM "$event" ORDER BY seq')]
        assert kinds == ["shelf.made", "shelf.gone"]


def test_what_is_anothers_is_forbidden_where_the_contract_says_so(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", CONTRACT) as service:
        ann, bob = service.person("Ann"), service.person("Bob")
        assert put(service, "/shelves/a", ann, note="n").status_code == 201
        assert put(service, "/shelves/a", bob, note="n").status_code == 403
        assert service.http.delete("/shelves/a", headers=bob).status_code == 403
        assert put(service, "/shelves/a", ann, note="other").status_code == 409
        assert put(service, "/shelves/a", ann).status_code == 409
        assert put(service, "/shelves/a", ann, note="n").status_code == 200


def test_a_permission_is_asked_of_the_row_that_is_there(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", CONTRACT) as service:
        ann = service.person("Ann")
        assert put(service, "/shelves/a", ann, note="kept").status_code == 201
        assert service.http.delete("/shelves/a", headers=ann).status_code == 403
        assert service.http.delete("/shelves/b", headers=ann).status_code == 204
        assert len(service.rows("SELECT id FROM shelf WHERE name = 'a'")) == 1


def test_a_row_known_by_several_fields_and_one_that_where_says(tmp_path: Path) -> None:
    with running(tmp_path / "service.db", CONTRACT) as service:
        ann = service.person("Ann")
        assert put(service, "/shelves/a", ann).status_code == 201
        first = put(service, "/shelves/a/marks", ann, kind="like")
        assert (first.status_code, first.json()["marks"]) == (201, 1)
        again = put(service, "/shelves/a/marks", ann, kind="like")
        assert (again.status_code, again.json()) == (200, {"id": first.json()["id"]})
        other = put(service, "/shelves/a/marks", ann, kind="read")
        assert (other.status_code, other.json()["marks"]) == (201, 2)
        assert put(service, "/shelves/none/marks", ann, kind="like").status_code == 404
        for was in ({"was": "like", "marks": 1}, {"marks": 1}):
            removed = service.http.delete("/shelves/a/likes", headers=ann)
            assert (removed.status_code, removed.json()) == (200, was)


TAGGED = (
    CONTRACT.replace(
        "    note:  {type: string}\n",
        "    note:  {type: string}\n  views: {whole: [name, {marks: shelf.marks.size()}]}\n",
    )
    .replace("body: [note], responses", "body: [note], etag: true, responses")
    .replace("{does: delete shelf,", "{does: delete shelf, etag: true,")
    .replace(
        "DELETE /shelves/{name}:",
        "GET /shelves/{name}: {does: read shelf, etag: true, responses: {200: whole(shelf)}}\nDELETE /shelves/{name}:",
        1,
    )
)


def test_an_entity_tag_is_of_all_that_get_shows(tmp_path: Path) -> None:
    """A tag of other rows as well: a mark that comes makes another one, and If-Match asks for it."""
    with running(tmp_path / "service.db", TAGGED) as service:
        ann = service.person("Ann")
        made = put(service, "/shelves/a", ann, note="n")
        seen = service.http.get("/shelves/a", headers=ann)
        assert (made.status_code, seen.json()) == (201, {"name": "a", "marks": 0})
        assert made.headers["etag"] == seen.headers["etag"]
        first = {**ann, "If-Match": seen.headers["etag"]}
        again = put(service, "/shelves/a", first, note="n")
        assert (again.status_code, again.headers["etag"]) == (200, seen.headers["etag"])
        assert put(service, "/shelves/a/marks", ann, kind="like").status_code == 201
        assert put(service, "/shelves/a", first, note="n").status_code == 412
        assert service.http.delete("/shelves/a", headers=first).status_code == 412
        tag = service.http.get("/shelves/a", headers=ann).headers["etag"]
        second = {**ann, "If-Match": tag}
        assert put(service, "/shelves/a", second, note="n").headers["etag"] == tag
        assert service.http.delete("/shelves/a", headers=second).status_code == 200
        assert service.http.delete("/shelves/a", headers=second).status_code == 412
        assert put(service, "/shelves/a", {**ann, "If-Match": "*"}, note="n").status_code == 412
