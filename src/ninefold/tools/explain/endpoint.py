"""Everything that decides one endpoint."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set
from dataclasses import replace
from functools import partial

from ninefold.contract.questions.ask import accepted_proposals, is_proposed
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Span
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.declaration import members
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Shown, value_of
from ninefold.language.meanings import Meaning, meaning_named
from ninefold.language.routes import Literal
from ninefold.pipeline import Loaded
from ninefold.tools.explain import (
    authentication,
    errors,
    limits,
    outcome,
    refusals,
    requests,
    responses,
    statements,
    versioning,
    writes,
)
from ninefold.tools.explain.explanation import Explanation, Item, Section, every
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import told

_REQUEST = re.compile(r"\s*([A-Za-z]+)\s+(\S+)\s*")


def explain_endpoint(loaded: Loaded, endpoint: Endpoint, with_statements: bool = False) -> Explanation:
    """An endpoint of the contract, with the line of each fact. It says what it can of one that is half-written, or in
    a contract with errors."""
    g = Grounds(loaded)
    stops = outcome.obstacles(g, endpoint)
    sections = [
        Section("What stands in the way", tuple(stops)),
        Section("What it does", (*_in_each(g, endpoint, requests.deeds), *_chosen(g, endpoint))),
        Section("Who may call", tuple(authentication.callers(g, endpoint))),
        Section("Which rows they see", tuple(authentication.rows(g, endpoint))),
        Section("The body", _in_each(g, endpoint, requests.body)),
        Section("Parameters and headers", _in_each(g, endpoint, requests.parameters)),
        Section("Checks and transitions", _in_each(g, endpoint, writes.guards)),
        Section("Values that the service gives", _in_each(g, endpoint, writes.values)),
        Section("What other rows have to do with it", _in_each(g, endpoint, writes.bonds)),
        Section("The response", _in_each(g, endpoint, responses.responses)),
        Section("Events", _in_each(g, endpoint, writes.written_events)),
        Section("Limits", tuple(limits.holding(g, endpoint))),
        Section("Versions", tuple(versioning.asked(g))),
        Section("The shape of an error", tuple(errors.shape(g, endpoint))),
        Section("Errors, in the order in which they count", (*errors.order(g), *refusals.refusals(g, endpoint))),
        Section("What the operator gives", tuple(outcome.operator_values(g, endpoint))),
    ]
    mentioned = {item.place for section in sections for item in every(section.items) if item.place is not None}
    also = _in_each(g, endpoint, partial(_untold, mentioned=mentioned))
    entry = g.part("endpoints").facts.get(endpoint.key)
    if entry is not None:
        lines = {each.line for each in mentioned} | {item.place.line for item in every(also) if item.place is not None}
        also += tuple(g.unmentioned(entry.value, lines))
    sections.insert(2, Section("Also written", also))
    if with_statements:
        sections.append(Section("Statements", tuple(statements.statements(g, endpoint))))
    shown = accepted(g, tuple(section for section in sections if section.items), outcome.extent(g, endpoint))
    return Explanation(
        contract=loaded.source.name,
        about=endpoint.key,
        place=g.place(endpoint.span),
        outcome=outcome.outcome(g, endpoint),
        sections=shown,
        meanings=cited(item for section in shown for item in every(section.items)),
    )


def _untold(g: Grounds, endpoint: Endpoint, mentioned: Set[Place]) -> list[Item]:
    """What is stated and no section tells, as its declaration has it: so a key that is new has its line."""

    def is_told(span: Span) -> bool:
        start, end = g.place(span), g.place(replace(span, start=span.end))
        return any(start <= place <= end for place in mentioned)

    facts = [(each.attribute, getattr(endpoint, each.attribute)) for each in members(Endpoint)]
    # What an older version has nothing of is empty there.
    untold = {name for name, fact in facts if isinstance(fact, Shown) and fact.value != () and not is_told(fact.span)}
    return told(g, endpoint, but={name for name, _ in facts} - untold)


def _chosen(g: Grounds, endpoint: Endpoint) -> list[Item]:
    case = endpoint.case
    if case is None:
        return []
    names = [f"`{name}`" for name in case.all] + ([f"`{ALL_OTHERS}`"] if case.has_rest else [])
    listed = " or ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
    return g.expression(f"its case is {listed}, by" if listed else "its case, by", case.by, ("cases",))


def _in_each(g: Grounds, endpoint: Endpoint, told: Callable[[Grounds, Endpoint], Iterable[Item]]) -> tuple[Item, ...]:
    """What is told of an endpoint; where it differs from case to case, under each."""
    every = [(each, tuple(told(g, each))) for each in g.cases.get(endpoint.key, ())]
    if len(every) < 2 or all(items == every[0][1] for _, items in every):
        return tuple(told(g, endpoint))
    return tuple(
        g.item(f"in the case `{each.case.called}`", each.case.span, items)
        for each, items in every
        if each.case is not None and items
    )


def accepted(g: Grounds, sections: tuple[Section, ...], within: Span) -> tuple[Section, ...]:
    """The same with what is in force only because proposals were accepted marked as such; what of it lies `within` a
    stretch and is told by no item comes at the end."""
    spans = tuple(accepted_proposals(g.contract)) if is_proposed(g.contract) else ()
    if not spans:
        return sections
    places = {g.place(span) for span in spans}
    marked = tuple(replace(each, items=tuple(_marked(item, places) for item in each.items)) for each in sections)
    told = {item.place for section in marked for item in every(section.items)}
    rest = [span for span in spans if within.start <= span.start < within.end and g.place(span) not in told]
    items = tuple(Item(g.written(span), g.place(span), "accepted") for span in rest)
    return (*marked, Section("Accepted besides", items)) if items else marked


def _marked(item: Item, places: Set[Place]) -> Item:
    below = tuple(_marked(each, places) for each in item.items)
    taken = item.standing == "in force" and item.place in places
    return replace(item, items=below, standing="accepted" if taken else item.standing)


def cited(items: Iterable[Item]) -> tuple[Meaning, ...]:
    """The fixed meanings that items cite."""
    names = {name for item in items for name in item.meanings}
    return tuple(sorted(map(meaning_named, names), key=lambda each: each.order))


def find_endpoint(loaded: Loaded, wanted: str) -> Endpoint | None:
    """The endpoint that is meant by `POST /orders`: by its key, however it is spaced and in whichever case its method
    is, or by a path that a request could have (`GET /orders/17`, with the base or without it)."""
    stated = value_of(loaded.contract.endpoints.endpoints) or ()
    for endpoint in stated:
        if endpoint.key == wanted:
            return endpoint
    found = _REQUEST.fullmatch(wanted)
    if found is None:
        return None
    method, path = found[1].upper(), found[2].split("?")[0]
    for endpoint in stated:
        if endpoint.key.split() == [method, path]:
            return endpoint
    base = value_of(loaded.contract.endpoints.base) or ""
    paths = [path, path.removeprefix(base)] if base and path.startswith(base + "/") else [path]
    fitting = [each for each in stated if each.method == method and any(_fits(each, one) for one in paths)]
    # A literal segment beats a name (meaning "paths").
    return min(fitting, key=_literals, default=None)


def _fits(endpoint: Endpoint, path: str) -> bool:
    texts = path.strip("/").split("/") if path.strip("/") else []
    return len(texts) == len(endpoint.segments) and all(
        segment.text == text
        if isinstance(segment, Literal)
        else not segment.after or text.endswith(f":{segment.after}")
        for segment, text in zip(endpoint.segments, texts, strict=True)
    )


def _literals(endpoint: Endpoint) -> tuple[int, ...]:
    return tuple(0 if isinstance(each, Literal) else 1 if each.after else 2 for each in endpoint.segments)
