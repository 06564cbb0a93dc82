"""What a contract calls its things is a name and nothing else, whatever the program calls its own."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Final

import msgspec
import pytest
from tests.parts import contract
from tests.slices import LONG, OF

import ninefold.diff
import ninefold.plan
from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diff.ablate.facts import written
from ninefold.diff.compare import diff
from ninefold.diff.meaning import meaning
from ninefold.diff.sight import sight
from ninefold.pipeline import Loaded, compile_document

ROLES: Final = (
    "field9", "resource9", "state9", "move9", "code9", "view9", "param9", "member9", "path9", "scheme9",
    "type9", "kind9",
)  # fmt: skip

CONTRACT: Final = contract(
    """resource9:
  primary key: id
  fields:
    id:      {type: integer}
    field9:
      type: object
      properties: {member9: {type: integer, maximum: 9}, b8: {const: {member9: 1}}, c8: {type: object}}
    amount8: {type: integer, minimum: 1}
    key8:    {type: string, secret: token, on create: token()}
    shape8:  {$ref: "#/types/type9"}
    stage8:  {state: true}
    due8:    {type: string, format: date-time, on create: now}
  required: [field9]
  views: {view9: {shown8: resource9.field9, member9: resource9.amount8}}
  check: {that: "!has(resource9.amount8) || resource9.amount8 < 50", else: code9}
  records:
    - {id: 1, field9: {member9: 1, c8: {line: 1, column: 2}}, amount8: 3}
types:
  type9: {type: object, properties: {member9: {type: integer}, b8: {type: string, maxLength: 5}}}
""",
    """POST /path9: {does: create resource9, body: [id, field9, amount8, shape8], responses: {201: resource9}}
GET /path9:
  does: list resource9
  query: {param9: {where: "resource9.amount8 == value"}}
  sort: [id]
  pages: none
  responses: {200: "page.items.map(x, view9(x))"}
GET /path9/{id}: {does: read resource9, responses: {200: {member9: "resource9", c8: "{'member9': {'line': 1}}"}}}
PATCH /path9/{id}: {does: update resource9, body: [field9, amount8], patch: merge, responses: {200: resource9}}
POST /path9/{id}/go: {does: move9 resource9, body: none, responses: {200: resource9}}
""",
    states="""resource9:
  initial: state9
  states: [state9, done8]
  transitions:
    move9: {from: state9, to: done8, sets: {amount8: "7"}}
    late8: {from: state9, to: done8, after: resource9.due8}
""",
    callers="""schemes:
  scheme9: {type: http, scheme: bearer, matches: resource9.key8}
permissions: {all others: [anyone]}
rows: all
""",
    events="""kinds:
  kind9.made: {upon: create resource9, payload: {member9: resource9, b8: resource9.amount8}}
delivery: {stream: server-sent events}
kept: P1D""",
    codes="code9: {status: 409}\n"
    "bare8: {status: 500, for: [unsupported media type, not acceptable, unavailable, internal]}",
)

EDITS: Final = (
    ("maximum: 9}", "maximum: 8}"),
    ("{const: {member9: 1}}", "{const: {member9: 2}}"),
    ("{member9: 1, c8: {line: 1, column: 2}}", "{member9: 4, c8: {line: 1, column: 3}}"),
    ("amount8: 3}", "amount8: 4}"),
    ("{member9: {type: integer}, b8", "{member9: {type: integer, minimum: 3}, b8"),
    ("{'member9': {'line': 1}}", "{'member9': {'line': 2}}"),
    ('sets: {amount8: "7"}', 'sets: {amount8: "8"}'),
    ("code9: {status: 409}", "code9: {status: 400}"),
    ("resource9.amount8 < 50", "resource9.amount8 < 40"),
    ("amount8 == value", "amount8 >= value"),
    ("payload: {member9: resource9,", "payload: {member9: resource9.amount8,"),
    ("member9: resource9.amount8}}", "member9: resource9.id}}"),
    ("[state9, done8]", "[state9, done8, more8]"),
)


MEANT: Final = {
    "none": "as the value of a key it says that there is none",
    "terms": "beside resources it is the key of terms",
    "member": "the tree of an expression has nodes of that name, which are counted with what it names",
}
"""Words that say more than a name where the contract here has one: what."""


@cache
def names() -> tuple[str, ...]:
    """All words that `diff` has in it, and what the members of a plan are called."""
    found = set[str]()
    for path in Path(ninefold.diff.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found |= {*re.findall(r"^[a-z][a-z_]*$", node.value)}
    for each in iter_modules(ninefold.plan.__path__):
        for kind in vars(import_module(f"ninefold.plan.{each.name}")).values():
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                found |= {member.encode_name for member in msgspec.structs.fields(kind)}
    return tuple(sorted(found - MEANT.keys()))


def called(text: str, roles: Mapping[str, str]) -> str:
    return re.sub("|".join(ROLES), lambda found: roles.get(found[0], found[0]), text)


def both(roles: Mapping[str, str]) -> tuple[Loaded, Loaded]:
    """The contract with these names, and with all edits made."""
    new = CONTRACT
    for was, now in EDITS:
        assert new.count(was) == 1, was
        new = new.replace(was, now)
    old, new = (called(each, roles) for each in (CONTRACT, new))
    return compile_document("old.md", old.encode()), compile_document("new.md", new.encode())


def leaves(said: Any, at: str) -> Iterator[str]:
    if isinstance(said, dict):
        for name, each in said.items():
            yield from leaves(each, f"{at}.{name}")
    elif isinstance(said, list | tuple):
        for each in said:
            yield from leaves(each, f"{at}[]")
    else:
        yield f"{at} {said!r}"


def differing(old: Loaded, new: Loaded) -> Counter[str]:
    """What either of two contracts says, in all that is compared of them, and the other one does not."""
    found = list[Counter[str]]()
    for each in (old, new):
        assert each.plan is not None
        pieces = {str(key): piece.plain for key, piece in meaning(each.plan).pieces.items()}
        pieces |= {str(key): piece.said for key, piece in sight(each.contract).items()}
        found.append(Counter(text for name, said in pieces.items() for text in leaves(said, name)))
    was, now = found
    return (was - now) + (now - was)


def told(of: tuple[Loaded, Loaded]) -> Iterator[str]:
    for each in of:
        assert each.plan is not None and not has_errors(each.diagnostics), [one.message for one in each.diagnostics]
    return iter(sorted(differing(*of).elements()))


@cache
def by_other_names() -> tuple[str, ...]:
    return tuple(told(both({})))


SHIFTS: Final = range(len(ROLES)) if LONG else (OF % len(ROLES),)


@pytest.mark.long
@pytest.mark.parametrize("shift", SHIFTS)
def test_what_differs_is_the_same_whatever_it_is_called(shift: int) -> None:
    every, refused = names(), list[str]()
    for at in range(0, len(every), len(ROLES)):
        some = every[at : at + len(ROLES)]
        roles = {ROLES[(number + shift) % len(ROLES)]: name for number, name in enumerate(some)}
        found = both(roles)
        if found[0].plan is None:
            words = " ".join(each.message for each in found[0].diagnostics)
            refused += [name for name in roles.values() if f"`{name}`" in words]
            roles = {role: name for role, name in roles.items() if name not in refused}
            found = both(roles)
        expected = sorted(called(each, roles) for each in by_other_names())
        assert [*told(found)] == expected, roles
    assert len(refused) < len(every) / 10


def findings(old: str, new: str) -> list[tuple[str, str, int]]:
    was, now = (compile_document(f"{name}.md", text.encode()) for name, text in (("old", old), ("new", new)))
    for each in (was, now):
        assert each.plan is not None and not has_errors(each.diagnostics), [one.message for one in each.diagnostics]
    return [(each.verdict, each.said, each.uses) for each in diff(was, now).findings]


@pytest.mark.parametrize(
    ("was", "now"), [("member9: 1, c8: {line", "member9: 2, c8: {line"), ("column: 2", "column: 3")]
)
def test_no_value_of_a_record_is_taken_for_a_place(was: str, now: str) -> None:
    text = called(CONTRACT, {"member9": "trace"})
    [(verdict, _, _)] = findings(
        text, text.replace(called(was, {"member9": "trace"}), called(now, {"member9": "trace"}))
    )
    assert verdict == "breaking"


NAMED: Final = contract(
    """thing:
  primary key: id
  fields: {id: {type: integer, on create: serial()}, NAME: {type: string}, list: {type: array, items: {type: string}}}
  required: [NAME]
  check: {that: "thing.NAME.size() > 1 && thing.list.size() < 9", else: short}
""",
    """POST /things: {does: create thing, body: [NAME, list], responses: {201: thing}}
GET /things:
  does: list thing
  query: {NAME: {where: "thing.NAME == value", type: string}}
  sort: [NAME]
  pages: none
  responses: {200: {all: "page.items.map(x, {'NAME': x.NAME})"}}
""",
    callers="schemes:\n  NAME: {type: http, scheme: bearer, matches: person.key}\nrows: all\n"
    "permissions: {all others: [anyone, NAME]}\n",
    codes="short: {status: 409}\n"
    "bare8: {status: 500, for: [unsupported media type, not acceptable, unavailable, internal]}",
).replace("thing:\n  primary", "person:\n  primary key: id\n  fields: {id: {type: integer, on create: serial()}, "
          "key: {type: string, secret: token, on create: token()}}\nthing:\n  primary", 1)  # fmt: skip
_OF_FIELD: Final = "NAME(?!: {type: http|]})"


@pytest.mark.parametrize("name", ["size", "type", "where", "that", "in_list", "name"])
def test_another_name_of_a_field_is_one_difference(name: str) -> None:
    """Also where a key, a function or another thing is called as the field was."""
    old = NAMED.replace("NAME", name)
    [(verdict, said, uses)] = findings(old, re.sub(_OF_FIELD, "zz", NAMED).replace("NAME", name))
    assert (verdict, said, uses) == ("breaking", f"`thing > fields > {name}` is called `zz`", 9)


@pytest.mark.parametrize("name", ["bearer", "scheme", "key", "who", "person", "zz"])
def test_what_a_scheme_is_called_is_words(name: str) -> None:
    old, new = (re.sub(_OF_FIELD, "field8", NAMED).replace("NAME", each) for each in (name, "other8"))
    assert findings(old, new) == [("words", f"`schemes > {name}` is called `other8`", 1)]


@pytest.mark.parametrize("name", ["properties", "thing"])
def test_an_order_counts_where_it_does(name: str) -> None:
    text = NAMED.replace("NAME", "field8").replace("thing", name)
    that = [f"{{that: \"{name}.field8 != '{each}'\", else: short}}" for each in "ab"]
    old, new = (re.sub("(?m)check: .*", f"check: [{', '.join(each)}]", text) for each in (that, that[::-1]))
    assert [each[0] for each in findings(old, new)] == ["look"]


def test_of_which_type_a_scheme_is_is_seen() -> None:
    text = NAMED.replace("NAME", "field8")
    other = text.replace("type: http, scheme: bearer,", "type: apiKey, in: header, name: X-Key,")
    seen = [sight(compile_document("c.md", each.encode()).contract) for each in (text, other)]
    [was, now] = [each["5", "schemes"].said[0] for each in seen]
    assert (was["type"], now["type"]) == ("http", "apiKey")


@pytest.mark.parametrize("role", ["resource9", "field9", "type9", "member9"])
@pytest.mark.parametrize("name", ["contains", "not", "items"])
def test_a_name_is_no_keyword_of_a_schema(role: str, name: str) -> None:
    of = [written(compile_document("c.md", called(CONTRACT, roles).encode()).document) for roles in ({}, {role: name})]
    assert len({tuple((each.path, each.kind, each.is_named) for each in facts) for facts in of}) == 1
