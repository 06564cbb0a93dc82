"""One note of one thing by which callers learn of rows that they may not see, whatever it reads and whoever calls."""

from __future__ import annotations

from ninefold.pipeline import compile_document

SCHEMES = ("one", "two", "three", "four")


def lines(*written: str) -> str:
    return "\n".join(each for each in written)


def of_each(written: str) -> str:
    return "{" + ", ".join(f"{each}: {written.replace('SCHEME', each)}" for each in SCHEMES) + "}"


KEPT = "{type: string, secret: token, on create: token()}"
OF_SOMEBODY = "{primary key: id, fields: {id: {type: integer, on create: serial()}, of: OF}}"
OF = "{references: person, on delete: cascade}"

CONTRACT = lines(
    "purpose: Keeps rooms.",
    "resources:",
    "  person: {primary key: name, fields: {name: {type: string}, " + of_each(KEPT)[1:] + "}",
    "  room:",
    "    primary key: id",
    "    fields:",
    "      id: {type: integer, on create: serial()}",
    "      busy: {type: integer, computed: all(booking).size() + all(visit).size()}",
    "  booking: " + OF_SOMEBODY.replace("OF", OF),
    "  visit: " + OF_SOMEBODY.replace("OF", OF),
    "states: none",
    "endpoints:",
    "  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}",
    "  produces: application/json",
    "  GET /rooms/{id}: {does: read room, responses: {200: room}}",
    "authentication:",
    "  schemes: " + of_each("{type: apiKey, in: header, name: X-SCHEME, matches: person.SCHEME}"),
    "  rows:",
    "    person: all",
    "    room: all",
    "    booking: " + of_each("booking.of == caller.person").replace("booking.of == caller.person", "ONE", 1),
    "    visit: " + of_each("visit.of == caller.person"),
    "  unseen rows: not found",
    "  permissions: {all others: [one, two, three, four]}",
    "events: none",
    "errors:",
    "  error shape: {media type: application/json, body: {code: error.code}}",
    "  codes: {missing: {status: 404, for: not found}, who: {status: 401, for: unauthenticated}}",
    "limits: {rates: none, timeout: none, body size: none, pages: none}",
    "versioning: none",
)


def told(one: str) -> list[tuple[str, int, tuple[str, ...]]]:
    loaded = compile_document("contract.yaml", CONTRACT.replace("ONE", one).encode())
    assert loaded.plan is not None, [each.message for each in loaded.diagnostics]
    return [(each.message, len(each.labels), each.help) for each in loaded.diagnostics if each.code.id == "NF0593"]


def test_of_all_resources_and_callers_there_is_one_note() -> None:
    whom = "`one`, `two`, `three` and `four`"
    message = f"`room.busy` tells {whom} of rows of `booking` and `visit` that they may not see"
    assert told("booking.of == caller.person") == [(message, 5, ("5 more lines of `rows` hide some",))]


def test_who_learns_of_which_is_kept_apart() -> None:
    others = "`two`, `three` and `four` of rows of `booking`"
    message = (
        f"`room.busy` tells {others}, and `one`, `two`, `three` and `four` of rows of `visit` that they may not see"
    )
    assert told("true") == [(message, 5, ("4 more lines of `rows` hide some",))]
