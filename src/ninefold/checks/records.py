"""Part 2: rows that the contract itself states, each a row that its resource admits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from itertools import pairwise
from typing import Any, Final, TypeAlias

from ninefold.checked.resources import Field, Record, Resource
from ninefold.checks.assignments import OF_REQUESTS
from ninefold.checks.constants import validator
from ninefold.checks.findings import Findings
from ninefold.diagnostics.codes import RECORD_INCOMPLETE, RECORD_REFERENCE, RECORD_TWICE, RECORD_VALUE
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.diagnostics.suggest import did_you_mean
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.tree import free_variables
from ninefold.language import resources as stated
from ninefold.language.fact import Gap, Proposal, StatedNone, is_stated, value_of
from ninefold.syntax.nodes import Mapping as MappingNode
from ninefold.syntax.nodes import Node, Scalar, Sequence, is_word
from ninefold.values import Invalid, json_reader

_Key: TypeAlias = tuple[str, tuple[str, ...]]
"""A resource, and the values of a primary key."""


@dataclass(frozen=True)
class _Stated:
    """A record as it is written: the node of each field, and its JSON value."""

    resource: Resource
    span: Span
    nodes: Mapping[str, Node]
    values: Mapping[str, Any]

    @property
    def lacks_identifier(self) -> bool:
        return any(name not in self.values for name in self.resource.primary_key)

    @property
    def key(self) -> _Key:
        return self.resource.name, _told(self.values[name] for name in self.resource.primary_key)


def check_records(resources: Mapping[str, Resource], findings: Findings) -> tuple[Record, ...]:
    """The records in an order in which each comes after those that it refers to."""
    written: list[_Stated] = []
    unknown: set[str] = set()
    for declared in findings.resources:
        resource = resources.get(declared.name)
        if resource is None or isinstance(declared.records, Gap | Proposal) or _begins_somewhere(declared, resource):
            unknown.add(declared.name)
        elif isinstance(declared.primary_key, StatedNone) and declared.records is None:
            written.append(_Stated(resource, declared.span, {}, {}))
        else:
            written += _of(declared, resource)
    found = [each for each in written if _is_a_row(each, findings)]
    _once(found, findings)
    by_key = {each.key: each for each in found}
    # Of what is wrong with a record, or not shown, nothing follows for those that refer to it.
    unknown |= {each.resource.name for each in written if each.lacks_identifier}
    known = {each.key for each in written if not each.lacks_identifier}
    for each in found:
        _leads_to_records(each, known, unknown, findings)
    ordered = _in_order(found, by_key, findings)
    return tuple(Record(each.resource.name, dict(each.values), findings.place(each.span)) for each in ordered)


def _begins_somewhere(declared: stated.Resource, resource: Resource) -> bool:
    """Whether its rows have a state, and it is not known yet in which they begin."""
    return resource.machine is None and any(is_stated(each.state) for each in value_of(declared.fields) or ())


def _of(declared: stated.Resource, resource: Resource) -> Iterator[_Stated]:
    records = value_of(declared.records)
    for node in records.items if isinstance(records, Sequence) else ():
        if isinstance(node, MappingNode):
            nodes = {
                entry.name: entry.value
                for entry in node.entries
                if entry.name in resource.fields and not is_word(entry.value, "none")
            }
            values = {name: _normal(resource.fields[name], _json(value)) for name, value in nodes.items()}
            yield _Stated(resource, node.span, nodes, values)


def _json(node: Node) -> Any:
    match node:
        case MappingNode():
            return {entry.name: _json(entry.value) for entry in node.entries}
        case Sequence():
            return [_json(item) for item in node.items]
        case Scalar():
            return node.value


def _normal(field: Field, value: Any) -> Any:
    if field.normalise is None:
        return value
    try:
        return compile(field.normalise)({"value": value})
    except EvaluationError:
        return value  # for the schema to refuse, as in a request


# ── One by one ────────────────────────────────────────────────────────────────────────────────────────────────


def _is_a_row(record: _Stated, findings: Findings) -> bool:
    """Whether it is a row as its resource wants one; what is wrong has been said."""
    said = len(findings.diagnostics)
    for name, node in record.nodes.items():
        _is_a_value(record, record.resource.fields[name], node, findings)
    missing = [
        field.name
        for field in record.resource.fields.values()
        if field.name not in record.values
        and (field.name in record.resource.primary_key or (field.stored and _needed(field, record.resource)))
    ]
    if missing:
        names = " and ".join(f"`{name}`" for name in missing)
        if record.nodes or record.resource.primary_key:
            message = f"a record of `{record.resource.name}` has no {names}"
            keys = all(name in record.resource.primary_key for name in missing)
            label = Label(record.span, f"has to state {'a primary key' if keys else 'a value for it'}")
        else:
            message = f"the one row of `{record.resource.name}` begins without {names}"
            label = Label(record.span, "there from the start")
        findings.say(RECORD_INCOMPLETE, message, label)
    return len(findings.diagnostics) == said


def _needed(field: Field, resource: Resource) -> bool:
    """Whether a row has a value that nothing but the record could give: there is no caller when it is made, so that
    what the contract takes from one is given by nobody else either."""
    made = [each for each in (field.on_create, field.on_change) if each is not None]
    if field.serial or resource.is_state(field.name) or any(not free_variables(each) & OF_REQUESTS for each in made):
        return False
    return field.required or not field.type.nullable or bool(made)


def _is_a_value(record: _Stated, field: Field, node: Node, findings: Findings) -> None:
    called = f"`{record.resource.name}.{field.name}`"
    why = record.resource.made_otherwise(
        field,
        numbers=field.name not in record.resource.primary_key,
        secret="is secret, and a contract holds no secrets",
    )
    if why is not None:
        added = f"such a row is added where the service runs: `ninefold add FILE {record.resource.name} {field.name}=…`"
        help = (added,) if field.secret is not None else ()
        findings.say(RECORD_VALUE, f"{called} {why}", Label(node.span, "cannot be stated"), help=help)
        return
    value = record.values[field.name]
    if value is None and not field.required and field.type.nullable:
        return  # it says that the row has none, where a caller would have given it one
    for broken in validator(field.schema).iter_errors(value):
        place = _at(node, broken.instance_path)
        told = Label(place.span, broken.message)
        findings.say(RECORD_VALUE, f"the value of {called} is not as its schema says", told)
        return
    try:
        read = json_reader(field.type)
        if value is not None:
            read(value)
    except Invalid as invalid:
        place = _at(node, invalid.path)
        findings.say(
            RECORD_VALUE, f"the value of {called} is not of its type", Label(place.span, f"breaks `{invalid.rule}`")
        )


def _at(node: Node, path: Any) -> Node:
    """The node of a value inside a value; that of the nearest one around it where it is not written out."""
    for token in path:
        match node:
            case MappingNode() if isinstance(token, str) and (entry := node.get(token)) is not None:
                node = entry.value
            case Sequence() if isinstance(token, int) and token < len(node.items):
                node = node.items[token]
            case _:
                break
    return node


# ── Together ──────────────────────────────────────────────────────────────────────────────────────────────────


def _once(records: list[_Stated], findings: Findings) -> None:
    """No two records have the same primary key, or the same unique values."""
    seen: dict[tuple[str, tuple[str, ...], tuple[str, ...]], _Stated] = {}
    for record in records:
        resource = record.resource
        for group in resource.keys:
            if any(record.values.get(name) is None for name in group):
                continue  # nulls are distinct
            key = resource.name, group, _told(record.values[name] for name in group)
            first = seen.setdefault(key, record)
            if first is record:
                continue
            if group:
                names = " and ".join(f"`{name}`" for name in group)
                message = f"two records of `{resource.name}` have the same {names}"
                again, before = record.nodes[group[0]].span, first.nodes[group[0]].span
            else:
                message = f"two records of `{resource.name}`, of which there is one row"
                again, before = record.span, first.span
            findings.say(RECORD_TWICE, message, Label(again, "again"), Label(before, "the first"))
            break


def _told(values: Any) -> tuple[str, ...]:
    return tuple(map(repr, values))


FEW: Final = 200
"""Records among which one is looked for that was meant."""


def _references(record: _Stated) -> Iterator[tuple[str, _Key]]:
    for field in record.resource.fields.values():
        if field.references is not None and record.values.get(field.name) is not None:
            yield field.name, (field.references, _told([record.values[field.name]]))


def _leads_to_records(record: _Stated, known: Set[_Key], unknown: Set[str], findings: Findings) -> None:
    for name, key in _references(record):
        if key not in known and key[0] not in unknown:
            # Each of many would be compared with many.
            of_it = (value.strip("'") for resource, (value, *_) in known if resource == key[0])
            there = sorted(of_it) if len(known) <= FEW else ()
            findings.say(
                RECORD_REFERENCE,
                f"a record of `{record.resource.name}` refers to a `{key[0]}` that is not among the records",
                Label(record.nodes[name].span, "no such record"),
                help=did_you_mean(str(record.values[name]), there),
            )


def _in_order(records: list[_Stated], by_key: Mapping[_Key, _Stated], findings: Findings) -> list[_Stated]:
    """Depth first; a circle has no order."""
    ordered: list[_Stated] = []
    done: set[int] = set()
    for start in records:
        path, ahead = [start], [iter(list(_targets(start, by_key)))]
        on_path = {id(start)}
        while path:
            following = next((each for each in ahead[-1] if id(each) not in done), None)
            if id(path[-1]) in done or following is None:
                if id(path[-1]) not in done:
                    done.add(id(path[-1]))
                    ordered.append(path[-1])
                on_path.discard(id(path.pop()))
                ahead.pop()
            elif id(following) in on_path:
                first = next(index for index, each in enumerate(path) if each is following)
                circle = [*path[first:], following]
                labels = [Label(one.span, "refers to the next") for one, _ in pairwise(circle)]
                findings.say(RECORD_REFERENCE, "records refer to each other in a circle", *labels)
                return []
            else:
                path.append(following)
                on_path.add(id(following))
                ahead.append(iter(list(_targets(following, by_key))))
    return ordered


def _targets(record: _Stated, by_key: Mapping[_Key, _Stated]) -> Iterator[_Stated]:
    for _, key in _references(record):
        target = by_key.get(key)
        if target is not None:
            yield target
