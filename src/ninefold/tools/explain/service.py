"""A whole service in one page, part by part: each fact in a line, gaps where they are, and what provokes each error."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Span
from ninefold.language.conditions import CHECK, CONDITIONS, NO_ENDPOINT
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Gap, StatedNone, value_of
from ninefold.language.question import OpenQuestion
from ninefold.pipeline import Loaded
from ninefold.syntax.nodes import NUMBERED_TITLES, Part, Word
from ninefold.tools.explain import (
    authentication,
    errors,
    limits,
    outcome,
    refusals,
    requests,
    resources,
    states,
    versioning,
)
from ninefold.tools.explain.endpoint import accepted, cited
from ninefold.tools.explain.explanation import Cause, Explanation, Item, Section, Standing, every
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import told


def explain_service(loaded: Loaded) -> Explanation:
    """The service that a contract describes, as far as it does."""
    g = Grounds(loaded)
    sections = [
        Section(title, tuple(_part(g, part, PARTS[part.name])))
        for title, part in zip(NUMBERED_TITLES, g.contract.document.parts, strict=True)
    ]
    sections.append(Section("What the operator gives", tuple(outcome.all_operator_values(g))))
    whole = Span(0, len(loaded.source.text))
    shown = accepted(g, tuple(section for section in sections if section.items), whole)
    title = g.contract.document.title
    return Explanation(
        contract=loaded.source.name,
        about=title or loaded.source.name,
        place=g.place(g.contract.document.title_span),
        outcome=_outcome(g),
        sections=shown,
        meanings=cited(item for section in shown for item in every(section.items)),
    )


def _outcome(g: Grounds) -> str:
    stated = g.survey.endpoints
    if not stated:
        return "there is no endpoint to serve"
    if g.loaded.checked is None:
        return "not served: the contract has errors"
    served = len(g.loaded.checked.endpoints)
    return f"{served} of {len(stated)} endpoints served"


def _part(g: Grounds, part: Part, tell: Callable[[Grounds], list[Item]]) -> list[Item]:
    """What a part says, with its gaps among it; what it says on lines that nothing else is about, as it is written."""
    asked = [each for each in g.loaded.open_questions if each.question.part == part.number]
    if part.statement is not None and not part.facts.entries and part.number != 1:
        if part.statement.word is Word.NONE:
            return [g.item("none", part.statement.span)]
        return [g.gap(each) for each in asked]
    items = tell(g) if part.facts.entries or part.number == 1 else []
    mentioned = {item.place.line for item in every(items) if item.place is not None} | set(_lines_elsewhere(g, part))
    items += g.unmentioned(part.facts, mentioned)
    told = {item.place for item in every(items) if item.standing in ("gap", "proposed")}
    left = [each for each in asked if g.place(each.span) not in told]
    return sorted(_with_gaps(g, part, items, left), key=_line)


def _lines_elsewhere(g: Grounds, part: Part) -> Iterator[int]:
    """The lines of endpoints: what they say has pages of its own."""
    for endpoint in g.survey.endpoints if part.name == "endpoints" else ():
        within = outcome.extent(g, endpoint)
        yield from range(g.line(within), g.line(Span(within.end, within.end)) + 1)


def _line(item: Item) -> Place:
    """Where an item stands; one without a place stands at the end."""
    return item.place or Place(1 << 60, 1)


def _with_gaps(g: Grounds, part: Part, items: list[Item], questions: list[OpenQuestion]) -> list[Item]:
    """Each gap beside the other facts of the entry in which it lies."""
    entries, found = part.facts.entries, list(items)
    starts = [each.span.start for each in entries]
    of_place = {item.place: at for at, item in reversed(tuple(enumerate(items))) if item.items}
    for question in questions:
        gap = g.gap(question)
        before = bisect_left(starts, question.span.start) - 1
        within = before >= 0 and question.span.start < entries[before].span.end
        at = of_place.get(g.place(entries[before].span)) if within else None
        if at is None:
            found.append(gap)
        else:
            found[at] = replace(found[at], items=tuple(sorted((*found[at].items, gap), key=_line)))
    return found


def _purpose(g: Grounds) -> list[Item]:
    fact = g.contract.purpose.text
    if isinstance(fact, Gap | StatedNone) or value_of(fact) is None:
        return g.fact("what the service does", fact)
    return g.fact("what the service does", fact, lambda text: " ".join(text.split()), whole=True)


def _resources(g: Grounds) -> list[Item]:
    facts = g.contract.resources
    items = [resources.resource(g, each) for each in value_of(facts.resources) or ()]
    items = items or g.fact("resources", facts.resources)
    return items + [resources.shared_type(g, each, {of.name for of in facts.types}) for each in facts.types]


def _states(g: Grounds) -> list[Item]:
    machines = value_of(g.contract.states.machines)
    if machines is None:
        return g.fact("states", g.contract.states.machines)
    return [states.machine(g, each) for each in machines]


def _endpoints(g: Grounds) -> list[Item]:
    own = [_endpoint(g, each) for each in g.survey.endpoints]
    return told(g, g.contract.endpoints, endpoints=lambda fact: own or g.fact("endpoints", fact))


def _endpoint(g: Grounds, endpoint: Endpoint) -> Item:
    """One line: what it does, for whom, and with which status; and what stands in the way."""
    words = [item.text for item in requests.deeds(g, endpoint)[:1]]
    admitted = dict.fromkeys(each.who.text for each in g.survey.admitted(endpoint))
    words += [f"for {', '.join(admitted)}"] if admitted else []
    words += [f"answers {each.status}" for each in value_of(endpoint.responses) or ()]
    stops = outcome.obstacles(g, endpoint) if outcome.is_stopped(g, endpoint) else []
    built = any(each.standing != "not in force" for each in stops)
    standing: Standing = "gap" if built else "not in force"
    item = Item(f"`{endpoint.key}` {', '.join(words)}", g.place(endpoint.span))
    consequence = "answers 501: " + "; ".join(f"{each.text}{_at(each)}" for each in stops)
    return replace(item, standing=standing, consequence=consequence) if stops else item


def _at(item: Item) -> str:
    return f" (line {item.place.line})" if item.place is not None else ""


def _errors(g: Grounds) -> list[Item]:
    facts = g.contract.errors
    provoked = _provoked(g)
    items = errors.shape(g)
    items += [errors.code(g, each, provoked.get(each.known_as, ())) for each in value_of(facts.codes) or ()]
    items += [] if items else g.fact("codes", facts.codes)
    items += errors.messages(g)
    items += errors.order(g)
    bare = provoked.get(None, ())
    return items + (
        [g.item("answered with a bare status and an empty body", None, bare, ("bare statuses",))] if bare else []
    )


def _provoked(g: Grounds) -> Mapping[str | None, tuple[Item, ...]]:
    """For each code, and for none: what makes the service answer with it, and where that can arise."""
    found: dict[str | None, dict[str, list[tuple[str, Item]]]] = {}
    for endpoint in g.survey.endpoints:
        for item in refusals.refusals(g, endpoint):
            for each in item.items:
                if each.cause is not None:
                    # Checks are told one by one; of the rest, what the condition is called says enough.
                    own = each.text if each.cause.condition == CHECK else f"`{each.cause.name}`"
                    found.setdefault(each.cause.code, {}).setdefault(own, []).append((endpoint.key, each))
    told = {
        code: [_provocation(text, where, g.survey.keys) for text, where in by_text.items()]
        for code, by_text in found.items()
    }
    for condition in CONDITIONS if g.survey.endpoints else ():
        if condition.name in NO_ENDPOINT:
            code = g.codes.code_of_all(condition.name)
            status, known_as = g.codes.status(condition.name, code), None if code is None else g.codes.known_as(code)
            cause = Cause(condition.name, None, known_as, status)
            item = g.item(f"`{condition.name}`: {condition.words}", meanings=condition.meanings, cause=cause)
            told.setdefault(known_as, []).insert(0, item)
    return {code: tuple(items) for code, items in told.items()}


def _provocation(text: str, where: list[tuple[str, Item]], every_key: tuple[str, ...]) -> Item:
    """One condition with the endpoints at which it can arise; at a line, where it is the same at all of them."""
    keys = tuple(dict.fromkeys(key for key, _ in where))
    items = [item for _, item in where]
    place = items[0].place if len({item.place for item in items}) == 1 else None
    first = next((item for item in items if item.standing == "in force"), items[0])
    return Item(text + _where(keys, every_key), place, first.standing, first.consequence, cause=first.cause)


def _where(keys: tuple[str, ...], every_key: tuple[str, ...]) -> str:
    if keys == every_key and len(keys) > 1:
        return ", at every endpoint"
    return f", at {', '.join(f'`{key}`' for key in keys)}"


PARTS: Mapping[str, Callable[[Grounds], list[Item]]] = {
    "purpose": _purpose,
    "resources": _resources,
    "states": _states,
    "endpoints": _endpoints,
    "authentication": authentication.part,
    "events": lambda g: told(g, g.contract.events),
    "errors": _errors,
    "limits": limits.part,
    "versioning": versioning.part,
}
"""What tells the facts of each part."""
