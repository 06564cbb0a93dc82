"""What was put is found where it was put, whatever the contract makes of its fields: a row keeps what the path names of
it, and the same `put` once more finds it as it is wanted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events.service import Running, running
from tests.parts import CALLERS_AND_EVENTS, LIMITS_AND_VERSIONS, READ_AS_JSON

PLACES = {
    "made where another changes": "/slugs/{slug}",
    "made at every write": "/codes/{code}",
    "of a primary key": "/keys/{floor}/{door}",
    "beside a where": "/open/{slug}",
}
ENDPOINTS = "\n".join(
    f"""PUT {path}:
  does: put {of}
  body: [name]{where}
  responses: {{created: {{201: {of}}}, replaced: {{200: {of}}}, unchanged: {{204: none}}}}
GET {path}: {{does: read {of}, responses: {{200: {{name: {of}.name}}}}}}"""
    for path in PLACES.values()
    for of in ["room" if "floor" in path else "club"]
    for where in ["\n  where: club.open" if "open" in path else ""]
)
CONTRACT = f"""# Clubs

## 1. What the service does

Keeps clubs.

## 2. Resources and their fields

```yaml
club:
  primary key: id
  fields:
    id:   {{type: integer, on create: serial()}}
    name: {{type: string}}
    open: {{type: boolean, on create: true}}
    slug: {{type: string, unique: true, on create: slug(club.name), on change: {{name: slug(club.name)}}}}
    code: {{type: string, unique: true, on change: "slug(club.name) + '-x'"}}
    full: {{type: string, on change: {{slug or name: club.slug + '!'}}}}
  required: [name, slug, code]
room:
  primary key: [floor, door]
  fields:
    floor: {{type: string, on change: {{name: room.name + '?'}}}}
    door:  {{type: string, on change: slug(room.name)}}
    name:  {{type: string}}
  required: [name]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
{READ_AS_JSON}{ENDPOINTS}
```

{CALLERS_AND_EVENTS}## 7. Errors

Errors: not shown.

{LIMITS_AND_VERSIONS}"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    path: Path = tmp_path_factory.mktemp("clubs")
    with running(path / "service.db", CONTRACT) as found:
        yield found


@pytest.mark.serves
@pytest.mark.parametrize("path", PLACES.values(), ids=PLACES)
def test_what_is_put_is_found_where_it_was_put(service: Running, path: str) -> None:
    own = path.strip("/").replace("/", "-").replace("{", "").replace("}", "")
    at = path.replace("{slug}", own).replace("{code}", own).replace("{floor}", "1").replace("{door}", own)
    for name, status in ((f"{own} Aa", 201), (f"{own} Bb", 200), (f"{own} Bb", 204), (f"{own} Aa", 200)):
        answer = service.http.put(at, json={"name": name})
        assert answer.status_code == status, (name, answer.text)
        assert service.http.get(at).json() == {"name": name}
        if answer.content and "slug" in path:
            assert (answer.json()["slug"], answer.json()["full"]) == (own, f"{own}!")
