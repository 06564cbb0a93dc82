"""Part 4: what requests give, and what scripts of other origins may do.

Each parameter is one text, or several: what no text can be, no request can give, and no form either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from ninefold.checked.bodies import BodyLeaf, BodyMember
from ninefold.checked.endpoints import Cors, Requests
from ninefold.checked.operations import Parameter, SortKeys
from ninefold.checked.resources import Resource
from ninefold.checks.assignments import Rules
from ninefold.checks.constants import validator
from ninefold.checks.findings import Findings
from ninefold.checks.model import type_of
from ninefold.checks.orders import held_to
from ninefold.checks.resources import PLAIN
from ninefold.checks.unkept import why_none
from ninefold.contract.service import Contract
from ninefold.diagnostics.codes import (
    ANY_ORIGIN_WITH_CREDENTIALS,
    NEVER_SENT,
    NOT_A_DEFAULT,
    NOT_IN_A_FORM,
    SEVERAL_VALUES,
)
from ninefold.diagnostics.diagnostic import Label
from ninefold.language import parameters as requests
from ninefold.language.declaration import said
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Fact, Name, Shown, text_of, value_of
from ninefold.language.requests import Requests as StatedRequests
from ninefold.language.shapes import FORM
from ninefold.plan.routes import Rule
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Integer,
    Invalid,
    Number,
    Object,
    Text,
    Timestamp,
    Type,
    json_reader,
    required,
)
from ninefold.values.of_schemas import from_schema

Place: TypeAlias = Literal["path", "query", "header"]

_KINDS: Mapping[type, str] = {Text: "string", Timestamp: "string", Anything: "string", Boolean: "boolean",
                              Integer: "integer", Number: "number"}  # fmt: skip
"""What JSON Schema calls the value that is read of one text."""

_ONE = (*PLAIN, Anything)
"""The types of what one text gives: what may be of several types is the text as it is."""


def check_declared(
    fact: Fact[tuple[requests.Parameter, ...]] | None,
    place: Place,
    findings: Findings,
    types: Mapping[str, Type] | None = None,
    orders: Mapping[str, SortKeys] | None = None,
) -> Iterator[Parameter]:
    """The parameters that an endpoint declares in one place. `types`: those of conditions, by their names; `orders`:
    those that can be chosen, by their names."""
    rules = Rules(findings)
    for each in value_of(fact) or ():
        if place != "path" and why_never_sent(each, place, findings) is not None:
            continue
        schema, own = _schema(each, orders or {}, findings)
        type_ = (types or {}).get(each.name) or type_of(each, findings.schemas)
        if each.where is None:  # else it is said of the filter
            _says_how_many(each, type_, findings)
        yield Parameter(
            each.name,
            type_,
            schema,
            each.is_required,
            findings.place(each.span),
            (*rules.of_parameter(each.schema), *own),
            _default(each, type_, schema, findings),
            value_of(each.explode) is not False,
            each.content is not None,
            each.origin,
            said=said(each),
        )


def _says_how_many(each: requests.Parameter, type_: Type, findings: Findings) -> None:
    """A parameter of a shared type that is an array: how several are given is asked where it says itself that it is."""
    if isinstance(type_, Array) and each.explode is None and each.content is None and not each.is_list:
        findings.say(
            SEVERAL_VALUES,
            f"`{each.name}` is an array, and its parameter gives one value",
            Label(each.span, "its shared type is an array"),
            help=(
                "say how they are given, beside `$ref`: `explode: true` (repeated) or `explode: false` (with commas)",
            ),
        )


def _schema(
    each: requests.Parameter, orders: Mapping[str, SortKeys], findings: Findings
) -> tuple[dict[str, Any], tuple[Rule, ...]]:
    """What a value is held to, and the rules that do not stand in its own schema: what can be chosen is a list."""
    several = each.selects or each.expands
    json = findings.schemas.inlined(each.schema.json)
    if isinstance(each.sorts, Shown):
        (chosen, rules), place = held_to(orders, each.is_list), findings.place(each.sorts.span)
        return {**json, **chosen}, tuple(Rule(path, rule, place) for path, rule in rules.items())
    if isinstance(several, Shown):
        named = [one.text if isinstance(one, Name) else one.name for one in several.value]
        place, items = findings.place(several.span), {"type": "string", "enum": named}
        chosen = {"type": "array", "items": items, "minItems": 1, "uniqueItems": True}
        return {**json, **chosen}, (Rule(("*",), "enum", place), Rule((), "uniqueItems", place))
    return json, ()


def _default(each: requests.Parameter, type_: Type, schema: Mapping[str, Any], findings: Findings) -> tuple[Any, ...]:
    """The constant that stands for a value that is not given, held to its schema."""
    stated = value_of(each.default)
    if stated is None or each.default is None:
        return ()
    try:
        json_reader(required(type_))(stated[0])
        why = next((broken.message for broken in validator(schema).iter_errors(stated[0])), None)
    except Invalid:
        why = "no request could give it"
    if why is not None:
        message = f"the `default` of `{each.name}` is not as its schema says"
        findings.say(NOT_A_DEFAULT, message, Label(each.default.span, why))
    return stated


def check_sent(endpoint: Endpoint, findings: Findings) -> None:
    """Each parameter can be given by a request, whatever else of its endpoint is open."""
    places: tuple[tuple[Place, Fact[tuple[requests.Parameter, ...]] | None], ...] = (
        ("path", endpoint.path),
        ("query", endpoint.query),
        ("header", endpoint.request_headers),
    )
    several = ", or in a query a list of these (`{type: array, items: {type: string}}`)"
    for place, declared in places:
        for each in value_of(declared) or ():
            why = why_never_sent(each, place, findings)
            if why is not None:
                findings.say(
                    NEVER_SENT,
                    f"no request can give `{each.name}`",
                    Label(each.span, why),
                    help=("what a request gives is a text, a number, a truth value or a time" + several,),
                )


def why_never_sent(parameter: requests.Parameter, place: Place, findings: Findings) -> str | None:
    """Why no request can give a parameter; None: one may, or of which type it is is asked."""
    if not parameter.says_type and (place == "path" or parameter.effects):
        return None
    if parameter.content is not None:
        return None
    json = findings.schemas.inlined(parameter.schema.json)
    return _never_sent(json, required(from_schema(json)), place, value_of(parameter.explode) is not False)


def _never_sent(schema: Any, type_: Type, place: Place, explode: bool) -> str | None:
    """Why no text, or several, gives a value that the schema admits; None: one may."""
    if isinstance(type_, Array) and place != "path":
        item = required(type_.items)
        if not isinstance(item, _ONE):
            return "lists of what is no text"
        if not _admits(schema, "array"):
            return "no list of values keeps its schema"
        if place == "header" and explode and _least(schema, "minItems") > 1:
            return "a header gives one value"
        return (
            None if all(_admits(each, _KINDS[type(item)]) for each in _of_items(schema)) else "no item keeps its schema"
        )
    if not isinstance(type_, PLAIN if place == "path" else _ONE):
        return "is neither text, a number, a truth value nor a time"
    if _admits(schema, _KINDS[type(type_)]):
        return None
    listed = ", ".join(f"`{each}`" for each in _listed(schema)[:3]) if {"const", "enum"} & set(schema) else ""
    return f"of its type no value is {listed}" if listed else "no value of its type keeps its schema"


def _of_items(schema: Any) -> Iterator[Any]:
    """The schemas that the first item of an array has to keep."""
    if not isinstance(schema, Mapping):
        return
    first = schema.get("prefixItems") or ()
    if first:
        yield first[0]
    elif "items" in schema:
        yield schema["items"]
    for each in schema.get("allOf", ()):
        yield from _of_items(each)


def _admits(schema: Any, kind: str) -> bool:
    """Whether a schema may admit a value of a kind; of an array that is there, with an item."""
    return why_none(schema, {"type": kind} | ({"minItems": 1} if kind == "array" else {})) is None


def _least(schema: Any, keyword: str) -> float:
    found = schema.get(keyword, 0) if isinstance(schema, Mapping) else 0
    return found if isinstance(found, int | float) else 0


def _listed(schema: Mapping[str, Any]) -> list[Any]:
    return [schema["const"]] if "const" in schema else list(schema["enum"])


# ── How requests are read ────────────────────────────────────────────────────────────────────────────────────────────


def check_own_requests(endpoint: Endpoint, contract: Contract) -> Requests | None:
    """What an endpoint says of its own requests, with what is said of all where it says nothing; None: it says
    nothing at all."""
    return None if endpoint.requests is None else check_requests(contract.endpoints.requests_of(endpoint))


def check_requests(stated: StatedRequests | None) -> Requests:
    """What is not said is a gap: the endpoints that need it are blocked, and what stands here is never seen."""
    if stated is None:
        return Requests((), "refused")
    return Requests(
        tuple(each.text for each in value_of(stated.media_types) or ()),
        "ignored" if text_of(stated.unknown_members) == "ignored" else "refused",
        isinstance(stated.texts, Shown),
        said=said(stated),
    )


def is_form(media_type: str) -> bool:
    return media_type.partition(";")[0].strip().lower() == FORM


def check_form(
    endpoint: Endpoint,
    resource: Resource | None,
    body: Sequence[BodyLeaf] | None,
    members: Sequence[BodyMember],
    findings: Findings,
) -> bool:
    """Whether a form can give all that a body names, where bodies are forms: each member is a text, or several."""
    stated = value_of(findings.contract.endpoints.requests_of(endpoint).media_types) or ()
    named = next((each for each in stated if is_form(each.text)), None)
    if named is None or not isinstance(endpoint.body, Shown):
        return True
    patch = value_of(endpoint.patch)
    if patch is not None and patch.text == "json-patch":
        findings.say(
            NOT_IN_A_FORM,
            f"the body of `{endpoint.key}` is a list of edits, and its media type that of forms",
            Label(patch.span, "edits are JSON"),
            Label(named.span, "a form has members alone"),
        )
        return False
    wrong = []
    for leaf in body or ():
        if len(leaf.pointer) > 1:
            wrong.append(f"`{'/'.join(('', *leaf.pointer))}` is a member of another")
        elif resource is not None and not _can_be_given(resource.fields[leaf.field].type):
            wrong.append(f"`{resource.name}.{leaf.field}` is no text, number or truth value, nor a list of these")
    wrong += [
        f"`{each.name}` is no text, number or truth value, nor a list of these"
        for each in members
        if not _can_be_given(each.type)
    ]
    for why in wrong:
        findings.say(
            NOT_IN_A_FORM,
            f"{why}: `{endpoint.key}`",
            Label(endpoint.body.span, "no form can give it"),
            Label(named.span, "bodies are forms"),
        )
    return not wrong


def _can_be_given(type_: Type) -> bool:
    match type_:
        case Array(items=items):
            return not isinstance(items, Array | Object)
        case Object():
            return False
        case _:
            return True


# ── Scripts of other origins ─────────────────────────────────────────────────────────────────────────────────────────


def check_cors(findings: Findings) -> Cors | None:
    """What is said of scripts of other origins; None where it is not said whose, or with which status."""
    fact = findings.contract.endpoints.cors
    stated = value_of(fact)
    if stated is None or fact is None or (origins := value_of(stated.origins)) is None:
        return None
    of_all, credentials = isinstance(origins, Name), value_of(stated.credentials) or False
    if of_all and credentials:
        findings.say(
            ANY_ORIGIN_WITH_CREDENTIALS,
            "scripts of any origin may send their user's credentials",
            Label(fact.span, "any page that a user opens can act for that user"),
            help=("name the origins that are trusted with them",),
        )
    if (preflight := value_of(stated.preflight)) is None:
        return None
    return Cors(
        origins=None if isinstance(origins, Name) else tuple(each.text for each in origins),
        headers=tuple(each.text for each in value_of(stated.headers) or ()),
        exposed=tuple(each.text for each in value_of(stated.exposed) or ()),
        credentials=credentials,
        max_age=value_of(stated.max_age),
        preflight=preflight,
        place=findings.place(fact.span),
        said=said(stated),
    )
