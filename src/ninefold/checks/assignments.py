"""What the contract gives fields and asks of values: constants are held to the schema of their field, and what only the
database knows, the statement alone can make; what happens by itself is due by the clock, and from the row alone; where
each rule stands that a value has to keep; and what is well said, and cannot be kept or checked as it is said."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ninefold.checked.resources import Anew, Field, Resource
from ninefold.checks.findings import Findings, typed
from ninefold.checks.looked_at import check_looks
from ninefold.checks.model import Vocabulary
from ninefold.checks.unkept import check_kept
from ninefold.contract.shared_types import DEEPEST, MOST_PARTS, PREFIX, types_in
from ninefold.diagnostics.codes import (
    NOT_MADE_OF_ROWS,
    SAME_BUT_FOR_CASE,
    SECOND_SERIAL,
    TIMER_WITHOUT_REQUEST,
    TYPE_IN_ITSELF,
    VALUE_TOO_LARGE,
    WRONG_TYPE,
)
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.place import Place
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Invocation
from ninefold.expressions.reads import computed_of, fields_read, in_statement, is_new_each_time, needs_database
from ninefold.expressions.scope import Model, Scope, describe
from ninefold.expressions.tree import Select, Typed, free_variables, walk
from ninefold.language import resources as stated
from ninefold.language.expressions import Assignment, Expression
from ninefold.language.fact import Fact, Shown, value_of
from ninefold.language.schemas import Schema
from ninefold.language.verbs import Verb
from ninefold.plan.routes import Rule
from ninefold.sql.expressions import sql_problem
from ninefold.syntax.nodes import Entry, Node, Scalar, Sequence
from ninefold.syntax.nodes import Mapping as MappingNode
from ninefold.values import Object, Row, Type, optional, required
from ninefold.values.keywords import EACH, SAME_VALUE


def check_made(resource: Resource, declared: stated.Resource, vocabulary: Vocabulary, findings: Findings) -> None:
    """Says of values given on create or on change that need the database and that no statement can make. What the
    statements of endpoints make besides is asked in `check_made_with`."""
    model = vocabulary.model
    created, changed = (in_statement(_all_made(resource, inserts), resource.name, model) for inserts in (True, False))
    for each in value_of(declared.fields) or ():
        stated_values = {each.at_creation} if each.name in created else set()
        stated_values |= {one.value for one in value_of(each.on_change) or ()} if each.name in changed else set()
        for value in sorted(filter(None, stated_values), key=lambda value: value.span):
            _check(resource.fields[each.name], resource, value, vocabulary, findings)
        # Each by itself a statement can hold, or need not: it holds them all where it makes one of them.
        anew, together = [one.value for one in resource.fields[each.name].anew], changed.get(each.name)
        if anew and together and _no_statement(together, resource, model):
            if not any(_no_statement(one, resource, model) for one in anew):
                message = f"`{resource.name}.{each.name}` is made of rows, or of what no statement can make"
                findings.say(NOT_MADE_OF_ROWS, message, Label(each.span, "by which field changes"))


def _no_statement(value: Typed, resource: Resource, model: Model) -> bool:
    """Whether no statement can hold it that writes the row."""
    return sql_problem(value, (resource.name,), model=model) is not None


def _all_made(resource: Resource, inserts: bool) -> dict[str, Typed]:
    """What the contract gives the fields of a row."""
    found = {name: _made(field, resource, inserts) for name, field in resource.fields.items()}
    return {name: made for name, made in found.items() if made is not None}


def _check(field: Field, resource: Resource, given: Expression, vocabulary: Vocabulary, findings: Findings) -> None:
    if field.secret is not None:
        findings.say(
            NOT_MADE_OF_ROWS,
            f"`{resource.name}.{field.name}` is a secret, and is made of rows",
            Label(given.span, "only the database knows this"),
        )
        return
    typed(given, vocabulary.scope(resource.name), optional(field.type), findings)


def check_made_with(
    sets: Mapping[str, Typed],
    fact: Fact[tuple[Assignment, ...]] | None,
    resource: Resource,
    kind: Verb,
    vocabulary: Vocabulary,
    findings: Findings,
    given: Collection[str] = (),
    several: bool = False,
    asked: Mapping[str, Span] = MappingProxyType({}),
) -> None:
    """Says where what `sets` gives, or the path, makes the statement make another field, whose expression no statement
    can hold. `given`: the fields that the body gives; `several`: several rows are written by one statement; `asked`:
    the references that the path sets by another field than the primary key, and where."""
    model = vocabulary.model
    changes = not kind.makes or (kind.may_make and not kind.compares)
    for inserts in [True] * kind.makes + [False] * changes if sets or asked else ():
        made, reads = _made_beside(sets, given, resource, kind, inserts)
        others = {name: value for name, value in _all_made(resource, inserts).items() if name not in sets}
        alone = in_statement(others, resource.name, model)
        # An update makes in its statement whatever reads the row that it changes.
        by_row = set() if inserts else {name for name, value in sets.items() if needs_database(value, (resource.name,))}
        by_path = asked if inserts else {}
        by_statement = in_statement({**reads, **sets}, resource.name, model, by_row.union(by_path))
        for name, value in (reads if several else made).items():
            if name not in by_statement or name in alone or not _no_statement(value, resource, model):
                continue
            for reference in sorted(by_path.keys() & fields_read(value, resource.name, model)):
                findings.say(
                    NOT_MADE_OF_ROWS,
                    f"`{resource.name}.{name}` is made of `{reference}`, which only the database knows",
                    Label(by_path[reference], "says which by another field than the primary key"),
                )
            for each in value_of(fact) or ():
                if each.name in by_statement or each.name in by_row:
                    findings.say(
                        NOT_MADE_OF_ROWS,
                        f"`{resource.name}.{name}` is made of `{each.name}`, which only the database knows",
                        Label(each.value.span, "reads rows"),
                    )


def _made_beside(
    sets: Collection[str], given: Collection[str], resource: Resource, kind: Verb, inserts: bool
) -> tuple[dict[str, Typed], dict[str, Typed]]:
    """What the contract gives the other fields of a row that is made, or that is changed, as far as the write may
    change what they are made of; and the same with what it watches for that."""
    if inserts:
        made = {name: value for name, value in _all_made(resource, True).items() if name not in sets}
        return made, made
    touched = {*given, *sets, *(name for name in resource.fields if kind.moves and resource.is_state(name))}
    anew = resource.made_on_change(touched, touched if kind.is_whole else sets)
    found, watched = dict[str, Typed](), dict[str, Typed]()
    left_out = given if kind.is_whole else ()
    for name, field in resource.fields.items():
        if name in anew:
            found[name] = resource.made_anew(anew[name])
            fields = tuple(each for one in anew[name] for each in one.fields)
            watched[name] = resource.made_anew([Anew(fields, found[name])], resource.own(name))
        elif name not in sets and (value := field.on_change or (_left_out(field) if name in left_out else None)):
            found[name] = value
    return found, found | watched


def _left_out(field: Field) -> Typed | None:
    """What a field that the body may give, and leaves out, has where the row is replaced."""
    return None if field.on_create is None or is_new_each_time(field.on_create) else field.on_create


def _made(field: Field, resource: Resource, inserts: bool) -> Typed | None:
    if inserts:
        return field.on_create or field.on_change
    return field.on_change or (resource.made_anew(field.anew, resource.own(field.name)) if field.anew else None)


# ── By the clock ─────────────────────────────────────────────────────────────────────────────────────────────────────


OF_REQUESTS = frozenset({"caller", "request"})


def time_of_row(
    expression: Expression, resource: str, types: tuple[Type, ...], vocabulary: Vocabulary, findings: Findings
) -> Typed | None:
    """An expression that gives a time, or a duration, from a row alone."""
    scope = Scope({resource: Row(resource=resource), "operator": Object()}, vocabulary.model)
    found = typed(expression, scope, None, findings)
    if found is None:
        return None
    read = roots(found, vocabulary.model) & {"now", *OF_REQUESTS}
    for root in sorted(read):
        message = f"when something of `{resource}` is due depends on `{root}`"
        findings.say(TIMER_WITHOUT_REQUEST, message, Label(expression.span, f"reads `{root}`"))
    if required(found.type) not in types:
        wanted = " or ".join(map(describe, types))
        message = f"the expression is {describe(found.type)}, and {wanted} is needed here"
        findings.say(WRONG_TYPE, message, Label(expression.span, f"this is {describe(found.type)}"))
    return None if read or required(found.type) not in types else found


def roots(typed: Typed, model: Model, seen: frozenset[tuple[str, str]] = frozenset()) -> set[str]:
    """The roots that an expression reads, through computed fields as well."""
    found = free_variables(typed)
    for node in walk(typed):
        if isinstance(node, Select) and node.through == "computed":
            computed = computed_of(node, model)
            if computed is not None and (computed[0], node.name) not in seen:
                found |= roots(computed[1], model, seen | {(computed[0], node.name)})
    return found


# ── Where rules stand ────────────────────────────────────────────────────────────────────────────────────────────────


_WEIGHING = frozenset({"anyOf", "oneOf", "not", "contains", "propertyNames"})


@dataclass(frozen=True)
class Rules:
    """The rules of fields and parameters, with the places of a contract."""

    findings: Findings

    def of_field(self, field: stated.Field, resource: stated.Resource) -> tuple[Rule, ...]:
        own, seen = value_of(field.schema), field.seen
        schemas = (
            [own] if seen is None or seen.schema is None else [seen.schema, *([own] if seen.stored is None else [])]
        )
        found = [rule for each in schemas if each is not None for rule in self.of_parameter(each)]
        for names in (value_of(resource.required) or (), value_of(resource.primary_key) or ()):
            found += [self._rule((), "required", each.span) for each in names if each.text == field.name]
        marks = (("unique", field.unique), ("immutable", field.immutable), ("references", field.references))
        for keyword, fact in marks:
            if isinstance(fact, Shown):
                found.append(self._rule((), keyword, fact.span))
        return tuple(found)

    def of_parameter(self, schema: Schema) -> tuple[Rule, ...]:
        return tuple(self._of_schema(schema.node, schema.json, ()))

    def _rule(self, path: tuple[str, ...], keyword: str, span: Span) -> Rule:
        return Rule(path, keyword, self.findings.place(span))

    def _of_schema(self, node: Node, schema: Any, path: tuple[str, ...]) -> Iterator[Rule]:
        """`schema`: what was read of the node. What is `none`, or cannot be read, is no rule."""
        entries = node.entries if isinstance(node, MappingNode) and isinstance(schema, dict) else ()
        decides = next((each.key.span for each in entries if each.name == "if"), None)
        for entry in entries:
            if entry.name in schema:
                yield self._rule(path, entry.name, entry.key.span)
                decided = set[tuple[tuple[str, ...], str]]()
                for rule in self._of_keyword(entry, schema[entry.name], path):
                    yield rule
                    if (
                        entry.name in ("then", "else")
                        and decides is not None
                        and (rule.path, rule.keyword) not in decided
                    ):
                        decided.add((rule.path, rule.keyword))
                        yield self._rule(rule.path, rule.keyword, decides)

    def _of_keyword(self, entry: Entry, read: Any, path: tuple[str, ...]) -> Iterator[Rule]:
        value = entry.value
        match value:
            case Scalar(text=text) if entry.name == "$ref":
                yield from self._of_type(text.removeprefix(PREFIX), path)
            case MappingNode(entries=entries) if entry.name == "properties":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), (*path, each.name))
            case MappingNode(entries=entries) if entry.name == "patternProperties":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), (*path, "*"))
            case Sequence(items=items) if entry.name == "required":
                for item in items:
                    if isinstance(item, Scalar):
                        yield self._rule((*path, item.text), "required", item.span)
            case MappingNode(entries=entries) if entry.name == "dependentRequired":
                for item in (item for each in entries if isinstance(each.value, Sequence) for item in each.value.items):
                    if isinstance(item, Scalar):
                        yield self._rule((*path, item.text), "required", item.span)
            case MappingNode(entries=entries) if entry.name == "dependentSchemas":
                for each in entries:
                    yield from self._of_schema(each.value, read.get(each.name), path)
            case MappingNode() | Sequence() if entry.name in EACH or entry.name in SAME_VALUE:
                below = (*path, "*") if entry.name in EACH else path
                items = value.items if isinstance(value, Sequence) else (value,)
                weighed = set[Place]()
                for node, schema in zip(items, read if isinstance(read, list) else (read,), strict=True):
                    for rule in self._of_schema(node, schema, below):
                        yield rule
                        # Of a keyword that weighs schemas it is told that it is not kept, and of them nothing; once of
                        # each place, or schemas in each other double what is told with every one.
                        if entry.name in _WEIGHING and rule.place not in weighed:
                            weighed.add(rule.place)
                            yield Rule(path, entry.name, rule.place)
            case _:
                pass

    def _of_type(self, name: str, path: tuple[str, ...]) -> Iterator[Rule]:
        shared = self.findings.contract.shared_types.bounded.get(name)
        schema = None if shared is None else value_of(shared.schema)
        if schema is not None:
            yield from self._of_schema(schema.node, schema.json, path)


# ── What cannot be stored ────────────────────────────────────────────────────────────────────────────────────────────


def storable(findings: Findings) -> None:
    """Says of names that a database does not tell apart, of second serial numbers and of types without an end."""
    resources = findings.resources
    _case([(each.name, each.span) for each in resources], "", findings)
    for resource in resources:
        fields = value_of(resource.fields) or ()
        _case([(each.name, each.span) for each in fields], f"{resource.name}.", findings)
        serial = [each for each in fields if is_serial(each)]
        for each in serial[1:]:
            findings.say(
                SECOND_SERIAL,
                f"`{resource.name}` has two fields made by `serial()`",
                Label(each.span, "the second"),
                Label(serial[0].span, "the first"),
            )
    _unbounded(findings)
    check_looks(findings)
    check_kept(findings)


def is_serial(field: stated.Field) -> bool:
    made = value_of(field.on_create)
    return made is not None and isinstance(made.ast, Invocation) and made.ast.function == "serial"


def _case(names: Iterable[tuple[str, Span]], prefix: str, findings: Findings) -> None:
    first: dict[str, tuple[str, Span]] = {}
    for name, span in names:
        known, at = first.setdefault(name.lower(), (name, span))
        if known != name:
            findings.say(
                SAME_BUT_FOR_CASE,
                f"`{prefix}{known}` and `{prefix}{name}` differ in case alone",
                Label(span, "to a database the same"),
                Label(at, "first here"),
            )


def _unbounded(findings: Findings) -> None:
    """Says of types from which their own references lead back to them, and of values with too much in them."""
    types = findings.contract.shared_types
    for each in findings.contract.resources.types:
        if each.name in types.endless:
            message = f"the type `{each.name}` contains itself"
            findings.say(TYPE_IN_ITSELF, message, Label(each.span, "has no greatest depth"))
    told = {each.name for each in findings.contract.resources.types if each.name not in types.bounded} - types.endless
    for each in findings.contract.resources.types:
        own = value_of(each.schema)
        within = set(() if own is None else types_in(own.json))
        if each.name in told and not within & (told | types.endless):
            message = f"with the types that it refers to, a value of `{each.name}` is too large"
            at_most = f"{MOST_PARTS:,} schemas, and {DEEPEST} types within each other"
            findings.say(VALUE_TOO_LARGE, message, Label(each.span, f"at most {at_most}"))
    for resource in findings.resources:
        for field in value_of(resource.fields) or ():
            schema = value_of(field.schema)
            if schema is None or not all(name in types.bounded for name in types_in(schema.json)):
                continue
            extent = types.extent(schema.json)
            if extent is not None and not extent.is_bounded:
                message = f"with the types that it refers to, a value of `{resource.name}.{field.name}` is too large"
                findings.say(VALUE_TOO_LARGE, message, Label(field.span, f"at most {MOST_PARTS:,} schemas"))
