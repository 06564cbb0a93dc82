"""The names in an endpoint's path: which rows they are of, and which are values of the request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ninefold.checked.operations import PathName, PathValue, Segment
from ninefold.checked.resources import Field, Resource
from ninefold.checks.findings import Findings
from ninefold.checks.model import type_of
from ninefold.checks.parameters import why_never_sent
from ninefold.checks.resources import is_key
from ninefold.diagnostics.codes import PATH_NAME
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions import ast
from ninefold.expressions.tree import Select, Typed, Variable
from ninefold.language import endpoints as stated
from ninefold.language import routes
from ninefold.language.fact import value_of
from ninefold.values import Row, required


def check_path(
    endpoint: stated.Endpoint,
    resource: Resource | None,
    resources: Mapping[str, Resource],
    findings: Findings,
    beside: bool = False,
) -> tuple[Segment, ...] | None:
    """The path with each name resolved; None if one is wrong. `beside`: what else says which row may stand elsewhere
    than in the path and in `where`."""
    segments: list[Segment] = []
    complete = True
    for segment in endpoint.segments:
        if isinstance(segment, routes.Literal):
            segments.append(segment.text)
            continue
        if isinstance(segment, routes.PathValue):
            value = _value(endpoint, segment, resource, findings)
            complete = complete and value is not None
            segments += () if value is None else (value,)
            continue
        found = None if resource is None else _name(segment, endpoint, resource, resources, findings, beside)
        if resource is None:
            findings.say(
                PATH_NAME,
                f"`{endpoint.key}` acts on no row that `{{{'.'.join(segment.names)}}}` could be of",
                Label(segment.span, "names no row"),
                help=_declared_as(segment),
            )
        earlier = None if found is None else _same_field(found, segments)
        if found is not None and earlier is not None and found.text != earlier.text:
            findings.say(
                PATH_NAME,
                f"`{{{found.text}}}` and `{{{earlier.text}}}` are one field",
                Label(segment.span, "named already"),
            )
        if found is None:
            complete = False
        else:
            segments.append(found)
    named = {each.name for each in endpoint.segments if isinstance(each, routes.PathValue)}
    for parameter in value_of(endpoint.path) or ():
        if parameter.name not in named:
            findings.say(
                PATH_NAME,
                f"the path of `{endpoint.key}` has no `{{{parameter.name}}}`",
                Label(parameter.span, "not in the path"),
                Label(endpoint.span),
            )
            complete = False
    return tuple(segments) if complete else None


def _value(
    endpoint: stated.Endpoint, segment: routes.PathValue, resource: Resource | None, findings: Findings
) -> PathValue | None:
    parameter = next(each for each in value_of(endpoint.path) or () if each.name == segment.name)
    field = None if resource is None else resource.fields.get(segment.name)
    type_ = required(type_of(parameter, findings.schemas))
    if field is not None and resource is not None and field.name in _keys(resource):
        findings.say(
            PATH_NAME,
            f"`{{{segment.name}}}` is a unique field of `{resource.name}`",
            Label(parameter.span, "declared as a value of the request"),
            Label(segment.span, "says which row"),
            help=("call it otherwise in the path, or leave it out of `path`",),
        )
    elif why_never_sent(parameter, "path", findings) is None:
        return PathValue(segment.name, type_, None if resource is None else resource.name, segment.after)
    return None


def _declared_as(segment: routes.PathName) -> tuple[str, ...]:
    """The help where a name may be meant as a value of the request."""
    name = segment.names[-1]
    return (
        (f"a value that names no row is declared: `path: {{{name}: {{type: string}}}}`",) if name.isidentifier() else ()
    )


def _same_field(name: PathName, before: Sequence[Segment]) -> PathName | None:
    return next(
        (
            each
            for each in before
            if isinstance(each, PathName) and (each.through, each.field) == (name.through, name.field)
        ),
        None,
    )


def _given(endpoint: stated.Endpoint, resource: Resource, through: Sequence[str], findings: Findings) -> frozenset[str]:
    """The fields of the row which references lead to that names in the path give, or lead through; of the row itself
    also those that `where` holds equal to something."""
    own = resource.name, resource.fields
    named = [each.led(*own) for each in endpoint.segments if isinstance(each, routes.PathName)]
    depth, where = len(through), value_of(endpoint.where)
    given = {names[depth] for names in named if names[:depth] == tuple(through) and len(names) > depth}
    if not through and where is not None:
        given |= ast.held_members(where.ast, resource.name, findings.survey.graph.same(resource.name))
    return frozenset(given)


def _name(
    segment: routes.PathName,
    endpoint: stated.Endpoint,
    resource: Resource,
    resources: Mapping[str, Resource],
    findings: Findings,
    beside: bool,
) -> PathName | None:
    names = segment.led(resource.name, resource.fields)
    at: Resource = resource
    found: Typed = Variable(resource.name, Row(resource=resource.name))
    through: list[str] = []
    for name in names[:-1]:
        field = at.fields.get(name)
        if field is None or field.references is None:
            findings.say(
                PATH_NAME,
                f"`{at.name}` has no reference `{name}`",
                Label(segment.span, "leads to no row"),
                help=_leading(name, at),
            )
            return None
        found = Select(found, name, field.type, "field")
        through.append(name)
        at = resources[field.references]
    # What the caller, the body and `sets` give is judged where all of it is known.
    anything = beside and not through
    given = frozenset(at.fields) if anything else _given(endpoint, resource, through, findings)
    last = _last(segment, names, at, resources, given, findings)
    if last is None:
        return None
    type_ = last.type if last.references is None else resources[last.references].key.type
    return PathName(
        text=".".join(segment.names),
        type=required(type_),
        resource=at.name,
        field=last.name,
        through=tuple(through),
        found=Select(found, last.name, last.type, "field"),
        after=segment.after,
    )


def _last(
    segment: routes.PathName,
    names: tuple[str, ...],
    at: Resource,
    resources: Mapping[str, Resource],
    given: frozenset[str],
    findings: Findings,
) -> Field | None:
    """The field that says which row of a resource is meant, alone or with others that are `given`; None: it does not,
    which has been said."""
    name, keys = names[-1], _keys(at)
    by_one = f"the row is known by its `{keys[0]}`: write `{{{keys[0]}}}`" if len(keys) == len(names) == 1 else None
    last = at.fields.get(name)
    if last is not None and last.name in at.primary_key and not is_key(last):
        return None  # that it is no primary key has been said of the resource
    known = last is not None and last.computed is None and last.secret is None
    lists = [group for group in at.unique if name in group]
    together = [*keys, *at.primary_key, *(each for group in lists if given.issuperset(group) for each in group)]
    if last is None or not known or last.name not in together:
        findings.say(
            PATH_NAME,
            f"`{name}` is not a unique field of `{at.name}`",
            Label(segment.span, "does not say which row"),
            help=_by_a_reference(segment, last, resources)
            or did_you_mean(name, keys)
            or (*_through_a_reference(name, at, resources), *_together(segment, at, lists, resources))
            or (() if by_one is None else (by_one,))
            or (
                *((f"the unique fields of `{at.name}`: {', '.join(f'`{key}`' for key in keys)}",) if keys else ()),
                *(_declared_as(segment) if len(segment.names) == 1 else ()),
            ),
        )
        return None
    if not is_key(last):
        findings.say(
            PATH_NAME,
            f"`{at.name}.{last.name}` is not of one type that the text of a path can have",
            Label(segment.span, "is neither text, a number, a truth value nor a time"),
        )
        return None
    return last


def _keys(resource: Resource) -> list[str]:
    """The fields of which each alone says which row."""
    return [name for name in resource.fields if resource.is_known_by(name)]


def _leading(name: str, resource: Resource) -> tuple[str, ...]:
    """The help where a name leads from no row to another."""
    references = [each.name for each in resource.fields.values() if each.references]
    listed = ", ".join(f"`{each}`" for each in references)
    return did_you_mean(name, references) or ((f"the references of `{resource.name}`: {listed}",) if references else ())


def _by_a_reference(segment: routes.PathName, last: Field | None, resources: Mapping[str, Resource]) -> tuple[str, ...]:
    """The help where a name is a reference itself: `{owner}` for `{owner.id}`."""
    target = None if last is None or last.references is None else resources[last.references]
    keys = [] if target is None else _keys(target)
    return (_did_you_mean(".".join((*segment.names, keys[0])), segment.names[-1]),) if keys else ()


def _together(
    segment: routes.PathName, resource: Resource, lists: Sequence[Sequence[str]], resources: Mapping[str, Resource]
) -> tuple[str, ...]:
    """The help where no field alone says which row. `lists`: those of `unique` that have the field."""

    def named(name: str) -> str:
        target = resource.fields[name].references
        ways = [] if target is None else _keys(resources[target])
        return f"`{{{'.'.join((*segment.names[:-1], name, *ways[:1]))}}}`"

    known = [*([] if _keys(resource) else [resource.primary_key]), *lists]
    groups = [" and ".join(map(named, group)) for group in known if len(group) > 1]
    return tuple(f"the row is known by {group} together" for group in groups[:1])


def _through_a_reference(name: str, resource: Resource, resources: Mapping[str, Resource]) -> tuple[str, ...]:
    """The help where a name is a key of what the resource refers to: `{code}`, or `{doctor_code}`, for
    `{doctor.code}`."""
    return tuple(
        _did_you_mean(f"{field.name}.{key}", field.name)
        for field in resource.fields.values()
        if field.references is not None
        for key in _keys(resources[field.references])
        if name.replace("_", "").casefold() in (key.casefold(), f"{field.name}{key}".replace("_", "").casefold())
    )[:1]


def _did_you_mean(written: str, reference: str) -> str:
    return f"did you mean `{{{written}}}`, which leads through the reference `{reference}`?"
