"""What helps where something was meant that is written otherwise."""

from __future__ import annotations

import pytest
from tests.parts import contract

from ninefold.diagnostics.diagnostic import Diagnostic, Severity
from ninefold.diagnostics.render import render
from ninefold.language.table import keys_under
from ninefold.pipeline import compile_document
from ninefold.syntax.nodes import PARTS


@pytest.mark.parametrize(
    ("field", "shown", "said"),
    [
        ('{type: string, on create: ""}', "page.items", "the empty text is `\"''\"`"),
        ("{type: string, on change: string(zone.id)}", "page.items", "`on change` acts on create too"),
        ("{type: string, on change: {no: string(zone.id)}}", "page.items", "`on change` acts on create too"),
        *(("{type: string}", each, "the rows of a page are `page.items`") for each in ("zone", "zones", "Zones")),
    ],
)
def test_what_was_meant_is_told(field: str, shown: str, said: str) -> None:
    text = contract(
        f"zone: {{primary key: id, fields: {{id: {{type: integer, on create: serial()}}, no: {{type: integer}}, "
        f"name: {field}}}}}",
        f"GET /zones: {{does: list zone, sort: [id], pages: none, responses: {{200: {{zones: {shown}}}}}}}",
    )
    loaded = compile_document("zones.md", text.encode())
    told = render([each for each in loaded.diagnostics if each.code.severity is Severity.ERROR], loaded.source)
    assert told.count("error[") == 1 and said in told, told


@pytest.mark.parametrize("given", ["request.path.no", "true ? request.path.no : null", "item.of.KEY"])
@pytest.mark.parametrize("key", ["id", "no"])
def test_what_is_advised_where_a_row_is_needed_is_taken_there(given: str, key: str) -> None:
    """A name of the path that is called as a primary key is none of a row."""

    def errors(value: str) -> list[Diagnostic]:
        text = contract(
            f"owner: {{primary key: {key}, fields: {{{key}: {{type: integer, on create: serial()}}}}}}\n"
            "item: {primary key: id, fields: {id: {type: integer}, of: {references: owner}}}",
            f"PUT /items/{{id}}/{{no}}: {{does: update item, path: {{no: {{type: integer}}}}, body: none, "
            f'sets: {{of: "{value}"}}, responses: {{200: item}}}}',
        )
        said = compile_document("items.md", text.encode()).diagnostics
        return [each for each in said if each.code.severity is Severity.ERROR]

    given = given.replace("KEY", key)
    (told,) = errors(given)
    (help,) = told.help
    assert told.code.id == "NF0408" and help.startswith("a row itself stands here")
    meant = help.split("`")[1]
    assert not errors(given.removesuffix(meant) if "leave out" in help else meant.replace("…", f"({given})"))


@pytest.mark.parametrize(
    ("key", "help"),
    [
        ("/owners/{owner}/items", "did you mean `{owner.id}`, which leads through the reference `owner`?"),
        ("/owners/{owner_id}/items", "did you mean `{owner.id}`, which leads through the reference `owner`?"),
        ("/owners/{ownr.id}/items", "did you mean `owner`?"),
        ("/owners/{title.id}/items", "the references of `item`: `owner`"),
    ],
)
def test_how_a_path_leads_to_a_row_is_told(key: str, help: str) -> None:
    text = contract(
        "owner: {primary key: id, fields: {id: {type: string}}, required: [id]}\n"
        "item: {primary key: id, fields: {id: {type: string}, title: {type: string}, owner: {references: owner}}}",
        f"GET {key}: {{does: list item, sort: [id], pages: none, responses: {{200: page.items}}}}",
    )
    loaded = compile_document("items.md", text.encode())
    assert [each.help for each in loaded.diagnostics if each.code.id == "NF0504"] == [(help,)]


@pytest.mark.parametrize(
    ("named", "help"),
    [("a, b", "`id`"), ("id, b", "`key`")],
)
def test_what_is_known_by_several_fields_is_told_together(named: str, help: str) -> None:
    first, other = named.split(", ")
    text = contract(
        f"pair: {{primary key: [{named}], fields: {{{first}: {{type: string}}, {other}: {{type: string}}}}}}\n"
        f"item: {{primary key: no, fields: {{no: {{type: string}}, of: {{references: pair}}}}}}",
        "GET /pairs/{pair}: {does: read pair, responses: {200: pair}}",
    )
    helps = {each.code.id: each.help[0] for each in compile_document("a.md", text.encode()).diagnostics if each.help}
    assert help in helps["NF0520"]
    text = text.replace(", of: {references: pair}", "")
    helps = {each.code.id: each.help[0] for each in compile_document("a.md", text.encode()).diagnostics if each.help}
    assert helps["NF0504"] == f"the row is known by `{{{first}}}` and `{{{other}}}` together"


@pytest.mark.parametrize(
    ("path", "verb"),
    [("/zones", "list"), ("/zone", "read"), ("/here", "read"), ("/here/{id}", "read")],
)
def test_which_verb_was_meant_follows_from_the_path(path: str, verb: str) -> None:
    text = contract(
        "zone: {primary key: id, fields: {id: {type: integer, on create: serial()}}}",
        f"GET {path}: {{does: get zone, responses: {{200: zone}}}}",
    )
    loaded = compile_document("zones.md", text.encode())
    assert [each.help for each in loaded.diagnostics if "get" in each.message] == [(f"did you mean `{verb} zone`?",)]


@pytest.mark.parametrize(("written", "helps"), [("[zone.no]", True), ("[zone.no,\n        1]", False)])
def test_what_is_written_as_no_text_is_shown_as_text_if_it_is_one_line(written: str, helps: bool) -> None:
    field = f"{{type: integer, on create: {written}}}"
    text = contract(f"zone: {{primary key: id, fields: {{id: {field}, no: {{type: integer}}}}}}", "none")
    loaded = compile_document("zones.md", text.encode())
    assert any("an expression is text" in each for one in loaded.diagnostics for each in one.help) is helps


@pytest.mark.parametrize(
    ("change", "help"),
    [
        ("{change: zone.views.short, was: [id, title]}", "what a change says has the names of the document: `name`"),
        (
            '{change: "PUT /zones/{id}", was: {body: [title]}}',
            "what a change says has the names of the document: `name`",
        ),
        (
            "{change: zone.views.short, was: [size]}",
            "`size` is worked out for that version alone: `{size: EXPRESSION}` shows it",
        ),
        ("{change: zone.views.short, was: {of: zone.sise}}", None),
        ("{change: zone.views.short, was: [sise]}", None),
        ('{change: "PUT /zones/{id}", was: {body: [sise]}}', None),
    ],
)
def test_no_name_is_told_that_cannot_be_written(change: str, help: str | None) -> None:
    text = contract(
        "zone:\n  primary key: id\n  fields: {id: {type: integer}, name: {type: string}}\n  views: {short: [id]}",
        "PUT /zones/{id}: {does: put zone, body: [name], responses: {created: {201: zone}, replaced: {200: zone}}}",
    )
    versions = (
        'in: header\nname: V\ndefault: "2"\nversions:\n  "2": {}\n  "1":\n    changes:\n'
        "      - {rename: zone.name, to: title}\n"
        "      - {add: zone.size, was: {type: integer}, is: zone.id + 1}\n"
        f"      - {change}\ncompatible: none"
    )
    assert "Versioning: none." in text
    loaded = compile_document("zones.md", text.replace("Versioning: none.", f"```yaml\n{versions}\n```").encode())
    [told] = [each for each in loaded.diagnostics if each.code.severity is Severity.ERROR]
    assert " of 1" not in " ".join((told.message, *told.help))
    assert help is None or told.help == (help,)


@pytest.mark.parametrize("said", ["string", "integer", '"null"', '["null"]', '[string, "null"]', "[string, integer]"])
@pytest.mark.parametrize("key", ["string", "integer"])
def test_the_type_of_a_reference_is_that_of_what_it_holds(key: str, said: str) -> None:
    text = contract(
        f"owner: {{primary key: id, fields: {{id: {{type: {key}}}}}}}\n"
        f"item: {{primary key: id, fields: {{id: {{type: string}}, of: {{references: owner, type: {said}}}}}}}",
        "GET /items: {does: list item, sort: [id], pages: none, responses: {200: page.items}}",
    )
    told = [each for each in compile_document("items.md", text.encode()).diagnostics if each.code.id == "NF0535"]
    fits = said in (key, f'[{key}, "null"]')
    assert [each.help for each in told] == ([] if fits else [(f'where it may have no value: `type: [{key}, "null"]`',)])


@pytest.mark.parametrize("part", range(2, len(PARTS) + 1))
def test_a_key_of_another_part_is_told_where_it_stands(part: int) -> None:
    """Resources, machines and endpoints are called as somebody wishes: a key of another part may be one."""
    own = {each.path for each in keys_under(part, "")}
    of_others = {each.path: number for number in range(1, len(PARTS) + 1) for each in keys_under(number, "")
                 if not each.is_placeholder and each.path not in own}  # fmt: skip
    assert of_others
    facts = "".join(f"{name}: {{}}\n" for name in of_others)
    text = f"# A service\n\n## {part}. {PARTS[part - 1].capitalize()}\n\n```yaml\n{facts}```\n"
    said = compile_document("a.md", text.encode()).diagnostics
    unknown = [each for each in said if each.code.id == "NF0301" and each.message.startswith("this part has no key")]
    assert unknown or PARTS[part - 1] in ("resources", "states")
    for each in unknown:
        name = each.message.split("`")[1]
        assert each.help == (f"`{name}` is a key of part {of_others[name]}, {PARTS[of_others[name] - 1]}",)
