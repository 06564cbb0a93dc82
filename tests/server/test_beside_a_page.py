"""What stands beside a page of rows below another row: links to itself, made of both; and what of a request may be left
out, asked within a condition on rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events.service import Running, running

pytestmark = pytest.mark.serves

CONTRACT = """# Places

## 1. What the service does

Keeps places in collections.

## 2. Resources and their fields

```yaml
terms: {size: "'&limit=' + string(page.size)"}
collection:
  primary key: id
  fields: {id: {type: string, pattern: '^[a-z]+$'}, title: {type: string, unique: true}}
  required: [id, title]
place:
  primary key: id
  fields:
    id:         {type: integer, on create: serial()}
    collection: {references: collection, on delete: cascade, inverse: places}
    lon:        {type: integer}
    at:         {type: string, format: date-time}
  required: [collection, lon]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
PUT /collections/{collection.id}:
  does: put collection
  body: [title]
  responses: {created: {201: collection}, unchanged: {200: collection}}
GET /collection:
  does: read collection
  query: {title: {type: string}}
  where: collection.title == request.query.title
  responses: {200: collection}
POST /collections/{collection.id}/places/: {does: create place, body: [lon, at], responses: {201: place}}
GET /collections/{collection.id}/places/:
  does: list place
  query: {box: {type: string}, when: {type: string}}
  where: >-
    (!has(request.query.box)
      || (place.lon >= int(request.query.box.split(',')[0]) && place.lon <= int(request.query.box.split(',')[1])))
    && (!has(request.query.when) || (request.query.when.contains('/')
      ? place.at >= timestamp(request.query.when.split('/')[0])
      : place.at == timestamp(request.query.when)))
  sort: [id]
  pages: {default: 10, maximum: 100, by: offset, size: limit, at: offset, first: 0}
  responses:
    200:
      places: "page.items.map(p, p.lon)"
      next: "'/collections/' + place.collection.id + '/places/?offset=' + string(page.next) + size"
      shown: "place.collection.id + ' ' + string(page.items.size()) + ' of ' + string(page.total)"
```

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```

## 6. Events

Events: none.

## 7. Errors

```yaml
error shape: {media type: application/json, body: {code: error.code}}
codes:
  not_found:  {status: 404, for: [not found, no such path]}
  no_method:  {status: 405, for: method not allowed}
  unreadable: {status: 400, for: [malformed, unsupported media type, not acceptable]}
  too_large:  {status: 413, for: too large}
  invalid:    {status: 422, for: invalid}
  different:  {status: 409, for: [different, conflict]}
  busy:       {status: 503, for: unavailable}
  broken:     {status: 500, for: internal}
```

## 8. Limits

```yaml
rates: none
timeout: none
body size: 16 KiB
```

## 9. Versioning

Versions: none.
"""

PLACES = "/collections/towers/places/"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path: Path = tmp_path_factory.mktemp("beside")
    with running(path / "places.db", CONTRACT) as found:
        assert found.http.put("/collections/towers", json={"title": "Towers"}).status_code == 201
        for lon, year in ((10, 2020), (20, 2022), (30, None)):
            at = {} if year is None else {"at": f"{year}-01-01T00:00:00Z"}
            assert found.http.post(PLACES, json={"lon": lon, **at}).status_code == 201
        yield found


def test_the_identifier_of_a_row_that_is_ensured_may_have_its_resource_before_it(service: Running) -> None:
    again = service.http.put("/collections/towers", json={"title": "Towers"})
    assert (again.status_code, again.json()) == (200, {"id": "towers", "title": "Towers"})
    assert service.http.put("/collections/T1", json={}).status_code == 422


def test_a_link_is_made_of_the_page_and_of_the_row_above_it(service: Running) -> None:
    first = service.http.get(PLACES, params={"limit": 2}).json()
    assert first == {
        "places": [10, 20],
        "next": "/collections/towers/places/?offset=2&limit=2",
        "shown": "towers 2 of 3",
    }
    assert service.http.get(first["next"]).json() == {"places": [30], "shown": "towers 1 of 3"}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, [10, 20, 30]),
        ({"box": "15,40"}, [20, 30]),
        ({"box": "15"}, []),
        ({"when": "2022-01-01T00:00:00Z"}, [20]),
        ({"when": "2019-01-01T00:00:00Z/.."}, [10, 20]),
        ({"when": "never"}, []),
    ],
)
def test_a_parameter_that_is_not_given_is_no_value(service: Running, asked: dict[str, str], found: list[int]) -> None:
    answer = service.http.get(PLACES, params=asked)
    assert (answer.status_code, answer.json().get("places")) == (200, found)


def test_a_path_with_a_slash_at_its_end_is_another_than_the_one_without(service: Running) -> None:
    without = service.http.get(PLACES.rstrip("/"))
    assert (without.status_code, without.json()) == (404, {"code": "not_found"})
    assert service.http.get(PLACES + "/").status_code == 404
    assert service.http.delete(PLACES).headers["allow"] == "GET, HEAD, OPTIONS, POST"


def test_a_unique_field_that_is_held_equal_says_which_row_is_read(service: Running) -> None:
    assert service.http.get("/collection", params={"title": "Towers"}).json() == {"id": "towers", "title": "Towers"}
    assert service.http.get("/collection", params={"title": "Wells"}).status_code == 404
    assert service.http.get("/collection").status_code == 404
