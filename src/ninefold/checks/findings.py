"""What the checks find, and the places that they find it at."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import field
from functools import cached_property

from ninefold.checked.resources import Field
from ninefold.checks.never_equal import never_equal
from ninefold.checks.schemas import SharedSchemas
from ninefold.contract.service import Contract
from ninefold.contract.survey import Survey
from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import NO_SUCH_FIELD, NO_SUCH_FUNCTION, NO_SUCH_NAME, NOT_IN_FORCE
from ninefold.diagnostics.diagnostic import Code, Diagnostic, Label
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Source, Span
from ninefold.diagnostics.suggest import did_you_mean, is_guess, nearest
from ninefold.expressions.ast import Invocation, Member, Name, Problem, every, reads_member
from ninefold.expressions.check import check
from ninefold.expressions.reads import computed_of, needs_database
from ninefold.expressions.scope import Inferred, Scope
from ninefold.expressions.tree import Select, Typed, walk, with_inner_quotes
from ninefold.language.expressions import Expression
from ninefold.language.fact import value_of
from ninefold.language.resources import Resource
from ninefold.language.states import Transition
from ninefold.language.terms import names_in
from ninefold.plan.service import NotInForce
from ninefold.sql.expressions import Item, sql_problem
from ninefold.values import Anything, Array, Boolean, Object, Row, Text, Type

_WORD = regex.compile(r"\w+(?:[-/]\w+)*")
"""What people write for a text, and CEL reads as names: `Celsius`, `no-store`, `text/plain`."""


@dataclass
class Findings:
    """Diagnostics in the making, and the contract that they are about. `stops` holds for each endpoint, by its
    key, why it is not served."""

    contract: Contract
    diagnostics: list[Diagnostic] = field(default_factory=list)
    not_in_force: list[NotInForce] = field(default_factory=list)
    stops: dict[str, list[str]] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()
    """Resources that are named and not known, because something of them is a gap."""
    more_back_references: bool = False
    """An `inverse` is a gap: rows may be referred back to under a name that is not shown."""
    all_unknown: bool = False
    """Part 2 is a gap: any name may be a resource's."""
    _written: dict[int, tuple[Typed, Span]] = field(default_factory=dict)
    """Where each expression is written, by its `id`, for as long as it is kept here."""

    @property
    def source(self) -> Source:
        return self.contract.document.source

    @cached_property
    def survey(self) -> Survey:
        return Survey(self.contract)

    @cached_property
    def resources(self) -> tuple[Resource, ...]:
        """Those that are stated."""
        return value_of(self.contract.resources.resources) or ()

    @cached_property
    def transitions(self) -> tuple[tuple[str, Transition], ...]:
        """Those of all machines that are stated, each with the resource whose it is."""
        stated = ((name, value_of(machine)) for name, machine in self.survey.contract.machines.items())
        return tuple(
            (name, each) for name, own in stated if own is not None for each in value_of(own.transitions) or ()
        )

    @cached_property
    def terms(self) -> tuple[str, ...]:
        return names_in(self.contract.document.part("resources"))

    @cached_property
    def schemas(self) -> SharedSchemas:
        """The schemas of the contract, each made once."""
        return SharedSchemas(self.contract)

    def say(self, code: Code, message: str, *labels: Label, help: tuple[str, ...] = ()) -> None:
        slip = self.contract.slips.get(labels[0].span) if labels else None
        self.diagnostics.append(Diagnostic(code, message, labels, help if slip is None else (slip, *help)))

    def stands(self, typed: Typed, span: Span) -> Typed:
        """The same, of which it is kept where it is written."""
        self._written[id(typed)] = typed, span
        return typed

    def span(self, typed: Typed) -> Span:
        """Where an expression is written that has been read."""
        return self._written[id(typed)][1]

    def tell(self, problem: Problem, span: Span, *more: Label) -> None:
        """Says what is wrong with an expression."""
        self.say(problem.code, problem.message, Label(span, problem.label), *more, help=problem.help)

    def in_sql(self, found: Typed, problem: Problem | None, span: Span) -> Typed | None:
        """The expression, where nothing is wrong with it in a statement."""
        if problem is None:
            return found
        self.tell(problem, span)
        return None

    def may_be_a_gap(self, name: str, scope: Scope) -> bool:
        return name in self.unknown or (self.all_unknown and name not in scope.variables)

    def apart(self) -> Findings:
        """The same, of which the diagnostics are not told yet."""
        own = copy(self)
        own.diagnostics = []
        return own

    def left_for_later(self, what: str, consequence: str, span: Span) -> None:
        """A stated fact that this build does not put in force."""
        self.say(NOT_IN_FORCE, f"{what} is not in force in this build", Label(span, consequence))
        self.not_in_force.append(NotInForce(what, consequence, self.place(span)))

    def stop(self, endpoint: str, reason: str, span: Span) -> None:
        """An endpoint is not served."""
        self.stops.setdefault(endpoint, []).append(f"{reason} (line {self.place(span).line})")

    def place(self, span: Span) -> Place:
        return self.source.place(span.start)


def typed(
    expression: Expression, scope: Scope, expected: Type | None, findings: Findings, in_sql: bool = True
) -> Typed | None:
    """The expression with its types; None if it has none, and then it has been said why. `in_sql`: where it reads
    rows, it has to become part of a statement."""
    return inferring(expression, scope, expected, findings, in_sql)[0]


def inferring(
    expression: Expression, scope: Scope, expected: Type | None, findings: Findings, in_sql: bool = True
) -> tuple[Typed | None, Type | None]:
    """The same, and the type that the expression gives to `value`."""
    if any(isinstance(node, Name) and findings.may_be_a_gap(node.name, scope) for node in every(expression.ast)):
        # What it reads is a gap, which has been told; whether the rest is right nobody can say yet.
        return None, None
    checking = check(expression.ast, scope, expected)
    is_page = bool(scope.rows_of(expression.text.strip()))
    problems = tuple(_of_a_term(each, expression, findings.terms) for each in checking.problems)
    problems = problems if is_page else _one_word(expression, problems, expected)
    if findings.unknown or findings.more_back_references:
        # A resource that is not known yet may refer back to others under any name.
        problems = tuple(problem for problem in problems if problem.code is not NO_SUCH_FIELD)
    if problems and reads_member(expression.ast, "request", _open_groups(scope)):
        return None, None
    found = checking.typed
    rows = _rows(scope)
    if in_sql and found is not None and any(_is_wrong(node, scope) for node in walk(found)):
        return None, checking.inferred.get("value")
    if in_sql and found is not None and needs_database(found, rows, scope.model):
        problem = sql_problem(found, rows, model=scope.model, places=checking.places)
        if problem is not None:
            problems, found = (problem,), None
    for problem in problems:
        span = expression.written.part(problem.start, problem.end)
        named = findings.source.cut(span)
        inside = (
            Label(term.span, f"`{named}` is this") for term in expression.terms if term.text == named.partition("(")[0]
        )
        findings.tell(problem, span, *inside)
    if found is not None:
        findings.diagnostics += never_equal(found, checking.places, expression, findings.survey, findings.schemas)
        findings.stands(found, expression.span)
    return found, checking.inferred.get("value")


def _open_groups(scope: Scope) -> Collection[str]:
    """What of a request is a gap here: which members it has is not shown, and not of which type they are."""
    request = scope.variables.get("request")
    if not isinstance(request, Object):
        return ()
    if request.members is None:
        return ("path", "query", "headers", "body")
    return [
        name
        for name, type_ in request.members.items()
        if isinstance(type_, Object) and not type_.members and type_.others is None
    ]


def _rows(scope: Scope) -> dict[str, str | Item]:
    """What the names of a scope stand for in a statement."""
    found: dict[str, str | Item] = {}
    for name, type_ in scope.variables.items():
        if isinstance(type_, Row):
            found[name] = name
        elif name in scope.items and not isinstance(type_, Inferred):
            found[name] = Item(name, type_)
    return found


def reads_database(typed: Typed, scope: Scope) -> bool:
    return needs_database(typed, _rows(scope), scope.model)


def several(expression: Expression, scope: Scope, findings: Findings) -> Typed | None:
    """An array of which the items are wanted one by one, as the database gives them."""
    found = typed(expression, scope, None, findings, in_sql=False)
    if found is None or not isinstance(found.type, Array) or any(_is_wrong(node, scope) for node in walk(found)):
        return found
    problem = sql_problem(found, _rows(scope), model=scope.model, several=True)
    return findings.in_sql(found, problem, expression.written.part(expression.ast.start, expression.ast.end))


def _of_a_term(problem: Problem, expression: Expression, terms: Collection[str]) -> Problem:
    """What is wrong with a name, with the term that was probably meant by it."""
    if problem.code not in (NO_SUCH_NAME, NO_SUCH_FUNCTION) or not terms:
        return problem
    for node in every(expression.ast):
        match node:
            case (
                Member(operand=Name(name=root, start=start), name=read)
                | Invocation(target=Name(name=root), function=read, name_start=start)
            ) if start == problem.start and root.casefold() in ("terms", "term"):
                help = f"a term is read by its name alone: `{nearest(read, terms) or next(iter(terms))}`"
                return replace(problem, help=(help,))
            case _:
                pass
    named = expression.text[problem.start : problem.end]
    guessed = [each.split("`")[1] for each in problem.help if is_guess(each)]
    near = () if named.partition("(")[0] in terms else did_you_mean(named, (*guessed, *terms))
    return replace(problem, help=near or problem.help)


def _one_word(expression: Expression, problems: tuple[Problem, ...], expected: Type | None) -> tuple[Problem, ...]:
    """A text whose inner quotes were forgotten is one mistake, however many names it is read as: `no-store`."""
    text = expression.text.strip()
    names = [node for node in every(expression.ast) if isinstance(node, Name)]
    unknown = [problem for problem in problems if problem.code is NO_SUCH_NAME]
    if not unknown or expression.terms or len(unknown) < len(names) or _WORD.fullmatch(text) is None:
        return problems
    near = [] if len(names) > 1 else [each for each in unknown[0].help if not each.startswith("text stands")]
    inner = f"text has inner quotes: `{with_inner_quotes(text)}`"
    help = (*near, inner) if not near or expected is None or isinstance(expected, Text | Anything) else tuple(near)
    message = f"`{text}` is not a name that can be read here"
    return (replace(unknown[0], message=message, start=unknown[0].start, end=unknown[0].start + len(text), help=help),)


def _is_wrong(node: Typed, scope: Scope) -> bool:
    """Whether this reads a computed field whose expression has no types: that has been told there."""
    return isinstance(node, Select) and node.through == "computed" and computed_of(node, scope.model) is None


def condition(expression: Expression, scope: Scope, findings: Findings) -> Typed | None:
    """An expression that holds or does not."""
    return typed(expression, scope, Boolean(), findings)


# What was probably meant by the name of a field that is not there.


def meant(name: str, fields: Mapping[str, Field]) -> tuple[str, ...]:
    """A change of part 9 has the names of the document, whatever the callers of its version call them. What is worked
    out for a version alone has no name that could be written."""
    called = next((each.name for each in fields.values() if each.called == name), None)
    if called is None:
        return did_you_mean(name, [each for each in fields if each.isidentifier()])
    if called.isidentifier():
        return (f"what a change says has the names of the document: `{called}`",)
    return (f"`{name}` is worked out for that version alone: `{{{name}: EXPRESSION}}` shows it",)
