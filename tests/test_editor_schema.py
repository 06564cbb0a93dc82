"""The JSON Schema for editors: it admits every contract that the compiler admits, and marks typical mistakes."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import jsonschema_rs
import pytest
from tests.contracts import ALL, ROOT, compiled, title

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diagnostics.render import render
from ninefold.diagnostics.source import Source
from ninefold.language.shapes import Duration, Size
from ninefold.language.table import vocabulary
from ninefold.pipeline import Loaded, compile_document
from ninefold.syntax.nodes import PARTS, Mapping, Node, Sequence
from ninefold.syntax.parser import Form, parse
from ninefold.tools.blank import EXAMPLES
from ninefold.tools.editor_schema import FORMS, block_of, plain_form

LANGUAGE = (ROOT / "docs" / "language.md").read_text(encoding="utf-8")
REFERENCE = "".join(page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs" / "reference").glob("*.md")))
EDITORS = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")


@cache
def validator(part: int | None = None) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(plain_form() if part is None else block_of(part))


def as_json(node: Node) -> Any:
    """What an editor sees of a tree of facts: it knows nothing of tags."""
    match node:
        case Mapping(entries=entries):
            return {entry.name: as_json(entry.value) for entry in entries}
        case Sequence(items=items):
            return [as_json(item) for item in items]
        case _:
            return node.value


def facts(part: int, text: str) -> Any:
    """The facts of a block of a part."""
    document = parse(Source("a.md", f"# T\n\n## {part}\n\n```yaml\n{text}\n```\n"), Form.LITERATE)
    assert document.diagnostics == (), render(document.diagnostics, document.value.source)
    return as_json(document.value.parts[part - 1].facts)


def complaints(loaded: Loaded) -> list[str]:
    """What the schemas have to say about a document: of each part, and in the plain form of the whole."""
    parts = {part.number: as_json(part.facts) for part in loaded.document.parts if part.facts.entries}
    whole = {PARTS[number - 1]: value for number, value in parts.items()}
    errors = [error for number, value in parts.items() for error in validator(number).iter_errors(value)]
    return [f"{error.instance_path}: {error.message}" for error in (*errors, *validator().iter_errors(whole))]


@pytest.mark.parametrize("part", [None, *range(1, 10)])
def test_it_is_a_schema_without_loose_ends(part: int | None) -> None:
    schema = plain_form() if part is None else block_of(part)
    jsonschema_rs.meta.validate(schema)
    used = set(re.findall(r'"#/definitions/([^"]+)"', json.dumps(schema)))
    assert used == schema["definitions"].keys()


def test_every_key_is_explained() -> None:
    described = json.dumps([plain_form(), *map(block_of, range(2, 10))], ensure_ascii=False)
    for key in vocabulary():
        assert json.dumps(key.meaning, ensure_ascii=False)[1:-1] in described, key.path


def test_what_compiles_is_admitted() -> None:
    found = {title(path): complaints(compiled(path)) for path in ALL if not has_errors(compiled(path).diagnostics)}
    assert {name: said for name, said in found.items() if said} == {}


def test_the_cases_say_something() -> None:
    loaded = [compiled(path) for path in ALL]
    clean = [each for each in loaded if not has_errors(each.diagnostics) and each.document.parts[3].facts.entries]
    assert len(clean) >= 12
    assert sum(bool(complaints(each)) for each in loaded) >= 5


@pytest.mark.parametrize("part", range(2, 10))
def test_the_examples_of_the_reference_are_admitted(part: int) -> None:
    (example,) = re.findall(rf"<!-- generated: example {part} -->\n\n```yaml\n(.*?)^```", REFERENCE, re.M | re.S)
    assert example.strip() == EXAMPLES[part - 1].removeprefix("```yaml\n").removesuffix("\n```").strip()
    validator(part).validate(facts(part, example))


def test_the_plain_form_of_the_reference_is_admitted() -> None:
    (example,) = re.findall(r"^```yaml\n(purpose.*?)^```$", LANGUAGE, re.M | re.S)
    document = parse(Source("a.yaml", example), Form.PLAIN).value
    written = {part.name: as_json(part.facts) if part.facts.entries else "not shown" for part in document.parts}
    validator().validate(written)


@pytest.mark.parametrize("word", ["none", "not shown"])
@pytest.mark.parametrize(
    ("part", "text"),
    [
        (2, "note: {word}"),
        (2, "note:\n  fields: {word}"),
        (2, "note:\n  fields: {x: {word}}"),
        (2, "note:\n  fields: {x: {type: {word}, maxLength: {word}, unique: {word}, on delete: {word}}}"),
        (2, "note:\n  primary key: {word}\n  records: {word}"),
        (3, "note: {word}"),
        (3, "note: {transitions: {send: {from: {word}, after: {word}}}}"),
        (4, "requests: {word}\nGET /x: {word}"),
        (4, "GET /x: {does: {word}, responses: {200: {word}}, query: {q: {word}}, patch: {word}}"),
        (5, "schemes: {word}\nrows: {word}\npermissions: {GET /x: {word}}"),
        (6, "kinds: {word}\ndelivery: {webhooks: {to: subscription, attempts: {word}}}"),
        (7, "error shape: {word}\ncodes: {gone: {status: {word}, for: {word}}}"),
        (8, "body size: {word}\npages: {maximum: {word}}\nrates: {calls: {per: {word}}}"),
        (9, "in: {word}\nversions: {a: {changes: {word}, sunset: {word}}}"),
    ],
)
def test_none_and_not_shown_are_admitted_everywhere(part: int, text: str, word: str) -> None:
    validator(part).validate(facts(part, text.replace("{word}", word)))


MISTAKES = [
    (2, "note: {identifer: id}", "a key misspelt"),
    (2, "note: {fields: {text: {typ: string}}}", "a keyword misspelt"),
    (2, "note: {fields: {text: {type: text}}}", "a type of another language"),
    (2, "note: {fields: {text: string}}", "a type without its key"),
    (2, "note: {fields: {at: {type: string, format: datetime}}}", "a format misspelt"),
    (2, "note: {fields: {n: {type: integer, minimum: low}}}", "a bound that is no number"),
    (2, "note: {fields: {n: {type: integer, default: 1}}}", "a keyword that is not of the language"),
    (2, "note: {fields: {n: {type: array, items: {type: strin}}}}", "a type misspelt inside"),
    (2, "note: {fields: {n: {$ref: line}}}", "a reference that is none"),
    (2, "note: {fields: {n: {unique: yes}}}", "a truth value of YAML 1.1"),
    (2, "note: {fields: {done: {state: false}}}", "a state that is none"),
    (2, "note: {fields: {owner: {references: person, on delete: refuse}}}", "a word of older versions"),
    (2, "note: {required: text}", "a list without brackets"),
    (2, "my note: {primary key: id}", "a resource that is no identifier"),
    (2, "note:\n", "nothing"),
    (3, "note: {transitions: {send: {from: draft, too: sent}}}", "a transition's key misspelt"),
    (4, "requests: {media type: json}", "a media type in short"),
    (4, "requests: {unknown members: refuse}", "a word misspelt"),
    (4, "get /notes: {does: list note}", "a method in small letters"),
    (4, "GET notes: {does: list note}", "a path without its slash"),
    (4, "GET /notes: {dose: list note}", "an endpoint's key misspelt"),
    (4, "GET /notes: {does: list note, responses: {404: none}}", "an error among the responses"),
    (4, "GET /notes: {does: list note, responses: note}", "a response without a status"),
    (4, "GET /notes: {does: list note, sort: {default: [text]}}", "an order with a key"),
    (4, "GET /notes: {does: list note, errors: {mising: gone}}", "a condition misspelt"),
    (4, "GET /notes: {does: list note, query: {q: {type: string, required: [q]}}}", "`required` as in a schema"),
    (5, "schemes: {key: {type: bearer}}", "an HTTP scheme as a type"),
    (5, "unseen rows: hidden", "a word of another list"),
    (5, "permissions: {/notes: anyone}", "a permission without a method"),
    (6, "delivery: {webhooks: {to: subscription, attempts: three}}", "a number in words"),
    (7, "codes: {gone: {status: 200}}", "a status of success"),
    (7, "codes: {gone: {status: 410, for: deleted}}", "a condition that is none"),
    (7, "messages: {minimun: is too small}", "a rule misspelt"),
    (8, "body size: 64kb", "a size in other units"),
    (8, "body size: 0 KiB", "no size at all"),
    (8, "timeout: 10s", "a duration in words"),
    (8, "pages: {default: 0}", "a page of nothing"),
    (8, "rates: {calls: {algorithm: leaky bucket}}", "another algorithm"),
    (9, "in: cookie", "a place that there is not"),
    (9, "versions: {a: {sunset: 1 June 2026}}", "a date in words"),
    (9, "compatible: [add field]", "a kind of change in short"),
]


@pytest.mark.parametrize(("part", "text", "mistake"), MISTAKES, ids=[mistake for _, _, mistake in MISTAKES])
def test_a_typical_mistake_is_marked(part: int, text: str, mistake: str) -> None:
    written = facts(part, text)
    assert not validator(part).is_valid(written)
    assert not validator().is_valid({PARTS[part - 1]: written})


@pytest.mark.parametrize("written", [{"purposes": "x"}, {"limits": []}, {"purpose": {}}, [], None])
def test_what_is_no_contract_is_marked(written: Any) -> None:
    assert not validator().is_valid(written)


LENGTHS = """P1D PT30M P1W PT0.5S PT1H30M PT1H1M1S P1DT1S PT90M P60D 30m P P1 PT P1M P1Y P1WT1S PT1.5H p1d PT1S1M P1H
PTS P1234567890D PT0.1234567S""".split()
AMOUNTS = ["64 KiB", "1 B", "2 GiB", "64KiB", "64 kb", "0 B", "00 KiB", "010 MiB", "-1 B", "1.5 MiB", "64", "1 TiB"]


@pytest.mark.parametrize(
    ("key", "form", "written"),
    [("timeout", FORMS[Duration], each) for each in LENGTHS] + [("body size", FORMS[Size], each) for each in AMOUNTS],
)
def test_a_form_is_that_of_the_compiler(key: str, form: str, written: str) -> None:
    loaded = compile_document("a.md", f'# T\n\n## 8\n\n```yaml\n{key}: "{written}"\n```\n'.encode())
    assert bool(re.fullmatch(form, written)) is not has_errors(loaded.diagnostics)


def test_the_settings_for_editors_are_right() -> None:
    """The blocks of JSON are JSON, and the task's pattern finds what `ninefold check` prints."""
    section = EDITORS
    settings, task = (json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", section, re.M | re.S))
    assert settings["yaml.customTags"] == [f"!proposed {kind}" for kind in ("scalar", "mapping", "sequence")]
    first, second = task["tasks"][0]["problemMatcher"]["pattern"]
    loaded = compile_document("a b.md", b"# T\n\n## 8\n\n```yaml\nrate: none\n```\n")
    heads = render(loaded.diagnostics, loaded.source).splitlines()
    head, place = re.fullmatch(first["regexp"], heads[0]), re.fullmatch(second["regexp"], heads[1])
    assert head is not None and place is not None
    assert head[first["severity"]] == "error" and head[first["code"]].startswith("NF")
    assert (place[second["file"]], place[second["line"]], place[second["column"]]) == ("a b.md", "6", "1")
