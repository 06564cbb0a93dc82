"""What operations give the rows that they write, and what other rows have to do with it: what is unique, what has to be
there, and what falls with a deletion; the fields by which the row of `put` is known; and the fields
that a body gives, and where in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set

from ninefold.contract.reach import body_names, names_in
from ninefold.contract.survey import Survey, actions
from ninefold.diagnostics.frozen import dataclass, replace
from ninefold.diagnostics.source import Span
from ninefold.expressions.ast import Ast, Const, Invocation, Literal, Member, Name
from ninefold.expressions.functions import NEVER_TWICE
from ninefold.expressions.terms import is_another_each_time
from ninefold.language.effects import Effect
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Assignment, Expression, Items, Leaf, Members, OnChange, Template
from ninefold.language.fact import Shown, is_stated, value_of
from ninefold.language.resources import Field, Resource
from ninefold.language.routes import PathName
from ninefold.language.states import Transition
from ninefold.language.verbs import kind_of


def verbs(endpoint: Endpoint) -> frozenset[str]:
    """What it does, a transition by the one word `transition`."""
    return frozenset("transition" if action.is_transition else action.verb for action in actions(endpoint))


def makes(endpoint: Endpoint) -> bool:
    """Whether it makes a row of the contract's own."""
    return any(kind_of(action.verb).makes for action in actions(endpoint))


def changes(endpoint: Endpoint) -> bool:
    """Whether it changes one by what the request gives."""
    return any(kind_of(action.verb).changes and not action.is_transition for action in actions(endpoint))


def is_whole(endpoint: Endpoint) -> bool:
    """Whether what is not given is made as on create."""
    return any(kind_of(action.verb).is_whole for action in actions(endpoint))


def gives_values(endpoint: Endpoint) -> bool:
    """Whether it makes or changes one."""
    return any(kind_of(action.verb).gives_values for action in actions(endpoint))


@dataclass(frozen=True)
class Change:
    """A row of `resource` that an operation makes (`inserts`) or changes: fields that the body gives, those that the
    contract `sets`, and, of a new row, the references that the path sets; the fields by which `put` knows its row; of
    an effect, those that are set to a member `of_request`, whether `each` item is the request's, and the resource of
    the row `acting`, which it follows from. `several`: it is of all of them. `after`: how many operations are done
    before. `moves`: its state, by a transition."""

    resource: Resource
    inserts: bool
    sets: Mapping[str, Expression]
    body: frozenset[str] = frozenset()
    from_path: frozenset[str] = frozenset()
    known_by: tuple[str, ...] = ()
    of_request: frozenset[str] = frozenset()
    each_of_request: bool = False
    several: bool = False
    after: int = 0
    moves: bool = False
    acting: str = ""

    @property
    def changed(self) -> frozenset[str]:
        """The fields that it may change, but those that are made anew because others change."""
        always = (each.name for each in value_of(self.resource.fields) or () if each.at_every_write is not None)
        state = self.resource.state if self.moves else None
        return self.body.union(self.sets, always, () if state is None else (state.text,))

    def anew(self, of: Field) -> tuple[OnChange, ...]:
        """What gives a field another value, of a row that is there, because others change."""
        return () if self.inserts else tuple(each for each in of.anew if self._may_change(each, frozenset((of.name,))))

    def _may_change(self, change: OnChange, beyond: frozenset[str]) -> bool:
        fields = {each.name: each for each in value_of(self.resource.fields) or ()}
        for name in {each.text for each in change.fields} - beyond:
            if name in self.changed:
                return True
            of = fields.get(name)
            if of is not None and any(self._may_change(each, beyond | {name}) for each in of.anew):
                return True
        return False

    def made(self, of: Field) -> Expression | None:
        """What gives a field its value, where the body does not."""
        anew = next((each.value for each in self.anew(of)), None)
        return self.sets.get(of.name) or (of.at_creation if self.inserts else of.at_every_write or anew)


def changed_rows(survey: Survey, endpoint: Endpoint) -> Iterator[Change]:
    """The rows that an endpoint itself makes or changes, effects apart."""
    for number, action in enumerate(actions(endpoint)):
        own = survey.graph.resources.get(action.resource or "")
        if own is None or not kind_of(action.verb).gives_values:
            continue
        inserts = kind_of(action.verb).makes
        taken = survey.transition(action)
        stated = (*((value_of(endpoint.sets) or ()) if number == 0 else ()), *_sets(taken))
        body = {name for owner, name in survey.body_fields(endpoint) if owner == own.name} if number == 0 else set()
        if not inserts:
            body -= {each.text for each in value_of(own.primary_key) or () if _is_fixed(survey, own, each.text)}
        yield Change(
            own,
            inserts,
            {each.name: each.value for each in stated},
            frozenset(body),
            from_path(survey, endpoint, own.name) if inserts else frozenset(),
            known_by(survey, endpoint, own.name) if kind_of(action.verb).may_make else (),
            several=action.all,
            after=number,
            moves=taken is not None,
        )


def of_effect(survey: Survey, effect: Effect, acting: str) -> Change | None:
    """The row that an effect makes or changes, upon a row of a resource; None: it deletes one, or there is no such
    resource."""
    own = survey.graph.resources.get(effect.subject)
    if own is None or kind_of(effect.verb).removes:
        return None
    sets = {each.name: each.value for each in (*effect.sets, *_sets(survey.transition(effect.does)))}
    of_each = effect.each is not None and "request" in names_in(effect.each.ast)
    roots = {"request", "each"} if of_each else {"request"}
    named = frozenset(name for name, each in sets.items() if _root(each.ast) in roots)
    inserts = kind_of(effect.verb).makes
    several = not inserts and not effect.is_of_one(own.keys, survey.graph.same(effect.subject))
    return Change(
        own, inserts, sets, of_request=named, each_of_request=of_each, several=several,
        moves=effect.does.is_transition, acting=acting,
    )  # fmt: skip


def _sets(transition: Transition | None) -> tuple[Assignment, ...]:
    return () if transition is None else value_of(transition.sets) or ()


def _root(ast: Ast) -> str | None:
    """The root that a member is of: `each` of `each.product`."""
    match ast:
        case Member(operand):
            return operand.name if isinstance(operand, Name) else _root(operand)
        case _:
            return None


def _is_fixed(survey: Survey, own: Resource, name: str) -> bool:
    found = survey.graph.fields.get(own.name, {}).get(name)
    made = None if found is None else value_of(found.on_create)
    is_serial = made is not None and isinstance(made.ast, Invocation) and made.ast.function == "serial"
    return is_serial or (found is not None and isinstance(found.immutable, Shown))


def _leading(survey: Survey, endpoint: Endpoint, resource: str) -> Iterator[tuple[tuple[str, ...], Span]]:
    """What each name in the path leads through, from the row of a resource."""
    for each in endpoint.segments:
        if isinstance(each, PathName):
            yield survey.led(resource, each), each.span


def from_path(survey: Survey, endpoint: Endpoint, resource: str) -> frozenset[str]:
    """The references of a new row that the path sets."""
    return frozenset(names[0] for names, _ in _leading(survey, endpoint, resource) if len(names) > 1)


@dataclass(frozen=True)
class Key:
    """Fields that together no two rows have alike."""

    fields: tuple[str, ...]
    span: Span


def keys(survey: Survey, change: Change) -> Iterator[Key]:
    """The keys that a write may bring to collide. A value that never comes twice does not."""
    own, fields = change.resource, survey.graph.fields.get(change.resource.name, {})
    groups: dict[tuple[str, ...], Span] = {}
    if identifier := value_of(own.primary_key):
        groups[tuple(each.text for each in identifier)] = identifier[0].span
    for each in fields.values():
        if is_stated(each.unique) and each.unique is not None:
            groups.setdefault((each.name,), each.unique.span)
    for group in value_of(own.unique) or ():
        groups.setdefault(tuple(each.text for each in group), group[0].span)
    groups.pop(change.known_by, None)
    for names, span in groups.items():
        members = [fields[name] for name in names if name in fields]
        made = {
            each.name: change.made(each) for each in members if each.name not in change.body or each.name in change.sets
        }
        written = any(each.name in change.body or made[each.name] is not None for each in members)
        if members and (change.inserts or written) and not any(map(_never_taken, made.values())):
            yield Key(names, span)


def _never_taken(made: Expression | None) -> bool:
    return made is not None and isinstance(made.ast, Invocation) and made.ast.function in NEVER_TWICE


@dataclass(frozen=True)
class Reference:
    """A reference that a write stores. `given`: the client gives it."""

    resource: str
    field: str
    target: str
    given: bool
    span: Span


def references(survey: Survey, change: Change) -> Iterator[Reference]:
    """The references whose rows have to be there."""
    for name, each in survey.graph.fields.get(change.resource.name, {}).items():
        target = value_of(each.references)
        if target is None or name in change.from_path:
            continue
        made = change.made(each)
        if name in change.of_request or (name in change.body and name not in change.sets):
            yield Reference(change.resource.name, name, target.text, True, each.span)
        if made is not None and name not in change.of_request and not _is_null(made.ast):
            yield Reference(change.resource.name, name, target.text, False, each.span)


def _is_null(ast: Ast) -> bool:
    return isinstance(ast, Literal) and ast.value is None


@dataclass(frozen=True)
class Referring:
    """A field that refers to rows that a deletion takes, and what becomes of it."""

    subject: str
    target: str
    word: str
    span: Span


def referring(survey: Survey, deleted: frozenset[str]) -> Iterator[Referring]:
    """The fields that refer to rows of resources that are deleted."""
    found = ((target, *each) for target in deleted for each in survey.graph.referring.get(target, ()))
    for target, resource, own in sorted(found, key=lambda each: each[-1].span):
        word = value_of(own.on_delete)
        span = own.on_delete.span if own.on_delete is not None else own.span
        yield Referring(f"{resource}.{own.name}", target, word.text if word is not None else "", span)


def known_by(survey: Survey, endpoint: Endpoint, resource: str) -> tuple[str, ...]:
    """The first of the primary key, the unique fields and the lists of them whose values are all at hand, one that the
    path names a field of before the others. `()`: none is, or, of `put`, `where` says which row is meant."""
    own = survey.graph.resources.get(resource)
    is_said = endpoint.where is not None and makes(endpoint)
    if own is None or is_said:
        return ()
    fields = survey.graph.fields.get(resource, {})
    in_path = named_in_path(survey, endpoint, resource)
    at_hand = in_path | _given(survey, endpoint, resource) | {n for n, each in fields.items() if _is_the_same(each)}
    whole = [group for group in own.keys if at_hand.issuperset(group)]
    return min(whole, key=lambda group: in_path.isdisjoint(group), default=())


def compared(survey: Survey, endpoint: Endpoint, resource: str) -> Set[str]:
    """The fields whose values a row that is there may have otherwise than `put` gives them."""
    fields = survey.graph.fields.get(resource, {})
    secret = {name for name, each in fields.items() if value_of(each.secret) is not None}
    known = {*known_by(survey, endpoint, resource), *named_in_path(survey, endpoint, resource)}
    return _given(survey, endpoint, resource) - known - secret


def named_in_path(survey: Survey, endpoint: Endpoint, resource: str) -> set[str]:
    """The fields of the row itself that names in the path give, or go through."""
    return {names[0] for names, _ in _leading(survey, endpoint, resource)}


def stored_of_path(survey: Survey, endpoint: Endpoint, resource: str) -> tuple[tuple[str, Span], ...]:
    """The fields of the row itself that names in the path give, and where: their values would be stored."""
    return tuple((names[0], span) for names, span in _leading(survey, endpoint, resource) if len(names) == 1)


def said_by_path(survey: Survey, endpoint: Endpoint, resource: str) -> set[str]:
    """The fields of a row that is made, or put, which have their values from the path: the row's own, and references
    to what the path names."""
    is_given = any(kind_of(action.verb).is_whole for action in actions(endpoint))
    return {names[0] for names, _ in _leading(survey, endpoint, resource) if len(names) <= 2} if is_given else set()


def _given(survey: Survey, endpoint: Endpoint, resource: str) -> set[str]:
    body = {name for owner, name in survey.body_fields(endpoint) if owner == resource}
    return body | {each.name for each in value_of(endpoint.sets) or () if not is_another_each_time(each.value.ast)}


def _is_the_same(field: Field) -> bool:
    """Whether what the contract makes on create is the same each time that the same caller asks for the same."""
    made = value_of(field.on_create)
    return made is not None and not is_another_each_time(made.ast)


@dataclass(frozen=True)
class Given:
    """A field that a body gives: at `pointer`, the names of members from the root. `beside`: a shared type names it,
    and where it is no field, it is a member that expressions read."""

    pointer: tuple[str, ...]
    resource: str
    field: str
    span: Span
    beside: bool = False


def acted_on(endpoint: Endpoint) -> str | None:
    """The resource that an endpoint acts on."""
    return next((name for action in actions(endpoint) if (name := action.resource) is not None), None)


def given(survey: Survey, endpoint: Endpoint) -> tuple[Given, ...]:
    """The fields that the body names, as far as they are fields."""
    stated, own = value_of(endpoint.body), acted_on(endpoint)
    if stated is None or (own is None and stated.reference is None):
        return ()
    own = own or ""
    if stated.reference is not None:
        members = survey.contract.shared_types.members(stated.reference.text)
        found = (Given((each.name.text,), own, each.name.text, stated.reference.span, True) for each in members)
        return tuple(_as_called(survey, found))
    named = () if stated.template is None else body_names(stated.template, own)
    return tuple(_as_called(survey, (Given(*each) for each in named)))


@dataclass(frozen=True)
class Constant:
    """A member of a body that has to be `value`, and gives nothing."""

    pointer: tuple[str, ...]
    value: object
    span: Span


def constants(template: Template, pointer: tuple[str, ...] = ()) -> Iterator[Constant]:
    """The members that a template says the value of: `{data: {type: "'articles'", …}}`. A constant object around the
    whole says it of each of its members."""
    match template:
        case Members(members):
            for member in members:
                yield from constants(member.value, (*pointer, member.name))
        case Items(items):
            for item in items:
                if isinstance(item, Members):
                    yield from constants(item, pointer)
        case Leaf(Expression(ast=Const(value=value), span=span)) if pointer:
            yield Constant(pointer, value, span)
        case Leaf(Expression(ast=Const(value=dict() as whole), span=span)):
            for name, value in whole.items():
                yield Constant((name,), value, span)
        case Leaf(Expression(ast=Literal(value=value), span=span)) if pointer and value is not None:
            yield Constant(pointer, value, span)
        case _:
            return


def _as_called(survey: Survey, found: Iterable[Given]) -> Iterator[Given]:
    """Under the names that callers of an older version know; what they do not know is not among them."""
    for each in found:
        field = survey.graph.fields.get(each.resource, {}).get(each.field)
        if field is None or field.seen is None:
            yield each
        elif field.called is not None:
            is_its_name = each.pointer[-1:] == (each.field,)
            yield replace(each, pointer=(*each.pointer[:-1], field.called)) if is_its_name else each
