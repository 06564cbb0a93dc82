"""Part 4: what an endpoint answers, and what can be said of that before any request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ninefold.checked.contents import Content, Leaf, Response, all_expressions
from ninefold.checked.lists import Way, beside_rows, by_way, content_by_way
from ninefold.checked.resources import Resource
from ninefold.checks.body_types import body_members, other_members
from ninefold.checks.callers import granted_type
from ninefold.checks.contents import check_content, say_rows_are_shown
from ninefold.checks.credentials import issued_by_effects
from ninefold.checks.findings import Findings, typed
from ninefold.checks.lists import page_members
from ninefold.checks.model import Vocabulary, request_type
from ninefold.checks.showing import Showing, reads_items
from ninefold.diagnostics.codes import (
    DELETED_ROW,
    LIST_HAS_NO_ROW,
    NO_SUCH_END,
    NOT_A_STREAM,
    SEVERAL_RESPONSES,
    STATUS_OF_ITS_OWN,
    TOO_MANY_SHOWN,
)
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import replace
from ninefold.expressions.reads import needs_database
from ninefold.expressions.rows import BEFORE, before
from ninefold.expressions.scope import PAGE_AT, Scope
from ninefold.expressions.tree import All, Call, Select, Typed, Variable, free_variables, walk, words
from ninefold.language import endpoints as stated
from ninefold.language import responses
from ninefold.language.fact import Name, Shown, StatedNone, value_of
from ninefold.language.verbs import Verb
from ninefold.values import MOST_COLUMNS, Row, Text, Type
from ninefold.values import Array as ArrayType
from ninefold.values import Object as ObjectType

NOT_MODIFIED = 304


def _of_ends(endpoint: stated.Endpoint, ends: Sequence[str]) -> str:
    if ends:
        return f"its ends are {' and '.join(f'`{end}`' for end in ends)}"
    if endpoint.of_all_rows:
        return "it acts on all rows that there are, and that there is none is as good: write the status alone"
    return "it ends well in one way: write the status alone"


def check_responses(
    endpoint: stated.Endpoint, kind: Verb, resource: Resource | None, known: tuple[Way, ...], showing: Showing
) -> tuple[Response, ...] | None:
    """What an endpoint answers, of each of its good ends where it has several; None if something of it is open or
    wrong, and that has been said. They are one where the contract does not tell them apart."""
    findings = showing.findings
    responses = value_of(endpoint.responses)
    if responses is None:
        never = Response(204, None, (), findings.place(endpoint.span))
        return (never,) if endpoint.is_refused else None
    ends = kind.outcomes
    for each in responses:
        if each.outcome is not None and each.outcome.text not in ends:
            findings.say(
                NO_SUCH_END,
                f"`{endpoint.key}` never ends as `{each.outcome.text}`",
                Label(each.outcome.span, "not one of its ends"),
                help=(_of_ends(endpoint, ends),),
            )
            return None
    by_outcome = [
        several
        for end in ends
        if (several := [each for each in responses if each.outcome is not None and each.outcome.text == end])
    ]
    without = [each for each in responses if each.outcome is None]
    if len(without) > 1 or (without and any(by_outcome)) or any(len(several) > 1 for several in by_outcome):
        findings.say(
            SEVERAL_RESPONSES,
            f"`{endpoint.key}` has {len({each.span for each in responses})} responses, and "
            + ("it is not said which of its ends each is of" if ends else "one good end"),
            *(Label(each.span) for each in responses[:2]),
            help=(f"write `{{{', '.join(f'{end}: {{…}}' for end in ends)}}}`",)
            if ends
            else ("errors and their statuses are part 7's",),
        )
        return None
    if bool(ends) != bool(by_outcome) or (not ends and not without):
        return None  # that an end has no response has been asked for
    told = without or [each for [each] in by_outcome]
    apart = {each.span: each for each in told}
    shown = {span: _response(endpoint, each, kind, resource, known, showing) for span, each in apart.items()}
    found = [shown[each.span] for each in told]
    for made, stated_one in ((shown[span], each) for span, each in apart.items()):
        if made is not None and (resource is None or len(resource.fields) <= MOST_COLUMNS):  # else that has been told
            _columns(endpoint, made, stated_one, findings)
    known_ends = tuple(each for each in found if each is not None)
    if len(known_ends) < len(found):
        return None
    return known_ends


def _columns(
    endpoint: stated.Endpoint, response: Response, stated_response: responses.Response, findings: Findings
) -> None:
    """What a response shows of the database comes of one statement, which gives so many values and no more."""
    shown = sum(1 for _ in all_expressions(response))
    if shown > MOST_COLUMNS:
        findings.say(
            TOO_MANY_SHOWN,
            f"a response of `{endpoint.key}` shows {shown:,} values, and one shows at most {MOST_COLUMNS:,}",
            Label(stated_response.span),
            help=("show them as one value, such as a field whose type is an object, or in several responses",),
        )


def _response(
    endpoint: stated.Endpoint,
    stated_response: responses.Response,
    kind: Verb,
    resource: Resource | None,
    known: tuple[Way, ...],
    showing: Showing,
) -> Response | None:
    findings, content = showing.findings, stated_response.content
    if not _has_its_form(endpoint, stated_response, kind.streams, findings):
        return None
    scope, place = _response_scope(endpoint, kind, resource, known, showing), findings.place(stated_response.span)
    template, headers = value_of(content), tuple(_headers(endpoint, scope, findings))
    shown: Content | None = None
    if isinstance(template, Name):
        return Response(200, None, headers, place)
    if template is not None:
        listed = resource.name if resource is not None and kind.is_of_all else None
        shown = check_content(template, scope, replace(showing, listed=listed))
        if shown is None:
            return None
    elif not isinstance(content, StatedNone):
        return None
    stated_headers = value_of(endpoint.headers)
    if stated_headers is not None and len(headers) < len(stated_headers):
        return None
    if kind.is_of_all and resource is not None and known:
        shown = None if shown is None else content_by_way(shown, resource.name, known)
        headers = tuple(
            (name, replace(each, expression=by_way(each.expression, resource.name, known))) for name, each in headers
        )
        beside = beside_rows(Response(stated_response.status, shown, headers, place))
        if any(resource.name in free_variables(each) for each in beside):
            findings.say(
                LIST_HAS_NO_ROW,
                f"`{endpoint.key}` has no one row that could be shown beside the list",
                Label(stated_response.span, f"reads a `{resource.name}`"),
                help=(
                    f"the path leads through {', '.join(f'`{each.row(resource.name).name}`' for each in known)}, "
                    "which can be read",
                ),
            )
            return None
    return Response(stated_response.status, shown, headers, place)


def _has_its_form(endpoint: stated.Endpoint, response: responses.Response, is_stream: bool, findings: Findings) -> bool:
    """Whether a response has what its status asks for, and is a stream where events are streamed."""
    modified, empty = response.status == NOT_MODIFIED, response.status in (204, 205)
    if modified or (empty and not isinstance(response.content, StatedNone)):
        findings.say(
            STATUS_OF_ITS_OWN,
            f"a response of `{endpoint.key}` has the status {response.status}",
            Label(response.span, "says that nothing has changed" if modified else "has no content"),
            help=("it is the answer to a precondition, which `etag: true` honours",)
            if modified
            else (f"write `{response.status}: none`",),
        )
        return False
    template = value_of(response.content)
    if isinstance(template, Name) != is_stream or (is_stream and response.status != 200):
        findings.say(
            NOT_A_STREAM,
            f"the response of `{endpoint.key}` is no stream"
            if is_stream
            else f"`{endpoint.key}` does not stream events, and its response is a stream",
            Label(response.span, "here"),
            help=("`does: stream event` and `responses: {200: stream}` go together",),
        )
        return False
    return True


def _headers(endpoint: stated.Endpoint, scope: Scope, findings: Findings) -> Iterator[tuple[str, Leaf]]:
    for each in value_of(endpoint.headers) or ():
        if reads_items(each.value.ast):
            say_rows_are_shown(each.value, "a header is one text, and shows no rows: the body does", findings)
            continue
        value = typed(each.value, scope, Text(), findings)
        if value is not None:
            yield each.name, Leaf(value, trace=(findings.place(each.span), findings.place(each.value.span)))


def _response_scope(
    endpoint: stated.Endpoint, kind: Verb, resource: Resource | None, known: tuple[Way, ...], showing: Showing
) -> Scope:
    vocabulary = showing.vocabulary
    makes_nothing = kind.reads_rows or kind.removes
    members = body_members(endpoint, resource, showing.findings)
    others = other_members(endpoint, showing.findings)
    more: dict[str, Type | None] = {"request": request_type(endpoint, showing.findings.schemas, members, others)}
    if resource is not None:
        secrets: dict[str, Type] = {
            name: Text() for name in (*issued_by_effects(endpoint, resource, showing), *showing.tokens)
        }
        if secrets and (not makes_nothing or endpoint.also is not None):
            more["issued"] = ObjectType(members=secrets)
        if not makes_nothing:
            more["granted"] = granted_type(endpoint, showing.findings.survey)
    if kind.changes and resource is not None:
        more[BEFORE] = before(resource.name, maybe=False)
    if kind.lists and resource is not None:
        more["page"] = ObjectType(
            members={
                "items": ArrayType(items=Row(resource=resource.name)),
                **page_members(endpoint, showing.findings.contract),
            }
        )
        return vocabulary.scope(*((resource.name,) if known else ()), **more)
    return vocabulary.scope(*(() if resource is None else (resource.name,)), **more)


def mentions_total(response: Response) -> bool:
    return any(
        isinstance(node, Select) and node.name == "total" and node.operand == Variable("page", node.operand.type)
        for typed_ in all_expressions(response)
        for node in walk(typed_)
    )


def links_pages(response: Response) -> bool:
    """Whether it says by `page.at` what asks for another page."""
    return any(
        isinstance(node, Call) and node.function == PAGE_AT
        for typed_ in all_expressions(response)
        for node in walk(typed_)
    )


def reads_beyond_row(response: Response, rows: tuple[str, ...], vocabulary: Vocabulary) -> bool:
    """Whether what is shown can change without the row being written: other rows, the caller, the time."""
    return any(_changes_alone(typed_, rows, vocabulary) for typed_ in all_expressions(response))


def shows_what_is_cleared(response: Response, resource: Resource | None) -> bool:
    """Whether a reference is shown that a deletion of something else takes away: then the row is not written."""
    cleared = (
        () if resource is None else {name for name, field in resource.fields.items() if field.on_delete == "set null"}
    )
    return any(
        isinstance(node, Select) and node.name in cleared and isinstance(node.operand, Variable)
        for typed_ in all_expressions(response)
        for node in walk(typed_)
    )


def _changes_alone(typed_: Typed, rows: tuple[str, ...], vocabulary: Vocabulary) -> bool:
    for node in walk(typed_):
        match node:
            case Variable(name="caller" | "now" | "request" | "operator"):
                return True
            case Select(operand=Variable(name=name), name=field, through="computed") if name in rows:
                # One whose expression has no types is wrong, and that has been said.
                computed = vocabulary.model[name].computed.get(field)
                if computed is not None and _changes_alone(computed, rows, vocabulary):
                    return True
            case Select(operand=operand) if isinstance(operand.type, Row) and not (
                isinstance(operand, Variable) and operand.name in rows
            ):
                if needs_database(node, rows, vocabulary.model):
                    return True
            case Select(through="back") | All():
                return True
            case _:
                pass
    return False


def check_deleted(
    endpoint: stated.Endpoint, response: Response, resource: Resource, vocabulary: Vocabulary, findings: Findings
) -> None:
    for typed_ in all_expressions(response):
        for node in walk(typed_):
            further = isinstance(node, All) or (isinstance(node, Select) and node.through == "back")
            if isinstance(node, Select) and isinstance(node.operand, Select) and isinstance(node.operand.type, Row):
                further = further or needs_database(node, (resource.name,), vocabulary.model)
            if further:
                at = endpoint.responses.span if isinstance(endpoint.responses, Shown) else endpoint.span
                message = f"the response of `{endpoint.key}` reads more than the deleted `{resource.name}`"
                findings.say(DELETED_ROW, message, Label(at, f"`{words(node)}` is not known any more"))
                return
