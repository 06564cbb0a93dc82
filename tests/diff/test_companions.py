"""Of differences that make no sense alone each is told what it does itself, beside those that it needs."""

from __future__ import annotations

from typing import Final

from tests.parts import contract, in_two_versions

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diff.compare import diff
from ninefold.diff.finding import Finding
from ninefold.pipeline import Loaded, compile_document

ROOMS: Final = """room:
  primary key: id
  fields:
    id:   {type: integer, on create: serial()}
    beds: {type: integer, minimum: 1}
    note: {type: string, maxLength: 30}
    size: {type: integer}
  required: [beds]
"""
ENDPOINTS: Final = """POST /rooms: {does: create room, body: [beds, note, size], responses: {201: room}}
GET /rooms/{id}: {does: read room, responses: {200: room}}
PATCH /rooms/{id}: {does: update room, body: [beds, note], patch: merge, responses: {200: room}}
GET /ping: {does: compute, responses: {200: {ok: true}}}
"""
EDITS: Final = (
    ("    note: {type: string, maxLength: 30}\n", "    note: {type: string, maxLength: 20}\n"),
    ("    beds: ", "    places: "),
    ("[beds, note, size]", "[places, note, tone, lang]"),
    ("[beds, note]", "[places, note]"),
    ("    size: {type: integer}\n", "    tone: {type: string, on create: \"'low'\"}\n    lang: {type: string}\n"),
    ("required: [beds]", "required: [places, tone, lang]"),
)


def loaded(text: str, *, on_top: bool) -> Loaded:
    said = in_two_versions(text, "{rename: room.beds, to: bunks}", default='"1"' if on_top else '"2"')
    if on_top:
        said = said.replace('  "2": {}\n', '  "3": {}\n  "2":\n    changes: [CHANGES]\n').replace(
            "CHANGES", "{rename: room.places, to: beds}, {add: room.size, was: {type: integer}}, {remove: room.tone}, "
            "{remove: room.lang, on create: \"'en'\"}, {change: room.note, was: {type: string, maxLength: 30}}"
        )  # fmt: skip
    else:
        said = said.replace('default: "2"', 'default: "1"')
    found = compile_document("c.md", said.encode())
    assert found.plan is not None and not has_errors(found.diagnostics), found.diagnostics
    return found


def findings() -> dict[str, Finding]:
    text = contract(ROOMS, ENDPOINTS)
    old = loaded(text, on_top=False)
    for was, now in EDITS:
        assert text.count(was) == 1, was
        text = text.replace(was, now)
    return {each.address.partition(" ")[2]: each for each in diff(old, loaded(text, on_top=True)).findings}


def test_each_has_the_effects_of_its_own() -> None:
    found = findings()
    names = {
        "room > fields > beds": {"beds", "places"},
        "room > fields > size": {"size"},
        "room > fields > note > maxLength": {"note"},
        "room > required > lang": {"lang"},
        "POST /rooms > body > lang": {"lang"},
        "POST /rooms > body > size": {"size"},
    }
    for address, own in names.items():
        said = " ".join(each.said for each in found[address].effects)
        assert not {name for name in ("beds", "places", "size", "note", "lang", "tone") if name in said} - own, address
        assert "GET /ping" not in found[address].endpoints, address
    assert found["room > fields > beds"].verdict == found["room > fields > size"].verdict == "breaking"
    assert "readers" in found["room > fields > size"].audiences
    assert found["room > required > lang"].audiences == ("senders",)
    assert found["room > required > tone"].verdict == "compatible"
    assert found["versions > 3"].verdict == "look"


ITEMS: Final = contract(
    """item:
  primary key: id
  fields: {id: {type: integer, on create: serial()}, due: {type: string, format: date-time}, stage: {state: true}}
""",
    "POST /items: {does: create item, body: [due], responses: {201: item}}\n"
    "GET /items/{id}: {does: read item, responses: {200: item}}\n"
    "POST /items/{id}/close: {does: close item, body: none, responses: {200: item}}\n"
    "GET /ping: {does: compute, responses: {200: {ok: true}}}\n",
    states="item:\n  initial: open\n  states: [open, done]\n  transitions:\n    close: {from: open, to: done}\n",
    events="kinds:\n  item.made: {upon: create item, payload: {id: item.id}}\n"
    "delivery: {stream: server-sent events}\nkept: P1D",
    limits="rates: {calls: {of: address, allow: 50, per: PT1M, algorithm: fixed window}}\n",
).replace("rates: none\n", "")
LATE: Final = (
    ("[open, done]", "[open, late, done]"),
    ("{from: open, to: done}\n", "{from: open, to: done}\n    slip: {from: open, to: late, after: item.due}\n"),
    ("payload: {id: item.id}}\n", "payload: {id: item.id}}\n  item.late: {upon: slip item, payload: {id: item.id}}\n"),
)


def _versions(text: str, said: str) -> Loaded:
    before, _, _ = text.partition("## 9. Versioning")
    found = compile_document(
        "c.md",
        f'{before}## 9. Versioning\n\n```yaml\nin: header\nname: V\ndefault: "1"\nversions:\n{said}'
        "compatible: [add an event kind, add a version]\n```\n".encode(),
    )
    assert found.plan is not None and not has_errors(found.diagnostics), [each.message for each in found.diagnostics]
    return found


def test_a_difference_is_made_beside_what_it_names() -> None:
    """Also where part 9 takes it back, and so it cannot be taken away."""
    text = ITEMS
    for was, now in (*LATE, ("GET /ping:", "GET /pong:")):
        assert text.count(was) == 1, was
        text = text.replace(was, now)
    shown = "{change: item.stage, is: \"item.stage == 'late' ? 'open' : item.stage\", was: {type: string}}"
    back = f"[{{rename: GET /pong, to: GET /ping}}, {shown}, {{remove: item.late}}]"
    difference = diff(_versions(ITEMS, '  "1": {}\n'), _versions(text, f'  "2": {{}}\n  "1": {{changes: {back}}}\n'))
    found = {each.address.partition(" ")[2]: each for each in difference.findings}
    assert found["kinds > item.late"].verdict == "compatible"
    assert not any("pong" in each.said for each in found["kinds > item.late"].effects)
    assert not any("pong" in each.said for each in found["item > transitions > slip"].effects)
    renamed = found["GET /ping"]
    assert (renamed.kept, renamed.endpoints) == ("1", ("GET /ping", "GET /pong"))
    assert "all together" not in found
