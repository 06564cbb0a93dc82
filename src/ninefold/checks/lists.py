"""Lists: filters, orders and pages, and what they cost as the rows become more; and operations on all rows (`delete all
todo`): what only one row has, and what says which rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal

from ninefold.checked.bodies import BodyLeaf
from ninefold.checked.endpoints import Endpoint
from ninefold.checked.lists import Rules, asked, growing
from ninefold.checked.operations import Filter, Pages
from ninefold.checked.resources import Resource
from ninefold.checks.findings import Findings, inferring
from ninefold.checks.model import Vocabulary, request_type, type_of
from ninefold.contract.service import Contract
from ninefold.diagnostics.codes import (
    GROWS,
    OF_ALL_ROWS,
    PAGE_BOUNDS,
    SAME_PARAMETER,
    SAYS_NOTHING,
    SEVERAL_VALUES,
    WITHOUT_VALUE,
)
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.scope import AFTER_IT, BEFORE_IT, COUNT, INFERRED
from ninefold.expressions.tree import Typed, free_variables
from ninefold.language import endpoints as stated
from ninefold.language import limits
from ninefold.language.declaration import said
from ninefold.language.fact import Fact, Name, Shown, StatedNone, is_open, text_of, value_of
from ninefold.language.limits import narrowed
from ninefold.language.parameters import Parameter
from ninefold.language.verbs import Verb
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Integer,
    Object,
    Text,
    Type,
    required,
)


def check_filters(
    endpoint: stated.Endpoint, rows: Mapping[str, Type | None], vocabulary: Vocabulary, findings: Findings
) -> tuple[Filter, ...]:
    """`rows`: what they narrow, by its name."""
    found = []
    scope = vocabulary.scope(**{**rows, "request": request_type(endpoint, findings.schemas)})
    for each in endpoint.filters:
        expression = value_of(each.where)
        if expression is None:
            continue
        stated_type = required(type_of(each, findings.schemas)) if each.says_type else None
        within = replace(scope, variables={**scope.variables, "value": stated_type or INFERRED})
        holds, inferred = inferring(expression, within, Boolean(), findings)
        if holds is None:
            continue
        if "value" not in free_variables(holds):
            findings.say(
                WITHOUT_VALUE,
                f"the filter `{each.name}` of `{endpoint.key}` does not read `value`",
                Label(expression.span, "is the same whatever is asked for"),
                help=(
                    f'asked for by `true` or `false`: `{each.name}: "({expression.text}) == value"`',
                    "a predicate that every such list has stands under `where`",
                ),
            )
        type_ = stated_type or required(inferred if inferred is not None else Text())
        _several(endpoint, each, type_, findings)
        found.append(Filter(each.name, type_, holds, findings.place(each.span)))
    return tuple(found)


def _several(endpoint: stated.Endpoint, parameter: Parameter, type_: Type, findings: Findings) -> None:
    """Whether one value is read where one is given, and several where several are."""
    about = f"the filter `{parameter.name}` of `{endpoint.key}`"
    if parameter.content is not None:
        return
    if isinstance(type_, Array) and parameter.explode is None and not parameter.is_list:
        findings.say(
            SEVERAL_VALUES,
            f"{about} reads several values, and its parameter gives one",
            Label(parameter.span, "reads a list"),
            help=("say how they are given: `{where: …, explode: true}` (repeated) or `explode: false` (with commas)",),
        )
    elif isinstance(parameter.explode, Shown) and not isinstance(type_, Array):
        findings.say(
            SEVERAL_VALUES,
            f"{about} is given several values, and reads one",
            Label(parameter.explode.span, "several values"),
            help=("a predicate on several values is, for example, `order.status in value`",),
        )
    elif isinstance(type_, Array) and isinstance(type_.items, Array | Object):
        findings.say(
            SEVERAL_VALUES, f"{about} reads lists of lists or objects", Label(parameter.span, "no text is one")
        )


def _unheeded(pages: limits.Pages, findings: Findings) -> None:
    """Says of bounds that stand beside `by` and that nothing heeds by the way in which it says pages are reached."""
    by = limits.reached(pages)
    counted = (pages.first,) if by in ("none", "cursor") else ()
    whole = (pages.default, pages.minimum, pages.maximum, pages.clamps, pages.size, pages.at) if by == "none" else ()
    bound = next((each for each in (*whole, *counted) if isinstance(each, Shown)), None)
    if bound is not None and pages.by is not None:
        told, why, help = _UNHEEDED[by]
        findings.say(SAYS_NOTHING, told, Label(bound.span, "nothing heeds it"), Label(pages.by.span, why), help=(help,))


def _clamps_nothing(pages: limits.Pages, own: limits.Pages, findings: Findings) -> None:
    """Says of `clamps` that no request gives a size, unless lists beside this one may have a parameter of it."""
    if pages.clamps is not None and (own.clamps is pages.clamps or (own.size is None and pages.size is None)):
        message, why = "`clamps` says nothing of pages whose size no request gives", "there is no size to clamp"
        findings.say(SAYS_NOTHING, message, Label(pages.clamps.span, why), help=("name its parameter: `size: limit`",))


_UNHEEDED: Final = {
    "none": (
        "page bounds say nothing of a list that is given whole",
        "the list has no pages",
        "how many rows a request may ask for is said with a way to the others: `by: offset`, `by: page`",
    ),
    "cursor": ("`first` says nothing of pages by cursor", "a cursor is no number", "leave `first` out"),
}


def check_pages(endpoint: stated.Endpoint, findings: Findings) -> Pages | None:
    own, shared = value_of(endpoint.pages), value_of(findings.contract.limits.pages)
    if isinstance(endpoint.pages or findings.contract.limits.pages, StatedNone):
        return Pages("none")
    pages = narrowed(own, shared) if own is not None and shared is not None else own or shared
    if pages is None:
        return None
    for level in (own, shared):
        if level is not None and level.by is pages.by:
            _unheeded(level, findings)
    by = limits.reached(pages)
    if by == "none":
        return Pages("none")
    if value_of(pages.clamps) and not isinstance(pages.size, Shown):
        _clamps_nothing(pages, own or pages, findings)
    bounds, first, no_way = _sizes(pages, findings), value_of(pages.first), isinstance(pages.at, StatedNone)
    counted = by in ("offset", "page") and not no_way
    if bounds is None or not by or pages.at is None or is_open(pages.at) or (counted and first is None):
        return None
    minimum, default, maximum = bounds
    at = None if no_way else text_of(pages.at)
    return Pages(
        by,  # type: ignore[arg-type]
        default,
        minimum,
        maximum,
        text_of(pages.size),
        at,
        first or 0,
        said=said(pages),
    )


def _sizes(pages: limits.Pages, findings: Findings) -> tuple[int, int, int | None] | None:
    """The smallest size of a page, that of one whose size is not asked for, and the greatest; None: one is a gap, or
    they contradict each other, which is said."""
    default, minimum, maximum = value_of(pages.default), value_of(pages.minimum), value_of(pages.maximum)
    minimum = 1 if minimum is None else minimum
    if default is None or (maximum is None and not isinstance(pages.maximum, StatedNone)):
        return None
    if minimum <= default and (maximum is None or default <= maximum):
        return minimum, default, maximum
    most = "" if maximum is None else f", and at most {maximum}"
    least = "" if minimum <= 1 else f", at least {minimum}"
    findings.say(
        PAGE_BOUNDS,
        f"a page holds {default} rows where its size is not given{least}{most}",
        Label(pages.span, "contradict each other"),
    )
    return None


def page_members(endpoint: stated.Endpoint, contract: Contract) -> dict[str, Type]:
    """What `page` tells besides its rows, by how pages are reached: a cursor is text, and nobody knows where in the
    list it stands; an offset and the number of a page are integers. All of it where that is a gap."""
    if endpoint.of_all_rows:
        return {"total": Integer(), COUNT: Integer()}
    by = _reached_by(endpoint, contract)
    counted = by in ("offset", "page")
    position: Type = Integer(nullable=True) if counted else Text(nullable=True)
    members: dict[str, Type] = {"next": position, "total": Integer(), COUNT: Integer()}
    if by != "none":
        members["size"] = Integer()
    if by != "none" and not isinstance(_said(endpoint, contract, "at"), StatedNone):
        members |= {BEFORE_IT: Text(), AFTER_IT: Text()}
    if counted or by is None:
        members |= {"previous": position, "start": Integer()}
    return members


def _reached_by(endpoint: stated.Endpoint, contract: Contract) -> str | None:
    """How pages of a list are reached; None: it is a gap."""
    if isinstance(endpoint.pages or contract.limits.pages, StatedNone):
        return "none"
    said = _said(endpoint, contract, "by")
    return said.text if isinstance(said, Name) else "none" if isinstance(said, StatedNone) else None


def _said(endpoint: stated.Endpoint, contract: Contract, key: Literal["by", "at"]) -> Name | StatedNone | None:
    """What is said of pages of a list, at the list itself or of all; None: it is a gap."""
    levels = [value_of(each) for each in (endpoint.pages, contract.limits.pages) if each is not None]
    facts = (getattr(each, key) for each in levels if each is not None)
    said: Fact[Name] | None = next((each for each in facts if each is not None), None)
    return said if isinstance(said, StatedNone) else None if said is None else value_of(said)


def check_parameters(endpoint: stated.Endpoint, pages: Pages | None, findings: Findings) -> None:
    """No query parameter means two things."""
    of_pages = () if pages is None else tuple(name for name in (pages.size, pages.at) if name is not None)
    names = [*(each.name for each in endpoint.parameters), *of_pages]
    for name in sorted({name for name in names if names.count(name) > 1}):
        findings.say(
            SAME_PARAMETER, f"the parameter `{name}` of `{endpoint.key}` has two meanings", Label(endpoint.span)
        )


# ── All rows ─────────────────────────────────────────────────────────────────────────────────────────────────────────


OF_ONE_ROW: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "etag": ("etag", "an entity tag is of one row", ()),
    "issues": ("issues", "a credential is made for one row", ()),
    "ends": ("ends", "ends credentials of one row", ("credentials of rows that are deleted end with them",)),
}
"""What an endpoint may state of one row alone: what it is called, why, and what to do instead."""


def check_all_rows(
    endpoint: stated.Endpoint,
    kind: Verb,
    resource: Resource,
    body: tuple[BodyLeaf, ...] | None,
    sets: Mapping[str, Typed],
    findings: Findings,
) -> bool:
    """Whether all that is stated can be done to many rows at once."""
    complete = True
    for key, (name, why, help) in OF_ONE_ROW.items():
        fact: Fact[Any] | None = getattr(endpoint, key)
        if isinstance(fact, Shown):
            _say(endpoint, f"`{name}` says nothing of all rows", fact.span, why, findings, help)
            complete = False
    patch = value_of(endpoint.patch)
    if patch is not None and patch.text == "json-patch":
        why, help = "edits are made of one row as it is", ("`patch: merge` gives each row the same values",)
        _say(endpoint, "a JSON Patch is of one row", patch.span, why, findings, help)
        complete = False
    stated_body = value_of(endpoint.body)
    span = endpoint.span if stated_body is None else stated_body.span
    for name, why in _of_body(kind, resource, body or ()):
        _say(endpoint, f"a body cannot give `{resource.name}.{name}` to all rows", span, why, findings)
        complete = False
    for assignment in value_of(endpoint.sets) or ():
        field = resource.fields.get(assignment.name)
        if assignment.name in sets and field is not None and field.secret is not None:
            message = f"`sets` cannot give `{resource.name}.{field.name}` to all rows"
            _say(endpoint, message, assignment.span, "a secret is of one row", findings)
            complete = False
    return complete


def _of_body(kind: Verb, resource: Resource, body: tuple[BodyLeaf, ...]) -> Iterator[tuple[str, str]]:
    """The fields that a body gives and that cannot be given to many rows, each with the reason."""
    for leaf in body:
        field = resource.as_given(leaf.field)
        if kind.removes:
            yield leaf.field, "the rows are deleted"
        elif leaf.field in resource.primary_key:
            yield leaf.field, "a primary key is of one row"
        elif field.secret is not None:
            yield leaf.field, "a secret is of one row"
        elif isinstance(field.type, Anything | Object) and kind.patches:
            yield leaf.field, "an object is merged into that of one row"


def _say(
    endpoint: stated.Endpoint, message: str, span: Span, why: str, findings: Findings, help: tuple[str, ...] = ()
) -> None:
    action = next(each for each in value_of(endpoint.does) or () if each.all)
    labels = (Label(span, why), Label(action.span, "acts on all rows"))
    findings.say(OF_ALL_ROWS, message, *labels, help=help)


# ── Growth ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def growth(
    endpoints: Iterable[Endpoint],
    resources: Mapping[str, Resource],
    rules: Rules,
    findings: Findings,
) -> None:
    """One note for each list that costs the more, the more rows there are, with all the reasons."""
    reasons: dict[str, list[str]] = {}
    for endpoint in endpoints:
        wanted = asked(endpoint)
        if wanted is not None and endpoint.resource is not None:
            reasons.setdefault(endpoint.key, []).extend(growing(wanted, resources[endpoint.resource], rules))
    spans = {each.key: each.span for each in findings.survey.endpoints}
    for key, found in reasons.items():
        if found:
            findings.say(
                GROWS,
                f"`{key}` costs the more, the more rows there are",
                Label(spans[key], "; ".join(dict.fromkeys(found))),
            )
