"""Rows: which one a request acts on, what stands in its way, and what it becomes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.reference.bodies import Given
from tests.reference.expressions import LARGEST, Fails, Reading, Reference, TooLarge, at_hand, names_of, same
from tests.reference.failures import Broken, Failure, invalid
from tests.reference.lists import Page
from tests.reference.messages import Request
from tests.reference.operations import is_of_all, transition_of
from tests.reference.rows import Fields, Row
from tests.reference.values import Path, broken_rules

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.operations import Create, Delete, Ensure, PathName, Remove, Update
from ninefold.checked.resources import Field, Guard, Resource
from ninefold.checked.service import Checked
from ninefold.expressions.tree import All, Call, Comprehension, MakeArray, MakeObject, Select, Typed, Variable
from ninefold.language.verbs import KINDS
from ninefold.values import Row as RowType

_OF_BOTH = (
    *("key", "place", "resource", "segments", "where", "guards", "validator", "errors", "takes", "also", "sets"),
)
"""What `put` says of the row, whether it makes it or changes it."""


def guards_of(endpoint: Endpoint) -> tuple[tuple[Guard, ...], tuple[Guard, ...]]:
    """What is asked before a write, and what afterwards: the checks of `put` that read its row (meaning "before and
    after")."""
    guards, name = endpoint.operation.guards, endpoint.resource
    if endpoint.verb not in ("put", "put ensured", "put replaced") or name is None:
        return guards, ()
    later = tuple(each for each in guards if reads(each.that, name) or reads(each.that, "before"))
    return tuple(each for each in guards if each not in later), later


def opaque_tag(row: Row) -> str:
    """What an entity tag says: it changes with every write (meaning "entity tags")."""
    return f"{row.resource.name}#{row.written}"


@dataclass
class Work:
    """What an endpoint does with rows. `reading` is the contract's own; `values` those of the path's names; None:
    one is of no type that a row could have."""

    reading: Reading
    endpoint: Endpoint
    checked: Checked
    values: Mapping[str, Any] | None
    is_seen: Callable[[Row], bool]
    row: Row | None = None
    parents: dict[str, Row] = field(default_factory=dict)
    listed: list[Row] = field(default_factory=list)
    on_the_way: list[Failure] = field(default_factory=list)
    presence: list[Failure] = field(default_factory=list)
    forbidden: bool = False
    is_stale: bool = False
    """It would make a row, and the request has a condition on the one that is there."""
    removes: Remove | None = None
    """What it is where it deletes a row if there is one."""
    put: Ensure | None = None
    """What it is where a row is there, or none may be made."""
    path_fits: bool = True
    """No value of the path that would be stored breaks its schema."""
    misread: bool = False
    """A parameter, a header or a value of the path is refused: what reads them is not asked."""
    misread_body: bool = False
    """The body is refused: what reads those of its members that are no fields is not asked."""
    told_of: Row | None = None
    acting: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    """Of an effect: where the request gives fields of the row acted on, by their names."""
    before: Change | None = None
    """What the operation before this one has made of the row: what it was given, the request gives."""

    @property
    def resource(self) -> Resource:
        assert self.endpoint.resource is not None
        return self.checked.resources[self.endpoint.resource]

    @property
    def mergeable(self) -> Fields | None:
        """The row for whoever may change it."""
        if self.row is None or self.on_the_way or self.presence or self.forbidden or self._is_gone(self.row):
            return None
        return self.row.fields

    # ── Which rows ────────────────────────────────────────────────────────────────────────────────────────────

    def find(self, admission: Admission, page: Page) -> None:
        if self.endpoint.resource is None:
            return
        of_row = {name.through: name for name in self.endpoint.names if name.through}
        for name in self.endpoint.names:
            if of_row.get(name.through) == name and not self.on_the_way:
                self._find_parent(name)
        if self.endpoint.verb in ("create", "put", "put ensured") or self.on_the_way:
            return
        rows = [row for row in self.reading.rows.all(self.resource.name) if self._is_meant(row)]
        condition = None if admission.of_request else admission.condition
        if is_of_all(self.endpoint):
            self.listed = [row for row in rows if self.is_seen(row) and not self._is_gone(row)]
            return
        if self.endpoint.verb == "list":
            seen = [row for row in rows if self.is_seen(row) and not row.is_gone]
            self.listed = [row for row in seen if condition is None or self._holds(condition, row)]
            return
        self.row = rows[0] if rows else None
        where = self.endpoint.operation.where
        if self.row is None and where is not None and not self._asks(where):
            return
        if self.row is None:
            self.presence = [Failure("not found", self.resource.name)]
        elif not self.is_seen(self.row):
            self.presence = [Failure(self.checked.unseen_rows, self.resource.name)]
        else:
            self.told_of = self.row
            self.forbidden = condition is not None and not self._holds(condition, self.row)

    def as_it_comes(self, admission: Admission, given: Given) -> Work:
        """Of `put` (meaning "rows that may be there"): the creation or the replacement that it comes to, by the row
        that is there."""
        mutation = self.endpoint.mutation
        assert isinstance(mutation, Ensure) and self.values is not None
        own = {name.field: self.values[name.text] for name in self.endpoint.names if not name.through}
        own |= {name: parent.key for name, parent in self.parents.items()} | given.values
        for name in mutation.known_by:
            made = self.resource.fields[name].on_create
            if name not in own and made is not None:
                value = self.reading.value_or_none(made)
                own[name] = value.key if isinstance(value, Reference) else value
        rows = self.reading.rows.all(self.resource.name)
        row = next(
            (row for row in rows if all(same(row.fields[each], own.get(each)) for each in mutation.known_by)), None
        )
        stated = {each: getattr(mutation, each) for each in _OF_BOTH} | {"guards": guards_of(self.endpoint)[0]}
        if self.on_the_way or (row is None and "created" in mutation.outcomes):
            made_new = Create(kind=KINDS["create"], response=mutation.ends_well[0], **stated)
            return replace(self, endpoint=replace(self.endpoint, operation=made_new))
        changed = Update(
            kind=KINDS["put replaced"], response=mutation.outcomes.get("replaced", mutation.response), **stated
        )
        work = replace(self, endpoint=replace(self.endpoint, operation=changed), row=row, put=mutation)
        condition = None if admission.of_request else admission.condition
        if row is None:
            work.presence = [Failure("not found", self.resource.name)]
        elif not self.is_seen(row):
            work.presence = [Failure(self.checked.unseen_rows, self.resource.name)]
        else:
            work.told_of = row
            work.forbidden = condition is not None and not self._holds(condition, row)
        return work

    def if_there(self, request: Request) -> Work:
        """Of `delete` that may find none: the deletion of the row that is there, or what answers for none."""
        mutation = self.endpoint.mutation
        assert isinstance(mutation, Remove)
        there = not any(each.condition == "not found" for each in self.presence)
        stated = {
            each.name: getattr(mutation, each.name)
            for each in dataclasses.fields(Delete)
            if hasattr(mutation, each.name)
        }
        stated |= {"kind": KINDS["delete"], "response": mutation.outcomes["deleted" if there else "absent"]}
        work = replace(self, endpoint=replace(self.endpoint, operation=Delete(**stated)), removes=mutation)
        if there or self.on_the_way:
            return work
        stale = [] if are_met(request, None, None) else [Failure("precondition failed", self.resource.name)]
        return replace(work, row=None, presence=stale)

    def as_named(self) -> Row:
        """Of a row that is not there: what the request names of it."""
        assert self.values is not None
        named = {name: parent.key for name, parent in self.parents.items()}
        named |= {name.field: self.values[name.text] for name in self.endpoint.names if not name.through}
        named |= dict(self._made_of_caller(self.removes)) if self.removes is not None else {}
        return Row(self.resource, {name: named.get(name) for name, each in self.resource.fields.items() if each.stored})

    def leaves_it(self, given: Given) -> bool:
        """Whether the row would become nothing else, but for what is new each time."""
        assert self.row is not None
        change = Change(self, given)
        replaces = self.put is None or "replaced" in self.put.outcomes
        for each in self.resource.fields.values():
            is_given = each.name in given.values
            if each.secret is not None and is_given:
                return False
            source = change._source(each, self.row) if not is_given else None
            if source is not None and not replaces and each.name not in change._stated:
                continue
            named = any(leaf.field == each.name for leaf in self.endpoint.takes.body or ())
            if (is_given or named or each.name in change._stated) and (source is None or not _is_new_each_time(source)):
                if not same(change.row.fields.get(each.name), self.row.fields.get(each.name)):
                    return False
        return True

    def of_one(self, row: Row, admission: Admission) -> Work:
        """The same of one of all the rows: what says which they are has been said."""
        mutation = self.endpoint.mutation
        assert isinstance(mutation, Update | Delete)
        one = replace(mutation, of_all=None, segments=(), where=None)
        own = replace(self.endpoint, operation=one)
        condition = None if admission.of_request else admission.condition
        forbidden = condition is not None and not self._holds(condition, row)
        return replace(self, endpoint=own, values={}, row=row, forbidden=forbidden, told_of=row)

    def have_the_same(self, rows: list[Row], given: Given) -> tuple[Row, list[Failure]] | None:
        """The first row that has the same as one before it where no two may, and what refuses it."""
        for at, row in enumerate(rows):
            failed = []
            for group in self._groups():
                values = [tuple(each.fields.get(name) for name in group) for each in rows[: at + 1]]
                if None not in values[at] and any(same(values[at], other) for other in values[:at]):
                    failed.append(self._conflict(group, given))
            if failed:
                return row, failed
        return None

    def _conflict(self, group: tuple[str, ...], given: Given) -> Failure:
        pointers = {leaf.field: leaf.pointer for leaf in self.endpoint.takes.body or ()}
        came = given.values.keys() | given.wrong
        named = next((name for name in group if name in came and name in pointers), None)
        named = named or next((name for name in group if name in pointers), group[0])
        fields = (Broken("body", pointers[named], "unique"),) if named in pointers else ()
        narrowed = f"{self.resource.name}.{named}" if len(group) == 1 else self.resource.name
        return Failure("conflict", narrowed, fields=fields)

    def _is_meant(self, row: Row) -> bool:
        """Whether a row is the one (or one of those) that the path, `row` and `where` say."""
        assert self.values is not None
        reading = self._about(row)
        narrowed = replace(reading, sees=lambda other: self.is_seen(other) and not other.is_gone)
        if any(not same(reading.value_or_none(name.found), self.values[name.text]) for name in self.endpoint.names):
            return False
        operation = self.endpoint.operation
        if isinstance(operation, Remove):
            for name, made in self._made_of_caller(operation):
                if not same(row.fields[name], made):
                    return False
        return operation.where is None or narrowed.holds(operation.where)

    def _made_of_caller(self, operation: Remove) -> Iterator[tuple[str, Any]]:
        """What says which row is meant and the path does not name."""
        named = {(*name.through, name.field)[0] for name in self.endpoint.names}
        for name in operation.known_by:
            made = self.resource.fields[name].on_create
            if name not in named and made is not None:
                value = self.reading.value_or_none(made)
                yield name, value.key if isinstance(value, Reference) else value

    def _find_parent(self, name: PathName) -> None:
        """A row that the path names on its way: there, belonging to those before it, seen and not gone."""
        assert self.values is not None
        found = [
            row
            for row in self.reading.rows.all(name.resource)
            if same(row.fields[name.field], self.values[name.text]) and self._belongs(row, name)
        ]
        seen = [row for row in found if self.is_seen(row)]
        if not found:
            self.on_the_way.append(Failure("not found", name.resource))
        elif not seen:
            self.on_the_way.append(Failure(self.checked.unseen_rows, name.resource))
        elif seen[0].is_gone:
            self.on_the_way.append(Failure("gone", name.resource))
        elif len(name.through) == 1:
            self.parents[name.through[0]] = seen[0]

    def _belongs(self, row: Row, name: PathName) -> bool:
        """Whether the names say it that are of the same row, or lead further from it: those before, and, where several
        fields say which row it is, all."""
        assert self.values is not None
        names, depth = self.endpoint.names, len(name.through)
        alone = row.resource.fields[name.field].unique or row.resource.primary_key == (name.field,)
        for other in names:
            is_behind = names.index(other) > names.index(name)
            if other.through[:depth] != name.through or (alone and is_behind and other.through != name.through):
                continue
            at: Row | None = row
            for reference in other.through[depth:]:
                target = None if at is None else at.resource.fields[reference].references
                at = None if at is None or target is None else self.reading.rows.find(target, at.fields[reference])
            if at is None or not same(at.fields[other.field], self.values[other.text]):
                return False
        return True

    # ── What stands in the way ────────────────────────────────────────────────────────────────────────────────

    def refusals(self, admission: Admission, given: Given, request: Request, by_values: bool = True) -> list[Failure]:
        """`by_values`: what would be stored is asked about too."""
        if is_of_all(self.endpoint):
            return self.on_the_way  # each row is asked by itself
        match self.endpoint.verb:
            case "compute":
                return [
                    Failure("check", None, each.code)
                    for each in self.endpoint.operation.guards
                    if self._asks(each.that) and not self.reading.holds(each.that)
                ]
            case "stream event":
                return []
            case "list":
                return self.on_the_way
            case "create":
                return [*self.on_the_way, *self._of_new_row(admission, given, by_values)]
        failures = [*self.on_the_way, *self.presence]
        if failures or self.row is None:
            changes = self.endpoint.verb not in ("read", "delete") and by_values
            return [*failures, *(Change.of_request_alone(self, given) if changes else ())]
        row = self.row
        if self._is_gone(row):
            failures.append(Failure("gone", self.resource.name))
        if self.forbidden:
            failures.append(Failure("forbidden", self.resource.name))
        tag = f'"{opaque_tag(row)}"' if self.endpoint.operation.validator else None
        if self.endpoint.verb != "read" and not are_met(request, row, tag):
            failures.append(Failure("precondition failed", self.resource.name))
        transition, machine = transition_of(self.endpoint), self.resource.machine
        if transition is not None and machine is not None:
            if row.fields[machine.field] not in transition.origins:
                failures.append(Failure("illegal transition", self.resource.name))
        failures += self._guarded(guards_of(self.endpoint)[0], row)
        if transition is not None and machine is not None:
            failures += self._guarded(transition.guards, row)
        if self.endpoint.verb == "delete":
            failures += self._referred_to(row)
        elif self.endpoint.verb != "read" and given.readable and by_values:
            change = Change(self, given)
            replaces = self.put is None or "replaced" in self.put.outcomes
            failures += self._of_values(change, given, row if replaces else None, are_kept=replaces)
            if self.put is not None and not replaces:
                failures += self._not_replaced(self.put, given)
        return failures

    def _not_replaced(self, put: Ensure, given: Given) -> list[Failure]:
        """A row that is there, where `put` replaces none."""
        assert self.row is not None
        if "unchanged" not in put.outcomes:
            return [Failure("conflict", self.resource.name)]
        # Of a value that is not valid nobody knows whether it is another.
        is_known = not given.wrong.difference(put.known_by)
        if not self.leaves_it(given):
            return [Failure("different", self.resource.name)] if is_known else []
        # Of a row that stays it is known as what it becomes, too.
        checks = guards_of(replace(self.endpoint, operation=put))[1] if given.is_valid else ()
        as_it_stays = self._about(self.row).also(before={self.resource.name: at_hand(self.row)})
        failing = [each for each in checks if self._asks(each.that) and not as_it_stays.holds(each.that)]
        return [Failure("check", self.resource.name, each.code) for each in failing]

    def _is_gone(self, row: Row) -> bool:
        """A transition that leaves a state of `gone` acts on the row nevertheless (meaning "gone rows")."""
        machine, transition = row.resource.machine, transition_of(self.endpoint)
        leaves = () if transition is None else transition.origins
        return row.is_gone and (machine is None or row.fields[machine.field] not in leaves)

    def _of_new_row(self, admission: Admission, given: Given, by_values: bool) -> list[Failure]:
        condition = None if admission.of_request else admission.condition
        if not by_values:
            is_asked = condition is not None and not self.on_the_way and not reads(condition, self.resource.name)
            holds = condition is None or not is_asked or self.reading.holds(condition)
            return [] if holds else [Failure("forbidden", self.resource.name)]
        if self.on_the_way:
            return Change.of_request_alone(self, given)
        change = Change(self, given)
        failures = self._of_values(change, given, None) if given.readable else []
        looked_up = [change.unfit[name] for name in change.looked_up & change.unfit.keys()]
        is_valid = given.readable and change.is_valid and not change.unfit.keys() - change.looked_up
        is_valid = is_valid and not any(each.condition == "invalid" and each not in looked_up for each in failures)
        # One that reads nothing of the row is judged whatever the body is (meaning "paths").
        if condition is not None and (is_valid or not reads(condition, self.resource.name)):
            if not self._holds(condition, change.row):
                failures.append(Failure("forbidden", self.resource.name))
        if is_valid:
            failures += [Failure("precondition failed", self.resource.name)] if self.is_stale else []
            self.told_of = change.row
            failures += self._guarded(self.endpoint.operation.guards, change.row)
        return failures

    def _guarded(self, guards: tuple[Guard, ...], row: Row) -> list[Failure]:
        return [Failure("check", self.resource.name, each.code) for each in guards if not self._holds(each.that, row)]

    def _of_values(self, change: Change, given: Given, was: Row | None, are_kept: bool = True) -> list[Failure]:
        """What is wrong with the values that would be stored: of those that are known, whatever the others are."""
        row = change.row
        if self.put is not None and "replaced" not in self.put.outcomes:
            change.unfit, change.failures = {}, []  # nothing would be made or stored
        failures = [each for name, each in change.unfit.items() if name not in change.looked_up] + change.failures
        unknown = change.unknown if failures or not change.is_valid else set()
        pointers = {leaf.field: leaf.pointer for leaf in self.endpoint.takes.body or ()}
        named = {name.field: name.text for name in self.endpoint.names if not name.through}
        for each in self.resource.fields.values():
            if each.references is None or not each.stored or each.name in unknown or each.name in self.parents:
                continue
            key = row.fields.get(each.name)
            stays = self.row is not None and (was is None or same(key, was.fields[each.name]))
            if key is None or (stays and each.name not in given.values):
                continue
            target = self.reading.rows.find(each.references, key)
            subject = f"{self.resource.name}.{each.name}"
            if each.name in given.values or each.name in named:
                if target is None or not self.is_seen(target) or target.is_gone:
                    failures.append(
                        Failure("invalid", subject, fields=(Broken("body", pointers[each.name], "references"),))
                        if each.name in given.values
                        else invalid("path", named[each.name], "references")
                    )
            elif target is None:
                failures.append(Failure("conflict", subject))
        for group in self._groups() if are_kept else ():
            if unknown & set(group) or any(row.fields.get(name) is None for name in group):
                continue
            others = [each for each in self.reading.rows.all(self.resource.name) if each is not was]
            if any(all(same(other.fields[name], row.fields[name]) for name in group) for other in others):
                failures.append(self._conflict(group, given))
        if not any(each.condition in ("invalid", "conflict") for each in failures):
            failures += [change.unfit[name] for name in change.unfit if name in change.looked_up]
        return failures

    def _groups(self) -> list[tuple[str, ...]]:
        """The fields, or fields together, of which no two rows have the same values."""
        resource = self.resource
        single = [(each.name,) for each in resource.fields.values() if each.unique]
        return list(dict.fromkeys([resource.primary_key, *single, *resource.unique]))

    def _referred_to(self, row: Row) -> list[Failure]:
        """Meaning "cascades": one `refuse` anywhere refuses all of it."""
        falls = list(falling(row, self.reading))
        for other, each in references(self.checked):
            if each.on_delete == "restrict":
                for referring in self.reading.rows.all(other.name):
                    if any(refers(referring, each, fallen) for fallen in falls):
                        return [Failure("conflict", self.resource.name)]
        return []

    def _about(self, row: Row) -> Reading:
        return self.reading.also(**{row.resource.name: at_hand(row)})

    def _holds(self, condition: Typed, row: Row) -> bool:
        return not self._asks(condition) or self._about(row).holds(condition)

    def _asks(self, condition: Typed) -> bool:
        """Whether it reads nothing of the request that is refused (meaning "precedence")."""
        return not self.is_lost(condition)

    def is_lost(self, typed: Typed) -> bool:
        """Whether it reads a part of the request that is refused."""
        return (self.misread and reads_parameters(typed)) or (self.misread_body and reads_body(typed))


def are_met(request: Request, row: Row | None, tag: str | None) -> bool:
    """Whether a write's conditions on its row hold, there or not (meaning "entity tags")."""
    if row is None:
        return "if-match" not in request.headers
    return matches(request, tag) and not is_known(request, tag)


def is_known(request: Request, tag: str | None) -> bool:
    """Whether the client says that it has the representation with this tag, or any."""
    others = request.headers.get("if-none-match")
    named = [] if others is None else [each.strip().removeprefix("W/") for each in others.split(",")]
    return named == ["*"] or tag in named


def matches(request: Request, tag: str | None) -> bool:
    """Whether the representation with this tag is one that the client asks for."""
    if_match = request.headers.get("if-match", "*")
    return if_match.strip() == "*" or tag in [each.strip() for each in if_match.split(",")]


def references(checked: Checked) -> Iterator[tuple[Resource, Field]]:
    for resource in checked.resources.values():
        for each in resource.fields.values():
            if each.references is not None and each.stored:
                yield resource, each


def refers(row: Row, reference: Field, to: Row) -> bool:
    return reference.references == to.resource.name and row.fields[reference.name] == to.key


def falling(row: Row, reading: Reading) -> Iterator[Row]:
    """The row, and all that fall with it."""
    found, ahead = [row], [row]
    yield row
    while ahead:
        fallen = ahead.pop()
        for resource in reading.resources.values():
            for each in resource.fields.values():
                if each.references == fallen.resource.name and each.on_delete == "cascade":
                    for other in reading.rows.all(resource.name):
                        if refers(other, each, fallen) and not any(other is one for one in found):
                            found.append(other)
                            ahead.append(other)
                            yield other


class Change:
    """What a write makes of a row. Made once to see what would be, and once to do it: `work.reading.rows` are then a
    copy, and the row is put into them."""

    def __init__(self, work: Work, given: Given) -> None:
        self.work, self.given, self.endpoint = work, given, work.endpoint
        self.failures: list[Failure] = []
        self.unfit: dict[str, Failure] = {}
        self.looked_up: set[str] = set()
        self.issued: dict[str, Any] = {}
        self.unknown = set(given.wrong)
        self.is_valid = given.is_valid and work.path_fits
        """Whether each value that the request gives the row is: nothing is made of one that is not."""
        self.now = work.reading.names["now"]
        rows = work.reading.rows
        old = None if work.row is None else rows.find(work.resource.name, work.row.key)
        if self.endpoint.verb == "delete":
            assert old is not None
            self.row = old
            self._delete(old)
        else:
            fields = {} if old is None else dict(old.fields)
            kept = (0, "", object()) if old is None else (old.written, old.entered, old.identity)
            self.row = Row(work.resource, fields, *kept)
            self._make(old)
            if old is None or transition_of(self.endpoint) is not None:
                self.row.entered = self.now

    @classmethod
    def of_request_alone(cls, work: Work, given: Given) -> list[Failure]:
        """What of the values is wrong whatever the rows are: it is told beside a row that is not there."""
        if not given.readable:
            return []
        resource, creates = work.resource, work.endpoint.verb == "create"
        change = cls(replace(work, row=None), given)
        not_there = {name.through[0] for name in work.endpoint.names if name.through} - work.parents.keys()

        def is_of_request(name: str) -> bool:
            """Whether neither the row that is changed nor one that is not there has to do with the value."""
            source, is_stated = change._source(resource.fields[name], None), name in change._stated
            if name in not_there or not (creates or is_stated):
                return False
            if source is None:
                return True
            reads_these = any(_reads_field(source, resource, each) for each in not_there)
            return not reads_these and not _is_looked_up(source, resource.name, not creates)

        lacks = [each for each in change.failures if each.subject and is_of_request(each.subject.partition(".")[2])]
        return [*lacks, *(failure for name, failure in change.unfit.items() if is_of_request(name))]

    # ── Values ────────────────────────────────────────────────────────────────────────────────────────────────

    def _make(self, old: Row | None) -> None:
        """What the body gives, then what the contract gives, which reads the row as it becomes (meaning "who gives a
        value")."""
        resource, fields, values = self.work.resource, self.row.fields, self.given.values
        machine, transition = resource.machine, transition_of(self.endpoint)
        stored = [each for each in resource.fields.values() if each.stored]
        if old is None:
            fields |= {each.name: None for each in stored}
        if self.endpoint.verb == "put replaced":
            fields |= {leaf.field: None for leaf in self.endpoint.takes.body or () if not self._is_kept(leaf.field)}
        fields |= values
        fields |= {name: parent.key for name, parent in self.work.parents.items() if self.endpoint.verb == "create"}
        if self.endpoint.verb == "create" and self.work.values is not None:
            own = (name for name in self.endpoint.names if not name.through)
            fields |= {name.field: self.work.values[name.text] for name in own}
        if machine is not None and old is None:
            fields[machine.field] = machine.initial
        self.as_given = dict(fields)
        if machine is not None and transition is not None:
            fields[machine.field] = transition.to
        making = [(each, source) for each in stored if (source := self._source(each, old)) is not None]
        # Of what is made of a part of the request that is refused nobody knows what it would be.
        lost = {each.name for each, source in making if self.work.is_lost(source)}
        self.unknown |= lost
        self.is_valid = self.is_valid and not lost
        self.looked_up = {
            each.name
            for each, source in making
            if _is_looked_up(source, resource.name, old is not None and each.name in self._stated)
        }
        for each, source in making:
            if not reads(source, resource.name):
                self._give(each, source)
        for each, source in making:
            if reads(source, resource.name):
                self._give(each, source)
                # What is stated of a row that is there is known, whatever else the body gives wrongly.
                if old is None or each.name not in self._stated:
                    self.unknown.add(each.name)
        if old is not None:
            self._make_anew(old, {each.name for each, _ in making})
        put = self.work.put
        for each in stored:
            if each.name in self.unfit:
                continue
            # What the contract alone gives a new row, one that is there and is not replaced does not lack.
            if put is not None and "replaced" not in put.outcomes and each.name not in self._stated:
                if self._source(each, old) is not None:
                    continue
            if each.required and fields.get(each.name) is None and each.name not in self.work.parents:
                if not each.serial and self.is_valid and self._is_touched(each, old):
                    can_be_given = any(leaf.field == each.name for leaf in self.endpoint.takes.body or ())
                    fields_ = invalid("body", each.name, "required").fields if can_be_given else ()
                    self.failures.append(Failure("invalid", f"{resource.name}.{each.name}", fields=fields_))
            made = old is None or any(each is one for one, _ in making)
            if each.secret == "token" and fields.get(each.name) is not None and made:
                self.issued[each.name] = fields[each.name]

    def _make_anew(self, old: Row, made: set[str]) -> None:
        """What is given because other fields change: each after those that it waits for."""
        given = made | self.given.values.keys() | self.given.wrong
        if self.work.put is not None:
            given = given | {named.field for named in self.endpoint.names if not named.through}
        waiting = [each for each in self.work.resource.fields.values() if each.anew and each.name not in given]
        while waiting:
            names = {each.name for each in waiting}
            free = (each for each in waiting if not names & {part for one in each.anew for part in one.fields})
            each = next(free, waiting[0])
            waiting.remove(each)
            value = next((one.value for one in each.anew if any(self._changes(part, old) for part in one.fields)), None)
            if value is not None:
                self._give(each, value)
                self.unknown.add(each.name)

    def _changes(self, name: str, old: Row) -> bool:
        """Whether the write changes a field. A secret changes where it is given; of what is wrong nobody knows."""
        given = name in self.given.wrong or name in self.given.values
        if name in self.given.wrong or self.work.resource.fields[name].secret is not None:
            return given or name in self._stated
        return not same(self.row.fields.get(name), old.fields.get(name))

    def _is_touched(self, each: Field, old: Row | None) -> bool:
        return old is None or each.name in self.given.values or self._source(each, old) is not None

    @property
    def _stated(self) -> dict[str, Typed]:
        """What the endpoint and its transition set."""
        transition, mutation = transition_of(self.endpoint), self.endpoint.mutation
        return dict(() if mutation is None else mutation.sets) | dict(() if transition is None else transition.sets)

    def _source(self, each: Field, old: Row | None) -> Typed | None:
        """What gives the field its value in this write; None: the body, or nothing."""
        endpoint, machine, sets = self.endpoint, self.work.resource.machine, self._stated
        if machine is not None and each.name == machine.field:
            return None
        if each.name in sets:
            return sets[each.name]
        by_path = any(named.field == each.name and not named.through for named in endpoint.names)
        if by_path and old is None:
            return None
        if each.name in self.given.values or each.name in self.given.wrong or each.serial:
            return None
        if by_path and self.work.put is not None:
            return None
        if old is None:
            return None if each.name in self.work.parents else each.on_create or each.on_change
        if each.on_change is not None:
            return each.on_change
        if endpoint.verb == "put replaced" and any(leaf.field == each.name for leaf in endpoint.takes.body or ()):
            if each.on_create is None or not _is_new_each_time(each.on_create):
                return None if self._is_kept(each.name) else each.on_create
        return None

    def _is_kept(self, name: str) -> bool:
        """Of what `put` leaves out, what `on create` makes new each time is as it was."""
        made = self.work.resource.fields[name].on_create
        return made is not None and _is_new_each_time(made)

    def _give(self, each: Field, source: Typed) -> None:
        # What is stated of a row that is there reads nothing else that is stated; what is made of it comes after.
        is_apart = self.work.row is not None and each.name in self._stated
        becomes = replace(self.row, fields=dict(self.as_given if is_apart else self.row.fields))
        reading = self.work.reading.also(**{self.work.resource.name: at_hand(becomes)})
        rules: list[tuple[Path, str]] = []
        try:
            value = alone(source, reading)
        except Fails:
            value, rules = None, [((), "stored")]
        value = value.key if isinstance(value, Reference) else value
        if value is not None and each.references is None:
            rules = list(broken_rules(each.schema, value, ()))
        self.row.fields[each.name] = None if rules else value
        resource = self.work.resource
        if rules and self.is_valid and not any(_reads_field(source, resource, name) for name in self.unfit):
            self.unfit[each.name] = self._unfit(each, source, *rules[0])

    def _unfit(self, each: Field, source: Typed, path: Path, rule: str) -> Failure:
        """A value that the field does not take: what the request gave of it is `invalid`, else the row would be."""
        places = tuple(dict.fromkeys(self._of_request(source, (each.name,))))
        field_ = Broken("row", (each.name, *path), rule)
        return unmade(places, self.endpoint, self.work.resource.name, rule, field_)

    def _of_request(self, typed: Typed, beyond: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Where the request gives what an expression reads."""
        match typed:
            case Select() if _root(typed) in ("request", "this"):
                yield from of_request(typed, self.work.acting)
            case Select() | Variable() if _root(typed) == "each" and self.endpoint.mutation is not None:
                yield from of_items(self.endpoint.mutation.each, typed, self.work.acting)
            case Select(operand=Variable(name=root), name=name) if root == self.work.resource.name:
                if name not in beyond:
                    yield from self._through(name, beyond)
                if self.work.before is not None and (name in beyond or name not in self._stated):
                    yield from self.work.before._through(name, ())
            case _:
                for each in within(typed):
                    yield from self._of_request(each, beyond)

    def _through(self, name: str, beyond: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        field_, endpoint = self.work.resource.fields[name], self.endpoint
        if field_.computed is not None:
            yield from self._of_request(field_.computed, (*beyond, name))
        whole = endpoint.verb in ("create", "put replaced")
        made = self._stated.get(name) or (field_.on_create if endpoint.verb == "create" else None) or field_.on_change
        for leaf in endpoint.takes.body or ():
            if leaf.field == name and (name in self.given.values or (whole and made is None)):
                yield "body", leaf.pointer
        for named in endpoint.names:
            if named.field == name and not named.through and endpoint.verb == "create":
                yield "path", (named.text,)
        if made is not None:
            yield from self._of_request(made, (*beyond, name))

    # ── Rows ──────────────────────────────────────────────────────────────────────────────────────────────────

    def done(self, together: int | None = None) -> Row:
        """Put the row into the rows. Raises TooLarge. `together`: the write that it is part of."""
        rows, resource = self.work.reading.rows, self.work.resource
        if self.endpoint.verb == "delete":
            return self.row
        if _stored_size(self.row) > max(LARGEST, 2 * int(self.work.checked.limits.said.get("body size", 0))):
            raise TooLarge
        old = None if self.work.row is None else rows.find(resource.name, self.work.row.key)
        for each in resource.fields.values():
            if each.serial and old is None:
                rows.serials[resource.name] = rows.serials.get(resource.name, 0) + 1
                self.row.fields[each.name] = rows.serials[resource.name]
        rows.touch(self.row, together)
        if old is None:
            rows.of.setdefault(resource.name, []).append(self.row)
        else:
            rows.of[resource.name][rows.of[resource.name].index(old)] = self.row
        return self.row

    def _delete(self, row: Row) -> None:
        rows = self.work.reading.rows
        falls = list(falling(row, self.work.reading))
        for other, each in references(self.work.checked):
            for referring in rows.all(other.name):
                if each.on_delete == "set null" and any(refers(referring, each, fallen) for fallen in falls):
                    referring.fields[each.name] = None
                    rows.touch(referring)
                    rows.cleared.append((referring, each.name))
        for fallen in falls:
            rows.of[fallen.resource.name] = [one for one in rows.of[fallen.resource.name] if one is not fallen]
            own = (fallen.resource.name, fallen.key)
            rows.credentials = [each for each in rows.credentials if (each.resource, each.key) != own]


def _stored_size(row: Row) -> int:
    """The bytes of a row, but for some of the database's own."""
    texts = [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False) for each in row.fields.values()]
    return sum(len(each.encode("utf-8", "surrogatepass")) for each in texts)


def _is_new_each_time(typed: Typed) -> bool:
    return reads(typed, "now") or _calls(typed, ("uuid", "random", "token", "serial"))


def _calls(typed: Typed, names: tuple[str, ...]) -> bool:
    return (isinstance(typed, Call) and typed.function in names) or any(_calls(each, names) for each in within(typed))


def reads(typed: Typed, name: str) -> bool:
    """Whether an expression reads a root."""
    return (isinstance(typed, Variable) and typed.name == name) or any(reads(each, name) for each in within(typed))


def reads_parameters(typed: Typed) -> bool:
    """Whether an expression reads of the request something beside its body."""
    if isinstance(typed, Select) and isinstance(typed.operand, Variable) and typed.operand.name == "request":
        return typed.name != "body"
    return any(map(reads_parameters, within(typed)))


def reads_body(typed: Typed) -> bool:
    """Whether an expression reads members of the body that are no fields."""
    return names_of(typed) == ("request", "body") or any(map(reads_body, within(typed)))


def within(typed: Typed) -> list[Typed]:
    """The expressions in one."""
    match typed:
        case Select(operand=operand):
            return [operand]
        case Call(arguments=arguments):
            return list(arguments)
        case Comprehension(range=range_, condition=condition, body=body):
            return [range_, body, *([] if condition is None else [condition])]
        case MakeArray(items=items):
            return list(items)
        case MakeObject(members=members):
            return [each for _, each in members]
        case _:
            return []


def unmade(
    places: Sequence[tuple[str, tuple[str, ...]]], endpoint: Endpoint, resource: str | None, rule: str, *own: Broken
) -> Failure:
    """What cannot be made of these `places` of the request, or does not fit: `invalid` at the one, or at the whole
    body. Where there is none, it is as of a check without a code, of its `own`."""
    if not places:
        return Failure("check", resource, fields=own)
    if len(places) > 1:
        of = "body" if any(place == "body" for place, _ in places) else places[0][0]
        return Failure("invalid", resource, fields=(Broken(of, (), rule),))
    place, way = places[0]
    leaf = next((leaf.field for leaf in endpoint.takes.body or () if place == "body" and leaf.pointer == way), None)
    named = f"{place}.{way[0]}" if place in ("query", "header") else None
    subject = named if place != "body" else resource if leaf is None else f"{resource}.{leaf}"
    return Failure("invalid", subject, fields=(Broken(place, way, rule),))


def of_request(
    typed: Typed, acting: Mapping[str, tuple[str, tuple[str, ...]]] | None = None
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where the request gives what an expression reads of it, by itself or through a field of the row `acting`."""
    names = names_of(typed)
    if names is not None and names[0] == "this" and len(names) > 1 and names[1] in (acting or {}):
        yield (acting or {})[names[1]]
        return
    if names is not None and names[0] == "request" and len(names) > 2:
        yield {"headers": "header"}.get(names[1], names[1]), names[2:]
        return
    for each in within(typed):
        yield from of_request(each, acting)


def of_items(
    items: Typed | None, typed: Typed, acting: Mapping[str, tuple[str, tuple[str, ...]]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The same of the item that a row is made of."""
    array, names = None if items is None else names_of(items), names_of(typed) or ()
    if array is not None and array[:2] == ("request", "body"):
        yield "body", (*array[2:], "*", *names[1:])
    elif items is not None:
        yield from of_request(items, acting)


def alone(typed: Typed, reading: Reading) -> Any:
    """What an expression gives. A member of the caller, or of what the request gives, that is left out is no value
    where it stands alone, and an error where something is made of it."""
    match typed:
        case Call(function="?:", arguments=[condition, yes, no]):
            chosen = reading.value(condition)
            if not isinstance(chosen, bool):
                raise Fails("no condition")
            return alone(yes if chosen else no, reading)
        case Select() if _root(typed) in ("caller", "request"):
            return reading.value_or_none(typed)
        case _:
            return reading.value(typed)


def _root(typed: Typed) -> str | None:
    if isinstance(typed, Select):
        return _root(typed.operand)
    return typed.name if isinstance(typed, Variable) else None


def _reads_field(typed: Typed, resource: Resource, name: str) -> bool:
    """Whether an expression reads a field of the row, also by way of a computed one."""
    if isinstance(typed, Select) and typed.operand == Variable(resource.name, typed.operand.type):
        computed = resource.fields[typed.name].computed if typed.name in resource.fields else None
        return typed.name == name or (computed is not None and _reads_field(computed, resource, name))
    return any(_reads_field(each, resource, name) for each in within(typed))


def _is_looked_up(typed: Typed, resource: str, changes: bool) -> bool:
    """Whether the value is worked out with the rows as it is written."""
    match typed:
        case All() | Select(through="back"):
            return True
        case Select(operand=Select(type=RowType()), through="field" | "computed"):
            return True
        case Select(operand=Variable(name=name), through=through) if name == resource:
            return changes or through == "computed"
        case _:
            return any(_is_looked_up(each, resource, changes) for each in within(typed))
