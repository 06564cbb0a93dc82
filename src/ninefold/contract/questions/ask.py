"""Asks a contract all questions: `ask` is the way into this package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from ninefold.contract.questions import (
    authentication,
    endpoints,
    errors,
    events,
    limits,
    resources,
)
from ninefold.contract.questions.open import Concerned, open_in
from ninefold.contract.questions.question import (
    PART_QUESTIONS,
    PROPOSED,
    PURPOSE,
    STATES,
    WRITTEN,
    At,
    blocking,
    leaving_out,
    unanswered,
)
from ninefold.contract.service import Contract
from ninefold.contract.survey import Survey
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.source import Span, Spans
from ninefold.expressions.ast import Name, every, reads_member
from ninefold.language.declaration import members
from ninefold.language.endpoints import Endpoint
from ninefold.language.errors import CODES
from ninefold.language.expressions import Expression, expressions_in, holding_facts
from ninefold.language.fact import Shown, StatedNone, value_of
from ninefold.language.key import Key, Kind
from ninefold.language.question import OpenQuestion
from ninefold.language.states import FROM, INITIAL, MACHINE, TO
from ninefold.language.table import row_at, row_written
from ninefold.language.versioning import CHANGES
from ninefold.syntax.nodes import Entry, Mapping, Node, Part, Sequence, Word, is_word
from ninefold.syntax.proposals import proposals

STORED = frozenset({"on create", "on change", "computed", "normalise", "sets", "gone", "also", "EFFECT"})
"""Keys that add a value or a change, or take a row away: what is written without them would be wrong, so a gap
blocks."""


def ask(contract: Contract) -> tuple[OpenQuestion, ...]:
    """The open questions of a contract: those that block first, then by part and place.

    A part that shows nothing is one open question; its further questions are asked once it shows something. A part
    that states `none` has answered.
    """
    survey = Survey(contract)
    accepted = is_proposed(contract) and any(accepted_proposals(contract))
    found: list[OpenQuestion] = []
    checks = tuple(errors.checks(survey))
    older = tuple(_of_older_endpoints(survey))
    for part, asked_of in zip(contract.document.parts, PARTS, strict=True):
        if part.statement is not None and part.statement.word is Word.NONE and not part.facts.entries:
            continue
        if shows_nothing(part, accepted=accepted) and part.number != 1:
            found.append(_of_part(survey, part))
        else:
            unknown = (*_unknown((), part.facts), *(older if part.name == "endpoints" else ()))
            written = {at.span for _, at in unknown}
            own = (each for each in checks if each.question.part == part.number and each.span not in written)
            found += (*asked_of(survey), *own)
            found += _written(survey, part, unknown, tuple(found), accepted=accepted)
    # The cases of an endpoint have in common what is stated beside them: that is asked once.
    return in_order(dict.fromkeys(found))


def in_order(open_questions: Iterable[OpenQuestion]) -> tuple[OpenQuestion, ...]:
    """Those that block first, then by part and place."""
    return tuple(sorted(open_questions, key=lambda each: (each.effect != "blocks", each.question.part, each.span)))


def shows_nothing(part: Part, *, accepted: bool = False) -> bool:
    """Whether a part holds no fact that is in force."""
    return all(_proposed(entry) for entry in part.facts.entries) and not (accepted and part.facts.entries)


def is_proposed(contract: Contract) -> bool:
    """Whether anything is proposed in the document, accepted or not."""
    return bool(proposals(contract.document))


def accepted_proposals(facts: object) -> Iterator[Span]:
    """The places of the proposals that are in force because they were accepted. Where nothing `is_proposed`, there are
    none, and facts need not be walked."""
    left = [facts]
    while left:
        each = left.pop()
        if isinstance(each, tuple):
            left += reversed(each)
        elif not isinstance(each, Expression):
            if isinstance(each, Shown | StatedNone) and each.proposed:
                yield each.span
            kind: type = type(each)
            left += [getattr(each, name) for name in reversed(holding_facts(kind))]


def _proposed(entry: Entry) -> bool:
    return entry.proposed or entry.value.proposed


def _of_part(survey: Survey, part: Part) -> OpenQuestion:
    """The one question of a part that shows nothing, and all that its silence costs."""
    question = PART_QUESTIONS[part.number - 1]
    if part.facts.entries:
        at = At(part.facts.entries[0].span, candidate=True)
    else:
        at = At(part.statement.span if part.statement is not None else part.place)
    match part.name:
        case "resources" | "authentication":
            return blocking(question, part.name, at, survey.keys)
        case "states":
            return blocking(question, part.name, at, survey.writing)
        case "endpoints":
            return blocking(question, part.name, at, ())
        case "limits":
            blocked = {*limits.taking_keys(survey), *limits.unbounded(survey)}
            if blocked:
                keys = tuple(key for key in survey.keys if key in blocked)
                return replace(blocking(question, part.name, at, keys), left_out=LEFT_OUT[part.name])
        case "events":
            left_out = leaving_out(question, part.name, at, LEFT_OUT[part.name])
            return events.blocking_about(survey, events.STREAMING, left_out, tuple(events.about_built_in(survey)))
    return leaving_out(question, part.name, at, LEFT_OUT[part.name])


LEFT_OUT = {
    "events": "events",
    "errors": "error bodies and codes: each error is a bare status",
    "limits": "rates, body sizes and timeouts",
    "versioning": "versions",
}
"""What is left out where the part shows nothing."""


# Parts of which few questions are more than their declarations say.


def _purpose(survey: Survey) -> Iterator[OpenQuestion]:
    """What the service does. Its prose is the answer."""
    place = survey.contract.document.part("purpose").place
    if at := unanswered(survey.contract.purpose.text, place):
        yield leaving_out(PURPOSE, "purpose", at, "")


def _states(survey: Survey) -> Iterator[OpenQuestion]:
    """The states of each resource, or none; the ends of each transition."""
    states = survey.contract.states
    place = survey.contract.document.part("states").place
    if at := unanswered(states.machines, place):
        yield blocking(STATES, "states", at, survey.writing)
        return
    if value_of(states.machines) is None:
        return  # none is stated
    for resource in survey.graph.resources:
        if at := unanswered(survey.contract.machines.get(resource), place):
            yield blocking(MACHINE, resource, at, survey.writing_to(resource))
    concerned: Concerned = {
        MACHINE.id: survey.writing_to,
        INITIAL.id: survey.creating,
        FROM.id: survey.taking,
        TO.id: survey.taking,
    }
    for name, fact in survey.contract.machines.items():
        if (machine := value_of(fact)) is not None:
            yield from _field_of_state(survey, name, fact.span)
            yield from open_in(machine, machine.span, concerned, name)


def _field_of_state(survey: Survey, resource: str, at: Span) -> Iterator[OpenQuestion]:
    """A resource that has states shows them by a field."""
    own = survey.graph.resources.get(resource)
    fields = None if own is None else value_of(own.fields)
    if fields is not None and all(each.state is None for each in fields):
        place = unanswered(None, at)
        if place is not None:
            text = f"the field that shows the state of `{resource}`, which says `state: true`"
            yield blocking(MACHINE, resource, place, survey.writing_to(resource), text)


def _versioning(survey: Survey) -> Iterator[OpenQuestion]:
    """Where a version is named, or none; the versions; the version of a request that names none; what is compatible."""
    versioning = survey.contract.versioning
    newest = next((each.name for each in value_of(versioning.versions) or ()), None)
    for each in open_in(versioning, survey.contract.document.part("versioning").place, {}):
        if each.question is not CHANGES or each.subject != newest:
            yield each


PARTS = (
    _purpose, resources.ask, _states, endpoints.ask, authentication.ask, events.ask, errors.ask, limits.ask, _versioning
)  # fmt: skip
"""What asks, in the order of the parts."""


# `not shown` written for a key that no question asks for, and proposals for one.


Names: TypeAlias = tuple[str | int, ...]
"""The keys from a part to what is written, and the numbers of items in lists."""


def _written(
    survey: Survey,
    part: Part,
    unknown: Iterable[tuple[Names, At]],
    asked: tuple[OpenQuestion, ...],
    *,
    accepted: bool,
) -> Iterator[OpenQuestion]:
    answered = {each.span for each in asked}
    candidates = Spans(each.span for each in asked if each.candidate)
    asks_codes = any(each.candidate and each.question is CODES for each in asked)
    for steps, at in unknown:
        path, names = _path(part.number, steps), tuple(map(str, steps))
        if at.span in answered or (at.candidate and (accepted or candidates.meet(at.span))):
            continue
        if at.candidate and path == "codes.CODE" and asks_codes:
            continue  # asked in one line, of all codes that are proposed
        key = row_at(part.number, path)
        subject = ".".join(names)
        question = replace(PROPOSED if at.candidate else WRITTEN, part=part.number)
        read = _reading(survey, part, names)
        blocks = read or _depending(survey, part, names)
        if key is not None and key.kind is Kind.TELLS:
            yield leaving_out(question, subject, at, "nothing that a caller sees")
        elif blocks is None or (key is not None and _adds(key) and not _is_stored(key) and not read):
            yield leaving_out(question, subject, at, f"`{subject}`")
        else:
            yield blocking(question, subject, at, blocks)


def _adds(key: Key) -> bool:
    """Whether the rest is there without it: it adds, or stands instead of another line and is not asked for."""
    return key.kind is Kind.ADDS or (key.kind is Kind.FALLS_BACK and not key.is_asked)


def _is_stored(key: Key) -> bool:
    """Whether what is stored would be wrong without it; of an effect, all of it."""
    return key.name in STORED or ".also." in key.path


def _unknown(names: Names, node: Node) -> Iterator[tuple[Names, At]]:
    """Each place where `not shown` or a proposal is written."""
    match node:
        case Mapping(entries=entries):
            for entry in entries:
                yield from _unknown_at((*names, entry.name), entry.value, candidate=_proposed(entry))
        case Sequence(items=items):
            for number, item in enumerate(items):
                yield from _unknown_at((*names, number), item, candidate=item.proposed)


def _unknown_at(names: Names, node: Node, *, candidate: bool) -> Iterator[tuple[Names, At]]:
    if candidate or is_word(node, "not shown"):
        yield names, At(node.span, candidate=candidate)
    else:
        yield from _unknown(names, node)


def _of_older_endpoints(survey: Survey) -> Iterator[tuple[Names, At]]:
    """Each place where a change leaves open what an endpoint was, as that endpoint would have it, where it is one of
    this version."""
    for names, at in _unknown((), survey.contract.document.part("versioning").facts):
        if names[2:3] != ("changes",) or names[4:5] != ("was",):
            continue
        for endpoint in survey.endpoints:
            facts = (getattr(endpoint, each.attribute) for each in members(Endpoint))
            if any(fact is not None and fact.span.meets(at.span) for fact in facts):
                yield (endpoint.key, *names[5:]), at


def _path(part: int, names: Names) -> str:
    """The path in the vocabulary; an item of a list stands at that of the list."""
    path = ""
    for number, name in enumerate(names):
        if isinstance(name, str):
            path = written_path(part, path, name)
        elif number + 1 < len(names):
            path = written_path(part, path, "")
    return path


def written_path(part: int, path: str, name: str) -> str:
    """The path in the vocabulary of what is written as `name` under `path` (an item of a list has no name)."""
    row = row_written(part, path, name)
    return row.path if row is not None else f"{path}.{name}" if path and name else path or name


PARAMETERS: Final = {"path": "path", "query": "query", "request headers": "headers"}
"""What an endpoint declares of its requests, and under which name of `request` expressions read it."""


def _reading(survey: Survey, part: Part, names: tuple[str, ...]) -> tuple[str, ...]:
    """The endpoints of which an expression reads what stands at a path, where it adds a parameter or a credential:
    nobody can say what such an expression gives. What other parts say is asked of any request."""
    if part.name == "endpoints" and names[:1] != names[-1:] == ("issues",):
        own_cases = [each for each in survey.endpoints if each.key == names[0]]
        return (names[0],) if any(map(_tells_credential, own_cases)) else ()
    if part.name != "endpoints" or len(names) < 2 or names[0] not in survey.keys or names[1] not in PARAMETERS:
        return ()
    contract, group = survey.contract, PARAMETERS[names[1]]
    if _reads((contract.resources, contract.states, contract.events, contract.limits, contract.versioning), group):
        return survey.keys
    own = [(endpoint, survey.admitted(endpoint)) for endpoint in survey.endpoints if endpoint.key == names[0]]
    return (names[0],) if _reads(tuple(own), group) else ()


def _tells_credential(endpoint: Endpoint) -> bool:
    """Whether it tells of a credential that it issues."""
    told = [each.ast for each in expressions_in((endpoint.responses, endpoint.headers))]
    granted = any(isinstance(node, Name) and node.name == "granted" for ast in told for node in every(ast))
    return granted or any(reads_member(ast, "caller", {"credential"}) for ast in told)


def _reads(facts: object, group: str) -> bool:
    """Whether an expression among facts reads `request.GROUP`."""
    return any(reads_member(each.ast, "request", {group}) for each in expressions_in(facts))


def _depending(survey: Survey, part: Part, names: tuple[str, ...]) -> tuple[str, ...] | None:
    """The endpoints that depend on what stands at a path. `None`: no endpoint does, a behaviour is left out."""
    match part.name, names:
        case "resources", ("types", name, *_):
            return resources.using(survey, name)
        case "resources", ("terms", *_):
            return survey.keys  # any fact may read it: one whose term is a gap is a gap itself
        case "resources", (resource, *_):
            return resources.having(survey, resource)
        case "states", (resource, "transitions", transition, *_):
            return survey.taking(f"{transition} {resource}")
        case "states", (resource, *_):
            return survey.writing_to(resource)
        case "endpoints", (key, *_) if written_path(part.number, "", key) == "ENDPOINT":
            return _written_as(survey, key)
        case "endpoints", _:
            return survey.keys
        case "authentication", ("schemes", scheme, *_):
            return survey.naming(scheme)
        case "authentication", ("rows", resource, *_):
            return survey.reaching(resource)
        case "authentication", ("permissions", key, *_) if written_path(4, "", key) == "ENDPOINT":
            return _written_as(survey, key)
        case "authentication", _:
            return survey.keys
        case _:
            return None


def _written_as(survey: Survey, key: str) -> tuple[str, ...]:
    """The endpoint that the document calls so: an older version may call it otherwise, or have none."""
    if key in survey.keys:
        return (key,)
    entry = survey.contract.document.part("endpoints").facts.get(key)
    if entry is None:
        return ()
    return tuple(dict.fromkeys(each.key for each in survey.endpoints if each.span == entry.key.span))
