"""The older versions of a contract, newest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import TypeVar

from ninefold.contract.service import Contract
from ninefold.contract.versions.fields import change_field
from ninefold.contract.versions.kinds import names_stored, with_its_kinds
from ninefold.contract.versions.names import (
    change_case,
    change_code,
    change_endpoint,
    change_kind,
    change_parameter,
    change_view,
    with_lines,
)
from ninefold.contract.versions.shown import with_shown
from ninefold.contract.versions.way import Way
from ninefold.diagnostics.codes import NO_WAY_BACK, ODD_DATES, UNKEPT, UNNAMEABLE
from ninefold.diagnostics.diagnostic import Diagnostic, Label, Outcome, Severity
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.language.fact import Fact, Gap, Proposal, Shown, StatedNone, is_open, value_of
from ninefold.language.question import OpenQuestion
from ninefold.language.routes import Literal
from ninefold.language.versioning import ENDPOINT, OF_CASE, OF_ENDPOINT, Change, Version, VersionScheme


def of_version(version: Version, diagnostics: Iterable[Diagnostic], said: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """What is wrong in a version alone, or not in force there, each with the version. Oddities are told of the newest
    version, what an older one no longer uses, others do; but what nobody can give there."""
    known = {(each.code.id, each.labels[:1]) for each in said}
    for each in diagnostics:
        is_told = each.code is UNKEPT or each.code.severity is not Severity.WARNING
        if is_told and (each.code.id, each.labels[:1]) not in known:
            label = Label(version.span, f"in the version `{version.name}`")
            yield replace(each, labels=(*each.labels, label))


def with_that_version(known: Iterable[OpenQuestion], asked: Iterable[OpenQuestion]) -> list[OpenQuestion]:
    """The questions that are known, and those that only this version leaves open. What a change does not show costs
    what the version says that it changes: that is asked of the part that it is about, and no more of part 9."""
    told = {each.span for each in asked if each.question.part != 9}
    kept = [each for each in known if each.question.part != 9 or each.span not in told]
    before, places = {(each.question.id, each.span) for each in kept}, {each.span for each in kept}
    new = (each for each in asked if each.question.part != 9 or each.span not in places)
    return [*kept, *(each for each in new if (each.question.id, each.span) not in before)]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Derived:
    """An older version as a contract. `moved`: the endpoints that have another key in the version above, by their
    keys here."""

    version: Version
    contract: Contract
    moved: dict[str, str]


def derive(contract: Contract) -> Outcome[tuple[Derived, ...]]:
    """Every older version down to the first whose way back is not shown: from there on nobody knows."""
    versioning = contract.versioning
    scheme, versions = versioning.scheme, value_of(versioning.versions) or ()
    said = list(_odd(contract, scheme, versions))
    found: list[Derived] = []
    above, reached = with_lines(contract), not isinstance(versioning.location, StatedNone)
    keys, before = {*contract.endpoints_by_key}, tuple[Change, ...]()
    for version in versions[1:]:
        reached = reached and not is_open(version.changes)
        if reached:
            way = Way(contract, above, version, keys, before)
            for change in value_of(version.changes) or ():
                apply(way, change)
                before = (*before, change)
            said += way.diagnostics
            above = way.contract
            found.append(Derived(version, with_shown(above), way.moved))
    stored = names_stored([contract, *(each.contract for each in found)])
    own = (replace(each, contract=with_its_kinds(each.contract, each.version.name, stored)) for each in found)
    return Outcome(tuple(own), tuple(said))


def newest(contract: Contract, derived: Iterable[Derived]) -> Contract:
    """The contract as its newest version: a kind that an older one alone has is stored, and none of its own."""
    versions = value_of(contract.versioning.versions) or ()
    stored = names_stored([contract, *(each.contract for each in derived)])
    return with_its_kinds(contract, versions[0].name, stored) if versions else contract


def apply(way: Way, change: Change) -> None:
    """One change, by what it is of."""
    text = change.subject.text
    if OF_CASE.fullmatch(text):
        change_case(way, change)
        return
    if OF_ENDPOINT.fullmatch(text):
        change_parameter(way, change)
        return
    if ENDPOINT.fullmatch(text):
        change_endpoint(way, change)
        return
    first, dot, rest = text.partition(".")
    resource = way.resource(first)
    kinds, codes = way.contract.events.kinds, way.contract.errors.codes
    if resource is not None and dot and change.kind is None and _is_field(way, text):
        view = rest.removeprefix("views.")
        if view != rest:
            change_view(way, change, resource, view)
        else:
            change_field(way, change, resource, rest)
    elif resource is not None and not dot:
        help = ("its fields and endpoints can differ: `{rename: " + first + ".FIELD, to: …}`",)
        way.refuse(change, f"no caller sees that a resource is called `{first}`", help)
    elif change.kind is not None or any(each.name == text for each in value_of(kinds) or ()):
        change_kind(way, change)
    elif change.code is not None or any(each.known_as == text for each in value_of(codes) or ()):
        change_code(way, change)
    elif not (_is_open(way.contract.resources.resources) or _is_open(kinds) or _is_open(codes)):
        names = [each.name for each in way.resources()]
        names += [each.name for each in value_of(kinds) or ()] + [each.known_as for each in value_of(codes) or ()]
        way.not_there(change, "anything", names)


def _is_field(way: Way, text: str) -> bool:
    """Whether a field is meant, where kinds of event have names of the same form: `order.placed`."""
    resource = way.resource(text.partition(".")[0])
    fields = () if resource is None else value_of(resource.fields) or ()
    named = any(f"{text.partition('.')[0]}.{each.called}" == text for each in fields)
    kinds = value_of(way.contract.events.kinds) or ()
    return named or all(each.name != text for each in kinds)


def _is_open(fact: Fact[T] | None) -> bool:
    """Whether what it holds is not known, so that any name may be one of its."""
    return isinstance(fact, Gap | Proposal)


# ── What is said of versions themselves ───────────────────────────────────────────────────────────────────────


def _odd(contract: Contract, scheme: VersionScheme | None, versions: tuple[Version, ...]) -> Iterator[Diagnostic]:
    changes = versions[0].changes if versions else None
    if isinstance(changes, Shown) and changes.value:
        label = Label(changes.span, "leads back from nothing")
        yield Diagnostic(NO_WAY_BACK, f"`{versions[0].name}` is the newest version, and has changes", (label,))
    for version in versions:
        stated = {"deprecated": version.deprecated, "sunset": version.sunset, "retired": version.retired}
        dates = [(name, fact) for name, fact in stated.items() if fact is not None]
        for (first, before), (second, after) in pairwise(dates):
            earlier, later = _date(before), _date(after)
            if earlier is not None and later is not None and later < earlier:
                message = f"`{second}` of the version `{version.name}` is earlier than `{first}`"
                yield Diagnostic(ODD_DATES, message, (Label(after.span, "earlier"), Label(before.span, "later")))
        if scheme is not None and (reason := _NAMES[scheme.by](contract, version.name)) is not None:
            message = f"no request can name the version `{version.name}`"
            yield Diagnostic(UNNAMEABLE, message, (Label(version.span, reason),))
    if scheme is not None and scheme.by == "query" and versions:
        for key, span in _taken_by(contract, scheme.name):
            message = f"the parameter `{scheme.name}` names the version, and is one of `{key}`"
            yield Diagnostic(UNNAMEABLE, message, (Label(span, "means something else"),))


def _date(fact: Fact[str]) -> str | None:
    return value_of(fact)


def _in_path(contract: Contract, name: str) -> str | None:
    if not re.fullmatch(r"[A-Za-z0-9._~-]+", name) or name in (".", ".."):
        return "is not one segment of a path"
    for endpoint in value_of(contract.endpoints.endpoints) or ():
        first = endpoint.segments[0] if endpoint.segments else None
        if isinstance(first, Literal) and first.text == name:
            return f"is the first segment of `{endpoint.key}` as well"
    return None


def _visible(contract: Contract, name: str) -> str | None:
    return None if re.fullmatch(r"[!-~](?:[ -~]*[!-~])?", name) else "is not visible ASCII"


_NAMES: dict[str, Callable[[Contract, str], str | None]] = {
    "path": _in_path,
    "header": _visible,
    "query": _visible,
    "media type": _visible,
}


def _taken_by(contract: Contract, name: str) -> Iterator[tuple[str, Span]]:
    for endpoint in value_of(contract.endpoints.endpoints) or ():
        named = {each.name: each.span for each in endpoint.parameters}
        if name in named:
            yield endpoint.key, named[name]
