"""What a request chooses of a response: in one statement, of rows that it may see, with a tag of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

from ninefold.runtime.store.sqlite import SQLite

pytestmark = pytest.mark.serves

CONTRACT = """# Folders

## 1. What the service does

Shows folders and papers.

## 2. Resources and their fields

```yaml
person:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    name: {type: string}
    key:  {type: string, secret: token, on create: token()}
folder:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    name:   {type: string}
    parent: {references: folder, inverse: folders, on delete: cascade}
    owner:  {references: person, inverse: folders, on delete: cascade}
    size:   {type: integer, computed: "folder.papers.size()"}
  required: [name]
paper:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    folder: {references: folder, inverse: papers, on delete: cascade}
    text:   {type: string}
    note:   {type: string}
  required: [folder, text]
  views:
    short: [id, text]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: ignored}
produces: application/json
POST /people:  {does: create person, body: [name], responses: {201: {id: person.id, key: issued.key}}}
POST /folders: {does: create folder, body: [name, parent], sets: {owner: caller.person}, responses: {201: folder}}
POST /papers:  {does: create paper, body: [folder, text, note], responses: {201: paper}}
GET /folders:
  does: list folder
  sort: [id]
  responses: {200: page.items}
  query:
    fields: {selects: [id, name, size, parent], explode: false}
    expand: {expands: {owner: person, parent: folder, papers: short(folder.papers)}, explode: true}
GET /papers/{id}:
  does: read paper
  responses: {200: paper}
  etag: true
  query: {fields: {selects: [id, text], explode: false}, expand: {expands: [folder], explode: true}}
PATCH /papers/{id}:
  {does: update paper, patch: merge, body: [text, note], etag: true, responses: {200: paper}}
GET /views/{id}:
  does: read paper
  query:
    as:     {type: string}
    fields: {selects: [id, text], always: [id], explode: false}
    expand: {expands: [folder], explode: true}
  cases:
    by: request.query.as
    short:     {responses: {200: short(paper)}}
    all others: {responses: {200: paper}}
GET /mine/{id}:
  does: read paper
  responses: {200: {text: paper.text, again: "paper.text + '!'", of: {folder: paper.folder}}}
  query: {fields: {selects: [text, of], explode: true}}
```

## 5. Authentication

```yaml
schemes: {key: {type: apiKey, in: header, name: Key, matches: person.key}}
permissions: {all others: [key], POST /people: [anyone]}
rows:
  person: {anyone: true, key: person == caller.person}
  folder: {key: true}
  paper:  {key: "paper.folder.owner == caller.person"}
unseen rows: not found
```

## 6. Events

Events: none.

## 7. Errors

Errors: none.

## 8. Limits

```yaml
rates: none
body size: none
timeout: none
pages: {by: none}
```

## 9. Versioning

Versions: none.
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    plan = plan_of(CONTRACT)
    with serving(plan, tmp_path_factory.mktemp("chosen") / "service.db", {}) as client:
        for name in ("ada", "bob"):
            keys[name] = {"Key": client.post("/people", json={"name": name}).json()["key"]}
        for number in range(20):
            who = "bob" if number == 1 else "ada"
            body = {"name": f"f{number}"} | ({"parent": 1} if number else {})
            assert client.post("/folders", json=body, headers=keys[who]).status_code == 201
        for folder in (1, 1, 2):
            body = {"folder": folder, "text": f"in {folder}", "note": "n"}
            assert client.post("/papers", json=body, headers=keys["bob" if folder == 2 else "ada"]).status_code == 201
        yield client


keys: dict[str, dict[str, str]] = {}


def get(client: httpx.Client, target: str, who: str = "ada", **headers: str) -> httpx.Response:
    return client.get(target, headers={**keys[who], **headers})


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that read tables of the contract, as they run."""
    ran: list[str] = []
    select = SQLite.select

    def recorded(database: SQLite, text: str, binds: Any) -> Any:
        if 'FROM "folder" AS "folder"' in text or 'FROM "paper" AS "paper"' in text:
            ran.append(text)
        return select(database, text, binds)

    monkeypatch.setattr(SQLite, "select", recorded)
    return ran


def test_a_list_is_one_statement_whatever_is_expanded(service: httpx.Client, statements: list[str]) -> None:
    shown = get(service, "/folders?expand=owner&expand=parent&expand=papers").json()
    assert len(shown) == 20 and len(statements) == 1
    assert shown[0]["owner"] == {"id": 1, "name": "ada"} and "parent" not in shown[0]
    assert shown[2]["parent"] == {"id": 1, "name": "f0", "owner": 1, "size": 2}
    assert shown[0]["papers"] == [{"id": 1, "text": "in 1"}, {"id": 2, "text": "in 1"}]


def test_what_is_not_chosen_is_not_worked_out(service: httpx.Client, statements: list[str]) -> None:
    assert list(get(service, "/folders").json()[1]) == ["id", "name", "parent", "owner", "size"]
    assert list(get(service, "/folders?fields=parent,id").json()[1]) == ["id", "parent"]
    assert list(get(service, "/folders?fields=name&expand=parent").json()[1]) == ["name"]
    whole, less, unexpanded = statements
    assert "(SELECT count(*)" in whole, "the papers are counted"
    assert "(SELECT" not in less and "(SELECT" not in unexpanded


def test_row_rules_hold_for_what_is_expanded(service: httpx.Client) -> None:
    shown = get(service, "/folders?expand=owner&expand=papers", "bob").json()
    assert [("owner" in each, each["papers"]) for each in shown[:3]] == [
        (False, []),
        (True, [{"id": 3, "text": "in 2"}]),
        (False, []),
    ]


def test_a_choice_has_a_tag_that_no_write_takes(service: httpx.Client) -> None:
    whole, less = get(service, "/papers/1"), get(service, "/papers/1?fields=text")
    more = get(service, "/papers/1?expand=folder")
    tags = [each.headers["etag"] for each in (whole, less, more)]
    assert len(set(tags)) == 3
    assert get(service, "/papers/1?fields=text", **{"If-None-Match": tags[1]}).status_code == 304
    assert get(service, "/papers/1?fields=text", **{"If-None-Match": f"{tags[0]}, {tags[2]}"}).status_code == 200
    merge = {**keys["ada"], "Content-Type": "application/merge-patch+json"}
    for tag in tags[1:]:
        refused = service.patch("/papers/1", content=b'{"note": "m"}', headers={**merge, "If-Match": tag})
        assert refused.status_code == 412
    written = service.patch("/papers/1", content=b'{"note": "m"}', headers={**merge, "If-Match": tags[0]})
    assert written.status_code == 200
    assert get(service, "/papers/1", **{"If-None-Match": written.headers["etag"]}).status_code == 304
    assert get(service, "/papers/1?fields=text", **{"If-None-Match": tags[1]}).status_code == 304, "it is as it was"


def test_an_expanded_row_is_in_the_tag(service: httpx.Client) -> None:
    before = get(service, "/papers/1?expand=folder").headers["etag"]
    assert get(service, "/papers/1?expand=folder", **{"If-None-Match": before}).status_code == 304
    paper = {"folder": 1, "text": "one more", "note": "n"}
    assert service.post("/papers", json=paper, headers=keys["ada"]).status_code == 201
    after = get(service, "/papers/1?expand=folder", **{"If-None-Match": before})
    assert after.status_code == 200 and after.json()["folder"]["size"] == 3


def test_what_is_chosen_of_a_case(service: httpx.Client) -> None:
    assert get(service, "/views/3?as=short", "bob").json() == {"id": 3, "text": "in 2"}
    assert get(service, "/views/3?fields=text", "bob").json() == {"id": 3, "text": "in 2"}
    folder = {"id": 2, "name": "f1", "parent": 1, "owner": 2, "size": 1}
    assert get(service, "/views/3?as=short&expand=folder", "bob").json() == {"id": 3, "text": "in 2", "folder": folder}
    assert get(service, "/views/3?as=short&fields=note", "bob").status_code == 422


def test_a_template_is_the_object_that_shows_the_row(service: httpx.Client) -> None:
    assert get(service, "/mine/3?fields=of", "bob").json() == {"of": {"folder": 2}}
    assert get(service, "/mine/3?fields=of&fields=text", "bob").json() == {"text": "in 2", "of": {"folder": 2}}


@pytest.mark.parametrize(
    "query",
    ["fields=", "fields=%00", "fields=id,id", "fields=id&fields=id", "fields=%ff", "fields=id%20", "expand=",
     "expand=x", "expand=owner&expand=owner", "expand=owner,papers", "fields=owner", "fields=" + "id," * 4000],
)  # fmt: skip
def test_other_names_are_invalid(service: httpx.Client, query: str) -> None:
    assert get(service, f"/folders?{query}").status_code == 422


def test_a_parameter_of_another_name_is_another_parameter(service: httpx.Client) -> None:
    assert get(service, "/folders?field=id").status_code == 200
    assert get(service, "/mine/3?expand=folder", "bob").json()["text"] == "in 2"
