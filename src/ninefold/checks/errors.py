"""Part 7: codes, the shape of an error, messages and precedence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ninefold.checked.endpoints import ErrorShape
from ninefold.checked.resources import Resource
from ninefold.checked.service import ErrorCode, Errors
from ninefold.checks.contents import check_content
from ninefold.checks.findings import Findings, typed
from ninefold.checks.model import Vocabulary
from ninefold.checks.showing import Showing
from ninefold.checks.without_effect import headers_of_http
from ninefold.diagnostics.codes import DETAIL_OF_ANOTHER, DETAIL_OF_TWO, NEVER_ARISES, UNUSED_CODE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.rows import BEFORE, before, rows_read
from ninefold.language import errors as stated
from ninefold.language import shapes
from ninefold.language.conditions import BY_NAME, PLACES, narrowing_of, split
from ninefold.language.declaration import members, said
from ninefold.language.endpoints import Endpoint
from ninefold.language.errors import Shape
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Shown, text_of, value_of, within
from ninefold.plan.problems import DETAIL
from ninefold.values import Array, Integer, Object, Text

ERROR = Object(
    members={
        "code": Text(nullable=True),
        **{
            each.name: Text(nullable=True)
            for each in members(stated.ErrorCode)
            if each.planned and isinstance(each.key.shape, shapes.Text)
        },
        "status": Integer(),
        "detail": Text(nullable=True),
        "fields": Array(
            items=Object(
                members={
                    "place": Text(),
                    "pointer": Text(),
                    "name": Text(),
                    "rule": Text(),
                    "message": Text(nullable=True),
                }
            )
        ),
        "messages": Object(),
    }
)
"""What the shape of an error may read."""


def check_errors(resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings) -> Errors:
    part = findings.contract.errors
    shape = _shape(part.error_shape, Showing(resources, vocabulary, findings))
    codes = tuple(
        checked_code
        for code in value_of(part.codes) or ()
        if (checked_code := _code(code, resources, vocabulary, findings)) is not None
    )
    _rows_at_hand(codes, findings)
    conditions: dict[str, str] = {}
    # A code without a status speaks for its conditions all the same: with a bare status, and no wider one.
    for code in value_of(part.codes) or ():
        for when in value_of(code.conditions) or ():
            conditions[f"{when.condition} {when.subject}" if when.subject else when.condition] = code.name
    return Errors(
        media_type=shape.media_type,
        content=shape.content,
        codes=codes,
        conditions=conditions,
        messages={message.rule: message.text for message in value_of(part.messages) or ()},
        precedence=tuple(each.text for each in value_of(part.precedence) or ()),
    )


def check_own_shape(endpoint: Endpoint, showing: Showing) -> ErrorShape | None:
    """What the errors of an endpoint look like. What it does not say of that, part 7 says."""
    own, of_all = endpoint.error_shape, showing.findings.contract.errors.error_shape
    if own is None:
        return None
    if not isinstance(own, Shown):
        return ErrorShape(None, None)
    if own.value.media_type is None and own.value.body is None:
        return None
    media_type = own.value.media_type or within(of_all, lambda each: each.media_type)
    body = own.value.body or within(of_all, lambda each: each.body)
    return _shape(Shown(Shape(media_type, body), own.span), showing)


def _shape(fact: Fact[Shape] | None, showing: Showing) -> ErrorShape:
    """Of a shape, either all is known or nothing."""
    shape = value_of(fact)
    named = None if shape is None else value_of(shape.media_type)
    template = None if shape is None else value_of(shape.body)
    if template is None:
        return ErrorShape(None, None)
    scope = replace(showing.vocabulary.scope(error=ERROR), request_only=True)
    content = check_content(template, scope, showing)
    return ErrorShape(None, None) if named is None or content is None else ErrorShape(named.text, content)


def _written(code: stated.ErrorCode) -> Iterator[tuple[str, Expression]]:
    """What a code says of this time, by name, as it is written."""
    if (detail := value_of(code.detail)) is not None:
        yield DETAIL, detail
    for header in value_of(code.headers) or ():
        yield header.name, header.value


OF_STATUSES = dict.fromkeys(("allow", "www-authenticate"), "its status gives it")
"""Response headers that HTTP asks for with a status (RFC 9110, section 15.5)."""


def _called(name: str, code: str) -> str:
    return f"the detail of `{code}`" if name == DETAIL else f"the header `{name}` of `{code}`"


def _code(
    code: stated.ErrorCode, resources: Mapping[str, Resource], vocabulary: Vocabulary, findings: Findings
) -> ErrorCode | None:
    headers_of_http(code.headers, OF_STATUSES, findings)
    written = dict(_written(code))
    scope = vocabulary.scope(*resources, **{BEFORE: before(*resources, maybe=True)})
    computed = {name: typed(each, scope, Text(), findings) for name, each in written.items()}
    rows: list[str] = []
    of_request = replace(vocabulary.scope(), request_only=True)
    for name, value in computed.items():
        of_this = sorted(set() if value is None else rows_read(value) & set(resources))
        rows += [row for row in of_this if row not in rows]
        if value is not None and not of_this:
            # Without a row at hand it is made where the database is not asked.
            computed[name] = typed(written[name], of_request, Text(), findings)
        if of_this and len(rows) > 1:
            findings.say(
                DETAIL_OF_TWO,
                f"{_called(name, code.name)} reads {' and '.join(f'`{row}`' for row in rows)}",
                Label(written[name].span),
            )
    status = value_of(code.status)
    if status is None:
        return None
    return ErrorCode(
        name=code.name,
        status=status,
        computed={name: value for name, value in computed.items() if value is not None},
        resource=rows[0] if rows else None,
        about=text_of(code.about),
        place=findings.place(code.span),
        called=code.called,
        said=said(code),
    )


def _rows_at_hand(codes: tuple[ErrorCode, ...], findings: Findings) -> None:
    """Says of what a code says whether it reads a row which no request with its code acts on."""
    written = {each.name: dict(_written(each)) for each in value_of(findings.contract.errors.codes) or ()}
    about: dict[str, set[str | None]] = {}
    for name, resource in _about(findings):
        about.setdefault(name, set()).add(resource)
    for code in codes:
        resources = about.get(code.name, set())
        if code.resource is None or not resources or {code.resource, ANY} & resources:
            continue
        found = sorted(each for each in resources if each is not None)
        others = " and ".join(f"`{each}`" for each in found)
        name = next(name for name, value in code.computed.items() if code.resource in rows_read(value))
        findings.say(
            DETAIL_OF_ANOTHER,
            f"{_called(name, code.name)} reads `{code.resource}`",
            Label(
                written[code.name][name].span, f"only rows of {others} are at hand" if others else "no row is at hand"
            ),
        )


ANY = "*"


def _is_of_row(name: str) -> bool:
    found = split(name)
    return found is None or BY_NAME[found[0]].of_row


def _about(findings: Findings) -> Iterator[tuple[str, str | None]]:
    """Each code with each resource whose rows it is answered for: ANY where that depends on the endpoint, None where
    there is no row."""
    for code in value_of(findings.contract.errors.codes) or ():
        for condition in value_of(code.conditions) or ():
            if not BY_NAME[condition.condition].of_row:
                yield code.name, None
            else:
                of_parameter = narrowing_of(condition.condition, condition.subject) in PLACES
                wide = condition.subject is None or of_parameter
                yield code.name, ANY if wide else (condition.subject or "").partition(".")[0]
    yield from _named(findings)


def _named(findings: Findings) -> Iterator[tuple[str, str | None]]:
    """Each code that is named beside what it is answered for, with the resource whose rows that is about."""
    for endpoint in findings.survey.endpoints:
        for subject in [each.subject for each in value_of(endpoint.does) or ()] or [ANY]:
            for guard in value_of(endpoint.check) or ():
                if guard.code is not None:
                    yield guard.code.text, subject
            for condition, code in value_of(endpoint.errors) or ():
                yield code.text, subject if _is_of_row(condition.text) else None
    for resource in findings.resources:
        for invariant in value_of(resource.check) or ():
            if invariant.code is not None:
                yield invariant.code.text, resource.name
    for name, transition in findings.transitions:
        for guard in value_of(transition.check) or ():
            if guard.code is not None:
                yield guard.code.text, name


def unused_codes(findings: Findings) -> None:
    """Codes that nothing answers with."""
    used = {code for code, _ in _named(findings)}
    for function in value_of(findings.contract.endpoints.functions) or ():
        used |= {code.text for code in value_of(function.refuses) or ()}
    for code in value_of(findings.contract.errors.codes) or ():
        _never_alone(code, findings)
        if code.conditions is None and code.name not in used:
            findings.say(
                UNUSED_CODE,
                f"nothing answers with `{code.name}`",
                Label(code.span, "has no `for`, and nothing names it"),
            )


def _never_alone(code: stated.ErrorCode, findings: Findings) -> None:
    """Says of `conflict R.F` that it never arises where F is unique only together with others: what is taken then is
    the whole, `conflict R`."""
    for condition in value_of(code.conditions) or ():
        resource, _, name = (condition.subject or "").partition(".")
        own = findings.survey.graph.resources.get(resource)
        field = findings.survey.graph.fields.get(resource, {}).get(name)
        if condition.condition != "conflict" or own is None or field is None or field.unique is not None:
            continue
        identifier = value_of(own.primary_key)
        if identifier is None or [each.text for each in identifier] == [name]:
            continue
        findings.say(
            NEVER_ARISES,
            f"`conflict {resource}.{name}` never arises",
            Label(condition.span, f"`{resource}.{name}` is not unique by itself"),
            Label(field.span, "the field"),
            help=(f"fields that are unique together, and deletions that are refused, are `conflict {resource}`",),
        )
