"""A body: from bytes to values by field, and every rule that they do not keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, groupby, islice
from typing import Any

from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.plan import routes as plan
from ninefold.plan.held import CANNOT_BE_MADE
from ninefold.plan.json_patch import SCHEMA as JSON_PATCH
from ninefold.runtime.messages import forms, media_types, patches
from ninefold.runtime.messages.fields import ABSENT, Field, at, copied, object_at
from ninefold.runtime.messages.json_text import is_within, parse
from ninefold.runtime.messages.message import Request
from ninefold.runtime.messages.named import named
from ninefold.runtime.messages.patches import merge
from ninefold.runtime.messages.plain import Given, plain
from ninefold.runtime.messages.problems import Failure, FieldFailure, field_failure
from ninefold.runtime.messages.problems import pointer as json_pointer
from ninefold.runtime.messages.schemas import Node, Schemas
from ninefold.runtime.messages.violations import (
    MOST,
    Broken,
    Order,
    Path,
    as_written,
    broken,
    known_members,
    leading_names,
    once,
    unknown,
)
from ninefold.runtime.messages.weight import per_byte
from ninefold.runtime.messages.whole import Whole
from ninefold.values import Array, Invalid, Row, Type, Value, json_reader, optional, to_json
from ninefold.values.of_schemas import from_schema


def _keeps(schemas: Schemas, type_: Type, value: Value) -> bool:
    """Whether a value that is made is as a schema says."""
    return schemas.is_valid(to_json(type_, value))


_MALFORMED = Failure("malformed")
_UNSUPPORTED = Failure("unsupported media type")
_TOO_LARGE = Failure("too large")


class Body:
    """A plan's body made ready. A validator is compiled once, and fetches nothing."""

    def __init__(self, body: plan.Body) -> None:
        self.optional = body.optional
        self._ignored = body.optional and body.unknown == "ignored"
        self._media_types = frozenset(each.lower() for each in body.media_types)
        self._fields = tuple(
            Field(
                each.field,
                each.pointer,
                each.fixed,
                # A reference is the identifier itself: `1.0` is 1, and a time has one form.
                json_reader(optional(_written_type(each, body.schema)) if isinstance(each.type, Row) else each.type),
                None if each.normalise is None else compile(each.normalise),
                each.merged,
                None if each.stored is None else compile(each.stored),
                each.was or each.field,
                each.type,
                each.null_shown,
                each.known_as,
                None if each.held is None else partial(_keeps, Schemas(each.held), from_schema(each.held)),
            )
            for each in body.fields
        )
        self._given_at = tuple((each.field, json_pointer(each.pointer)) for each in body.fields)
        self._texts = body.texts
        self._meant = tuple((each.pointer, _written_type(each, body.schema)) for each in body.fields)
        schemas = body.schema.get("properties", {})
        self._written = tuple((pointer[0], type_) for pointer, type_ in self._meant) + tuple(body.members.items())
        self._written += tuple((each[0], from_schema(schemas.get(each[0], {}))) for each in body.constants)
        self.edits = body.edits
        self._edits = Schemas(JSON_PATCH) if body.edits else None
        self._schemas = Schemas(body.schema)
        self._whole = None if body.whole is None else Whole(body.whole, body.edits)
        asked = [body.schema] if body.whole is None else [body.schema, body.whole.schema]
        self.per_byte = sum(per_byte(each, body.unknown == "ignored") for each in asked)
        self._given = tuple((each, _schema_at(each.pointer, body.schema)) for each in self._fields)
        known = [*(each.pointer for each in body.fields), *((name,) for name in body.members), *body.constants]
        written = tuple(as_written(body.schema, frozenset(known)))
        self._order = Order(body.schema, written)
        self._members_at = tuple(map(json_pointer, written))
        self._members = {name: json_reader(type_) for name, type_ in body.members.items()}
        if body.chosen_by is not None and all(each[0] != body.chosen_by for each in known):
            known.append((body.chosen_by,))
        # Where something is asked of the whole, it says itself which members there are; but edits are of fields alone.
        says_all = body.whole is not None and not body.edits
        self._known = known_members(known) if body.unknown == "refused" and not says_all else None
        self._around = known_members(each.pointer for each in body.fields)
        self._drops = body.unknown == "ignored"
        is_plain = self._whole is None and not (self._drops or self._texts)
        self._plain = plain(self._fields, self._members, self._known, self._schemas) if is_plain else None

    @property
    def ignored(self) -> bool:
        """Whether a body is not even looked at."""
        return self._ignored

    def unsupported(self, request: Request) -> Failure | None:
        """Whether what is announced cannot be read: another media type, charset or coding (RFC 9110 8.3, 8.4)."""
        if not request.has_content:
            return None
        if request.headers.get("content-encoding", "identity").lower() != "identity":
            return _UNSUPPORTED
        sent = media_types.sent(request.headers.get("content-type", ""))
        if sent is None or sent[0] not in self._media_types or sent[1] not in (None, "utf-8"):
            return _UNSUPPORTED
        return None

    def is_form(self, request: Request) -> bool:
        """Whether what is sent is a form, and not JSON. Where a form may come, no content is one without members."""
        if forms.MEDIA_TYPE not in self._media_types or not request.has_content:
            return forms.MEDIA_TYPE in self._media_types
        sent = media_types.sent(request.headers.get("content-type", ""))
        return sent is not None and sent[0] == forms.MEDIA_TYPE

    def members(self, data: bytes) -> Any:
        """The members of a form, as texts; a Failure where it is none."""
        try:
            return forms.parse(data)
        except ValueError:
            return _MALFORMED

    def of_form(self, members: Mapping[str, Any]) -> dict[str, Any]:
        """The same as JSON would have them."""
        return forms.typed(members, self._written)

    def parsed(self, data: bytes) -> Any:
        """The body as JSON; a Failure where it is none."""
        if not data and self.optional:
            return {}
        try:
            document = parse(data)
        except ValueError:
            return _MALFORMED
        return document if self._edits is None else self._no_patch(document) or document

    def _no_patch(self, document: Any) -> Failure | None:
        """What keeps a body from being a JSON Patch (RFC 6902 4)."""
        assert self._edits is not None
        found = islice(broken(self._edits, document), MOST + 1)
        failures = tuple(field_failure("body", path, rule) for path, rule in dict.fromkeys(found))
        return Failure("invalid", fields=failures) if failures else None

    def given(self, document: Any) -> frozenset[str]:
        """The fields that a body gives, whatever it gives them."""
        return frozenset([each.name for each in self._fields if at(document, each.pointer) is not ABSENT])

    def merging(self, document: Any) -> bool:
        """Whether what the body gives is made from the row that is there: of an object that is to be merged into one,
        or of edits."""
        return self.edits or any(type(at(document, each.pointer)) is dict for each in self._fields if each.merged)

    def merged(self, document: Any, current: Mapping[str, Value] | None, most: int) -> Becomes | Failure:
        """The body with each such object merged (RFC 7396 2). Where no row is there to merge into, it is left out:
        what would become of it nobody can say. `most`: bytes that it may become, as JSON."""
        document = copied(document, self._around)
        for each in self._fields:
            if each.merged and type(patch := at(document, each.pointer)) is dict:
                within = at(document, each.pointer[:-1])
                if current is None:
                    del within[each.pointer[-1]]
                else:
                    within[each.pointer[-1]] = merge(current.get(each.was), patch)
        return Becomes(document) if is_within(document, most) else _TOO_LARGE

    def edited(
        self, patch: Any, current: Mapping[str, Value] | None, most: int, resource: str | None
    ) -> Becomes | Failure:
        """What a JSON Patch changes: a body that gives each field which becomes another, and the fields that are to
        have no value any more. Where no row is there to edit, nothing is changed. A Failure where an edit cannot be
        done to the row as it is, or makes it larger than `most` bytes of JSON."""
        if current is None:
            return Becomes({})
        before = self._document(current)
        try:
            after, edits = patches.edited(before, patch, most)
        except patches.CannotBeDone as failed:
            where = field_failure("body", (failed.index, failed.member), failed.rule)
            if failed.rule == "most":
                return _TOO_LARGE
            return Failure("different" if failed.rule == "test" else "conflict", resource, fields=(where,))
        if not is_within(after, most):
            return _TOO_LARGE
        if type(after) is not dict:
            return Becomes(after, edits=edits)
        changed = copied(after, self._around)
        cleared = set()
        for each in self._fields:
            was, becomes = at(before, each.pointer), at(changed, each.pointer)
            within = object_at(changed, each.pointer[:-1])
            if within is None:
                continue  # another value is in the place of the object: the schema says so
            if becomes is ABSENT and was is not ABSENT and was is not None:
                cleared.add(each.name)
            elif becomes is not ABSENT and was is not ABSENT and patches.same(was, becomes):
                del within[each.pointer[-1]]
        return Becomes(changed, frozenset(cleared), edits, after)

    def _document(self, current: Mapping[str, Value]) -> dict[str, Any]:
        """The row as this body would give it. What nobody may read (a secret) is not in it."""
        document: dict[str, Any] = {}
        for each in self._fields:
            within = object_at(document, each.pointer[:-1])
            value = current.get(each.was)
            if within is not None and (value is not None or (each.null_shown and each.was in current)):
                within[each.pointer[-1]] = to_json(each.type, value)
        return document

    def read(self, data: bytes) -> dict[str, Value] | Failure:
        """The values that the body gives, by field, or everything that is wrong with it."""
        document = self.parsed(data)
        return document if isinstance(document, Failure) else self.values(document)

    def values(self, document: Any) -> dict[str, Value] | Failure:
        """The same of a body that is parsed already, which is changed by what the contract says to `normalise`."""
        given = self.valid(document)
        return given.values if given.wrong is None else given.wrong

    def valid(
        self,
        document: Any,
        cleared: frozenset[str] = frozenset(),
        form: bool = False,
        known: Mapping[str, Value] | None = None,
        edited: Any = ABSENT,
    ) -> Given:
        """What the body gives, and what is wrong with it. `cleared`: the fields that are to have no value. `form`: the
        document came as a form. `known`: what the path gives. `edited`: all that a JSON Patch has made, of which the
        document is what became another."""
        if self._plain is not None and not form and not cleared:
            plain = self._plain.given(document)
            if plain is not None:
                return plain
        if self._texts:
            self._take_texts(document)
        unmade = [each.pointer for each in self._fields if not each.normalise(document)]
        document, failures = self._held(document, edited)
        failures += [(each, CANNOT_BE_MADE) for each in unmade]
        refused = {leading_names(path) for path, _ in failures}
        if len(failures) > MOST:
            # Not all has been looked at: of what is not known to be wrong it is asked whether it is.
            refused |= {each.pointer for each, node in self._given if not self._is_valid(document, each.pointer, node)}
        values: dict[str, Value] = {}
        for each in self._fields:
            found = at(document, each.pointer)
            if found is ABSENT:
                if each.name in cleared and not each.fixed and each.type.nullable:
                    values[each.name] = None
                elif each.name in cleared:
                    failures.append((each.pointer, "immutable" if each.fixed else "required"))
                continue
            if each.fixed:
                if not each.repeats(found, known or {}):
                    failures.append((each.pointer, "immutable"))
            elif not refused or not any(names[: len(each.pointer)] == each.pointer for names in refused):
                try:
                    values[each.name] = each.kept(each.read(found))
                except Invalid as failure:
                    failures.append(((*each.pointer, *failure.path), failure.rule))
                except EvaluationError:
                    failures.append((each.pointer, CANNOT_BE_MADE))
        others: dict[str, Value] = {}
        for name, read in self._members.items() if type(document) is dict else ():
            if name in document and not (refused and (name,) in {names[:1] for names in refused}):
                try:
                    others[name] = read(document[name])
                except Invalid as failure:
                    failures.append(((name, *failure.path), failure.rule))
        if self._whole is not None and not failures:
            failures = self._whole.give(document, others, self._around.keys() | self._members.keys())
        if form:
            failures = [self._repeated(document, *each) for each in failures]
        wrong = Failure("invalid", fields=self._in_order(failures)) if failures else None
        return Given(values, others, wrong)

    def _held(self, document: Any, edited: Any) -> tuple[Any, list[Broken]]:
        """The members of the document, as far as they are any, and what is wrong with it."""
        # What a JSON Patch leaves as it was is a part of what it makes.
        made = self._whole is not None and type(edited) is dict and type(document) is dict
        whole = {**edited, **document} if made else document
        members = document if self._whole is None else self._whole.without_others(document, whole)
        failures = self._broken(members, whole)
        if not failures and self._drops:
            kept = named(self._schemas, whole, *(() if self._whole is None else self._whole.names))
            if kept is not whole or members is not document:
                # What is stored is as its schema says: also without the members that nothing names.
                rest = {name: whole[name] for name in whole.keys() - document.keys()}
                members = {name: kept[name] for name in members if name in kept}
                failures = self._broken(members, {**rest, **members})
        return members, failures

    def _broken(self, document: Any, whole: Any) -> list[Broken]:
        """What is wrong with the document, member by member and as a whole, as far as it is told; one more where there
        is more."""
        of_whole = broken(self._whole.schemas, whole) if self._whole is not None and type(whole) is dict else ()
        found = once(chain(self._unknown(document), broken(self._schemas, document), of_whole))
        return [*islice(found, MOST + 1)]

    def _is_valid(self, document: Any, pointer: tuple[str, ...], node: Node) -> bool:
        found = at(document, pointer)
        return found is ABSENT or self._schemas.keeps(node)(found)

    def by_field(self, failure: Failure, resource: str | None) -> Iterator[Failure]:
        """The same, each failure about one field of the row, in the same order. What is wrong with none of them is
        about the row."""
        if resource is None:
            yield failure
            return
        for subject, fields in groupby(failure.fields, lambda each: self._subject(each, resource)):
            yield Failure(failure.condition, subject, failure.code, tuple(fields), failure.trace)

    def in_order(self, failures: Sequence[Failure]) -> list[Failure]:
        """The same, where those that are about members of the body come in the order of the contract, whichever step
        of the request has found them."""
        about = [number for number, each in enumerate(failures) if each.fields and each.fields[0].place == "body"]
        ordered = sorted((failures[number] for number in about), key=lambda each: self._number(each.fields[0]))
        found = list(failures)
        for number, failure in zip(about, ordered, strict=True):
            found[number] = failure
        return found

    def _number(self, failure: FieldFailure) -> int:
        at = failure.pointer + "/"
        found = (
            number
            for number, given in enumerate(self._members_at)
            if f"{given}/".startswith(at) or at.startswith(f"{given}/")
        )
        return next(found, len(self._members_at))

    def _subject(self, failure: FieldFailure, resource: str) -> str:
        at = failure.pointer
        found = (name for name, given in self._given_at if at == given or at.startswith(given + "/"))
        return ".".join((resource, *islice(found, 1)))

    def _take_texts(self, document: Any) -> None:
        """Put numbers and truth values in the place of texts that are taken for them."""
        for pointer, type_ in self._meant:
            found = at(document, pointer)
            if found is not ABSENT:
                at(document, pointer[:-1])[pointer[-1]] = forms.meant(found, type_)

    def _repeated(self, document: dict[str, Any], path: Path, rule: str) -> tuple[Path, str]:
        """What is wrong with a member of a form: one that is given several times and means one value is `repeated`.
        That it may not be given at all is told beside it."""
        meant = next((each.type for each in self._fields if each.pointer == path[:1]), None)
        one = meant is not None and not isinstance(meant, Array) and rule != "immutable"
        return (path[:1], "repeated") if one and type(at(document, path[:1])) is list else (path, rule)  # type: ignore[arg-type]

    def _unknown(self, document: Any) -> Iterator[tuple[Path, str]]:
        if self._known is not None:
            yield from unknown(document, self._known, ())

    def _in_order(self, failures: list[tuple[Path, str]]) -> tuple[FieldFailure, ...]:
        # What a form repeats breaks its schema, whose rules come behind those of the field.
        ordered = sorted(dict.fromkeys(failures), key=lambda each: (*self._order(*each), each[1] == "repeated"))
        return tuple(field_failure("body", path, rule) for path, rule in ordered)


@dataclass(frozen=True, slots=True)
class Becomes:
    """A body with what the row has: merged, or edited. `cleared`: the fields that are to have no value any more;
    `edits`: what a JSON Patch did, and all that it `made`."""

    document: Any
    cleared: frozenset[str] = frozenset()
    edits: tuple[patches.Edit, ...] | None = None
    made: Any = ABSENT


def _written_type(field: plan.BodyField, schema: Any) -> Type:
    """What a field is written as: of a reference, the schema of the identifier says it."""
    if not isinstance(field.type, Row):
        return field.type
    found: Any = _schema_at(field.pointer, schema)
    while "type" not in found and "allOf" in found:
        found = found["allOf"][0]  # what else is asked of it stands behind
    return from_schema(found)


def _schema_at(pointer: tuple[str, ...], schema: Any) -> Node:
    for name in pointer:
        schema = schema.get("properties", {}).get(name, {})
    found: Node = schema
    return found
