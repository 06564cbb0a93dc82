"""What a contract can say of resources, asked over a socket: objects and how they merge, values that follow from
others, identifiers of several fields, deletions through several levels, fields that are given once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contracts import plan_of
from tests.server.conftest import running

from ninefold.pipeline import compile_document
from ninefold.runtime.messages.patches import merge

pytestmark = pytest.mark.serves

GARDEN = """\
# Garden

## 1. What the service does

Keeps gardens, their beds, and what grows in them.

## 2. Resources and their fields

```yaml
garden:
  primary key: id
  fields:
    id:      {type: integer, on create: serial()}
    name:    {type: string, minLength: 1, normalise: value.trim()}
    town:    {type: string, immutable: true}
    slug:    {type: string, on change: {name: slug(garden.name + ' ' + garden.town)}}
    label:   {type: string, on change: garden.name + '/' + garden.town}
    about:   {$ref: "#/types/about"}
    extra:   {type: [object, array]}
    size:    {type: object, properties: {width: {type: integer}, length: {type: integer}}, required: [width, length]}
    phone:   {type: string, sensitive: true}
    low:     {type: integer, on create: "0"}
    high:    {type: integer, on create: "10"}
  required: [name, town]
  check: {that: garden.low <= garden.high, else: upside_down}
bed:
  primary key: [garden, place]
  fields:
    garden: {references: garden, inverse: beds, on delete: cascade}
    place:  {type: string, pattern: "^[A-Z][0-9]$"}
    soil:   {type: string}
plant:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    garden: {references: garden, inverse: plants, on delete: cascade}
    under:  {references: plant, inverse: below, on delete: set null}
    beside: {references: plant, inverse: neighbours, on delete: cascade}
    kind:   {type: string}
  required: [garden, kind]
box:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    code:  {type: string, unique: true}
    state: {state: true}
  required: [code]
seed:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    plant: {references: plant, inverse: seeds, on delete: restrict}
  required: [plant]

types:
  about:
    type: object
    properties:
      soil:  {type: string, enum: [clay, sand, loam]}
      notes: {type: object}
      tags:  {type: array, items: {type: string}, maxItems: 3}
    required: [soil]
```

## 3. States and transitions

```yaml
box:
  initial: open
  states: [open, shut]
  transitions:
    shut:  {from: open, to: shut, sets: {code: box.code.lowerAscii()}}
    clear: {from: open, to: shut, sets: {code: "'x'"}}
garden: none
bed: none
plant: none
seed: none
```

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /gardens:
  does: create garden
  body: [name, town, about, extra, size, phone, low, high]
  responses: {201: garden}
GET /gardens/{id}:    {does: read garden, etag: true, responses: {200: garden}}
PATCH /gardens/{id}:
  does: update garden
  body: [name, town, about, extra, size, low, high]
  patch: merge
  etag: true
  responses: {200: garden}
PATCH /g/{id}:
  does: update garden
  body: {garden: {info: {about: garden.about}, name: garden.name}}
  patch: merge
  responses: {200: garden}
DELETE /gardens/{id}: {does: delete garden, responses: {204: none}}
POST /gardens/{garden.id}/beds:           {does: create bed, body: [place, soil], responses: {201: bed}}
GET /gardens/{garden.id}/beds:
  does: list bed
  sort: [place]
  query: {sort: {sorts: [-soil, place]}}
  pages: {default: 2, maximum: 2, by: cursor, size: limit, at: cursor}
  responses: {200: {beds: page.items, next: page.next}}
GET /beds/{garden}/{place}:               {does: read bed, responses: {200: bed}}
PATCH /beds/{garden}/{place}:             {does: update bed, body: [soil, place], patch: merge, responses: {200: bed}}
DELETE /beds/{garden}/{place}:            {does: delete bed, responses: {204: none}}
POST /plants:         {does: create plant, body: [garden, under, beside, kind], responses: {201: plant}}
GET /plants/{id}:     {does: read plant, responses: {200: plant}}
DELETE /plants/{id}:  {does: delete plant, responses: {204: none}}
POST /boxes:         {does: create box, body: [code], responses: {201: box}}
POST /boxes/{id}/shut:  {does: shut box, body: none, responses: {200: box}}
POST /boxes/{id}/clear: {does: clear box, body: none, responses: {200: box}}
POST /seeds:          {does: create seed, body: [plant], responses: {201: seed}}
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
error shape:
  media type: application/json
  body: {code: error.code, fields: "error.fields.map(f, f.pointer + ' ' + f.rule)"}
codes:
  bad:         {status: 422, for: [invalid, malformed]}
  none:        {status: 404, for: not found}
  clash:       {status: 409, for: conflict}
  stale:       {status: 412, for: precondition failed}
  upside_down: {status: 409}
```

## 8. Limits

```yaml
rates: none
timeout: none
body size: none
pages: none
```

## 9. Versioning

Versions: none.
"""


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    plan = plan_of(GARDEN)
    path: Path = tmp_path_factory.mktemp("garden")
    with running(plan, path / "garden.db") as service:
        yield service.http


def planted(http: httpx.Client, **more: object) -> str:
    made = http.post("/gardens", json={"name": "Kew", "town": "London", **more})
    assert made.status_code == 201, made.text
    return f"/gardens/{made.json()['id']}"


# ── Objects ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_object_is_merged_member_by_member(http: httpx.Client) -> None:
    garden = planted(http, about={"soil": "clay", "notes": {"a": 1, "b": {"c": 2}}, "tags": ["x"]})
    changed = http.patch(garden, json={"about": {"notes": {"a": None, "b": {"d": None, "e": [None]}}, "tags": None}})
    assert changed.status_code == 200, changed.text
    assert changed.json()["about"] == {"soil": "clay", "notes": {"b": {"c": 2, "e": [None]}}}
    assert http.get(garden).json() == changed.json()


def test_where_there_is_none_it_is_made(http: httpx.Client) -> None:
    garden = planted(http)
    changed = http.patch(
        garden, json={"about": {"soil": "sand", "notes": {"gone": None, "kept": 1}}, "extra": {"a": None}}
    )
    assert changed.json()["about"] == {"soil": "sand", "notes": {"kept": 1}}
    assert changed.json()["extra"] == {}
    assert http.patch(garden, json={"extra": [1, None]}).json()["extra"] == [1, None]
    assert http.patch(garden, json={"extra": {"b": 2}}).json()["extra"] == {"b": 2}


def test_what_it_has_become_is_what_the_schema_is_asked_of(http: httpx.Client) -> None:
    garden = planted(http, about={"soil": "clay"}, size={"width": 1, "length": 2})
    refused = http.patch(
        garden, json={"name": " ", "about": {"soil": None, "tags": list("abcd")}, "size": {"width": "a", "more": 1}}
    )
    assert (refused.status_code, refused.json()["fields"]) == (
        422,
        ["/name minLength", "/about/soil required", "/about/tags maxItems", "/size/more unknown", "/size/width type"],
    ) or sorted(refused.json()["fields"]) == sorted(
        ["/name minLength", "/about/soil required", "/about/tags maxItems", "/size/width type", "/size/more unknown"]
    )
    assert http.patch(garden, json={"size": {"width": 5}}).json()["size"] == {"width": 5, "length": 2}
    assert http.get(garden).json()["about"] == {"soil": "clay"}


def test_a_patch_that_is_no_object(http: httpx.Client) -> None:
    garden = planted(http)
    for body in ("null", "[]", "1", '"a"'):
        refused = http.patch(garden, content=body, headers={"Content-Type": "application/json"})
        assert (refused.status_code, refused.json()["fields"]) == (422, [" type"])


def test_of_a_row_that_is_not_there_nothing_is_asked(http: httpx.Client) -> None:
    assert http.patch("/gardens/999999", json={"about": {"tags": ["a"]}}).status_code == 404


def test_merging_keeps_to_the_entity_tag(http: httpx.Client) -> None:
    garden = planted(http, about={"soil": "clay"})
    tag = http.get(garden).headers["etag"]
    assert http.patch(garden, json={"about": {"soil": "sand"}}, headers={"If-Match": tag}).status_code == 200
    stale = http.patch(garden, json={"about": {"soil": "loam"}}, headers={"If-Match": tag})
    assert (stale.status_code, http.get(garden).json()["about"]) == (412, {"soil": "sand"})


def test_an_object_deep_in_a_body(http: httpx.Client) -> None:
    garden = planted(http, about={"soil": "clay", "tags": ["a"]}).replace("/gardens", "/g")
    changed = http.patch(garden, json={"garden": {"info": {"about": {"soil": "loam"}}}})
    assert changed.json()["about"] == {"soil": "loam", "tags": ["a"]}


def test_racing_merges_lose_nothing(http: httpx.Client) -> None:
    garden = planted(http, about={"soil": "clay", "notes": {}})

    def note(index: int) -> int:
        return http.patch(garden, json={"about": {"notes": {f"n{index}": index}}}).status_code

    with ThreadPoolExecutor(16) as threads:
        assert set(threads.map(note, range(300))) == {200}
    assert http.get(garden).json()["about"]["notes"] == {f"n{index}": index for index in range(300)}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=12,
)


@given(json_values, json_values)
def test_the_laws_of_a_merge(target: object, patch: object) -> None:
    """RFC 7396: a patch leaves no null that it wrote, and to do it again changes nothing."""
    merged = merge(target, patch)
    assert merge(merged, patch) == merged
    if isinstance(patch, dict):
        assert isinstance(merged, dict)
        for name, value in patch.items():
            assert (name in merged) is (value is not None)
        before = target if isinstance(target, dict) else {}
        assert {name: value for name, value in merged.items() if name not in patch} == {
            name: value for name, value in before.items() if name not in patch
        }
    else:
        assert merged == patch


# ── Values that follow from others ────────────────────────────────────────────────────────────────────────────


def test_what_is_made_again_reads_what_the_body_does_not_give(http: httpx.Client) -> None:
    garden = planted(http)
    assert http.get(garden).json()["slug"] == "kew-london"
    changed = http.patch(garden, json={"name": "  Great Kew "}).json()
    assert (changed["name"], changed["slug"], changed["label"]) == ("Great Kew", "great-kew-london", "Great Kew/London")
    again = http.patch(garden, json={"low": 1}).json()
    assert (again["slug"], again["label"]) == ("great-kew-london", "Great Kew/London")


def test_an_invariant_across_fields(http: httpx.Client) -> None:
    garden = planted(http, low=3, high=5)
    assert http.patch(garden, json={"low": 6}).json()["code"] == "upside_down"
    assert http.patch(garden, json={"low": 6, "high": 6}).status_code == 200
    assert http.post("/gardens", json={"name": "a", "town": "b", "low": 11}).json()["code"] == "upside_down"


def test_what_is_immutable_is_given_once(http: httpx.Client) -> None:
    garden = planted(http)
    refused = http.patch(garden, json={"town": "Paris"})
    assert (refused.status_code, refused.json()["fields"]) == (422, ["/town immutable"])


# ── Identifiers of several fields ─────────────────────────────────────────────────────────────────────────────


def test_a_row_known_by_two_fields(http: httpx.Client) -> None:
    garden = planted(http)
    number = garden.rpartition("/")[2]
    beds = f"{garden}/beds"
    for place in ("B1", "A1", "C1", "A2", "B2"):
        assert http.post(beds, json={"place": place, "soil": "clay"}).status_code == 201
    refused = http.post(beds, json={"place": "A1"})
    assert (refused.status_code, refused.json()["code"]) == (409, "clash")
    other = planted(http)
    assert http.post(f"{other}/beds", json={"place": "A1"}).status_code == 201

    for sort in ("", "&sort=-soil"):
        found, cursor = [], ""
        while cursor is not None:
            page = http.get(f"{beds}?limit=2{sort}" + (f"&cursor={cursor}" if cursor else "")).json()
            found += [bed["place"] for bed in page["beds"]]
            cursor = page.get("next")
        assert found == ["A1", "A2", "B1", "B2", "C1"]

    def after(cursor: str, sort: str = "") -> tuple[int, list[str]]:
        answer = http.get(f"{beds}?limit=2{sort}&cursor={cursor}")
        return answer.status_code, [bed["place"] for bed in answer.json().get("beds", ())]

    # A cursor is a place in the order, whether that was named or not.
    by_none, by_name = (http.get(f"{beds}?limit=2{sort}").json()["next"] for sort in ("", "&sort=place"))
    assert by_none == by_name
    assert after(by_none) == after(by_none, "&sort=place") == (200, ["B1", "B2"])
    assert after(by_none, "&sort=-soil") == (422, [])

    bed = f"/beds/{number}/B2"
    assert http.get(bed).json() == {"garden": int(number), "place": "B2", "soil": "clay"}
    assert http.patch(bed, json={"soil": "sand"}).json()["soil"] == "sand"
    assert http.delete(bed).status_code == 204
    assert http.get(bed).status_code == 404
    assert http.get(f"/beds/{number}/zz").status_code == 404
    assert http.get("/beds/x/A1").status_code == 404


def test_an_identifier_that_moves_onto_another(http: httpx.Client) -> None:
    garden = planted(http)
    for place in ("A1", "A2"):
        http.post(f"{garden}/beds", json={"place": place})
    number = garden.rpartition("/")[2]
    refused = http.patch(f"/beds/{number}/A1", json={"place": "A2"})
    assert (refused.status_code, refused.json()["code"]) == (409, "clash")
    assert http.patch(f"/beds/{number}/A1", json={"place": "A3"}).json()["place"] == "A3"
    assert http.get(f"/beds/{number}/A3").status_code == 200


def test_a_transition_that_gives_a_value_which_is_taken(http: httpx.Client) -> None:
    small, large = (http.post("/boxes", json={"code": code}).json()["id"] for code in ("abc", "ABC"))
    for name, status in (("shut", 409), ("clear", 200)):
        assert http.post(f"/boxes/{large}/{name}").status_code == status
    refused = http.post(f"/boxes/{small}/clear")
    assert (refused.status_code, refused.json()["code"]) == (409, "clash")


# ── Deletions ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_deletion_through_several_levels(http: httpx.Client) -> None:
    garden = planted(http)
    number = int(garden.rpartition("/")[2])

    def plant(**more: object) -> int:
        return int(http.post("/plants", json={"garden": number, "kind": "rose", **more}).json()["id"])

    oak = plant()
    fern, ivy = plant(under=oak), plant(beside=oak)
    moss = plant(beside=ivy, under=ivy)
    seed = http.post("/seeds", json={"plant": moss})
    assert seed.status_code == 201
    # The oak takes the ivy with it, that the moss, and a seed refuses that.
    refused = http.delete(f"/plants/{oak}")
    assert (refused.status_code, refused.json()["code"]) == (409, "clash")
    assert http.get(f"/plants/{ivy}").status_code == 200
    alone = plant()
    sapling = plant(under=alone, beside=fern)
    assert http.delete(f"/plants/{alone}").status_code == 204
    assert "under" not in http.get(f"/plants/{sapling}").json()
    assert http.delete(f"/plants/{fern}").status_code == 204
    assert http.get(f"/plants/{sapling}").status_code == 404
    assert http.delete(garden).status_code == 409


# ── What is sensitive ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_sensitive_identifier_is_in_no_log(tmp_path: Path) -> None:
    text = """\
# Members

## 1. What the service does

Knows its members.

## 2. Resources and their fields

```yaml
member:
  primary key: email
  fields:
    email: {type: string, sensitive: true}
    key:   {type: string, secret: token, on create: token()}
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /members: {does: create member, body: [email], responses: {201: {key: issued.key}}}
GET /me:       {does: read member, where: member == caller.member, responses: {200: member}}
```

## 5. Authentication

```yaml
schemes: {key: {type: http, scheme: bearer, matches: member.key}}
rows: all
unseen rows: not found
permissions: {POST /members: anyone, GET /me: key}
```

## 6. Events

Events: none.

## 7. Errors

Errors: none.

## 8. Limits

Limits: none.

## 9. Versioning

Versions: none.
"""
    plan = plan_of(text)
    with running(plan, tmp_path / "members.db") as service:
        key = service.http.post("/members", json={"email": "ada@example.org"}).json()["key"]
        shown = service.http.get("/me", headers={"Authorization": f"Bearer {key}"})
        assert shown.json() == {"email": "ada@example.org"}
    assert [record.caller for record in service.records] == [None, "***"]
    assert "ada" not in repr(service.records)


# ── Filters of several values ─────────────────────────────────────────────────────────────────────────────────

SEVERAL = "GET /boxes: {does: list box, query: {%s}, sort: [id], responses: {200: page.items}}\n"


def with_filters(filters: str) -> str:
    text = GARDEN.replace("POST /boxes: ", SEVERAL % filters + "POST /boxes: ", 1)
    assert text != GARDEN
    return text


def test_a_filter_of_several_values(tmp_path: Path) -> None:
    plan = plan_of(
        with_filters(
            "code: {where: box.code in value, explode: true}, "
            "id: {where: box.id in value, explode: false, default: [1, 2]}"
        )
    )
    with running(plan, tmp_path / "garden.db") as service:
        for code in ("a", "b", "c,d"):
            assert service.http.post("/boxes", json={"code": code}).status_code == 201

        def found(query: str) -> list[str]:
            answer = service.http.get(f"/boxes{query}")
            assert answer.status_code == 200, answer.text
            return [box["code"] for box in answer.json()]

        assert found("") == ["a", "b"]
        assert found("?id=1,2,3") == ["a", "b", "c,d"]
        assert found("?id=3&code=a&code=c,d") == ["c,d"]
        assert found("?id=1%2C3&code=b") == []
        for query, wrong in (
            ("?id=1&id=2", "/id repeated"),
            ("?id=1,x", "/id/1 type"),
            ("?id=", "/id/0 type"),
            ("?id=1,", "/id/1 type"),
        ):
            refused = service.http.get(f"/boxes{query}")
            assert (refused.status_code, refused.json()["fields"]) == (422, [wrong])


@pytest.mark.parametrize(
    ("filters", "label"),
    [
        ("code: box.code in value", "code"),
        ("code: {where: box.code == value, explode: true}", "true"),
    ],
)
def test_one_value_is_not_several(filters: str, label: str) -> None:
    loaded = compile_document("garden.md", with_filters(filters).encode())
    [told] = [each for each in loaded.diagnostics if each.code.id == "NF0575"]
    span = told.labels[0].span
    assert loaded.source.text[span.start : span.end] == label
