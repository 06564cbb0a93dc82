"""A request from its arrival to its answer, one step after another.

The steps stand in the order in which they are cheap: route, version, path values, Accept, credential, parameters,
body, operation. Which failure is answered is another matter, and data: each step adds what it finds to the request's
failures, and the one with the lowest rank counts. So a step is left out only if nothing that it, or any step after
it, could find would count before what has failed already (`Lowest`). That is why a request without a credential
does not have its body read where `unauthenticated` comes first, and does where `malformed` comes first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, assert_never

from ninefold.expressions.evaluate import TooMuch
from ninefold.plan import environment
from ninefold.runtime.messages import media_types
from ninefold.runtime.messages.decode import Becomes, Given
from ninefold.runtime.messages.message import Response
from ninefold.runtime.messages.parameters import Declared, Query
from ninefold.runtime.messages.problems import Failure, invalid, no_value
from ninefold.runtime.messages.violations import MOST
from ninefold.runtime.operations import credentials
from ninefold.runtime.operations.call import Calling
from ninefold.runtime.operations.credentials import PasswordCheck, UserAndPassword, basic, is_password
from ninefold.runtime.operations.execute import Call, List, Read, Write
from ninefold.runtime.operations.flow import (
    Beside,
    Compute,
    Failed,
    Fetch,
    Fetched,
    Gave,
    Next,
    ReadBody,
    Select,
    TooLarge,
    Unreachable,
    Wait,
)
from ninefold.runtime.operations.judge import Judge, NothingFound, Refusal
from ninefold.runtime.operations.sweep import Sweep
from ninefold.runtime.request.authenticate import (
    ANYONE,
    NOBODY,
    AnyCertificate,
    Caller,
    Certificates,
    Passwords,
    Scheme,
    Tokens,
)
from ninefold.runtime.request.certificates import Certificate
from ninefold.runtime.request.certificates import read as read_certificate
from ninefold.runtime.request.endpoints import Endpoint
from ninefold.runtime.request.exchange import NO_DOCUMENT, RATE_LIMITED, TOO_LARGE, Exchange, only, unavailable
from ninefold.runtime.request.idempotency import HEADER, MISMATCH, Held, once, opened, read_key, stored
from ninefold.runtime.request.issuers import Issuer, Verified
from ninefold.runtime.request.match import Found, Match, NotAllowed
from ninefold.runtime.request.rates import Asking, count
from ninefold.runtime.request.versions import Version
from ninefold.runtime.store.protocol import Row, Stored, TooLong, Unavailable
from ninefold.values import Invalid, from_text

log = logging.getLogger("ninefold.server")

MOST_LOOKS = 1_000
"""How often a request looks at a row that others change all the while, before it is given up."""

NOT_IN_FORCE = Response(501)
"""Blocked by a gap, or stated and not in force (fixed meaning 12)."""


def start(x: Exchange) -> Next:
    """Find the endpoint, and what the request may not ask for at all."""
    service, request = x.service, x.request
    if request.method == "OPTIONS" and request.path == b"*":
        return Response(204, ((b"allow", service.routes.allow),))
    if service.versions.depends(request, x.query):
        allowed = service.versions.allowed(request) if request.method == "OPTIONS" else None
        if allowed is not None:
            x.allow = ((b"allow", allowed),)
            return Response(204, x.allow)
        # Who calls is the same in all versions: every scheme is tried, whichever the endpoint admits.
        x.unplaced = True
        if service.versions.for_anyone(request, x.query):
            return as_due(x, lambda: pinned(x, NOBODY))
        return as_due(x, lambda: authenticate(x))
    return placed(x, *service.versions.find(request, x.query))


def as_due(x: Exchange, step: Callable[[], Next]) -> Next:
    """Go on once all has happened that is due."""
    timers = x.service.timers
    return step() if timers is None else timers.settled(x.env["now"], step)


def pinned(x: Exchange, caller: Caller) -> Next:
    """Find the endpoint in the version that is this caller's."""
    x.unplaced = False
    version = x.service.versions.pinned(x.request, {**x.env, "caller": caller.root})
    return placed(x, *x.service.versions.find(x.request, x.query, version))


def placed(x: Exchange, version: Version, match: Match[Endpoint]) -> Next:
    """The version is known that the request asks for, and what its method and path are there."""
    x.version, request = version, x.request
    if not isinstance(match, Found):
        if isinstance(match, NotAllowed):
            x.allow = ((b"allow", match.allow),)
            if request.method == "OPTIONS":
                return Response(204, x.allow)
        x.refuse(Failure("method not allowed" if isinstance(match, NotAllowed) else "no such path"))
        _of_version(x)
        return x.answer()
    x.endpoint, x.values = match.endpoint, match.values
    if x.endpoint.blocked or not version.served:
        return NOT_IN_FORCE
    _of_version(x)
    _path_values(x, match.values)
    if x.endpoint.offers is not None and not media_types.accepts(request.headers.get("accept", ""), x.endpoint.offers):
        x.refuse(Failure("not acceptable"))
    return as_due(x, lambda: authenticate(x))


def _of_version(x: Exchange) -> None:
    """What is wrong with the version that is asked for."""
    if not x.version.known:
        x.refuse(Failure("unknown version"))
    elif x.version.is_retired(x.service.sources.clock()):
        x.refuse(Failure("retired version"))


def _path_values(x: Exchange, texts: Sequence[str]) -> None:
    if not x.endpoint.names:
        return
    values: dict[str, Any] = {}
    declared = {each.name for each in x.endpoint.path.parameters} if x.endpoint.path is not None else ()
    for text, (name, type_, resource) in zip(texts, x.endpoint.names, strict=True):
        if name in declared:
            continue
        try:
            values[name] = from_text(type_, text)
        except Invalid:
            x.refuse(Failure("missing", resource))
            x.addressable = False
    x.env[environment.PATH] = values
    if x.endpoint.stored is not None and x.addressable:
        failures: list[Failure] = []
        written = {name: [text] for text, (name, _, _) in zip(texts, x.endpoint.names, strict=True)}
        x.endpoint.stored.read(written, failures)
        for failure in failures:
            x.refuse(failure)


# ── Who calls ─────────────────────────────────────────────────────────────────────────────────────────────────


def authenticate(x: Exchange, first: int = 0) -> Next:
    """Look up or verify the credential of the first scheme, from `first` on, that there is one of."""
    # A rate counts a request whatever becomes of it, and may count it by its caller.
    if x.settled(x.endpoint.lowest.authentication) and not x.endpoint.rates:
        return x.answer()
    if x.endpoint.for_anyone:
        return admit(x)
    schemes = x.service.schemes
    for index in range(first, len(schemes)):
        if index in x.recognised:
            caller = x.recognised[index]
            if caller is None:
                continue
            return identified(x, index, caller)
        known_by = schemes[index].known_by
        credential = None if known_by is None else schemes[index].credential(x.request, x.query)
        if credential is None or _is_clients(x, schemes[index]):
            continue
        match known_by:
            case Tokens():
                proof = known_by.proof(credential)
                return Wait(Select(*known_by.find(proof, x.env)), partial(looked_up, x, index, credential, proof))
            case Passwords():
                given = basic(credential)
                if given is not None:
                    return Wait(Select(*known_by.named(given.user, x.env)), partial(check_password, x, index, given))
            case Issuer():
                return verify(x, index, known_by, credential)
            case Certificates() | AnyCertificate():
                return hold(x, index, known_by, credential)
            case None:
                pass
            case _:
                assert_never(known_by)
    return unidentified(x)


def looked_up(x: Exchange, index: int, credential: str, proof: Mapping[str, Stored], rows: Sequence[Row]) -> Next:
    scheme = x.service.schemes[index]
    if not rows or scheme.rows is None:
        return identified(x, index, None)
    row, scopes = scheme.rows.granted(rows[0])
    return identified(x, index, scheme.caller(row, x.env, credential, proof, scopes))


def check_password(x: Exchange, index: int, given: UserAndPassword, rows: Sequence[Row]) -> Next:
    """Hold the password to the hash of the row's; where there is no row, to nobody's, which takes as long."""
    hash = rows[0][0] if rows else None
    verified = Compute(partial(is_password, hash, given.password))
    return Wait(verified, partial(checked, x, index, given, rows))


def checked(x: Exchange, index: int, given: UserAndPassword, rows: Sequence[Row], is_right: bool) -> Next:
    """A password is nothing that anybody reads, not even who sent it: there is no `caller.credential`."""
    scheme = x.service.schemes[index]
    if not is_right or not isinstance(scheme.known_by, Passwords):
        return identified(x, index, None)
    proof = {"user": scheme.known_by.user(given.user, x.env), "hash": rows[0][0]}
    return identified(x, index, scheme.caller(rows[0][1:], x.env, proof=proof))


def hold(x: Exchange, index: int, known_by: Certificates | AnyCertificate, pem: str) -> Next:
    """Read a certificate that the TLS handshake has verified, and look its row up where it has one."""
    scheme, certificate = x.service.schemes[index], read_certificate(pem)
    if certificate is None or certificate.until <= x.service.sources.clock().timestamp():
        return identified(x, index, None)
    if isinstance(known_by, AnyCertificate):
        return identified(x, index, scheme.holder(certificate, None, x.env, {}))
    proof = known_by.proof(certificate, x.env)
    if proof is None:
        return identified(x, index, None)
    return Wait(Select(*known_by.find(proof, x.env)), partial(held, x, index, certificate, proof))


def held(x: Exchange, index: int, certificate: Certificate, proof: Mapping[str, Stored], rows: Sequence[Row]) -> Next:
    scheme = x.service.schemes[index]
    return identified(x, index, scheme.holder(certificate, rows[0], x.env, proof) if rows else None)


def verify(x: Exchange, index: int, issuer: Issuer, token: str) -> Next:
    """Verify a token that an issuer has signed; where something of the issuer's is needed first, wait for that."""
    scheme = x.service.schemes[index]
    outcome = issuer.verify(token, x.service.sources)
    match outcome:
        case Fetch():
            return Wait(outcome, partial(fetched, x, index, issuer, token, outcome))
        case Unreachable():
            x.unreachable = True
            return identified(x, index, None)
        case Verified():
            return identified(x, index, scheme.bearer(token, outcome, x.env))
        case None:
            return identified(x, index, None)
        case _:
            assert_never(outcome)


def fetched(x: Exchange, index: int, issuer: Issuer, token: str, fetch: Fetch, result: Fetched | Unreachable) -> Next:
    issuer.take(fetch, result, x.service.sources)
    return verify(x, index, issuer, token)


def identified(x: Exchange, index: int, caller: Caller | None) -> Next:
    """Go on with the caller whom a scheme knows by the credential; None: it knows none, and the next one is asked."""
    x.recognised[index] = caller
    if caller is None:
        return authenticate(x, index + 1)
    if x.unplaced:
        return pinned(x, caller)
    if caller.who in (x.endpoint.admissions or {}):
        x.caller = caller
        return admit(x)
    x.stranger = x.stranger or caller
    return authenticate(x, index + 1)


def unidentified(x: Exchange) -> Next:
    """No scheme that the endpoint admits accepted a credential."""
    if x.unplaced:
        return unavailable(x) if x.unreachable else pinned(x, NOBODY)
    if x.unreachable:
        # Whether the credential is good nobody can tell now: neither answer would be true.
        count_it(x)
        return x.answer() if RATE_LIMITED in x.failures else unavailable(x)
    anyone = ANYONE in (x.endpoint.admissions or {})
    if x.stranger is not None and not anyone:
        x.refuse(Failure("forbidden", _resource(x)))
    elif x.stranger is None and (not anyone or _presented(x)):
        x.refuse(Failure("unauthenticated", _bad(x)))
    else:
        return admit(x)
    return counted(x)


def _presented(x: Exchange) -> bool:
    return any(_presents(x))


def _bad(x: Exchange) -> str | None:
    """Of which scheme the credential is that came and was not good: the first one that looks where it is, of those
    that the endpoint admits, or of all. None: no credential came."""
    names = [scheme.name for scheme in _presents(x)]
    return next((name for name in names if name in (x.endpoint.admissions or {})), next(iter(names), None))


def _presents(x: Exchange) -> Iterator[Scheme]:
    """The schemes that find something where they look for a credential."""
    schemes = x.service.schemes
    return (each for each in schemes if each.presented(x.request, x.query) and not _is_clients(x, each))


def _is_clients(x: Exchange, scheme: Scheme) -> bool:
    """Whether what is where a scheme looks is no caller's credential, but says to which client a token is granted."""
    return x.endpoint.grants and scheme.where == "authorization" and credentials.is_clients(x.request)


def _resource(x: Exchange) -> str | None:
    operation = x.endpoint.any_operation
    return None if operation is None else operation.resource


def admit(x: Exchange) -> Next:
    """The caller is of a kind that the endpoint admits."""
    assert x.endpoint.admissions is not None
    x.admission = x.endpoint.admissions[x.caller.who]
    x.env |= {"caller": x.caller.root, environment.CREDENTIAL: x.caller.proof}
    return counted(x)


def counted(x: Exchange) -> Next:
    count_it(x)
    return parameters(x)


def count_it(x: Exchange) -> None:
    """The rates of the endpoint count the request; one of them may refuse it."""
    rates = x.endpoint.rates
    if rates:
        if any(rate.reads_request for rate in rates):
            _read_own(x)
        caller = x.caller if x.stranger is None or x.caller is not NOBODY else x.stranger
        asking = Asking(caller, x.request.address, {**x.env, "caller": caller.values})
        x.told = count(rates, asking, x.service.sources.elapsed())
        if any(told.refused for told in x.told):
            x.refuse(RATE_LIMITED)


# ── What is asked for ─────────────────────────────────────────────────────────────────────────────────────────


def parameters(x: Exchange) -> Next:
    """Query parameters and headers, then what the operation says of the request alone."""
    if x.settled(x.endpoint.lowest.parameters):
        return x.answer()
    endpoint, failures = x.endpoint, list[Failure]()
    if endpoint.known_parameters is not None:
        failures.extend(_unknown(x.query, endpoint.known_parameters))
    misread = _read_own(x)
    if misread:
        x.env[environment.REFUSED] = {"parameters": True}
    failures.extend(misread)
    failures.extend(_read_key(x))
    of_no_case = not failures and not of_request(x)
    operation = x.endpoint.any_operation if x.admission is None else x.admission.operation
    x.call = Call(
        x.request, x.env, x.service.sources, x.service.cursors, endpoint.scope, x.caller.who, x.caller.identity
    )
    x.call.log = x.service.log
    if isinstance(operation, Read | List) and operation.chooser is not None:
        x.env[environment.CHOSEN] = operation.chooser.read(x.query, failures)
    if isinstance(operation, List):
        x.call.page = operation.pages.read(x.query, x.env, failures)
        if x.admission is not None:
            not_ours = operation.cursor(x.call)
            failures.extend(() if not_ours is None else (not_ours,))
    if isinstance(operation, Sweep):
        x.env[environment.FILTER] = operation.filters.read(x.query, x.env, failures)
    for failure in failures:
        x.refuse(failure)
    # What reads of the request what it is refused for is not asked.
    admission = None if x.admission is None or (misread and x.admission.reads_request) else x.admission
    if admission is not None and admission.admits is not None and not admission.admits(x.env):
        x.refuse(Failure("forbidden", admission.operation.resource))
    if of_no_case:
        x.refuse(Failure("forbidden", _resource(x)))
        return operate(x)
    return read_body(x)


def of_request(x: Exchange) -> bool:
    """Go on in the case that the request is of, where that is known without its body; False: it is of none."""
    cases = x.endpoint.cases
    if cases is None or cases.member is not None or x.admission is None:
        return True
    found = cases.of_request(x.env)
    return found is not None and in_case(x, found)


def in_case(x: Exchange, endpoint: Endpoint) -> bool:
    x.endpoint = endpoint
    if x.admission is not None:
        x.admission = (endpoint.admissions or {})[x.admission.who]
    return True


def _read_own(x: Exchange) -> list[Failure]:
    """Read the endpoint's own parameters and headers, the root `request`; and what is wrong with them."""
    endpoint, headers, failures = x.endpoint, x.request.headers, list[Failure]()
    read: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "headers": {}}
    if endpoint.path is not None:
        read["path"] = _read_path(x, endpoint.path, failures)
    if endpoint.query is not None:
        read["query"] = endpoint.query.read(x.query, failures)
    if endpoint.headers is not None:
        given = {name: [headers[name.lower()]] for name in endpoint.header_names if name.lower() in headers}
        read["headers"] = endpoint.headers.read(given, failures)
    x.env["request"] = read
    return failures


def _read_path(x: Exchange, declared: Declared, failures: list[Failure]) -> dict[str, Any]:
    """The values in the path that are no fields. A text that is none is `missing`, or the code stated for it."""
    wrong: list[Failure] = []
    texts = zip(x.endpoint.names, x.values, strict=True)
    read = declared.read({name: [text] for (name, _, _), text in texts}, wrong)
    failures += dict.fromkeys(told for each in wrong for told in no_value(each, _resource(x)))
    return read


def _read_key(x: Exchange) -> list[Failure]:
    """Read the idempotency key, where the endpoint takes one."""
    stated, field = x.endpoint.idempotency_key, x.request.headers.get(HEADER.lower())
    if stated is None or (field is None and stated == "optional"):
        return []
    x.key, rule = read_key(field) if field is not None else (None, "required")
    return [] if rule is None else [invalid("header", HEADER, rule)]


def _unknown(query: Query, known: frozenset[str]) -> list[Failure]:
    unknown = (invalid("query", name, "unknown") for name in query if name not in known)
    return [*islice(unknown, MOST + 1)]


def read_body(x: Exchange) -> Next:
    body, limit = x.endpoint.body, x.service.body_bytes
    if body is None or body.ignored:
        return look(x)
    if x.settled(x.endpoint.lowest.body):
        return x.answer()
    assert x.call is not None
    x.call.body = x.content = None
    x.env[environment.REFUSED] = {**x.env.get(environment.REFUSED, {}), "body": True}
    unsupported = body.unsupported(x.request)
    if unsupported is not None:
        x.refuse(unsupported)
    announced = x.request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > limit:
        x.refuse(TOO_LARGE)
        return operate(x)
    # What cannot be decoded is read only to see whether it is too large, where that comes first.
    if unsupported is not None and x.settled(x.version.problems.rank(TOO_LARGE, x.endpoint.errors or {})):
        return operate(x)
    if not x.request.has_content:
        return decode(x, b"")
    return Wait(ReadBody(limit), partial(decode, x))


def decode(x: Exchange, data: bytes | TooLarge) -> Next:
    assert x.endpoint.body is not None and x.call is not None
    if isinstance(data, TooLarge):
        x.refuse(TOO_LARGE)
        return operate(x)
    x.content = data
    if x.endpoint.body.unsupported(x.request) is not None:
        return operate(x)
    x.form = x.endpoint.body.is_form(x.request)
    parse = x.endpoint.body.members if x.form else x.endpoint.body.parsed
    return decoded(x, parse(data))


def decoded(x: Exchange, document: Any) -> Next:
    assert x.endpoint.body is not None
    x.document = document
    if isinstance(x.document, Failure):
        x.refuse(x.document)
        return operate(x)
    cases = x.endpoint.cases
    if cases is not None:
        found = cases.of_body(x.document) if cases.member is not None else None
        if not isinstance(found, Endpoint):
            # Of which case it is nobody can say, and so neither what else is wrong with it.
            if found is not None:
                x.refuse(found)
            return operate(x)
        in_case(x, found)
    if x.form and x.endpoint.body is not None:
        return of_client(x, x.endpoint.body.of_form(x.document))
    return of_client(x, x.document)


def of_client(x: Exchange, document: Any) -> Next:
    """The document is that of the case, if there are any; where a token is asked for, the client is named in it."""
    x.document = document
    if x.endpoint.grants:
        x.document = credentials.with_client(x.document, x.request)
        if isinstance(x.document, Failure):
            x.refuse(x.document)
            return operate(x)
    return look(x)


def look(x: Exchange) -> Next:
    """Read the row as it is, where the values that are stored depend on it."""
    operation = None if x.admission is None else x.admission.operation
    if isinstance(operation, Write) and x.call is not None and x.addressable:
        body = None if x.document is NO_DOCUMENT else x.endpoint.body
        given = frozenset[str]() if body is None else body.given(x.document)
        wanted = operation.wanted(x.call, given, body is not None and body.merging(x.document))
        if wanted is not None:
            return Wait(wanted, partial(looked, x, operation))
    return decided(x, x.document)


def looked(x: Exchange, operation: Write, rows: Sequence[Row]) -> Next:
    assert x.call is not None
    operation.found(x.call, rows)
    body = x.endpoint.body
    if body is None or x.document is NO_DOCUMENT:
        return decided(x, x.document)
    make = partial(body.edited, resource=operation.resource) if body.edits else body.merged
    # A few edits may make much of a little.
    return Wait(Beside(partial(make, x.document, x.call.current, x.service.body_bytes)), partial(made, x))


def made(x: Exchange, becomes: Becomes | Failure) -> Next:
    """What the body gives is made from the row as it is."""
    if isinstance(becomes, Failure):
        x.refuse(becomes)
        return operate(x)
    x.edits = becomes.edits
    return decided(x, becomes.document, becomes.cleared)


def decided(x: Exchange, document: Any, cleared: frozenset[str] = frozenset()) -> Next:
    """What the body gives is whole: everything that is wrong with it is said at once. `cleared`: the fields that are to
    have no value any more."""
    body = x.endpoint.body
    if x.document is NO_DOCUMENT or body is None or x.call is None:
        return operate(x)
    x.becomes = document
    valid = body.valid(document, cleared, x.form, x.env.get(environment.PATH))
    return told(x, body.given(document), valid)


def told(x: Exchange, names: frozenset[str], given: Given) -> Next:
    """`names`: the fields that the body gives, whatever it gives them."""
    assert x.call is not None and x.endpoint.body is not None
    if given.wrong is None:
        x.call.body = given.values
        x.env[environment.REFUSED] = {**x.env.get(environment.REFUSED, {}), "body": False}
        x.env["request"] = {**x.env["request"], "body": given.others}
        return operate(x)
    operation = x.endpoint.any_operation  # also where nobody is admitted
    resource = operation.resource if operation is not None else None
    wrong = given.wrong
    for failure in credentials.narrowed(wrong) if x.endpoint.grants else x.endpoint.body.by_field(wrong, resource):
        x.refuse(failure)
    x.call.valid, x.call.wrong = given.values, names - given.values.keys()
    return operate(x)


# ── What is done ──────────────────────────────────────────────────────────────────────────────────────────────


def operate(x: Exchange) -> Next:
    """Perform the operation; or, if the request is refused already, ask the judge where it may know better."""
    if x.admission is None or x.call is None:
        return x.answer()
    x.held = _held(x)
    if not x.failures and x.held is not None and x.service.keys is not None and not x.holds:
        clash = x.service.keys.begin(x.held)
        if clash is not None:
            x.refuse(clash)
            return judged(x)
        x.holds = True
    return perform(x) if not x.failures else compared_first(x)


def compared_first(x: Exchange) -> Next:
    """The request is refused; that its key came with another one before may count more."""
    if x.held is not None and not x.settled(x.version.problems.rank(MISMATCH, x.endpoint.errors or {}) + 1):
        return Wait(Select(*x.held.finding), partial(_compared, x, x.held))
    return judged(x)


def _held(x: Exchange) -> Held | None:
    """The request under its idempotency key. A caller without a credential shares its keys with all the others."""
    if x.key is None or x.content is None or x.service.keys is None:
        return None
    content: tuple[bytes, ...] = (x.request.path, x.request.query, x.content)
    if x.endpoint.grants:  # whose token it is may stand there, and not in the body
        content = (*content, x.request.headers.get("authorization", "").encode("utf-8", "surrogateescape"))
    caller, now = x.caller, x.service.sources.clock()
    return x.service.keys.held(x.key, caller.who, caller.identity, x.endpoint.scope, content, now)


def _compared(x: Exchange, held: Held, rows: Sequence[Row]) -> Next:
    """The request is refused already; a key that came with another request may count before that."""
    if rows and not held.is_of(rows[0][0]):
        x.refuse(MISMATCH)
    return judged(x)


def perform(x: Exchange) -> Next:
    """Call what is called first, if anything is; then perform the operation."""
    assert x.admission is not None and x.call is not None
    calling = x.admission.call
    if calling is None or x.called:
        return perform_once(x)
    if x.held is None:
        return admitted_first(x, calling)
    return Wait(Select(*x.held.finding), partial(_called_before, x, x.held, calling))


def _called_before(x: Exchange, held: Held, calling: Calling, rows: Sequence[Row]) -> Next:
    """What came with the key before is answered as it was, and nothing is called."""
    if not rows:
        return admitted_first(x, calling)
    request, sealed = rows[0]
    if not held.is_of(request):
        return _mismatched(x)
    x.repeats()
    return opened(held, sealed)


def admitted_first(x: Exchange, calling: Calling) -> Next:
    """Nothing is called for a request that is refused for what rows hold already."""
    assert x.admission is not None and x.call is not None
    operation, call = x.admission.operation, x.call
    judge = operation.judge
    if judge is None:
        return invoke(x, calling)
    with suppress(Refusal):  # what cannot be made is told once the function has given its part
        operation.prepare(call)

    def judged_so(rows: Sequence[Row]) -> Next:
        refusal = judge.refusal(rows, x.env)
        return invoke(x, calling) if refusal is None else refused(x, refusal)

    def ask() -> Next:
        return Wait(Select(*judge.bound(x.env, False)), judged_so)

    if isinstance(operation, Write) and operation.is_conditional(call):
        return Wait(Select(*operation.shown(call)), partial(compared, operation, call, ask))
    return ask()


def invoke(x: Exchange, calling: Calling) -> Next:
    assert x.call is not None
    return Wait(calling.invoked(x.env, x.call.body), partial(gave, x, calling))


def gave(x: Exchange, calling: Calling, outcome: Gave | Failed) -> Next:
    x.env[environment.RESULT] = calling.result(outcome)
    x.called = True
    return perform_once(x)


def perform_once(x: Exchange) -> Next:
    """Perform the operation; with an idempotency key, once."""
    assert x.admission is not None and x.call is not None
    operation = x.admission.operation
    try:
        operation.prepare(x.call)
    except Refusal as refusal:
        for failure in refusal.failures:
            x.refuse(failure)
        return compared_first(x)
    step = operation.perform(x.call)
    if x.held is not None and x.called:
        step = stored(step)
    return step if x.held is None else once(step, x.held, partial(_mismatched, x), x.repeats)


def _mismatched(x: Exchange) -> Next:
    x.refuse(MISMATCH)
    return judged(x)


def judged(x: Exchange) -> Next:
    """The request is refused; the judge is asked where it may know something that counts before."""
    admission, call = x.admission, x.call
    assert admission is not None and call is not None
    judge = admission.operation.judge
    if judge is None or not x.addressable or x.rank < admission.lowest:
        return x.answer()
    operation, is_refused = admission.operation, any(x.env.get(environment.REFUSED, {}).values())
    values = call.body is not None and not is_refused
    if isinstance(operation, Write) and operation.password is not None:
        return judged_sign_in(x, operation, operation.password, judge)
    if call.body is None:
        call.body = call.valid
    try:
        if not isinstance(operation, List | Sweep):
            operation.prepare(call)
    except Refusal as refusal:
        # What cannot be made is told beside what else is wrong. Where not all is known that the request gives, nobody
        # knows what cannot.
        for failure in refusal.failures if values else ():
            x.refuse(failure)
        values = False
    partly = not values and call.body is not None
    wrong = operation.wrong(call) if partly and isinstance(operation, Write) else None

    def ask() -> Next:
        return Wait(Select(*judge.bound(x.env, values, wrong)), lambda rows: refused(x, judge.refusal(rows, x.env)))

    if isinstance(operation, Write) and operation.is_conditional(call):
        return Wait(Select(*operation.shown(call)), partial(compared, operation, call, ask))
    return ask()


def compared(operation: Write, call: Call, ask: Callable[[], Next], shown: Sequence[Row]) -> Next:
    """The request has a condition on what GET shows: whether it holds is known before the judge is asked."""
    operation.compare(call, shown)
    return ask()


def judged_sign_in(x: Exchange, operation: Write, password: PasswordCheck, judge: Judge) -> Next:
    """Whether the password is right may count before what the request is refused for; and of its row nothing is told to
    anybody else. Without a body that can be read there is no password, and nothing to tell."""
    assert x.call is not None
    if x.call.body is None:
        return x.answer()
    operation.prepare(x.call)
    bound = partial(judge.bound, x.env, True)
    return password.step(x.env, lambda _: Wait(Select(*bound()), lambda rows: refused(x, judge.refusal(rows, x.env))))


def refused(x: Exchange, refusal: Refusal | None) -> Response:
    """The operation is refused, for what the request is refused for already or for something that comes first."""
    if refusal is not None:
        for failure in refusal.failures:
            x.refuse(failure)
        x.details |= refusal.details
    return x.answer()


def failed(x: Exchange, error: Exception) -> Next:
    """The step that takes an exception: of a refusal, of work that could not be done, or of our own fault."""
    match error:
        case Refusal():
            return refused(x, error)
        case NothingFound() if x.call is not None and x.attempts < (MOST_LOOKS if x.call.on_current else 1):
            # Of those that look and then write, one succeeds each time: the others look again.
            x.attempts += 1
            return look(x) if x.call.on_current else perform(x)
        case Unavailable():
            return unavailable(x)
        case TooMuch() | TooLong():
            return only(x, "too large")
        case _:
            # The traceback is for the operator's log alone. Its text may hold values, so it is not in the answer.
            log.error("%s failed", x.route or "a request", exc_info=error)
            return only(x, "internal")
