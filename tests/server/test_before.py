"""The row as it was (`before.R`), where no request changes it, and where not everybody sees what it was made of."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import plan_of
from tests.http_cases import serving
from tests.parts import contract, told
from tests.server.test_due import ROOMS, kept
from tests.server.test_timers import Hands

pytestmark = pytest.mark.serves

SHELF = """\
# Shelves

## 1. What the service does

Keeps shelves, whose books not everybody sees.

## 2. Resources and their fields

```yaml
shelf:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    name:  {type: string}
    books: {type: integer, computed: shelf.holds.size()}
book:
  primary key: id
  fields:
    id:     {type: integer, on create: serial()}
    shelf:  {references: shelf, inverse: holds, on delete: cascade}
    hidden: {type: boolean}
  required: [shelf]
```

## 3. States and transitions

States: none.

## 4. Endpoints

```yaml
requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
POST /shelves:     {does: create shelf, body: [name], responses: {201: shelf}}
POST /books:       {does: create book, body: [shelf, hidden], responses: {201: book}}
PUT /shelves/{id}:
  does: put shelf
  body: [name]
  also: [{does: create book, sets: {shelf: this, hidden: before.shelf.books > 1}}]
  responses: {replaced: {200: {was: before.shelf, is: shelf}}}
GET /books/{id}:   {does: read book, responses: {200: book}}
```

## 5. Authentication

```yaml
schemes: none
rows: {shelf: {anyone: true}, book: {anyone: "!book.hidden"}}
unseen rows: not found
permissions: {all others: anyone}
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


def test_what_was_is_the_same_to_its_caller_and_to_the_contract(tmp_path: Path) -> None:
    plan = plan_of(SHELF)
    with serving(plan, tmp_path / "service.db", {}) as client:
        client.post("/shelves", json={"name": "top"})
        for hidden in (True, True, False):
            client.post("/books", json={"shelf": 1, "hidden": hidden})
        told = client.put("/shelves/1", json={"name": "low"}).json()
        # The caller sees one book of three, and what is computed of them is made of all; the effect hides its own.
        assert told == {"was": {"id": 1, "name": "top", "books": 3}, "is": {"id": 1, "name": "low", "books": 4}}
        assert client.get("/books/4").status_code == 404


def test_a_timer_knows_the_row_as_it_was(tmp_path: Path) -> None:
    told = "{guest.left: {upon: delete guest, payload: {name: before.guest.name}}, "
    told += "stay.over: {upon: end stay, where: \"before.stay.state == 'kept'\", "
    told += "payload: {from: before.stay.state, to: stay.state}}}"
    rooms = ROOMS.replace("{guest.left: {upon: delete guest, payload: {name: guest.name}}}", told)
    hands = Hands()
    with kept(tmp_path, hands, rooms) as service:
        service.http.post("/guests", json={"name": "Ada", "until": hands.after(hours=9)})
        assert service.http.post("/stays", json={"by": hands.after(hours=1), "hold": 100}).status_code == 201
        assert service.http.post("/stays/1/keep").status_code == 200
        hands.move(hours=10)
        assert service.http.get("/stays/1").json()["state"] == "over"
        with service.http.stream("GET", "/events", headers={"Last-Event-ID": "0"}) as stream:
            lines = (line for line in stream.iter_lines() if line.startswith("data:"))
            assert next(lines) == 'data: {"from":"kept","to":"over"}'
            assert next(lines) == 'data: {"name":"Ada"}'


KEYS = contract(
    """
    club:
      primary key: [owner, name]
      fields: {owner: {type: string}, name: {type: string}, size: {type: integer}}
      required: [size]
      check: {that: "!has(before.club) || before.club == club && before.club.size <= club.size", else: less}
    setting:
      primary key: none
      fields: {size: {type: integer, on create: 1}}
      required: [size]
      check: {that: "!has(before.setting) || before.setting.size <= setting.size", else: less}
    """,
    """
    PUT /clubs/{owner}/{name}: {does: put club, body: [size], responses: {created: {201: club}, replaced: {200: club}}}
    PUT /setting: {does: put setting, body: [size], responses: {replaced: {200: setting}}}
    """,
    codes="less: {status: 409}",
)


def test_a_row_of_any_primary_key_was_there_or_not(tmp_path: Path) -> None:
    plan = plan_of(KEYS)
    for start in (10, 20):  # The second one holds the rows that are there to the checks.
        with serving(plan, tmp_path / "service.db", {}) as client:
            for path in ("/clubs/ada/chess", "/setting"):
                sizes = [client.put(path, json={"size": start + more}) for more in (1, 0, 2)]
                made = 201 if start == 10 and path != "/setting" else 200
                assert [told(each) for each in sizes] == [made, "less", 200]


SHOW = contract(
    """
    show:
      primary key: id
      fields:
        id:    {type: integer, on create: serial()}
        seats: {type: integer, minimum: 0}
        left:  {type: integer, computed: show.seats - show.tickets.size()}
      required: [seats]
      check: {that: show.left >= 0, else: sold_out}
    ticket:
      primary key: id
      fields:
        id:   {type: integer, on create: serial()}
        show: {references: show, inverse: tickets, on delete: cascade}
    """,
    """
    POST /shows: {does: create show, body: [seats], responses: {201: show}}
    PATCH /shows/{id}: {does: update show, body: [seats], patch: merge, responses: {200: show}}
    POST /shows/{show.id}/tickets: {does: create ticket, body: none, responses: {201: ticket}}
    """,
    codes="sold_out: {status: 409, title: Sold out, detail: \"string(before.show.left) + ' were left'\"}",
    errors="",
).replace("fields: error.fields", "fields: error.fields, detail: error.detail")


def test_a_row_that_another_one_has_asked_is_as_it_is_now(tmp_path: Path) -> None:
    """Of the row that is changed `before.R` is as it was; of one whose check another row's write asks, as it is now."""
    with serving(plan_of(SHOW), tmp_path / "shows.db", {}) as client:
        client.post("/shows", json={"seats": 1})
        assert client.post("/shows/1/tickets").status_code == 201
        assert client.patch("/shows/1", json={"seats": 0}).json()["detail"] == "0 were left"
        assert client.post("/shows/1/tickets").json()["detail"] == "-1 were left"
