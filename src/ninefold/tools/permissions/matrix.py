"""The matrix of a contract: for each endpoint, and for each kind of caller, whether it is admitted, which rows it sees,
and in which states.

Everything in it is stated, with its line. What is not shown is said to be not shown: the matrix of a half-written
contract is as good as the contract."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum

from ninefold.checked import endpoints as checked
from ninefold.checked.endpoints import Endpoint as CheckedEndpoint
from ninefold.checked.service import Checked
from ninefold.contract.refusals.requests import of_callers
from ninefold.contract.service import Contract
from ninefold.contract.survey import Survey, actions
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import holds
from ninefold.expressions.tree import Select, Typed, Variable, conjuncts, parts
from ninefold.language.authentication import ANYONE, Every
from ninefold.language.conditions import Step
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, StatedNone, value_of


def possible(states: tuple[str, ...], field: str, resource: str, conditions: tuple[Typed, ...]) -> tuple[str, ...]:
    """Those of `states` in which none of the conditions is known to fail. A condition is taken apart at its `&&`, and
    what reads nothing but the state (`order.status == 'draft'`) is asked; what reads more may hold or not."""
    asked = [
        holds(part)
        for condition in conditions
        for part in conjuncts(condition)
        if _reads_state_alone(part, field, resource)
    ]
    return tuple(state for state in states if all(each({resource: {field: state}}) for each in asked))


def _reads_state_alone(typed: Typed, field: str, resource: str) -> bool:
    match typed:
        case Select(operand=Variable(name=name), name=selected) if name == resource:
            return selected == field
        case Variable():
            return False
        case _:
            return all(_reads_state_alone(part, field, resource) for part in parts(typed))


class Verdict(Enum):
    """What becomes of a caller, before any row is looked at."""

    ADMITTED = "admitted"
    AS_ANYONE = "admitted as anyone"
    """The credential is good, and no line names its scheme; but anyone may call."""
    FORBIDDEN = "forbidden"
    UNAUTHENTICATED = "unauthenticated"
    NOT_SHOWN = "not shown"


class Seen(Enum):
    """Which rows of a resource a caller sees."""

    EVERY = "every row"
    WHERE = "rows where"
    NONE = "no row"
    NOT_SHOWN = "not shown"


@dataclass(frozen=True, slots=True)
class Condition:
    """An expression as it is written, in one line, and the line where it stands."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Rows:
    """Which rows of `resource` are seen; `line`: where that is said."""

    resource: str
    seen: Seen
    condition: str | None
    line: int | None


@dataclass(frozen=True, slots=True)
class Cell:
    """One endpoint for one kind of caller: a scheme's name, or `anyone`, who has no credential.

    `condition`: what has to hold of the request or the row besides. `rows`: what is seen, resource by resource, the one
    that is acted on first; nothing for whom the endpoint does not admit. `states`: those that the row acted on may be
    in, as far as the conditions read nothing but the state; None: the row has none, or it cannot be told.
    """

    who: str
    verdict: Verdict
    condition: str | None = None
    line: int | None = None
    rows: tuple[Rows, ...] = ()
    states: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """An endpoint. `resource` is what it acts on; `becomes`, the state that a transition or a creation leads to.
    `guards` are asked of whoever calls. `blocked`: it answers 501 to everyone; `ninefold gaps` says why."""

    endpoint: str
    line: int
    does: str
    resource: str | None
    becomes: str | None
    guards: tuple[Condition, ...]
    blocked: bool
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Scheme:
    name: str
    line: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """`schemes` in the order in which they are tried. `unseen`: what a row is that the caller may not see; None: not
    shown. `wrong`: the contract has errors, and nothing of it is served."""

    title: str
    schemes: tuple[Scheme, ...]
    unseen: Condition | None
    lines: tuple[Line, ...]
    states: tuple[tuple[str, tuple[str, ...]], ...]
    """The resources with states, each with these."""
    wrong: bool = False


def matrix(contract: Contract, served: Checked | None) -> Matrix:
    """`served` None: the contract has errors."""
    return _Reading(contract, served).matrix()


def _case(endpoint: Endpoint | CheckedEndpoint) -> str:
    """In which of its cases an endpoint is, in words; nothing where it has none."""
    return "" if endpoint.called is None else f", in the case `{endpoint.called}`"


class _Reading:
    def __init__(self, contract: Contract, served: Checked | None) -> None:
        self.contract = contract
        self.survey = Survey(contract)
        self.served = served
        self.endpoints = {} if served is None else {(each.key, _case(each)): each for each in served.endpoints}
        self.stopped = frozenset() if served is None else {each.key for each in served.stopped}

    def matrix(self) -> Matrix:
        unseen = self.contract.authentication.unseen_rows
        word = value_of(unseen)
        machines = {
            name: tuple(each.text for each in value_of(machine.states) or ())
            for name in self.survey.contract.machines
            if (machine := self.survey.contract.machine(name)) is not None
        }
        return Matrix(
            self.contract.document.title or "",
            tuple(Scheme(each.name, self.contract.line(each.span)) for each in self.survey.schemes),
            None if word is None else Condition(word.text, self.contract.line(word.span)),
            tuple(map(self.of, self.survey.endpoints)),
            tuple((name, states) for name, states in machines.items() if states),
            self.served is None,
        )

    def of(self, endpoint: Endpoint) -> Line:
        does = actions(endpoint)
        found = self.endpoints.get((endpoint.key, _case(endpoint)))
        acted_on = next((name for action in does if (name := action.resource)), None)
        whos = (*(each.name for each in self.survey.schemes), ANYONE)
        return Line(
            endpoint=endpoint.key + _case(endpoint),
            line=self.contract.line(endpoint.span),
            does=", ".join(each.written for each in does),
            resource=acted_on,
            becomes=None if found is None else _becomes(found, self.served),
            guards=tuple(self.guards(endpoint)),
            blocked=endpoint.key in self.stopped,
            cells=tuple(self.cell(endpoint, found, who, acted_on) for who in whos),
        )

    def guards(self, endpoint: Endpoint) -> Iterator[Condition]:
        for guard in value_of(endpoint.check) or ():
            yield self.condition(guard.that)
        for action in actions(endpoint):
            transition = self.survey.transition(action)
            for guard in (value_of(transition.check) or ()) if transition is not None else ():
                yield self.condition(guard.that)

    def condition(self, expression: Expression) -> Condition:
        return Condition(_in_one_line(expression), self.contract.line(expression.span))

    # One kind of caller

    def cell(self, endpoint: Endpoint, found: checked.Endpoint | None, who: str, acted_on: str | None) -> Cell:
        admissions = {each.who.text: each for each in self.survey.admitted(endpoint)}
        line = self.survey.permission(endpoint)
        if line is None or (not admissions and not self.survey.admits_nobody(endpoint)):
            return Cell(who, Verdict.NOT_SHOWN)
        refused = self.refused(endpoint, who)
        if refused is not None:
            return Cell(who, refused)
        verdict = Verdict.ADMITTED if who in admissions else Verdict.AS_ANYONE
        counts = who if who in admissions else ANYONE
        admission = admissions[counts]
        condition = value_of(admission.condition)
        if condition is None:
            return Cell(who, Verdict.NOT_SHOWN, line=self.contract.line(admission.who.span))
        return Cell(
            who,
            verdict,
            None if isinstance(condition, Every) else _in_one_line(condition),
            self.contract.line(admission.who.span),
            tuple(self.rows(endpoint, counts, acted_on)),
            self.states(found, counts),
        )

    def refused(self, endpoint: Endpoint, who: str) -> Verdict | None:
        """Why such a caller is not let in, whatever the request says, as that is derived for all that tell of it."""
        derived = [each for each in of_callers(self.survey, endpoint) if each.step is Step.CALLER]
        if who == ANYONE:
            admitted = any(each.who.text == ANYONE for each in self.survey.admitted(endpoint))
            unknown = any(each.condition == "unauthenticated" for each in derived)
            return Verdict.UNAUTHENTICATED if unknown and not admitted else None
        own = {each.span for each in self.survey.schemes if each.name == who}
        forbidden = any(each.condition == "forbidden" and each.fact in own for each in derived)
        return Verdict.FORBIDDEN if forbidden else None

    def rows(self, endpoint: Endpoint, who: str, acted_on: str | None) -> Iterator[Rows]:
        for name in sorted(self.survey.reach[endpoint.key].sees, key=lambda name: (name != acted_on, name)):
            rule = self.survey.row_rule(name, who)
            yield self.rule(name, rule)

    def rule(self, resource: str, rule: Fact[Every | Expression] | None) -> Rows:
        condition = value_of(rule)
        line = None if rule is None else self.contract.line(rule.span)
        if isinstance(condition, Every):
            return Rows(resource, Seen.EVERY, None, line)
        if condition is not None:
            return Rows(resource, Seen.WHERE, _in_one_line(condition), line)
        if isinstance(rule, StatedNone):
            return Rows(resource, Seen.NONE, None, line)
        return Rows(resource, Seen.NOT_SHOWN, None, line)

    def states(self, found: checked.Endpoint | None, who: str) -> tuple[str, ...] | None:
        """The states that a row may be in when such a caller does what the endpoint does."""
        if found is None or self.served is None or found.resource is None or found.kind.row == "new":
            return None
        machine = self.served.resources[found.resource].machine
        if machine is None:
            return None
        taken = None if found.mutation is None else found.mutation.transition
        if taken is not None:
            states: Iterable[str] = (each for each in machine.states if each in taken.origins)
        else:
            states = (each for each in machine.states if each not in machine.gone)
        return possible(tuple(states), machine.field, found.resource, tuple(self.asked(found, who)))

    def asked(self, found: checked.Endpoint, who: str) -> Iterator[Typed]:
        """Everything that has to hold of the row, for such a caller."""
        assert self.served is not None and found.resource is not None
        taken = None if found.mutation is None else found.mutation.transition
        if taken is not None:
            yield from (guard.that for guard in taken.guards)
        yield from (guard.that for guard in found.operation.guards)
        if found.operation.where is not None:
            yield found.operation.where
        yield from (each.condition for each in found.admissions if each.who == who and each.condition is not None)
        rule = self.served.row_rules.get(found.resource, {}).get(who)
        if rule is not None:
            yield rule


def _becomes(found: checked.Endpoint, served: Checked | None) -> str | None:
    mutation = found.mutation
    if mutation is not None and mutation.further:
        return mutation.further[-1].to
    if mutation is not None and mutation.transition is not None:
        return mutation.transition.to
    machine = None if served is None or found.resource is None else served.resources[found.resource].machine
    return machine.initial if machine is not None and found.kind.row == "new" else None


def _in_one_line(expression: Expression) -> str:
    return " ".join(expression.text.split())
