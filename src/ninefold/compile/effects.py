"""Parts 3 and 4: what else is done, each by an operation without an endpoint: other rows that change with the one acted
on, and transitions of the same row (`does: [update order, place order]`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from msgspec import structs

from ninefold.checked.bodies import BodyLeaf
from ninefold.checked.contents import Response
from ninefold.checked.endpoints import Admission
from ninefold.checked.operations import Create, Delete, Mutation, Remove, Takes, Update
from ninefold.checked.resources import Effect, Resource
from ninefold.checked.service import Checked
from ninefold.compile.before import effects_of
from ninefold.compile.endpoints.create import create
from ninefold.compile.endpoints.delete import as_removed, delete
from ninefold.compile.endpoints.held import left_out, making
from ninefold.compile.endpoints.update import update
from ninefold.compile.endpoints.writes import W, and_then
from ninefold.compile.perspective import CONTRACT, Perspective
from ninefold.compile.requirements import unique
from ninefold.compile.several import chosen_items, named_by_items, of_several, read_of_each
from ninefold.compile.which_rows import by_identifier, says_which, taking, was_written
from ninefold.diagnostics.frozen import replace
from ninefold.diagnostics.place import Place
from ninefold.expressions.reads import fields_read
from ninefold.expressions.tree import Call, Select, Typed, Variable, rewrite
from ninefold.language.verbs import Verb, kind_of
from ninefold.plan import writes as plan
from ninefold.plan.environment import EACH, THIS
from ninefold.plan.problems import ITEM, Condition
from ninefold.plan.statement import Piece, ResultColumn, Statement
from ninefold.plan.writes import Further, Transition
from ninefold.sql.fragment import Fragment, all_of, bind, column, identifier, join
from ninefold.values import Row
from ninefold.values.pointers import pointer


def with_effects(write: W, operation: Mutation, perspective: Perspective) -> W:
    """An operation with what else it does."""
    if not operation.effects or operation.resource is None:
        return write
    resource = perspective.checked.resources[operation.resource]
    stated = effects_of(operation, resource)
    own = Perspective(perspective.checked, CONTRACT, perspective.dialect, perspective.told or perspective.who)
    found, is_gone = None, isinstance(operation, Delete)
    if is_gone:
        found = says_which(operation, {resource.name: resource.name}, perspective)
    then = plan.Effects(
        acted_on=_acted_on(stated, resource, operation, own, found),
        effects=tuple(_effect(each, operation, resource, own) for each in stated),
        before=is_gone,
    )
    return and_then(write, then)


def _acted_on(
    stated: Sequence[Effect],
    resource: Resource,
    operation: Mutation,
    perspective: Perspective,
    found: Sequence[Fragment] | None,
) -> Statement:
    """What the effects read of the row acted on, and its primary key."""
    model, read = perspective.checked.model, set(resource.primary_key)
    for each in stated:
        for typed in (each.where, each.each, *(value for _, value in each.sets)):
            read |= frozenset() if typed is None else fields_read(_by_name(typed, resource), resource.name, model)
    found = was_written(operation, resource) if found is None else found
    source = Fragment(f"{identifier(resource.name)} AS {identifier(resource.name)}")
    if isinstance(operation, Remove):
        # It is not there any more, and all that it was is `$row`.
        source, found = as_removed(resource), []
    fields = [field for field in resource.fields.values() if field.name in read and field.secret is None]
    row = Variable(resource.name, Row(resource=resource.name))
    cells = []
    for field in fields:
        cell = column(resource.name, field.name)
        if field.computed is not None:
            computed: Typed = Select(row, field.name, field.type, "computed")
            cell = perspective.value(computed, {resource.name: resource.name})
        cells.append(cell)
    text = "SELECT " + join(", ", cells or [Fragment("1")]) + " FROM " + source + " WHERE " + all_of(found)
    if operation.several:
        text = text + " ORDER BY " + join(", ", [column(resource.name, key) for key in resource.primary_key])
    return Statement((Piece(text.text, text.binds),), tuple(ResultColumn(field.name, field.type) for field in fields))


def _by_name(typed: Typed, resource: Resource) -> Typed:
    """What is read of the row acted on, under its resource's name."""
    own = Variable(resource.name, Row(resource=resource.name))
    return rewrite(typed, lambda node: own if isinstance(node, Variable) and node.name == THIS else None)


def _effect(effect: Effect, host: Mutation, acting: Resource, perspective: Perspective) -> plan.Effect:
    checked = perspective.checked
    resource = checked.resources[effect.resource]
    operation = _operation(effect, host, resource, checked)
    admission = Admission(CONTRACT, None, False, effect.place)
    write = with_effects(_write(operation, admission, perspective), operation, perspective)
    found = _find(effect, write, resource, acting, perspective)
    items = None
    makes = kind_of(effect.verb).makes
    if effect.each is not None:
        held = making(operation, resource, perspective).held_array(effect.each)
        items = plan.Each(left_out(effect.each), _pointer_of(effect.each), held)
        if not makes:
            found, read = _named(effect, write, resource, acting, perspective)
            items = structs.replace(items, read=read, conflict=_conflict(effect, host, resource, perspective))
        elif effect.where is not None:
            chosen, read = chosen_items(perspective.holds(effect.where, {}), perspective)
            items = structs.replace(items, chosen=chosen, read=read)
    return plan.Effect(of_several(write, operation, perspective), found, items)


def _operation(effect: Effect, host: Mutation, resource: Resource, checked: Checked) -> Create | Delete | Update:
    common: _Common = {
        "key": host.key,
        "place": effect.place,
        "kind": kind_of(effect.verb),
        "resource": resource.name,
        "response": Response(204, None, (), effect.place),
        "takes": Takes(body=given_by_items(effect)),
        "errors": host.errors,
        "several": (not kind_of(effect.verb).makes and not effect.of_one) or effect.each is not None,
        "host": host,
    }
    if common["kind"].makes:
        return Create(**common, sets=effect.sets, each=effect.each)
    segments = by_identifier(resource, checked)
    if common["kind"].removes:
        return Delete(**common, segments=segments)
    transition = None if resource.machine is None else resource.machine.transitions.get(effect.verb)
    return Update(**common, segments=segments, transition=transition, sets=effect.sets, each=effect.each)


def _write(operation: Create | Delete | Update, admission: Admission, perspective: Perspective) -> plan.Bulk:
    match operation:
        case Create():
            return create(operation, admission, perspective)
        case Delete():
            return delete(operation, admission, perspective)
        case Update():
            return update(operation, admission, perspective)


class _Common(TypedDict):
    """What effects have in common as operations."""

    key: str
    place: Place
    kind: Verb
    resource: str
    response: Response
    takes: Takes
    errors: Mapping[str, str]
    several: bool
    host: Mutation


def given_by_items(effect: Effect) -> tuple[BodyLeaf, ...]:
    """What the items of an array in the body give the fields of new rows: `each.quantity` is in the body, in an item at
    any position. What rows that are there are given is given to new ones too, and is held with that."""
    array = None if effect.each is None or not kind_of(effect.verb).makes else member_of_body(effect.each)
    if array is None:
        return ()
    found = ((name, _member_of_item(value)) for name, value in effect.sets)
    return tuple(BodyLeaf((array, ITEM, *path), name) for name, path in found if path is not None)


def member_of_body(typed: Typed) -> str | None:
    """The member of the body that an expression is: `request.body.NAME`."""
    match typed:
        case Select(operand=Select(operand=Variable(name="request"), name="body"), name=name):
            return name
        case _:
            return None


def _member_of_item(typed: Typed) -> tuple[str, ...] | None:
    """The way to it in an item; `()`: it is the item itself."""
    match typed:
        case Variable(name=name) if name == EACH:
            return ()
        case Call(function="narrow", arguments=[member]):  # of any type, and wanted as the field's
            return _member_of_item(member)
        case Select(operand=operand, name=name):
            way = _member_of_item(operand)
            return None if way is None else (*way, name)
        case _:
            return None


def _pointer_of(array: Typed) -> str | None:
    member = member_of_body(array)
    return None if member is None else pointer((member,))


def _find(
    effect: Effect, write: plan.Bulk, resource: Resource, acting: Resource, perspective: Perspective
) -> Statement | None:
    """The primary key of the row, or of each row, with what its values are made of; of a row that is made, whether it
    is. The row acted on is not among them, nor are, where there may be several, those that are gone."""
    if effect.where is None or effect.each is not None:
        return None
    if kind_of(effect.verb).makes:
        text = "SELECT 1 WHERE " + perspective.holds(effect.where, {})
        return Statement((Piece(text.text, text.binds),), ())
    keys = [resource.fields[key] for key in resource.primary_key]
    name = identifier(resource.name)
    which, fields = ["(" + perspective.holds(effect.where, {resource.name: resource.name}) + ")"], keys
    if not effect.of_one:
        machine = resource.machine
        taken = None if machine is None else machine.transitions.get(effect.verb)
        there = perspective.there(resource.name, resource.name, () if taken is None else taken.origins)
        which += [] if there is None else [there]
        read = read_of_each(write)
        fields = [*keys, *(resource.fields[each.name] for each in read if each.name in resource.fields)]
    which += _of_another(resource, acting)
    cells = [column(resource.name, field.name) for field in fields] or [Fragment("1")]
    text = "SELECT " + join(", ", cells) + f" FROM {name} AS {name} WHERE " + all_of(which)
    if not effect.of_one:
        text = text + " ORDER BY " + join(", ", cells[: len(keys)])
    return Statement((Piece(text.text, text.binds),), tuple(ResultColumn(field.name, field.type) for field in fields))


def _named(
    effect: Effect, write: plan.Bulk, resource: Resource, acting: Resource, perspective: Perspective
) -> tuple[Statement, tuple[Typed, ...]]:
    """The rows that items name, with what their values are made of; and what is read of an item. One that is gone is
    among them, and refuses the whole."""
    assert effect.where is not None
    rows = {resource.name: resource.name}
    which = ["(" + perspective.holds(effect.where, rows) + ")", *_of_another(resource, acting)]
    same = Fragment("FALSE") if effect.unless is None else perspective.holds(effect.unless, rows)
    read = (resource.fields[each.name] for each in read_of_each(write) if each.name in resource.fields)
    told = [
        ResultColumn(each.name, each.type) for each in (*(resource.fields[key] for key in resource.primary_key), *read)
    ]
    cells = join(", ", [column(resource.name, each.name) for each in told])
    return named_by_items(resource.name, cells, all_of(which), same, told, perspective)


def _conflict(effect: Effect, host: Mutation, resource: Resource, perspective: Perspective) -> Condition:
    """What two items that name one row are refused with: what two new rows with that key would be."""
    made = (each for each in host.effects if each.place == effect.place and kind_of(each.verb).makes)
    given = {leaf.field: pointer(leaf.pointer) for each in made for leaf in given_by_items(each)}
    key = [resource.fields[name] for name in effect.known_by]
    return unique(key, given, resource, perspective, False, {}).condition


def _of_another(resource: Resource, acting: Resource) -> list[Fragment]:
    """That a row of the same resource is not the one acted on."""
    if resource.name != acting.name or not resource.primary_key:
        return []
    this = Variable(THIS, Row(resource=acting.name))
    keys = (resource.fields[key] for key in resource.primary_key)
    same = [column(resource.name, key.name) + " = " + bind(Select(this, key.name, key.type, "field")) for key in keys]
    return ["NOT (" + all_of(same) + ")"]


def with_further(write: W, operation: Mutation, perspective: Perspective) -> W:
    """An operation with what is done with its row after that. Who may call and which rows are seen has been asked then:
    what follows is the contract's own."""
    if not operation.further or operation.resource is None:
        return write
    own = Perspective(perspective.checked, CONTRACT, perspective.dialect, perspective.told or perspective.who)
    last = len(operation.further) - 1
    resource = own.checked.resources[operation.resource]
    is_known = operation.transition is not None or operation.kind.makes
    following = []
    for number, transition in enumerate(operation.further):
        each = replace(
            taking(transition, resource, own.checked),
            key=operation.key,
            errors=operation.errors,
            also=operation.also if number == last else (),
            host=operation,
            follows="in its state" if is_known or number else "in any state",
        )
        following.append(Further(_taken(each, own)))
    return and_then(write, *following)


def _taken(operation: Update, perspective: Perspective) -> Transition:
    """Invariants see the row as all of it has left it: the first operation asks them, last of all."""
    admission = Admission(CONTRACT, None, False, operation.place)
    before = replace(perspective, checked=_without_invariants(perspective.checked))
    taken = update(operation, admission, before)
    assert isinstance(taken, Transition)
    return with_effects(taken, operation, perspective)


def _without_invariants(checked: Checked) -> Checked:
    resources = {name: replace(each, invariants=()) for name, each in checked.resources.items()}
    return replace(checked, resources=resources)
