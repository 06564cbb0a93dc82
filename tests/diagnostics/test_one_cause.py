"""One cause, one diagnostic: what depends on a declaration that was refused is not judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.contracts import ROOT
from tests.parts import contract

from ninefold.diagnostics.diagnostic import Severity
from ninefold.pipeline import compile_document
from ninefold.syntax.nodes import Mapping, Node

ORDERS = (Path(__file__).parents[2] / "examples" / "orders.md").read_text(encoding="utf-8")
OF_THE_LANGUAGE = "a word of the language"
CREATED_AT = "created_at: {type: string, format: date-time, on create: now}"


def renamed(old: str, new: str) -> str:
    """The contract with another name for something, wherever it is read."""
    blocks = re.split(r"(```yaml.*?```)", ORDERS, flags=re.S)
    return "".join(re.sub(rf"\b{old}\b", new, each) if each.startswith("```") else each for each in blocks)


def changed(old: str, new: str) -> str:
    assert old in ORDERS
    return ORDERS.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        *(
            (renamed(resource, name), f"NF0311: `{name}` is {OF_THE_LANGUAGE}, and cannot be the name of a resource")
            for resource in ("customer", "order")
            for name in ("caller", "request", "page", "all", "now", "error")
        ),
        *(
            (renamed("cancel", name), f"NF0311: `{name}` is {OF_THE_LANGUAGE}, and cannot be the name of a transition")
            for name in ("call", "compute", "create", "delete", "list", "put", "read", "update")
        ),
        (renamed("lines", "true"), "NF0311: `true` is a word of CEL, and cannot be the name of a field"),
        (renamed("total", "in"), "NF0311: `in` is a word of CEL, and cannot be the name of a field"),
        (renamed("note", "no-te"), "NF0310: `no-te` cannot be the name of a field"),
        (changed("\norder:\n  primary key", "\nodrer:\n  primary key"), "NF0312: `order` is not a resource"),
        (changed("\ncustomer:\n  primary key", "\ncostumer:\n  primary key"), "NF0312: `customer` is not a resource"),
        (changed("#/types/line", "#/types/lien"), "NF0312: `lien` is not a shared type"),
        (changed("\n  line:\n", "\n  lines:\n"), "NF0312: `line` is not a shared type"),
        (changed("{type: integer, computed", "{type: intger, computed"), "NF0304: `type` cannot be `intger`"),
        (changed("type: array, items", "type: array, item"), "NF0301: `lines` has no key `item`"),
        (changed(CREATED_AT, "created_at: {type: 5}"), "NF0304: `type` cannot be `5`"),
        (changed(CREATED_AT, "created_at: string"), "NF0303: `created_at` is the text `string`, not a mapping"),
        (
            changed(".map(l, l.quantity * l.unit_price).sum()", ".map(l, l.unit_price).sort()[0]"),
            "NF0412: the database reads items by position from a stored array only",
        ),
        (changed("key:   {type: http", "key:   {type: htpp"), "NF0304: `type` cannot be `htpp`"),
        (changed("inverse: orders,", "inverses: orders,"), "NF0301: `customer` has no key `inverses`"),
        (
            changed("on create: uuid()}\n    customer:", "on create: autoincrement}\n    customer:"),
            "NF0404: `autoincrement` is not a name that can be read here",
        ),
        (
            changed("does: cancel order", "does: cancle order"),
            "NF0317: `cancle` is nothing that an endpoint does to `order`",
        ),
        (changed("matches: customer.api_key", "matches: customer.key"), "NF0312: `key` is not a field of `customer`"),
    ],
)  # fmt: skip
def test_one_mistake_is_told_once(text: str, told: str) -> None:
    said = compile_document("contract.md", text.encode()).diagnostics
    assert [f"{each.code.id}: {each.message}" for each in said if each.code.severity is not Severity.NOTE] == [told]


NAMED = [
    ("states", "order"),
    ("states", "order", "transitions", "cancel"),
    ("authentication", "schemes", "key"),
    ("events", "kinds", "order.placed"),
    ("errors", "codes", "empty_order"),
    ("errors", "codes", "not_found"),
    ("limits", "rates", "calls"),
]


@pytest.mark.parametrize("path", NAMED, ids=".".join)
def test_of_what_cannot_be_read_nothing_else_is_said_and_its_keys_are_told(path: tuple[str, ...]) -> None:
    node: Node = compile_document("contract.md", ORDERS.encode()).document.part(path[0]).facts
    entry = None
    for name in path[1:]:
        assert isinstance(node, Mapping)
        entry = node.get(name)
        assert entry is not None, name
        node = entry.value
    text = ORDERS[: node.span.start] + "wrong" + ORDERS[node.span.end :]
    said = compile_document("contract.md", text.encode()).diagnostics
    (one,) = (each for each in said if each.code.id == "NF0303")
    assert one.help and one.help[0].startswith("its keys are "), one
    assert entry is not None
    assert not [each for each in said if each.code.severity is Severity.WARNING and each.span == entry.key.span]


def test_the_places_where_a_name_is_used_are_labels() -> None:
    text = changed("\norder:\n  primary key", "\nodrer:\n  primary key")
    (said,) = (each for each in compile_document("contract.md", text.encode()).diagnostics if each.of)
    assert len(said.labels) > 10
    assert {text[each.span.start : each.span.end] for each in said.labels} == {"order"}


def test_a_misspelt_term_is_told_once_whatever_may_stand_where_it_is_read() -> None:
    endpoints = """
GET /zones:
  does: list zone
  where: lagre
  sort: [id]
  pages: none
  responses: {200: {items: page.items, large: lagre}}
"""
    resources = """
terms: {large: zone.id > 5}
zone: {primary key: id, fields: {id: {type: integer}, wide: {type: boolean, computed: "!lagre"}}}
"""
    text = contract(resources, endpoints)
    said = compile_document("zones.md", text.encode()).diagnostics
    assert [(each.code.id, len(each.labels)) for each in said if each.code.severity is Severity.ERROR] == [
        ("NF0404", 3)
    ]


def test_what_does_not_depend_on_it_is_told_beside_it() -> None:
    text = renamed("note", "no-te").replace("l.quantity *", "l.quantiy *").replace("to: shipped}", "to: shiped}")
    codes = [each.code.id for each in compile_document("contract.md", text.encode()).diagnostics]
    assert {"NF0310", "NF0403", "NF0312"} <= set(codes)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('{$ref: "#/types/sum"}', ["NF0312"]),
        ("{type: object, properties: {v: {type: integer}}}", ["NF0303"]),
        ("not shown", []),
    ],
)
def test_of_a_body_that_is_not_known_any_member_may_be_read(body: str, told: list[str]) -> None:
    """By a check, and by what is stored."""
    text = contract(
        "thing: {primary key: id, fields: {id: {type: integer, on create: serial()}, n: {type: integer}}}",
        f"POST /t: {{does: create thing, body: {body}, check: {{that: request.body.v > 1, else: invalid}},"
        " sets: {n: request.body.v + 1}, responses: {201: thing}}",
    )
    said = compile_document("contract.md", text.encode()).diagnostics
    assert [each.code.id for each in said if each.code.severity is not Severity.NOTE] == told


def test_what_cannot_be_read_gives_a_required_field_all_the_same() -> None:
    text = contract(
        "zone: {primary key: id, fields: {id: {type: integer}, no: {type: integer}}, required: [no]}",
        "POST /zones: {does: create zone, body: [id], sets: {no: zone.number + 1}, responses: {201: zone}}",
    )
    said = compile_document("zones.md", text.encode()).diagnostics
    assert [each.code.id for each in said if each.code.severity is Severity.ERROR] == ["NF0403"]


@pytest.mark.parametrize(
    ("case", "line", "word", "written", "first"),
    [
        ("readers-that-sign-in", 15, "integer", "itneger", "NF0304"),  # a value of no type is no JSON value
        ("projects-that-members-look-into", 21, "unique", "uinque", "NF0301"),  # a path leads to no row
        ("projects-that-members-look-into", 71, "{project", "{porject", "NF0504"),
        ("projects-that-members-look-into", 21, "slug", "sulg", "NF0312"),  # permissions are of rows that no path names
        ("books-that-balance-in-each-currency", 73, "properties", "porperties", "NF0301"),  # a body refers to it
        ("clients-of-oauth", 40, "grant", "garnt", "NF0301"),  # conditions are narrowed to what asks for a token
        ("members-known-by-two-references", 59, "schemes", "shcemes", "NF0301"),  # rows are compared with a caller
        ("members-known-by-two-references", 59, "matches", "mtaches", "NF0301"),
        ("tasks-that-change-all-at-once", 142, "ids", "isd", "NF0403"),  # the member that it means goes nowhere
        ("reports-of-a-month", 76, "path", "ptah", "NF0301"),  # a name in a path is of no row
        ("reports-of-a-month", 74, "{team", "{taem", "NF0504"),
        ("passwords-reset-by-mail", 72, "schemes", "shcemes", "NF0301"),  # credentials of nobody are ended
        ("orders-with-their-lines", 108, "create line", "wrong line", "NF0317"),  # a member of a body goes nowhere
        ("rights-that-terms-ask-of", 15, "sees", "sese", "NF0405"),  # it is called in three places
        ("rights-that-terms-ask-of", 14, "terms", "trems", "NF0301"),  # nothing in it is a key of a resource
        ("rights-that-terms-ask-of", 20, "topic", "tpoic", "NF0404"),  # a term is read in two places
        ("services-that-take-their-time", 87, "ready", "raedy", "NF0312"),  # three places compare with the state
        ("terms-and-fields-that-are-said-once", 31, "owned", "onwed", "NF0312"),  # what it would have included
        ("orders-with-their-lines", 45, "wanted_line", "wnated_line", "NF0312"),  # items are of no type
        ("orders-with-their-lines", 13, "string", "srting", "NF0304"),  # what refers to a row is of no type
        ("clients-of-oauth", 68, "issued", "isused", "NF0301"),  # what was granted is not known
        ("files-that-their-caller-narrows", 47, "content", "cnotent", "NF0301"),  # a parameter can be given
        ("a-row-as-it-was", 117, "int(value * 100.0)", "wrong", "NF0404"),  # what is given may be stored
        ("members-whose-names-are-no-identifiers", 68, "responses", "rseponses", "NF0301"),
        ("reports-of-a-month", 140, '"GET /days/{day}"', "wrong", "NF0701"),  # nor has it keys of a code
        ("books-that-show-what-is-asked-for", 24, "title", "ttile", "NF0312"),  # two responses show it
    ],
)
def test_what_follows_from_a_mistake_elsewhere_is_not_told(
    case: str, line: int, word: str, written: str, first: str
) -> None:
    (path,) = (ROOT / "tests" / "cases" / case).glob("contract.*")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    assert word in lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(word, written, 1)
    loaded = compile_document(path.name, "".join(lines).encode())
    said = [each for each in loaded.diagnostics if each.code.severity is not Severity.NOTE]
    assert said[0].code.id == first and len(said) <= 2, [f"{each.code.id}: {each.message}" for each in said]


NUMBER = re.compile(r"(?<=: )\d+(?=[,}\n])")
NUMBERS = [(number.start(), number.end()) for block in re.finditer(r"```yaml.*?```", ORDERS, re.S)
           for number in NUMBER.finditer(ORDERS, block.start(), block.end())]  # fmt: skip


@pytest.mark.parametrize("at", NUMBERS, ids=[ORDERS[:start].rpartition("\n")[2].strip() for start, _ in NUMBERS])
@pytest.mark.parametrize("written", ["1e400", "-.inf"])
def test_of_a_number_that_json_does_not_have_nothing_else_is_said(at: tuple[int, int], written: str) -> None:
    text = ORDERS[: at[0]] + written + ORDERS[at[1] :]
    said = compile_document("contract.md", text.encode()).diagnostics
    wrong = [each for each in said if each.code.severity is Severity.ERROR]
    assert [f"{each.code.id}: {each.message}" for each in wrong] == [
        f"NF0221: `{written}` is a number that JSON does not have"
    ]


@pytest.mark.parametrize(
    "body",
    [
        "{data: {text: note..text}}",
        '["no te"]',
        "{data: {inner: {text: note..text}}}",
        "{data: {text: namespace.text}}",
        '{data: ["no te"]}',
    ],
)
def test_a_mapping_of_which_nothing_can_be_read_is_not_told_to_be_empty(body: str) -> None:
    text = "purpose: x\nresources:\n  note: {primary key: id, fields: {id: {type: integer, on create: serial()}, text: "
    text += f"{{type: string}}}}}}\nendpoints:\n  POST /notes: {{does: create note, body: {body}}}\n"
    told = compile_document("note.yaml", text.encode()).diagnostics
    assert [each.code.id for each in told if each.code.severity is Severity.ERROR] == ["NF0401"]
