"""Bodies: what a request gives, field by field, and what is wrong with it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any
from urllib.parse import unquote_to_bytes

from tests.reference import media_types
from tests.reference.expressions import Fails, Reading, names_of
from tests.reference.failures import Broken, Failure, number_of
from tests.reference.messages import Request
from tests.reference.values import Broken as BrokenValue
from tests.reference.values import Path, broken_rules, from_text, of_whole, only_named, parsed, read, unnamed

from ninefold.checked.bodies import BodyLeaf, BodyMember
from ninefold.checked.endpoints import Endpoint
from ninefold.checked.operations import Update
from ninefold.checked.resources import Field, Resource
from ninefold.checked.service import Checked
from ninefold.values import Anything, Array, Boolean, Integer, Number, Object, Text, Type

ABSENT = object()

_ASKED_LATER = {"stored", "immutable", "range"}
"""The rules that no schema asks."""


@dataclass
class Given:
    """`values` are those that are valid, by field; `others` those that are no fields, by name; `wrong` the fields that
    are given and not valid. `readable`: the body could be read at all."""

    values: dict[str, Any] = field(default_factory=dict)
    others: dict[str, Any] = field(default_factory=dict)
    wrong: set[str] = field(default_factory=set)
    readable: bool = True
    failures: list[Failure] = field(default_factory=list)

    @property
    def is_valid(self) -> bool:
        return self.readable and not self.failures


def is_none(endpoint: Endpoint) -> bool:
    """Whether it says `body: none`."""
    takes = endpoint.takes
    return takes.body == () and not takes.members and takes.whole is None and not takes.constants


def edits(endpoint: Endpoint) -> bool:
    """Whether its body is a JSON Patch."""
    return isinstance(endpoint.operation, Update) and endpoint.operation.patch == "json-patch"


def document_of(request: Request, endpoint: Endpoint, checked: Checked) -> Any:
    """The JSON of a body, or the list of what is wrong with it as a whole."""
    body = request.body or b""
    announced = bool(body)
    if is_none(endpoint) and not announced:
        return {}
    failures = []
    if announced and not _is_read(request.headers.get("content-type", ""), endpoint, checked):
        failures.append(Failure("unsupported media type"))
    if len(body) > int(checked.limits.said.get("body size", 1024 * 1024)):
        failures.append(Failure("too large"))
    if failures:
        return failures
    if is_form(request, endpoint, checked):
        return _form(body, endpoint, checked)
    try:
        document = parsed(body)
    except (ValueError, RecursionError):
        return [Failure("malformed")]
    return document if edits(endpoint) else texts_read(document, endpoint, checked)


def texts_read(document: Any, endpoint: Endpoint, checked: Checked) -> Any:
    """Where a field of the body, or each item of its array, is a number or a truth value, a text that JSON would read
    as one is taken for it, if the contract says so."""
    if not checked.requests_of(endpoint).texts:
        return document
    fields = {} if endpoint.resource is None else checked.resources[endpoint.resource].fields
    types = {leaf.pointer: _written_type(fields[leaf.field], checked) for leaf in endpoint.takes.body or ()}
    types |= {(each.name,): each.type for each in endpoint.takes.members}
    for pointer, type_ in types.items():
        around, value = at(document, pointer[:-1]), at(document, pointer)
        if isinstance(value, str):
            around[pointer[-1]] = _meant(value, type_)
        elif isinstance(value, list) and isinstance(type_, Array):
            around[pointer[-1]] = [_meant(each, type_.items) if isinstance(each, str) else each for each in value]
    return document


FORM = "application/x-www-form-urlencoded"


def is_form(request: Request, endpoint: Endpoint, checked: Checked) -> bool:
    """Meaning "forms": nothing at all is one without members."""
    sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return FORM in checked.requests_of(endpoint).media_types and (sent == FORM or not request.body)


def _form(body: bytes, endpoint: Endpoint, checked: Checked) -> Any:
    """The JSON that a form stands for."""
    found: dict[str, list[str]] = {}
    try:
        for pair in filter(None, body.split(b"&")):
            name, _, value = (unquote_to_bytes(each.replace(b"+", b" ")).decode() for each in pair.partition(b"="))
            found.setdefault(name, []).append(value)
    except UnicodeDecodeError:
        return [Failure("malformed")]
    fields = {} if endpoint.resource is None else checked.resources[endpoint.resource].fields
    types = {leaf.pointer[0]: _written_type(fields[leaf.field], checked) for leaf in endpoint.takes.body or ()}
    types |= {each.name: each.type for each in endpoint.takes.members}
    document: dict[str, Any] = {}
    for member, texts in found.items():
        type_ = types.get(member)
        several = isinstance(type_, Array) or len(texts) > 1
        one = type_.items if isinstance(type_, Array) else type_ if len(texts) == 1 else None
        values = [_meant(text, one) for text in texts]
        document[member] = values if several else values[0]
    return document


def _meant(text: str, type_: Any) -> Any:
    """A number or a truth value where one is meant and JSON would write it so."""
    if not isinstance(type_, Integer | Number | Boolean):
        return text
    try:
        return from_text(type_, text)
    except BrokenValue as broken:
        return int(text) if broken.rule == "range" else text


def came(request: Request, endpoint: Endpoint | None, checked: Checked) -> Any:
    """The JSON of a body; None: it is none."""
    if endpoint is not None and is_form(request, endpoint, checked):
        return _form(request.body or b"", endpoint, checked)
    try:
        return parsed(request.body or b"")
    except (ValueError, RecursionError):
        return None


def _is_read(content_type: str, endpoint: Endpoint, checked: Checked) -> bool:
    """Meaning "merge patches": an update takes merge patches besides."""
    media_type, parameters = media_types.parameters_of(content_type)
    taken = {each.lower() for each in checked.requests_of(endpoint).media_types}
    if isinstance(endpoint.operation, Update) and endpoint.operation.patch is not None:
        taken.add(f"application/{endpoint.operation.patch.removesuffix('-patch')}-patch+json")
    return media_type in taken and parameters.get("charset", "utf-8").lower() == "utf-8"


def given(
    document: Any,
    endpoint: Endpoint,
    resource: Resource | None,
    checked: Checked,
    was: Mapping[str, Any] | None,
    by_form: bool,
    becomes: Mapping[tuple[str, str], Callable[[Any], Any]],
    cleared: Set[str] = frozenset(),
    whole: Any = ABSENT,
) -> Given:
    """What a document gives. `was`: the row as it is, for merge patches of objects; None: there is none to be had.
    `by_form`: it is what a form stands for. `becomes`: of fields that are stored otherwise, what is shown of a
    value. `cleared`: fields that are to have no value any more. `whole`: all that a JSON Patch makes, of which the
    document is what becomes another."""
    document = copy.deepcopy(document)
    leaves = endpoint.takes.body or ()
    fields = {} if resource is None else {leaf.field: resource.fields[leaf.field] for leaf in leaves}
    for leaf in leaves:
        if endpoint.verb == "update" and not edits(endpoint) and isinstance(fields[leaf.field].type, Object | Anything):
            _merge(document, leaf, was)
    unmade = [leaf for leaf in leaves if not normalise(document, leaf, fields[leaf.field])]
    broken = [Broken("body", leaf.pointer, "stored") for leaf in unmade]
    result = Given()
    type_, ignores = endpoint.takes.whole, checked.requests_of(endpoint).unknown_members == "ignored"
    asked = () if type_ is None else tuple(of_whole(type_.schema, document if whole is ABSENT else whole))
    for leaf in leaves:
        field_ = fields[leaf.field]
        value = at(document, leaf.pointer)
        if value is ABSENT and leaf.field in cleared:
            if field_.immutable or not field_.type.nullable:
                broken.append(Broken("body", leaf.pointer, "immutable" if field_.immutable else "required"))
            else:
                result.values[leaf.field] = None
            continue
        if value is ABSENT:
            of_type = leaf.beside is not None and leaf.beside.required
            of_type = of_type or (leaf.pointer, "required") in asked
            if (of_type or _is_needed(field_, endpoint)) and isinstance(at(document, leaf.pointer[:-1]), dict):
                broken.append(Broken("body", leaf.pointer, "required"))
            continue
        rules: list[tuple[Path, str]] = (
            [(leaf.pointer, "immutable")] if field_.immutable and endpoint.verb not in ("create", "put ensured") else []
        )
        rules += broken_rules(field_.schema, value, leaf.pointer)
        rules += () if leaf.beside is None else broken_rules(leaf.beside.schema, value, leaf.pointer)
        if by_form and isinstance(value, list) and not isinstance(_given_type(field_), Array):
            rules = [(leaf.pointer, "immutable" if rule == "immutable" else "repeated") for _, rule in rules]
        rules = _one_by_one(
            rules, leaf.pointer, [field_.schema, *([] if leaf.beside is None else [leaf.beside.schema])]
        )
        if not rules and ignores:
            value = only_named(field_.schema, value)
            rules += broken_rules(field_.schema, value, leaf.pointer)
        if not rules:
            try:
                result.values[leaf.field] = read(_given_type(field_), value, leaf.pointer)
            except BrokenValue as rule:
                rules.append((rule.path, rule.rule))
        stored_as = None if resource is None else becomes.get((resource.name, leaf.field))
        if not rules and stored_as is not None and result.values[leaf.field] is not None:
            try:
                result.values[leaf.field] = stored_as(result.values[leaf.field])
            except Fails:
                rules.append((leaf.pointer, "stored"))
                del result.values[leaf.field]
        if rules:
            result.wrong.add(leaf.field)
        broken += [Broken("body", path, rule) for path, rule in rules]
    for each in endpoint.takes.members:
        broken += _member(document, each, endpoint, checked, result)
    broken += _containers(document, endpoint, fields)
    broken += [Broken("body", path, rule) for path, rule in asked if not path]
    broken = [*dict.fromkeys((*_constants(document, endpoint), *broken))]
    if type_ is not None and ignores and {each.rule for each in broken} <= _ASKED_LATER:
        # Meaning "unknown members": then it is as if what nobody knows had not come.
        rest = copy.deepcopy(document if whole is ABSENT else whole)
        for path in _unknown(rest, _known(endpoint)):
            del at(rest, path[:-1])[path[-1]]
        broken += [Broken("body", path, rule) for path, rule in of_whole(type_.schema, rest)]
    # Where nothing of `anyOf` is kept, nobody can say what is a member; of too many they are not even looked at.
    untold = any(rule in ("anyOf", "oneOf", "maxProperties") for path, rule in asked if not path)
    if not ignores and not untold:
        broken += [Broken("body", path, "unknown") for path in _unknown(document, _known(endpoint))]
    broken.sort(key=number_of(endpoint))
    for subject, together in groupby(broken, lambda each: _subject(each, endpoint, resource)):
        result.failures.append(Failure("invalid", subject, fields=tuple(together)))
    return result


def _member(document: Any, member: BodyMember, endpoint: Endpoint, checked: Checked, result: Given) -> Iterator[Broken]:
    """What is wrong with a member that is no field; else its value is among the others of the `result`."""
    value, path = at(document, (member.name,)), (member.name,)
    if value is ABSENT:
        if member.required and isinstance(document, dict):
            yield Broken("body", path, "required")
        return
    ignores = checked.requests_of(endpoint).unknown_members == "ignored"
    rules = [*broken_rules(member.schema, value, path)]
    if (path, "maxItems") not in rules:  # one that is too large is not looked into
        rules += _of_items(value, member, endpoint, checked)
        rules += [] if ignores else [(each, "unknown") for each in unnamed(member.schema, value, path)]
    rules = _one_by_one(rules, path, [member.schema])
    if not rules:
        try:
            result.others[member.name] = read(member.type, only_named(member.schema, value) if ignores else value, path)
        except BrokenValue as broken:
            rules = [(broken.path, broken.rule)]
    yield from (Broken("body", each, rule) for each, rule in rules)


def _one_by_one(
    rules: list[tuple[Path, str]], at_: Path, schemas: Sequence[Mapping[str, Any]]
) -> list[tuple[Path, str]]:
    """Meaning "precedence": those of a value come before those of its items and members, one after another, whichever
    of the schemas has them."""
    return sorted(dict.fromkeys(rules), key=lambda each: [*_along(each[0][len(at_) :], schemas)])


def _along(path: Path, schemas: Sequence[Mapping[str, Any]]) -> Iterator[int]:
    """The number of each item and member on the way."""
    for step in path:
        if isinstance(step, int):
            yield step
            schemas = [each.get("items", {}) for each in schemas]
        else:
            names = [*dict.fromkeys(name for each in schemas for name in each.get("properties", ()))]
            yield names.index(step) if step in names else len(names)
            schemas = [each.get("properties", {}).get(step, {}) for each in schemas]


def _of_items(value: Any, member: BodyMember, endpoint: Endpoint, checked: Checked) -> Iterator[tuple[Path, str]]:
    """Meaning "effects on several rows": what an item gives a field is held to the field's schema."""
    for effect in () if endpoint.mutation is None else endpoint.mutation.effects:
        if effect.each is None or names_of(effect.each) != ("request", "body", member.name):
            continue
        fields = checked.resources[effect.resource].fields
        given_ = [(fields[name], names_of(source)) for name, source in effect.sets]
        for index, item in enumerate(value) if isinstance(value, list) else ():
            for field_, names in given_:
                if names is None or names[0] != "each":
                    continue
                path: Path = (member.name, index, *names[1:])
                one = at(item, names[1:])
                around = at(item, names[1:-1])
                if one is not ABSENT:
                    yield from broken_rules(field_.schema, one, path)
                elif (field_.required or not field_.type.nullable) and isinstance(around, dict):
                    yield path, "required"


def _subject(broken: Broken, endpoint: Endpoint, resource: Resource | None) -> str | None:
    """What is wrong with the value of a field is about that field, and all else about the row."""
    if resource is None:
        return None
    names = tuple(str(step) for step in broken.path)
    of_leaf = (leaf.field for leaf in endpoint.takes.body or () if names[: len(leaf.pointer)] == leaf.pointer)
    return ".".join((resource.name, *islice(of_leaf, 1)))


def at(document: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if not isinstance(document, dict) or name not in document:
            return ABSENT
        document = document[name]
    return document


def _given_type(field_: Field) -> Any:
    """A secret is given as text."""
    return Text(nullable=True) if field_.secret is not None else field_.type


def _written_type(field_: Field, checked: Checked) -> Any:
    """A reference is written as its target's primary key."""
    if field_.references is None:
        return _given_type(field_)
    target = checked.resources[field_.references]
    return target.fields[target.primary_key[0]].type


def _is_needed(field_: Field, endpoint: Endpoint) -> bool:
    if endpoint.verb == "sign in":
        return True
    return field_.required and field_.on_create is None and field_.on_change is None and endpoint.verb != "update"


def _containers(document: Any, endpoint: Endpoint, fields: Mapping[str, Field]) -> list[Broken]:
    """What is wrong with the objects around the fields: none where one is needed, or no object."""
    if not isinstance(document, dict):
        return [Broken("body", (), "type")]
    broken: dict[Broken, None] = {}
    for leaf in endpoint.takes.body or ():
        for depth in range(len(leaf.pointer)):
            path = leaf.pointer[:depth]
            value = at(document, path)
            if value is ABSENT:
                if _is_needed(fields[leaf.field], endpoint):
                    broken[Broken("body", path, "required")] = None
                break
            if not isinstance(value, dict):
                broken[Broken("body", path, "type")] = None
                break
    return list(broken)


def _constants(document: Any, endpoint: Endpoint) -> list[Broken]:
    """What is wrong with the members whose value is stated: not there though the object around it is, or another."""
    broken = []
    for each in endpoint.takes.constants:
        around, value = at(document, each.pointer[:-1]), at(document, each.pointer)
        if around is not ABSENT and not isinstance(around, dict):
            broken.append(Broken("body", each.pointer[:-1], "type"))
        elif around is not ABSENT and value is ABSENT:
            broken.append(Broken("body", each.pointer, "required"))
        elif value is not ABSENT and (value != each.value or isinstance(value, bool) != isinstance(each.value, bool)):
            broken.append(Broken("body", each.pointer, "const"))
    return broken


def _known(endpoint: Endpoint) -> tuple[BodyLeaf, ...]:
    """Of a case that a member of the body chose, that member too."""
    chosen = () if endpoint.case is None or endpoint.case.member is None else ((endpoint.case.member,),)
    others = (*(each.pointer for each in endpoint.takes.constants), *chosen)
    others += tuple((each.name,) for each in endpoint.takes.members)
    return (*(endpoint.takes.body or ()), *(BodyLeaf(pointer, "") for pointer in others))


def _unknown(document: Any, leaves: tuple[BodyLeaf, ...], path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """The members that no leaf is, or leads through. What is inside a field is its schema's matter."""
    if not isinstance(document, dict):
        return []
    found: list[tuple[str, ...]] = []
    for name, value in document.items():
        here = (*path, name)
        if any(leaf.pointer == here for leaf in leaves):
            continue
        if any(leaf.pointer[: len(here)] == here for leaf in leaves):
            found += _unknown(value, leaves, here)
        else:
            found.append(here)
    return found


def normalise(document: Any, leaf: BodyLeaf, field_: Field) -> bool:
    """Before validation (part 2); whether it could be made. What is not of the field's type stays as it is, to be
    refused."""
    value = at(document, leaf.pointer)
    if field_.normalise is None or value is ABSENT or list(broken_rules({"type": field_.schema["type"]}, value)):
        return True
    try:
        value = read(_given_type(field_), value)
        at(document, leaf.pointer[:-1])[leaf.pointer[-1]] = _plain(field_, value)
    except Fails:
        return value is None
    except BrokenValue:
        pass
    return True


def of_text(text: str, type_: Type, field_: Field) -> Any:
    """The value of a field that stands outside of a body, in a path or a credential, and is normalised as there. Raises
    `BrokenValue` where it is none."""
    value = from_text(type_, text)
    if field_.normalise is None:
        return value
    try:
        return read(type_, _plain(field_, value))
    except Fails:
        raise BrokenValue("type") from None


def _plain(field_: Field, value: Any) -> Any:
    assert field_.normalise is not None
    return Reading({}, None, {"value": value}).value(field_.normalise)  # type: ignore[arg-type]


def _merge(document: Any, leaf: BodyLeaf, was: Mapping[str, Any] | None) -> None:
    """RFC 7396 of an object field. What would become of an object that is not to be had, nobody can say."""
    patch, around = at(document, leaf.pointer), at(document, leaf.pointer[:-1])
    if isinstance(patch, dict):
        if was is None:
            del around[leaf.pointer[-1]]
        else:
            around[leaf.pointer[-1]] = merged(was.get(leaf.field), patch)


def merged(target: Any, patch: Any) -> Any:
    """MergePatch of RFC 7396, section 2, to the letter."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            target.pop(name, None)
        else:
            target[name] = merged(target.get(name), value)
    return target
