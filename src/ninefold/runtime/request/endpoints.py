"""Routes made ready: everything that a request to an endpoint needs, and what can still go wrong at each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from math import isqrt
from typing import Any, Final, Literal, TypeAlias, assert_never

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import Env, EvaluationError, compile, holds
from ninefold.expressions.operations import LOOPS
from ninefold.expressions.reads import of_request
from ninefold.expressions.tree import Comprehension, Typed, parts, walk
from ninefold.language.conditions import Step
from ninefold.plan import operations
from ninefold.plan import routes as plan
from ninefold.plan.likewise import takes_steps
from ninefold.plan.responses import Carried
from ninefold.plan.writes import Write as PlannedWrite
from ninefold.runtime.messages.decode import Body
from ninefold.runtime.messages.fields import value_reader
from ninefold.runtime.messages.message import HEAD_BYTES, Carries, HeaderFields, Request, carries, header_value
from ninefold.runtime.messages.parameters import Declared
from ninefold.runtime.messages.problems import Failure, Problems, Shape, field_failure
from ninefold.runtime.messages.schemas import Schemas
from ninefold.runtime.messages.weight import per_byte
from ninefold.runtime.operations.call import Calling, Function
from ninefold.runtime.operations.flow import AT_ONCE
from ninefold.runtime.operations.read import Compute, List, Read
from ninefold.runtime.operations.stream import Stream
from ninefold.runtime.operations.sweep import Sweep
from ninefold.runtime.operations.write import Write
from ninefold.runtime.request.rates import Rate
from ninefold.runtime.request.schemes import Scheme
from ninefold.trace.refusal import Refusal
from ninefold.trace.refusals import of_case, of_operation
from ninefold.values import Value

Operation: TypeAlias = Read | List | Write | Sweep | Compute | Stream


def ready(operation: operations.Operation) -> Operation:
    """An operation of the plan, made ready."""
    match operation:
        case operations.Read():
            return Read(operation)
        case operations.List():
            return List(operation)
        case PlannedWrite():
            return Write(operation)
        case operations.Sweep():
            return Sweep(operation)
        case operations.Compute():
            return Compute(operation)
        case operations.Stream():
            return Stream(operation)
        case _:
            assert_never(operation)


@dataclass(frozen=True, slots=True)
class Admission:
    """One kind of caller. `admits` reads the request alone, and of what it gives if `reads_request`. `lowest` is the
    rank of the most important thing that only the database can tell. `scopes`: those that a token needs."""

    who: str
    operation: Operation
    admits: Callable[[Env], bool] | None
    reads_request: bool
    lowest: int
    scopes: tuple[str, ...] = ()
    call: Calling | None = None
    """What is called before the operation."""
    takes_steps: bool = True
    """All requests take the steps, also those that are like an earlier one."""

    @property
    def only_reads(self) -> bool:
        return self.call is None and isinstance(self.operation, Read | List | Compute)


@dataclass(frozen=True, slots=True)
class Lowest:
    """The rank of the most important failure that may still be found from a step on. What has failed already with
    a lower one is the answer, and the rest of the request is not looked at."""

    authentication: int
    parameters: int
    body: int


@dataclass(frozen=True, slots=True)
class Challenges:
    """`WWW-Authenticate` of a 401 (RFC 9110 11.6.1); to a request that came with a bearer token, `to_bad_token`, which
    says that it is not good (RFC 6750 3.1)."""

    stated: HeaderFields
    to_bad_token: HeaderFields


NO_CHALLENGE = Challenges((), ())


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the path. `read` makes its value of its text, and raises Invalid; `resource`: whose it is. `held`: what
    is asked of a value that a new row is to have."""

    name: str
    read: Callable[[str], Value] = field(compare=False)
    resource: str | None
    held: Schemas | None = field(compare=False)
    of: tuple[plan.PathParameter, plan.Parameter | None]
    """What the plan says of it."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """`blocked`: answers 501. `names` are those of the path. `any_operation` stands for the others where it is not
    known who calls."""

    key: str
    blocked: bool
    scope: str = ""
    """What idempotency keys and cursors are given for: the endpoint, in its version."""
    rates: tuple[Rate, ...] = ()
    idempotency_key: Literal["optional", "required"] | None = None
    names: tuple[Name, ...] = ()
    offers: str | None = None
    admissions: Mapping[str, Admission] = field(default_factory=dict)
    any_operation: Operation | None = None
    challenges: Challenges = NO_CHALLENGE
    path: Declared | None = None
    query: Declared | None = None
    headers: Declared | None = None
    header_names: tuple[str, ...] = ()
    known_parameters: frozenset[str] | None = None
    body: Body | None = None
    cases: Cases | None = None
    case: int = 0
    """The number of the case that this is one of; 0: of none, or not yet known of which."""
    grants: bool = False
    """It grants tokens, to clients that say who they are."""
    errors: Mapping[str, str] = field(default_factory=dict)
    shape: Shape | None = None
    """What its own errors look like; None: what all look like."""
    lowest: Lowest = Lowest(0, 0, 0)
    body_at_once: int = AT_ONCE
    head_at_once: int = HEAD_BYTES
    """Bytes of a body, and of what the head gives, that are looked at among other requests, and not beside them."""
    carries: Carries | None = None
    """What each of its responses does, and of its version; None: nothing."""
    for_anyone: bool = False
    """It is for `anyone` alone: no credential is read (meaning "credentials")."""

    @property
    def resource(self) -> str | None:
        """Which it is about, whoever calls and in every case; None: none, or not the same in each case."""
        if self.any_operation is not None and self.any_operation.resource is not None:
            return self.any_operation.resource
        return None if self.cases is None else self.cases.resource

    def is_long(self, request: Request) -> bool:
        """Whether what the head of a request gives is more than is looked at among others."""
        most = self.head_at_once
        if most >= HEAD_BYTES:
            return False
        headers = sum(len(request.headers.get(name.lower(), "")) for name in self.header_names)
        return len(request.path) + len(request.query) + headers > most


@dataclass(frozen=True, slots=True)
class Cases:
    """The cases of an endpoint, each as an endpoint of its own. `member`: the member of the body that names the case;
    None: `by` gives the name."""

    member: str | None
    by: Callable[[Env], Value] | None
    named: Mapping[str, Endpoint]
    otherwise: Endpoint | None
    resource: str | None = None
    """Which all of them are about."""

    def of_body(self, document: Any) -> Endpoint | Failure:
        """The case of a body; what is wrong with the member where it is of none."""
        if type(document) is not dict:
            return _unfit((), "type")
        name = document.get(self.member)
        found = self.named.get(name) if type(name) is str else None
        if found is not None:
            return found
        if self.otherwise is not None:
            return self.otherwise
        path = (str(self.member),)
        return _unfit(path, "required" if self.member not in document else "enum" if type(name) is str else "type")

    def of_request(self, env: Env) -> Endpoint | None:
        """The case of a request, whatever its body; None: of none."""
        assert self.by is not None
        try:
            name = self.by(env)
        except EvaluationError:
            return self.otherwise
        return self.named.get(name, self.otherwise) if type(name) is str else self.otherwise


def _unfit(path: tuple[str, ...], rule: str) -> Failure:
    return Failure("invalid", fields=(field_failure("body", path, rule),))


def blocked(route: plan.Route, common: Common) -> Endpoint:
    own = route.carries if isinstance(route, plan.Served) else ()
    return Endpoint(route.key, blocked=True, carries=carries(*common.carries, own))


@dataclass(frozen=True, slots=True)
class Common:
    """What the endpoints of one version have in common. `parameters`: the names of query parameters that the service
    knows on each; `functions`: those that endpoints call, by name; `version`: its name, where there are versions;
    `carries`: what each response of it does, and of any version."""

    problems: Problems
    schemes: tuple[Scheme, ...]
    parameters: frozenset[str]
    functions: Mapping[str, Function]
    version: str = ""
    carries: tuple[tuple[Carried, ...], ...] = ()


def served(route: plan.Served, common: Common, rates: tuple[Rate, ...] = ()) -> Endpoint:
    """`rates`: those that count its requests."""
    whole = _weighed(route, common, rates, 0)
    if route.cases is None:
        return whole
    cases = [_weighed(route, common, rates, number) for number in range(1, len(route.cases.cases) + 1)]
    by_name = {case.name: each for case, each in zip(route.cases.cases, cases, strict=True)}
    first = [each.lowest for each in (whole, *cases)]
    known = [each.known_parameters for each in (whole, *cases) if each.known_parameters is not None]
    about = {each.resource for each in cases}
    return replace(
        whole,
        known_parameters=frozenset().union(*known) if known else None,
        cases=Cases(
            member=route.cases.member,
            by=None if route.cases.by is None else compile(route.cases.by),
            named={name: each for name, each in by_name.items() if name is not None},
            otherwise=by_name.get(None),
            resource=about.pop() if len(about) == 1 else None,
        ),
        body_at_once=min(each.body_at_once for each in (whole, *cases)),
        head_at_once=min(each.head_at_once for each in (whole, *cases)),
        lowest=Lowest(
            min(each.authentication for each in first),
            min(each.parameters for each in first),
            min(each.body for each in first),
        ),
    )


def _weighed(route: plan.Served, common: Common, rates: tuple[Rate, ...], case: int) -> Endpoint:
    """The same, with how much it looks at among other requests."""
    loops: list[Comprehension] = []
    before = LOOPS.set(loops)
    try:
        made = _served(route, common, rates, case)
    finally:
        LOOPS.reset(before)
    declared = [each.per_byte for each in (made.path, made.query, made.headers) if each is not None]
    declared += [per_byte(each.schema) for each in plan.in_case(route, case).stored]
    of_body = 0 if made.body is None else made.body.per_byte
    return replace(
        made,
        body_at_once=_at_once(of_body, loops, AT_ONCE),
        head_at_once=_at_once(max(declared, default=0), loops, HEAD_BYTES),
    )


def _at_once(per_byte: int, loops: Sequence[Comprehension], most: int) -> int:
    """Bytes of which no more than a little time is made; `per_byte`: by the schema, and `loops` by expressions."""
    per_byte += _EACH * sum(map(_size, loops))
    found = min(most, _MUCH // per_byte) if per_byte else most
    # A macro in another has as many items as the bytes are times the bytes.
    nested = _EACH * sum(_size(each) for each in loops if _is_nested(each))
    return min(found, isqrt(4 * _MUCH // nested)) if nested else found


_MUCH: Final = 1_000_000
"""Units of 10 ns."""

_EACH: Final = 7
"""For each part of an expression, for one item."""


def _size(typed: Typed) -> int:
    return sum(1 for _ in walk(typed))


def _is_nested(loop: Comprehension) -> bool:
    return any(isinstance(each, Comprehension) for part in parts(loop) for each in walk(part))


def _served(whole: plan.Served, common: Common, rates: tuple[Rate, ...], case: int) -> Endpoint:
    """The endpoint in one of its cases; 0: before it is known in which."""
    route, schemes = plan.in_case(whole, case), common.schemes
    body = route.body
    admissions = {each.who: _admission(route, common, each) for each in route.admissions}
    any_operation = next((each.operation for each in admissions.values()), None)
    known = common.parameters | _names(any_operation) | {each.name for each in route.query}
    in_force = {each.name for each in schemes if each.known_by is not None}
    refused = _ranked(route, common, of_case(route, case, dict.fromkeys((each.name for each in schemes), ()), in_force))
    segments = [each for each in route.segments if isinstance(each, plan.PathParameter)]
    looks = route.error_shape
    return Endpoint(
        key=route.key,
        blocked=False,
        scope=f"{common.version} {route.key}" if common.version else route.key,
        rates=rates,
        idempotency_key=route.idempotency_key,
        names=tuple(_name(each, route) for each in segments),
        offers=route.offers,
        admissions=admissions,
        any_operation=any_operation,
        challenges=_challenges(route, schemes),
        grants=body is not None and body.grants,
        path=Declared(route.path, "path") if route.path else None,
        query=Declared(route.query, "query") if route.query else None,
        headers=Declared(route.headers, "header") if route.headers else None,
        header_names=tuple(each.name for each in route.headers),
        known_parameters=None if route.requests.ignores_unknown_parameters else known,
        body=None if body is None else Body(body),
        case=case,
        errors=route.errors,
        shape=None if looks is None else Shape(looks.media_type, looks.content),
        lowest=Lowest(*(_lowest(common, refused, step) for step in (Step.CALLER, Step.PARAMETERS, Step.BODY))),
        carries=carries(*common.carries, route.carries),
        for_anyone=bool(admissions) and not route.schemes,
    )


def _name(segment: plan.PathParameter, route: plan.Served) -> Name:
    stored = next((each for each in route.stored if each.name == segment.name), None)
    held = None if stored is None else Schemas(stored.schema)
    return Name(segment.name, value_reader(segment.type, segment.normalise), segment.resource, held, (segment, stored))


def _admission(route: plan.Served, common: Common, admission: plan.Admission) -> Admission:
    condition, call = admission.condition, admission.call
    return Admission(
        admission.who,
        ready(admission.operation),
        None if condition is None else holds(condition),
        condition is not None and bool(of_request(condition)),
        _lowest(common, _ranked(route, common, of_operation(admission.operation, admission.who)), Step.JUDGED),
        admission.scopes,
        None if call is None else Calling(call, common.functions[call.function]),
        takes_steps(route, admission) is not None,
    )


def _ranked(route: plan.Served, common: Common, found: Iterable[Refusal]) -> Mapping[Step, int]:
    """The rank of the most important of what is found in each step."""
    ranks = dict[Step, int]()
    for step, condition, subject, code in {(each.step, each.condition, each.subject, each.code) for each in found}:
        rank = common.problems.rank(Failure(condition, subject, code), route.errors)
        ranks[step] = min(rank, ranks.get(step, rank))
    return ranks


def _lowest(common: Common, ranked: Mapping[Step, int], first: Step) -> int:
    """The rank of the most important of what is found from a step on, before the operation is done."""
    ranks = (rank for step, rank in ranked.items() if first <= step < Step.DONE)
    return min(ranks, default=common.problems.last)


def _names(operation: Operation | None) -> frozenset[str]:
    """The query parameters that an operation knows beside the declared ones."""
    names = frozenset[str]()
    if isinstance(operation, List):
        names = operation.pages.names
    if isinstance(operation, Stream):
        names = operation.names
    return names


def _challenges(route: plan.Served, known: Sequence[Scheme]) -> Challenges:
    """Those of the schemes that it admits, or of all; and where it grants tokens, that of its clients."""
    admitted = [each for each in known if each.name in route.schemes]
    if route.challenge is None:
        return challenges(admitted or known)
    others, own = challenges(admitted), ((b"www-authenticate", header_value(route.challenge)),)
    return Challenges(own + others.stated, own + others.to_bad_token)


def challenges(schemes: Sequence[Scheme]) -> Challenges:
    """What a 401 says of how to be known: by one of these schemes, each in a field of its own."""
    stated = dict.fromkeys(scheme.challenge for scheme in schemes if scheme.challenge is not None)
    return Challenges(*(tuple((b"www-authenticate", each[bad]) for each in stated) for bad in (0, 1)))
