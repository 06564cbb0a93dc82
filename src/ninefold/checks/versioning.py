"""Part 9: which version a request asks for, and the older versions beside the newest."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import structs

from ninefold.checked.endpoints import Cause, EventKind, OlderKind
from ninefold.checked.service import Checked, Version, Versions
from ninefold.checks.constants import results
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.checks.schemas import schema_of
from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import PINNED_TO_NOTHING
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.scope import Inferred, Model, ResourceShape, Scope
from ninefold.expressions.tree import Constant, Select, Typed
from ninefold.language import versioning as stated
from ninefold.language.declaration import said
from ninefold.language.expressions import Expression
from ninefold.language.fact import Name, value_of
from ninefold.language.json_schema import listed_values
from ninefold.plan.service import OperatorValue
from ninefold.values import Object, Row, Text, Timestamp, Type


def check_versioning(vocabulary: Vocabulary, findings: Findings) -> Versions | None:
    """None where there are no versions, or where it is not shown how a request names one."""
    scheme, versions = findings.contract.versioning.scheme, value_of(findings.contract.versioning.versions)
    if scheme is None or not versions:
        return None
    default, pinned = value_of(findings.contract.versioning.default), None
    if default is not None and not isinstance(default, Name):
        pinned = check_pinned(default, [each.name for each in versions], vocabulary, findings)
    return Versions(
        by=scheme.by,  # type: ignore[arg-type]
        name=scheme.name,
        current=versions[0].name,
        default=default.text if isinstance(default, Name) else None,
        versions=tuple(_version(each, findings) for each in versions),
        pinned=pinned,
    )


def _version(each: stated.Version, findings: Findings) -> Version:
    return Version(each.name, findings.place(each.span), value_of(each.retired), said=said(each))


Older = tuple[str, Checked, Mapping[str, str]]
"""An older version: its name, what it is, and the endpoints that have another key in the version above."""


def with_older(newest: Checked, older: Sequence[Older]) -> Checked:
    """A service in all of its versions. What they read of a row is known to all, and what happens is told to all."""
    versions = newest.versions
    if versions is None:
        return newest
    model = newest.model
    for _, each, _ in older:
        model = _both(model, each.model)
    kinds = _kinds(versions.current, newest.events.kinds, {name: each.events.kinds for name, each, _ in older})

    resources = {name: each for _, checked, _ in older for name, each in checked.resources.items()}
    built_in = {name: each for name, each in resources.items() if name not in newest.resources}

    def one(name: str, checked: Checked) -> Checked:
        parameter = ""
        if versions.by == "media type":
            parameter = f"; {versions.name}={name if _TOKEN.fullmatch(name) else _quoted(name)}"
        written = checked.produces
        return replace(
            checked,
            version=name,
            model=_read_in(name, model, checked.model),
            resources={**checked.resources, **built_in},
            events=replace(checked.events, kinds=kinds),
            media_type_parameter=parameter,
            produces=None if written is None else written + parameter,
        )

    everywhere = [newest, *(checked for _, checked, _ in older)]
    names = dict.fromkeys(each.name for checked in everywhere for each in checked.operator)
    operator = tuple(_needed_by(name, everywhere) for name in sorted(names))
    newest = replace(newest, operator=operator)
    made = {name: (one(name, each), moved) for name, each, moved in older}
    whole = tuple(
        replace(each, checked=made[each.name][0], moved=made[each.name][1]) if each.name in made else each
        for each in versions.versions
    )
    return replace(one(versions.current, newest), versions=replace(versions, versions=whole))


def _needed_by(name: str, versions: Sequence[Checked]) -> OperatorValue:
    """A value of the operator, with every endpoint of some version that cannot be served without it."""
    needed = [each for checked in versions for each in checked.operator if each.name == name]
    blocks = tuple(dict.fromkeys(key for each in needed for key in each.blocks))
    return structs.replace(needed[0], blocks=blocks)


_TOKEN = regex.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def _quoted(text: str) -> str:
    """A quoted string of RFC 9110, 5.6.4."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _both(model: Model, other: Model) -> Model:
    """What expressions know of the rows: the same fields, and besides them those that one version works out."""
    found = dict(model)
    for name, shape in other.items():
        own = found.get(name)
        found[name] = (
            shape
            if own is None
            else replace(
                own,
                fields={**shape.fields, **own.fields},
                computed={**shape.computed, **own.computed},
                computed_fields=frozenset((*own.computed_fields, *shape.computed_fields)),
            )
        )
    return found


def _read_in(version: str, model: Model, own: Model) -> Model:
    """Events are read as the version has them. `own`: what it knows of the rows by itself."""

    def read(name: str, shape: ResourceShape) -> ResourceShape:
        log = own[name].log if name in own else shape.log
        return shape if log is None else replace(shape, log=replace(log, version=version))

    return {name: read(name, shape) for name, shape in model.items()}


# ── Events ────────────────────────────────────────────────────────────────────────────────────────────────────


def _kinds(
    current: str, newest: Sequence[EventKind], older: Mapping[str, Sequence[EventKind]]
) -> tuple[EventKind, ...]:
    """Every kind that some version has, with what it is in the others."""
    found = [replace(kind, older=tuple(_elsewhere(kind, older))) for kind in newest]
    known = {kind.origin for kind in newest}
    for version, kinds in older.items():
        for kind in kinds:
            if kind.origin not in known:
                known.add(kind.origin)
                others = {name: each for name, each in older.items() if name != version}
                elsewhere = (OlderKind(current, None), *_elsewhere(kind, others))
                found.append(replace(kind, older=elsewhere, hidden=True))
    return tuple(found)


def _elsewhere(kind: EventKind, versions: Mapping[str, Sequence[EventKind]]) -> Iterator[OlderKind]:
    """What a kind is in each version in which it is something else."""
    for version, kinds in versions.items():
        same = next((each for each in kinds if each.origin == kind.origin), None)
        if same is None:
            yield OlderKind(version, None)
        elif same.name != kind.name or _payloads(same.causes) != _payloads(kind.causes):
            yield OlderKind(version, same.name, same.causes)


def _payloads(causes: Sequence[Cause]) -> dict[tuple[str, str], object]:
    return {(each.verb, each.resource): each.payload for each in causes}


def check_pinned(
    default: Expression, names: Collection[str], vocabulary: Vocabulary, findings: Findings
) -> Typed | None:
    """The expression with its types. It reads who calls and the header fields as they come: which endpoint a request
    is for, and what that declares, depends on the version."""
    variables: dict[str, Type | Inferred] = {
        "caller": vocabulary.caller,
        "now": Timestamp(),
        "request": Object(members={"headers": Object()}),
    }
    scope = Scope(variables, vocabulary.model, request_only=True)
    found = typed(default, scope, Text(), findings)
    for each in () if found is None else results(found):
        _held_to(each, names, default, findings)
    return found


def _held_to(value: Typed, names: Collection[str], default: Expression, findings: Findings) -> None:
    """Says which of the values that it may have are no versions, so far as anything says which it may have."""
    match value:
        case Constant(value=str() as text) if text not in names:
            label = Label(default.span, "may give this")
            findings.say(PINNED_TO_NOTHING, f"`{text}` is not a version", label, help=did_you_mean(text, names))
        case Select(operand=operand, name=name) if isinstance(operand.type, Row):
            _field(operand.type.resource, name, names, default, findings)
        case _:
            pass


def _field(resource: str, name: str, names: Collection[str], default: Expression, findings: Findings) -> None:
    stated = next((each for each in findings.resources if each.name == resource), None)
    field = next((each for each in value_of(stated.fields) or () if each.name == name), None) if stated else None
    if field is None:
        return
    admitted = listed_values(schema_of(field, findings.schemas))
    wrong = None if admitted is None else [each for each in admitted if each is not None and each not in names]
    if wrong == []:
        return
    called = ", ".join(f"`{each}`" for each in wrong or ())
    findings.say(
        PINNED_TO_NOTHING,
        f"`{resource}.{name}` may hold what is not a version" + (f": {called}" if called else ""),
        Label(default.span, "requests of such callers are `unknown version`"),
        Label(field.span, "holds any text" if wrong is None else "holds these"),
        help=("write its schema as `enum: [" + ", ".join(f'"{each}"' for each in names) + "]`",),
    )
