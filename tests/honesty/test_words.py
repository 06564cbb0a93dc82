"""The law of silence over what expressions are made of, and over conditions: each function, operator and macro, and
each reason to refuse a request, is told wherever something is told of a contract, and what a fact says by it is gone
with the fact.

Nothing is listed here by hand that the tables of the language have: one contract is made of all forms that these tell,
and is asked for what each gives.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from tests.contracts import SERVED, compiled, contract_of
from tests.slices import LONG, PARTS, PIECES

from ninefold.contract.questions.errors import arising
from ninefold.contract.survey import Survey
from ninefold.diagnostics.render import render
from ninefold.diff.ablate.ablate import Work
from ninefold.diff.ablate.facts import Written, without, written
from ninefold.diff.ablate.report import report, to_text
from ninefold.expressions.forms import MACROS, SPECIAL
from ninefold.expressions.functions import NEVER_TWICE, TABLE, Overload
from ninefold.language.conditions import BY_NAME, NO_ENDPOINT, Condition
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document, compile_tree
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.explanation import all_items
from ninefold.tools.functions import told_of
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service
from ninefold.tools.reference import asked_for
from ninefold.values import Anything, Array, Boolean, Duration, Integer, Number, Object, Text, Timestamp, Type

GIVEN: Final[dict[str, tuple[Type, str, Any]]] = {
    "flag": (Boolean(), "{type: boolean}", True),
    "whole": (Integer(), "{type: integer}", 1),
    "amount": (Number(), "{type: number}", 1.5),
    "word": (Text(), "{type: string}", "a-b"),
    "time": (Timestamp(), "{type: string, format: date-time}", "2030-01-31T09:30:00Z"),
    "maps": (Object(), "{type: object, additionalProperties: {type: string}}", {"a": "b"}),
    "words": (Array(items=Text()), "{type: array, items: {type: string}}", ["a", "b"]),
    "wholes": (Array(items=Integer()), "{type: array, items: {type: integer}}", [1, 2]),
    "amounts": (Array(items=Number()), "{type: array, items: {type: number}}", [1.5]),
}
"""Fields, their types, what is written of them, and a value."""

OF_TEXT: Final = {
    "int": "'5'", "double": "'1.5'", "bool": "'true'", "timestamp": "'2030-01-31T09:30:00Z'", "duration": "'PT1H'",
    "matches": "'a'",
}  # fmt: skip
"""Texts that functions of texts want: they are read."""

OPERATORS: Final = {
    "==": "it.whole == 1", "!=": "it.whole != 1", "&&": "it.flag && it.whole == 1",
    "||": "it.flag || it.whole == 2", "!": "!it.flag", "?:": "it.flag ? it.word : 'z'",
    "in": "'a' in it.words", "[]": "it.words[0]",
}  # fmt: skip
"""Those that the table of functions does not have; the tables say which these are."""


@dataclass(frozen=True)
class Form:
    """One way to write a name of the tables. `made`: a value that each call gives anew, which a row keeps."""

    name: str
    text: str
    made: bool = False


def _argument(overload: Overload, at: int) -> str:
    wanted = overload.parameters[at]
    if isinstance(wanted, Text) and overload.name in OF_TEXT and at == len(overload.parameters) - 1:
        return OF_TEXT[overload.name]
    if isinstance(wanted, Duration):
        return "duration('PT90M')"
    if isinstance(wanted, Integer) and overload.made != "of its arguments":
        return "8"
    return next(f"it.{name}" for name, (type_, _, _) in GIVEN.items() if _suits(type_, wanted))


def _suits(given: Type, wanted: Type) -> bool:
    if isinstance(wanted, Array) and isinstance(wanted.items, Anything):
        return isinstance(given, Array)
    return given == wanted or isinstance(wanted, Anything)


def _of(overload: Overload) -> Form:
    arguments = [_argument(overload, at) for at in range(len(overload.parameters))]
    match overload.style, arguments:
        case "operator", [one]:
            text = f"{overload.name}{one}"
        case "operator", _:
            text = f" {overload.name} ".join(arguments)
        case "function", _:
            text = f"{overload.name}({', '.join(arguments)})"
        case _:
            text = f"{arguments[0]}.{overload.name}({', '.join(arguments[1:])})"
    shown = overload.gives(overload.parameters)
    if isinstance(shown, Duration):
        text = f"string({text})"
    return Form(overload.name, text, overload.made != "of its arguments")


def _macros() -> Iterator[Form]:
    """As their table writes them."""
    for name, says in MACROS.items():
        forms = re.findall(
            r"`(\w+[.(][^`]*)`", MACROS["exists_one"].replace("exists_one", name) if says == "the same" else says
        )
        assert forms, f"the table does not say how `{name}` is written"
        for form in forms:
            if name == "has":
                yield Form(name, "has(it.word)")
                continue
            of, _, inside = form.partition(f".{name}(")
            names = inside.removesuffix(")").split(", ")
            made = [
                "[x]" if name == "flatMap" else "x" if each == "e" else "x != 'z'" if each == "c" else each
                for each in names
            ]
            made = [each if at or name != "flatMap" else "x" for at, each in enumerate(made)]
            yield Form(name, f"it.{'maps' if of == 'o' else 'words'}.{name}({', '.join(made)})")


FORMS: Final = (
    *map(_of, TABLE),
    *(Form(name, text) for name, text in OPERATORS.items()),
    *_macros(),
)
SHOWN: Final = {f"m{number}": form for number, form in enumerate(FORMS) if not form.made}
KEPT: Final = {f"m{number}": form for number, form in enumerate(FORMS) if form.made and form.name != "serial"}


def _contract() -> str:
    members = "".join(f"        {name}: {written}\n" for name, (_, written, _) in GIVEN.items())
    kept = "".join(f'      {name}: {{type: string, on create: "{form.text}"}}\n' for name, form in KEPT.items())
    shown = "".join(f'        {name}: "{form.text}"\n' for name, form in SHOWN.items())
    return f"""\
purpose: Shows what each form of an expression gives.
resources:
  thing:
    primary key: id
    fields:
      id: {{type: integer, on create: serial()}}
{kept}  types:
    given:
      type: object
      properties:
{members}  terms: {{it: request.body}}
states: none
endpoints:
  requests: {{media type: application/json, unknown members: refused, unknown parameters: refused}}
  produces: application/json
  POST /things: {{does: create thing, body: none, responses: {{201: thing}}}}
  POST /shown:
    does: compute
    body: {{$ref: "#/types/given"}}
    responses:
      200:
{shown}authentication: {{schemes: none, rows: all, permissions: {{all others: anyone}}}}
events: none
errors: not shown
limits: {{rates: none, body size: none, timeout: none}}
versioning: none
"""


SHOWING: Final = "POST /shown"


@cache
def words() -> Loaded:
    loaded = compile_document("words.yaml", _contract().encode())
    assert loaded.plan is not None, render(loaded.diagnostics, loaded.source)
    return loaded


def requests() -> str:
    body = json.dumps({name: value for name, (_, _, value) in GIVEN.items()})
    shown = f"POST /shown\nContent-Type: application/json\n\n{body}\n\nHTTP 200\n"
    return f"{shown}\nPOST /things\n\nHTTP 201\n"


def test_every_name_of_the_tables_has_a_form() -> None:
    assert OPERATORS.keys() == SPECIAL.keys()
    assert {form.name for form in FORMS} == {each.name for each in TABLE} | SPECIAL.keys() | MACROS.keys()
    assert NEVER_TWICE <= {form.name for form in FORMS if form.made}


def test_every_form_is_told_by_the_page_by_explain_and_by_openapi() -> None:
    loaded = words()
    endpoint = next(each for each in value_of(loaded.contract.endpoints.endpoints) or () if each.key == SHOWING)
    told = {item.place.line: item.text for item in all_items(explain_endpoint(loaded, endpoint)) if item.place}
    assert loaded.checked is not None and loaded.plan is not None
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    schema = document["paths"]["/shown"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    lines = loaded.source.text.split("\n")
    for member, form in SHOWN.items():
        line = next(number for number, text in enumerate(lines, 1) if text.startswith(f"        {member}:"))
        assert list(told_of(form.name.casefold())), f"`explain {form.name}` knows nothing"
        assert line in told, f"{form.text} is told by no line of explain"
        assert schema["properties"][member], f"OpenAPI says nothing of what {form.text} gives"


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_what_a_form_says_is_gone_with_its_fact(part: int) -> None:
    """Of what is shown, and of the fields that keep what is made anew."""
    work = Work("words.yaml", _contract().encode(), (("words.http", requests()),), {})
    own = replace(work, only="4 POST /shown > responses > 200 > m*").found(part, PIECES)
    own += replace(work, only="2 thing > fields > m* > on create").found() if LONG and not part else []
    found = report(words().source, 0, own, ())
    print(to_text(found))
    assert own and not found.breaches and not found.quiet, to_text(found)


# ── Conditions ────────────────────────────────────────────────────────────────────────────────────────────

NO_FACT: Final = {
    "precondition required": "no contract can state yet that a request must carry a precondition",
    "check": "it has no code of its own: the `else` of each check is asked for where it stands",
}
"""What no fact of part 7 is the code of, and why."""


@cache
def _stated() -> dict[str, tuple[Path, str | None, Written]]:
    """For each condition the shortest contract in which it can arise and has a code: which endpoint it is of (`None`:
    any), and the fact that it is the code's."""
    found: dict[str, tuple[Path, str | None, Written]] = {}
    for path in sorted(map(contract_of, SERVED), key=lambda each: len(each.read_bytes())):
        missing = BY_NAME.keys() - found.keys() - NO_FACT.keys()
        if not any(name in path.read_text(encoding="utf-8") for name in missing):
            continue  # to compile it would tell nothing new
        loaded = compiled(path)
        if loaded.plan is None:
            continue
        conditions = {each.condition: each.endpoint for each in arising(Survey(loaded.contract))}
        for fact in written(loaded.document):
            text = loaded.source.text[fact.place.start : fact.place.end]
            if fact.part == 7 and "for" in fact.names and text in conditions:
                found.setdefault(text, (path, conditions[text], fact))
    return found


def _asked(loaded: Loaded) -> set[str]:
    """The conditions whose code is asked for."""
    questions = [each for each in loaded.open_questions if each.question.id == "codes"]
    return {name for each in questions for name in (each.subject or "").split(", ")}


def test_every_condition_has_a_fact_that_can_be_taken_away() -> None:
    assert BY_NAME.keys() == _stated().keys() | NO_FACT.keys()


@pytest.mark.parametrize("condition", [each for each in BY_NAME.values() if each.name not in NO_FACT])
def test_a_condition_without_its_code_is_asked_for_and_told_as_a_bare_status(condition: Condition) -> None:
    path, key, fact = _stated()[condition.name]
    assert asked_for(condition.name), f"`explain {condition.name}` knows nothing"
    whole = compiled(path)
    loaded = compile_tree(without(whole.document, fact, "taken out"))
    assert _asked(loaded) - _asked(whole) == {condition.name}
    told, said = set[str](), set[str]()
    for version in (None, *(each.version for each in loaded.older)):
        told_of, said_of = _tellings(loaded.of(version), key)
        told |= told_of
        said |= said_of
    if condition.name not in NO_ENDPOINT:
        assert any(str(condition.status) in text for text in told), "explain"
        assert str(condition.status) in said, "OpenAPI"


def _tellings(loaded: Loaded | None, key: str | None) -> tuple[set[str], set[str]]:
    """What `explain` says of an endpoint, or of all, and the statuses that OpenAPI has."""
    assert loaded is not None and loaded.plan is not None and loaded.checked is not None
    told, said = set[str](), set[str]()
    for endpoint in value_of(loaded.contract.endpoints.endpoints) or ():
        if key in (None, endpoint.key):
            told |= {item.text for item in all_items(explain_endpoint(loaded, endpoint))}
    document = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))
    for operation in (each for methods in document["paths"].values() for each in methods.values()):
        if isinstance(operation, dict):
            said |= operation.get("responses", {}).keys()
    return told, said
