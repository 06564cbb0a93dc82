"""The steps that read a body: from its bytes to the values that it gives, and all that is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ninefold.plan import environment
from ninefold.runtime.messages.decode import Becomes, Body
from ninefold.runtime.messages.parameters import narrowing
from ninefold.runtime.messages.problems import Failure
from ninefold.runtime.operations import credentials
from ninefold.runtime.operations.flow import Beside, Next, ReadBody, TooLarge, Wait
from ninefold.runtime.operations.read import Call, List, Read
from ninefold.runtime.operations.stream import Stream
from ninefold.runtime.operations.sweep import Sweep
from ninefold.runtime.operations.write import Write
from ninefold.runtime.request.endpoints import Endpoint
from ninefold.runtime.request.exchange import NO_DOCUMENT, NOT_READ, TOO_LARGE, Asked, Content, Exchange
from ninefold.runtime.request.perform import operate
from ninefold.runtime.store.protocol import Row


def read_body(x: Exchange, asked: Asked) -> Next:
    body, limit = x.endpoint.body, x.service.body_bytes
    if body is None or body.ignored:
        return look(x, asked)
    if x.settled(x.endpoint.lowest.body):
        return x.answer()
    asked.call.body, asked.content = None, NOT_READ
    x.refuses(body=True)
    unsupported = body.unsupported(x.request)
    if unsupported is not None:
        x.refuse(unsupported)
    announced = x.request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit:
        x.refuse(TOO_LARGE)
        return operate(x, asked)
    # What cannot be decoded is read only to see whether it is too large, where that comes first.
    if unsupported is not None and x.settled(x.rank_of(TOO_LARGE)):
        return operate(x, asked)
    if not x.request.has_content:
        return _decode(x, asked, body, unsupported is None, b"")
    return Wait(ReadBody(limit), partial(_decode, x, asked, body, unsupported is None))


def _decode(x: Exchange, asked: Asked, body: Body, is_supported: bool, data: bytes | TooLarge) -> Next:
    if isinstance(data, TooLarge):
        x.refuse(TOO_LARGE)
        return operate(x, asked)
    asked.content = Content(data)
    if not is_supported:
        return operate(x, asked)
    form = body.is_form(x.request)
    document = body.members(data) if form else body.parsed(data)
    if isinstance(document, Failure):
        # What is no JSON Patch is JSON all the same, and is about the row.
        x.refuse(*(body.by_field(document, x.endpoint.resource) if document.fields else (document,)))
        return operate(x, asked)
    asked.content = Content(data, form, document)
    cases = x.endpoint.cases
    if cases is not None:
        found = cases.of_body(document) if cases.member is not None else None
        if not isinstance(found, Endpoint):
            # Of which case it is nobody can say, and so neither what else is wrong with it.
            if found is not None:
                x.refuse(found)
            return operate(x, asked)
        x.in_case(found)
        # A list may be in one case alone.
        x.refuse(*(each for each in read_operation(x, asked.call) if each not in x.failures))
    if form and x.endpoint.body is not None:
        document = x.endpoint.body.of_form(document)
    if x.endpoint.grants:
        document = credentials.with_client(document, x.request)
        if isinstance(document, Failure):
            asked.content = Content(data, form)
            x.refuse(document)
            return operate(x, asked)
    asked.content = Content(data, form, document)
    return look(x, asked)


def read_operation(x: Exchange, call: Call) -> list[Failure]:
    """Read the parameters that the operation has: what is chosen of the response, of a list what page, and filters."""
    operation = x.endpoint.any_operation if x.admission is None else x.admission.operation
    values, failures = x.env["request"]["query"], list[Failure]()
    if isinstance(operation, (Read, List)) and operation.chooser is not None:
        x.env[environment.CHOSEN] = operation.chooser.switches(values)
    if isinstance(operation, List):
        call.page = operation.pages.read(values, x.query, failures, x.request)
        if x.admission is not None:
            not_ours = operation.cursor(call)
            failures.extend(() if not_ours is None else (not_ours,))
    if isinstance(operation, Stream | Sweep):
        x.env[environment.FILTER] = narrowing(operation.filters, values)
    return failures


def look(x: Exchange, asked: Asked) -> Next:
    """Read the row as it is, where the values that are stored depend on it."""
    operation, document = None if x.admission is None else x.admission.operation, asked.content.document
    body = None if document is NO_DOCUMENT else x.endpoint.body
    merging = body is not None and body.merging(document)
    if isinstance(operation, Write) and x.addressable:
        given = frozenset[str]() if body is None else body.given(document)
        wanted = operation.wanted(asked.call, given, merging)
        if wanted is not None:
            return Wait(wanted, partial(_looked, x, asked, operation))
    return _make(x, asked) if merging else _decided(x, asked, Becomes(document))


def _looked(x: Exchange, asked: Asked, operation: Write, rows: Sequence[Row]) -> Next:
    operation.found(asked.call, rows)
    return _make(x, asked)


def _make(x: Exchange, asked: Asked) -> Next:
    """Make what the body gives from the row, as far as one is addressed and somebody is admitted to it."""
    body, document = x.endpoint.body, asked.content.document
    if body is None or document is NO_DOCUMENT:
        return operate(x, asked)
    make = partial(body.edited, resource=x.endpoint.resource) if body.edits else body.merged
    # A few edits may make much of a little.
    return Wait(Beside(partial(make, document, asked.call.current, x.service.body_bytes)), partial(_made, x, asked))


def _made(x: Exchange, asked: Asked, becomes: Becomes | Failure) -> Next:
    """What the body gives is made from the row as it is."""
    if isinstance(becomes, Failure):
        x.refuse(becomes)
        return operate(x, asked)
    return _decided(x, asked, becomes)


def _decided(x: Exchange, asked: Asked, becomes: Becomes) -> Next:
    """What the body gives is whole: everything that is wrong with it is said at once."""
    body, call, content, document = x.endpoint.body, asked.call, asked.content, becomes.document
    if content.document is NO_DOCUMENT or body is None:
        return operate(x, asked)
    asked.content = Content(content.raw, content.form, content.document, document, becomes.edits)
    given = body.valid(document, becomes.cleared, content.form, x.env.get(environment.PATH), becomes.made)
    names = body.given(document)
    if given.wrong is None:
        call.body = given.values
        x.refuses(body=False)
        x.env["request"] = {**x.env["request"], "body": given.others}
        return operate(x, asked)
    wrong = given.wrong
    # Of which resource it is, is known also where nobody is admitted.
    x.refuse(*(credentials.narrowed(wrong) if x.endpoint.grants else body.by_field(wrong, x.endpoint.resource)))
    call.valid, call.wrong = given.values, names - given.values.keys()
    return operate(x, asked)
