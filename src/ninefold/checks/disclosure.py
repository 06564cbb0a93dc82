"""What tells a caller of rows that it may not see: computed fields that it is shown or can ask for, and conditions that
refuse it. They read all rows, and its row rules hide some of these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

from ninefold.checked.contents import all_expressions
from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.lists import Rules
from ninefold.checked.operations import List, Mutation
from ninefold.checked.resources import Resource
from ninefold.checks.findings import Findings
from ninefold.contract.service import Contract
from ninefold.diagnostics.codes import BOTH_ABSENT, GONE_COUNTED, LEARNS, TOLD_BY_EDITS
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.expressions.rows import Dependency, Step, dependencies
from ninefold.expressions.scope import Model
from ninefold.expressions.tree import Call, Constant, Select, Typed, Variable, rewrite, walk
from ninefold.language import endpoints as stated
from ninefold.language.authentication import Admission as StatedAdmission
from ninefold.language.conditions import CHECK
from ninefold.language.expressions import Expression
from ninefold.language.fact import value_of
from ninefold.values import Row

MOST_USES = 3
"""How many uses of one field are pointed at."""


@dataclass
class _Learnt:
    """What is learnt by one thing: of which resources, each with the callers; and where it is used."""

    of: dict[str, dict[str, None]] = field(default_factory=dict)
    uses: dict[Span, str] = field(default_factory=dict)

    def add(self, found: Iterable[tuple[str, str]]) -> bool:
        """Resources with callers; whether there are any."""
        some = False
        for resource, who in found:
            some = True
            self.of.setdefault(resource, {})[who] = None
        return some


def narrowed(
    endpoints: Iterable[Endpoint],
    resources: Mapping[str, Resource],
    rules: Rules,
    model: Model,
    findings: Findings,
) -> None:
    """Notes each computed field and each condition by which a caller learns of rows that row rules hide from it."""
    written = {(each.key, _case(each)): each for each in findings.survey.endpoints}
    hidden = _Hidden(rules, model)
    fields: dict[tuple[str, str], _Learnt] = {}
    conditions: dict[Span, tuple[str, _Learnt]] = {}
    for endpoint in endpoints:
        own = written.get((endpoint.key, endpoint.case.name if endpoint.case is not None else None))
        if own is None:
            continue
        for name, called, span, use in _asked_for(endpoint, own, model, findings):
            learnt = fields.setdefault((name, called), _Learnt())
            if learnt.add(hidden.from_callers(model[name].computed[called], name, endpoint)):
                learnt.uses.setdefault(span, use)
        if endpoint.resource is not None:
            for typed, told in _refusing(endpoint, resources[endpoint.resource]):
                learnt = conditions.setdefault(findings.span(typed), (told, _Learnt()))[1]
                learnt.add(hidden.from_callers(typed, endpoint.resource, endpoint))
    for (name, called), learnt in fields.items():
        field = findings.survey.graph.fields.get(name, {}).get(called)
        if field is None:
            continue  # the language's own, which reads nothing but its row
        uses = [Label(span, use) for span, use in list(learnt.uses.items())[:MOST_USES]]
        reads, told = Label(field.span, "reads all"), f"`{name}.{field.called or called}`"
        _say(told, reads, learnt, uses, findings)
        for other in _gone(model[name].computed[called], name, resources, model):
            findings.say(
                GONE_COUNTED,
                f"{told} reads rows of `{other}` that are gone",
                reads,
                help=(f"`.filter(…)` by the state of `{other}` leaves them out",),
            )
    for span, (told, learnt) in conditions.items():
        _say(told, Label(span, "reads all"), learnt, [], findings)


def _gone(typed: Typed, name: str, resources: Mapping[str, Resource], model: Model) -> Iterator[str]:
    """The resources of which an expression reads several rows, some of which may be gone, and not their states."""
    found: dict[str, None] = {}
    for each in dependencies(typed, name, model):
        machine = None if each.resource not in resources else resources[each.resource].machine
        if machine is not None and machine.gone and each.of_which_rows and machine.field not in each.fields:
            found[each.resource] = None
    yield from found


def _case(endpoint: stated.Endpoint) -> str | None:
    return None if endpoint.case is None else endpoint.case.name


def _say(what: str, first: Label, learnt: _Learnt, uses: list[Label], findings: Findings) -> None:
    """One note of one thing, whatever it tells of and whom."""
    if not learnt.of:
        return
    by_callers: dict[tuple[str, ...], list[str]] = {}
    for resource, callers in learnt.of.items():
        by_callers.setdefault(tuple(callers), []).append(resource)
    told = [f"{_listed(callers)} of rows of {_listed(of)}" for callers, of in by_callers.items()]
    alone = len(by_callers) == 1 and len(next(iter(by_callers))) == 1
    rules = ((resource, who) for resource, callers in learnt.of.items() for who in callers)
    spans: dict[Span, str] = {}
    for resource, who in rules:
        if (span := _rule(findings.contract, resource, who)) is not None:
            spans.setdefault(span, resource)
    labels = [Label(span, f"which rows of `{resource}` are seen") for span, resource in spans.items()]
    more = len(labels) - MOST_USES
    findings.say(
        LEARNS,
        f"{what} tells {', and '.join(told)} that {'it' if alone else 'they'} may not see",
        first,
        *uses,
        *labels[:MOST_USES],
        help=(f"{more} more {'line of `rows` hides' if more == 1 else 'lines of `rows` hide'} some",)
        if more > 0
        else (),
    )


def _listed(names: Iterable[str]) -> str:
    *before, last = [f"`{name}`" for name in names]
    return " and ".join(filter(None, (", ".join(before), last)))


# ── What is asked for, and what refuses ───────────────────────────────────────────────────────────────────────


def _asked_for(
    endpoint: Endpoint, own: stated.Endpoint, model: Model, findings: Findings
) -> Iterator[tuple[str, str, Span, str]]:
    """The computed fields that callers are shown, or say which rows they want by; each with where, and how."""
    operation = endpoint.operation
    shown = [typed for response in operation.ends_well for typed in all_expressions(response)]
    yield from ((*each, own.span, "is shown") for each in _computed(shown, model))
    spans = {each.name: each.span for each in own.filters}
    for filter_ in operation.filters if isinstance(operation, List | Mutation) else ():
        yield from (
            (*each, spans[filter_.name], "can be filtered by") for each in _computed([filter_.condition], model)
        )
    if (where := operation.where) is not None:
        yield from ((*each, findings.span(where), "says which rows") for each in _computed([where], model))
    if isinstance(operation, List) and endpoint.resource is not None:
        keys = {name for order in operation.sorts.every for name, _ in order}
        for name in sorted(keys & set(model[endpoint.resource].computed)):
            yield endpoint.resource, name, own.span, "sorts the list"


def _computed(expressions: Iterable[Typed], model: Model) -> Iterator[tuple[str, str]]:
    """The computed fields that expressions read."""
    found: dict[tuple[str, str], None] = {}
    for typed in expressions:
        for node in walk(typed):
            match node:
                case Select(operand=operand, name=name, through="computed") if isinstance(operand.type, Row):
                    if name in model[operand.type.resource].computed:
                        found[operand.type.resource, name] = None
                case _:
                    pass
    yield from found


def _refusing(endpoint: Endpoint, resource: Resource) -> Iterator[tuple[Typed, str]]:
    """The conditions of an endpoint that refuse a request by an error of their own; each with what tells."""
    taken = None if endpoint.mutation is None else endpoint.mutation.transition
    for guard in (*endpoint.operation.guards, *(() if taken is None else taken.guards)):
        if guard is not None:
            yield guard.that, _error(guard.code)
    for invariant in resource.invariants if endpoint.kind.gives_values else ():
        yield invariant.that, _error(invariant.code)


def _error(code: str | None) -> str:
    return f"the error `{code or CHECK}`"


# ── What is hidden ────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class _Hidden:
    rules: Rules
    model: Model

    def from_callers(self, typed: Typed, resource: str, endpoint: Endpoint) -> Iterator[tuple[str, str]]:
        """The resources of which an expression over a row reads others, each with a caller who may not see all of
        these."""
        for each in dependencies(typed, resource, self.model):
            for admission in endpoint.admissions:
                if each.way != () and not self._seen(each, resource, admission, endpoint):
                    yield each.resource, admission.who

    def _seen(self, read: Dependency, resource: str, admission: Admission, endpoint: Endpoint) -> bool:
        """Whether the caller sees every row that is read, because it sees all, or because it sees the row from which
        the way leads there."""
        of_resource = self.rules.get(read.resource, {})
        if admission.who not in of_resource:
            return False
        rule = of_resource[admission.who]
        if rule is None:
            return True
        if not read.way or (len(read.way) > 1 and any(step.kind == "back" for step in read.way)):
            return False
        step, creates = read.way[0], endpoint.kind.makes
        if creates and step.kind == "field" and len(read.way) == 1 and resource == endpoint.resource:
            return True  # what a client refers to, it sees
        known = [admission.condition] if resource == endpoint.resource else []
        if not (creates and resource == endpoint.resource):
            known.append(self.rules.get(resource, {}).get(admission.who))
        holds = [part for each in known if each is not None for part in _parts(each, "&&")]
        wanted = [each for each in _parts(rule, "&&") if not (isinstance(each, Constant) and each.value is True)]
        if step.kind == "field":
            wanted = [_about(part, read.resource, _through(read.way, resource)) for part in wanted]
        else:
            holds = [_about(part, resource, _through(read.way, read.resource)) for part in holds]
        return all(any(_follows(part, from_) for from_ in holds) for part in wanted)


def _through(way: tuple[Step, ...], resource: str) -> Typed:
    """The row that a way leads to or from."""
    row: Typed = Variable(resource, Row(resource=resource))
    for step in way:
        row = Select(row, step.name, Row(resource=step.to if step.kind == "field" else step.resource), "field")
    return row


def _follows(wanted: Typed, holds: Typed) -> bool:
    """Whether one condition holds wherever another does: it is the same, whichever side of `==` is which, or it asks
    for less."""
    match holds, wanted:
        case Call(function="||", arguments=[one, other]), _:
            return _follows(wanted, one) and _follows(wanted, other)
        case _, Call(function="&&", arguments=[one, other]):
            return _follows(one, holds) and _follows(other, holds)
        case Call(function="==", arguments=[a, b]), Call(function="==", arguments=[c, d]):
            return (_same(a, c) and _same(b, d)) or (_same(a, d) and _same(b, c))
    # Each part of the one beside each of the other, and no pair of them twice.
    some, any_of = tuple(_parts(holds, "&&")), tuple(_parts(wanted, "||"))
    if len(some) == len(any_of) == 1:
        return _same(holds, wanted)
    return any(_follows(part, each) for each in some for part in any_of)


def _same(one: Typed, other: Typed) -> bool:
    """Whether they read the same in the same way, wherever on the way there may be no value."""
    match one, other:
        case Select(), Select():
            return one.name == other.name and _same(one.operand, other.operand)
        case Call(), Call():
            mine, others = one.arguments, other.arguments
            return one.function == other.function and len(mine) == len(others) and all(map(_same, mine, others))
        case _:
            return one == other


def _parts(typed: Typed, operator: str) -> Iterator[Typed]:
    match typed:
        case Call(function=function, arguments=[left, right]) if function == operator:
            yield from _parts(left, operator)
            yield from _parts(right, operator)
        case _:
            yield typed


def _about(typed: Typed, resource: str, row: Typed) -> Typed:
    """The same of another row. What a reference holds is the primary key of its row, however it is written."""

    def change(node: Typed) -> Typed | None:
        return row if isinstance(node, Variable) and node.name == resource else None

    return rewrite(typed, change)


# ── Where it is written ───────────────────────────────────────────────────────────────────────────────────────


def _rule(contract: Contract, resource: str, who: str) -> Span | None:
    rows = value_of(contract.authentication.rows)
    for rule in rows if isinstance(rows, tuple) else ():
        for admission in value_of(rule.admits) or () if rule.resource.text == resource else ():
            condition = value_of(admission.condition)
            if admission.who.text == who and isinstance(condition, Expression):
                return condition.span
    return None


# ── Without a word ───────────────────────────────────────────────────────────────────────────────────────────────────


def disclosed(
    endpoints: Iterable[Endpoint],
    resources: Mapping[str, Resource],
    rules: Rules,
    findings: Findings,
) -> None:
    served = tuple(endpoints)
    _told_by_edits(served, resources, findings)
    rows = value_of(findings.contract.authentication.rows)
    lines = {each.resource.text: each for each in rows} if isinstance(rows, tuple) else {}
    for name, of_resource in rules.items():
        for who, holds in of_resource.items():
            if holds is not None and name in lines:
                _holds_of_nothing(holds, value_of(lines[name].admits) or (), who, findings)
    for endpoint in served:
        line = findings.contract.permission(endpoint.key)
        for admission in endpoint.admissions:
            if line is not None and admission.condition is not None:
                _holds_of_nothing(admission.condition, value_of(line.admits) or (), admission.who, findings)


# ── Edits ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _told_by_edits(endpoints: tuple[Endpoint, ...], resources: Mapping[str, Resource], findings: Findings) -> None:
    """A JSON Patch tests and copies whatever its body names, also what no response shows."""
    shown = {each for endpoint in endpoints for each in _shown(endpoint)}
    patches = {each.key: each.patch for each in findings.survey.endpoints}
    for endpoint in endpoints:
        patch = value_of(patches.get(endpoint.key))
        if patch is None or patch.text != "json-patch" or endpoint.resource is None:
            continue
        resource = resources[endpoint.resource]
        given = {leaf.field: resource.as_given(leaf.field) for leaf in endpoint.takes.body or ()}
        hidden = [
            f"`{resource.name}.{resource.fields[name].called}`"
            for name, field in given.items()
            if field.secret is None and (resource.name, field.name) not in shown
        ]
        if hidden:
            findings.say(
                TOLD_BY_EDITS,
                f"`{endpoint.key}` tells {' and '.join(hidden)}, which no response shows",
                Label(patch.span, "`test` and `copy` read what the body names"),
                help=("`patch: merge` tells nothing of what it changes",),
            )


def _shown(endpoint: Endpoint) -> Iterator[tuple[str, str]]:
    """The fields that the responses of an endpoint read."""
    for response in endpoint.operation.ends_well:
        for typed in all_expressions(response):
            for node in walk(typed):
                match node:
                    case Select(operand=operand, name=name) if isinstance(operand.type, Row):
                        yield operand.type.resource, name
                    case _:
                        pass


# ── Rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _holds_of_nothing(holds: Typed, written: tuple[StatedAdmission, ...], who: str, findings: Findings) -> None:
    """Null is equal to null: who has no team would be let in to all that belongs to no team."""
    asked = [each.arguments for each in walk(holds) if isinstance(each, Call) and each.function in ("has", "!=")]
    for node in walk(holds):
        match node:
            case Call(function="==", arguments=[Select() as one, Select() as other]) if (
                _may_be_none(one)
                and _may_be_none(other)
                and _is_of_caller(one) != _is_of_caller(other)
                and not any(one in arguments or other in arguments for arguments in asked)
            ):
                expression = next((value_of(each.condition) for each in written if each.who.text == who), None)
                if isinstance(expression, Expression):
                    findings.say(
                        BOTH_ABSENT,
                        "this holds where neither has a value, too",
                        Label(expression.span, "null is equal to null"),
                        help=("say that there is one: `has(…) && …`",),
                    )
                return
            case _:
                pass


def _may_be_none(side: Select) -> bool:
    """Whether there may be no value. Nobody has to send a parameter; and without a member of `caller` a condition does
    not hold (meaning "truth")."""
    if isinstance(side.operand, Variable) and side.operand.name == "caller":
        return False
    return side.type.nullable or any(isinstance(each, Variable) and each.name == "request" for each in walk(side))


def _is_of_caller(side: Typed) -> bool:
    """Whether it is who calls, or the request, that has the value."""
    return any(isinstance(each, Variable) and each.name in ("caller", "request") for each in walk(side))
