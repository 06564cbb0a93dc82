"""An entity tag is another one where something else is shown, though nobody wrote the row (decision 0012): whoever is
answered 304 has what it would be shown, and whoever writes with `If-Match` has seen what is there."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from tests.contracts import plan_of
from tests.http_cases import serving

pytestmark = pytest.mark.serves

SHOWN = {
    "all": "{n: all(box).size()}",
    "all-by-a-view": "{boxes: card(all(box))}",
    "all-as-objects": "{boxes: \"all(box).map(b, {'n': b.n})\"}",
    "all-of-some": '{is: "all(box).exists(b, b.n == leaf.id)"}',
    "all-in-a-choice": "\"all(box).exists(b, b.n == leaf.id) ? {'many': leaf.id} : {'few': leaf.id}\"",
    "all-by-a-term": "{n: boxes}",
    "all-in-a-computed-field": "{n: leaf.boxes}",
    "all-in-what-a-computed-field-reads": "{n: leaf.twice}",
    "computed-of-the-whole-row": "leaf",
    "one-row": '{n: "all(setting).first().n"}',
    "the-log": "{n: all(event).size()}",
    "referring": "{n: leaf.boxed.size()}",
    "referring-by-a-view": "{boxes: card(leaf.boxed)}",
    "referred-to": "{n: leaf.friend.n}",
    "referred-to-by-a-view": "{friend: card(leaf.friend)}",
    "in-a-view": "some(leaf)",
}

CONTRACT = f"""
purpose: Keeps leaves.
resources:
  terms: {{boxes: all(box).size()}}
  leaf:
    primary key: id
    fields:
      id:     {{type: integer, on create: serial()}}
      text:   {{type: string}}
      friend: {{references: box}}
      boxes:  {{type: integer, computed: all(box).size()}}
      twice:  {{type: integer, computed: leaf.boxes * 2}}
    views: {{some: [id, {{n: all(box).size()}}]}}
  box:
    primary key: id
    fields:
      id:   {{type: integer, on create: serial()}}
      n:    {{type: integer, on create: 0}}
      leaf: {{references: leaf, inverse: boxed}}
    views: {{card: [id, n]}}
  setting:
    primary key: none
    fields: {{n: {{type: integer, on create: 0}}}}
states: none
endpoints:
  requests:  {{media type: application/json, unknown members: refused, unknown parameters: refused}}
  produces: application/json
  POST /leaves: {{does: create leaf, body: [friend], responses: {{201: leaf}}}}
  POST /boxes: {{does: create box, body: [n, leaf], responses: {{201: box}}}}
  PATCH /boxes/{{id}}: {{does: update box, body: [n], patch: merge, responses: {{200: box}}}}
  PATCH /setting: {{does: update setting, body: [n], patch: merge, responses: {{200: setting}}}}
  {
    chr(10)
    .join(
        f"  GET /{name}/{{id}}: {{does: read leaf, etag: true, responses: {{200: {shown}}}}}"
        + chr(10)
        + f"  PATCH /{name}/{{id}}:"
        + " {does: update leaf, etag: true, body: [text], patch: merge, responses: {204: none}}"
        for name, shown in SHOWN.items()
    )
    .strip()
}
authentication: {{schemes: none, permissions: {{all others: anyone}}, rows: all}}
events: {{kinds: {{boxed: {{upon: create box, payload: box}}}}, delivery: not shown, kept: P1D}}
errors: none
limits: {{rates: none, body size: none, timeout: none}}
versioning: none
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with serving(plan_of(CONTRACT, "leaves.yaml"), tmp_path_factory.mktemp("leaves") / "db", {}) as served:
        yield served


@pytest.mark.parametrize("name", SHOWN)
def test_what_else_is_shown_is_in_the_tag(service: httpx.Client, name: str) -> None:
    friend = service.post("/boxes", json={}).json()["id"]
    leaf = service.post("/leaves", json={"friend": friend}).json()["id"]
    before = service.get(f"/{name}/{leaf}")
    assert service.get(f"/{name}/{leaf}", headers={"If-None-Match": before.headers["ETag"]}).status_code == 304
    for asked, body in ((f"/boxes/{friend}", {"n": 7 * leaf}), ("/setting", {"n": 7 * leaf})):
        assert service.patch(asked, json=body).status_code == 200
    for _ in range(2):
        assert service.post("/boxes", json={"leaf": leaf, "n": leaf}).status_code == 201
    now = service.get(f"/{name}/{leaf}", headers={"If-None-Match": before.headers["ETag"]})
    assert now.status_code == 200 and now.text != before.text
    for tag, status in ((before.headers["ETag"], 412), (now.headers["ETag"], 204)):
        changed = service.patch(f"/{name}/{leaf}", json={"text": "new"}, headers={"If-Match": tag})
        assert changed.status_code == status
