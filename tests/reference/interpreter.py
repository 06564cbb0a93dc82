"""A service by its contract, request by request: slow, and meant to be checked against `docs/language.md` by eye.

Everything that could refuse a request is looked for, every time, and put on one list; which of it is answered is
decided at the end. Rows are dicts, a query is a loop over them, and a transaction is a copy that is kept or dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from urllib.parse import quote, unquote

from tests.reference import bodies, callers, calls, cases, chosen, lists, routes, shows, writes
from tests.reference.callers import ANYONE, Caller
from tests.reference.expressions import Chance, Reading, TooLarge, all_rows, at_hand, moment
from tests.reference.failures import Failure, error_value, in_written_order, invalid, refusal
from tests.reference.lists import Page
from tests.reference.messages import NOTHING, Request, Response
from tests.reference.operations import further_of, is_of_all, pages_of
from tests.reference.rows import Row, Rows
from tests.reference.values import Broken, broken_rules, from_text, parsed, read

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.operations import TRANSITION, Create, Delete, Ensure, PathName, PathValue, Update
from ninefold.checked.resources import Effect, Guard, Transition
from ninefold.checked.service import Checked, Scheme
from ninefold.expressions.tree import Variable
from ninefold.language.verbs import KINDS
from ninefold.values import Array


def split(text: str) -> list[str]:
    return text.split(",")


def split_header(text: str) -> list[str]:
    """RFC 9110 5.6.1: white space may stand around the items."""
    return [each.strip(" \t") for each in text.split(",")]


@dataclass(frozen=True)
class Kept:
    """A request that came with an idempotency key, and its response; `until` when."""

    request: tuple[str, bytes]
    response: Response
    until: datetime


@dataclass
class Interpreter:
    """`cursors`: what each cursor that was given stands for. `kept`: what was done under idempotency keys, by caller,
    endpoint and key (meaning "idempotency keys"). Of an older version, `becomes`: what is shown of what clients give
    for a field; `version_parameter` names the version. `functions`: the operator's."""

    checked: Checked
    rows: Rows = field(default_factory=Rows)
    cursors: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    kept: dict[tuple[Any, ...], Kept] = field(default_factory=dict)
    becomes: Mapping[tuple[str, str], Callable[[Any], Any]] = field(default_factory=dict)
    version_parameter: str | None = None
    functions: Mapping[str, calls.Function] = field(default_factory=dict)

    def answer(
        self, request: Request, now: str, chance: Chance, sent: str | None = None, *besides: Failure
    ) -> Response:
        """The response; `rows` become what the request makes of them. `sent`: the target as it came, if another.
        `besides`: what is wrong with it already."""
        response = _Asking(self, request, now, chance, sent, besides).answer()
        return replace(response, body=NOTHING) if request.method == "HEAD" else response


def parameters_of(query: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in query.split("&"):
        if pair:
            name, _, value = pair.partition("=")
            found.setdefault(_decoded(name), []).append(_decoded(value))
    return found


def _decoded(text: str) -> str:
    return unquote(text.replace("+", " "))


class _Asking:
    """One request."""

    def __init__(
        self,
        of: Interpreter,
        request: Request,
        now: str,
        chance: Chance,
        sent: str | None,
        besides: Sequence[Failure],
    ) -> None:
        self.sent, self.besides = sent or request.target, besides
        self.of, self.checked, self.request, self.chance, self.now = of, of.checked, request, chance, now
        self.rows = of.rows
        self.path, _, query = request.target.partition("?")
        self.query = parameters_of(query)
        self.failures: list[Failure] = []
        self.caller = Caller()
        self.names: dict[str, Any] = {"now": now, "caller": {}, "request": {"path": {}, "query": {}, "headers": {}}}
        self.endpoint: Endpoint | None = None
        self.chosen = chosen.NOTHING
        self.path_fits = True
        self.told_of: Row | None = None
        """The row that the details of errors read."""

    # ── What may be read ──────────────────────────────────────────────────────────────────────────────────────

    def all(self) -> Reading:
        """For the contract's own authority: every row there is."""
        return Reading(self.checked.resources, self.rows, self.names, all_rows, self.chance)

    def seen(self) -> Reading:
        """For what the caller gets to know: the rows that it sees and that are not gone."""
        return replace(self.all(), sees=lambda row: self.is_seen(row) and not row.is_gone)

    def is_seen(self, row: Row) -> bool:
        """The row rules of part 5."""
        rules = self.checked.row_rules.get(row.resource.name, {})
        if self.caller.who not in rules:
            return False
        rule = rules[self.caller.who]
        return rule is None or self.all().also(**{row.resource.name: at_hand(row)}).holds(rule)

    # ── From the request to its answer ────────────────────────────────────────────────────────────────────────

    def answer(self) -> Response:
        try:
            return self._answer()
        except TooLarge:
            return self.refused(Failure("too large"))

    def _answer(self) -> Response:
        found = routes.find(self.checked, self.request.method, self.path)
        if isinstance(found, routes.NoSuchPath):
            return self.refused(Failure("no such path"), *self.besides)
        if isinstance(found, routes.NotAllowed):
            if self.request.method == "OPTIONS":
                return Response(204, {"allow": found.allow})
            response = self.refused(Failure("method not allowed"), *self.besides)
            return replace(response, headers={**response.headers, "allow": found.allow})
        if not found.cases:
            return Response(501)
        self.failures += self.besides
        endpoint = self.endpoint = cases.whole(found.cases)
        values = self._path_values(found.texts)
        self._accept(found.cases)
        admission = self._admission(endpoint)
        self._declared_in_path(found.texts)
        refused = len(self.failures)
        self._parameters(found.cases)
        unread = False
        if endpoint.case is not None:
            chosen_ = self._case(found.cases, admission, len(self.failures) == refused)
            unread = chosen_ is None
            if chosen_ is not None and chosen_.segments != endpoint.segments:
                endpoint = self.endpoint = chosen_
                values = self._path_values(found.texts)
            endpoint = self.endpoint = chosen_ or endpoint
            if admission is not None:
                admission = next(each for each in endpoint.admissions if each.who == admission.who)
        page = self._page(endpoint)
        if admission is not None and admission.condition is not None and admission.of_request:
            if not self.all().holds(admission.condition):
                self.failures.append(Failure("forbidden", endpoint.resource))
        if endpoint.verb == "list" and admission is not None:
            self._cursor(endpoint, page)
        work = writes.Work(self.all(), endpoint, self.checked, values, self.is_seen)
        if admission is not None and values is not None:
            work.find(admission, page)
        given = bodies.Given(readable=False) if unread else self._body(endpoint, work)
        held = self._held(endpoint, given) if admission is not None else None
        before = None if held is None else self.of.kept.get(held)
        if before is not None and moment(self.now) < before.until:
            if before.request != self._whole_request(endpoint):
                self.failures.append(Failure("idempotency mismatch"))
            elif not self.failures:
                return before.response
        if endpoint.verb in ("put", "put ensured") and admission is not None and values is not None:
            work = work.as_it_comes(admission, given)
            work.path_fits = self.path_fits
            work.is_stale = work.row is None and not writes.are_met(self.request, None, None)
        if admission is not None and values is not None:
            self.failures += work.refusals(admission, given, self.request)
            self.told_of = work.told_of
        if self.failures:
            return self.refused(*self.failures)
        if endpoint.call is not None:
            result = calls.called(endpoint, given, self.all(), self.of.functions)
            if isinstance(result, Failure):
                return self.refused(result)
            self.names["result"] = result
        if is_of_all(endpoint) and admission is not None:
            response = self._done_to_all(endpoint, admission, work, page, given)
        else:
            response = self._done(work.endpoint, work, page, given)
        if held is not None and response.status < 400 and self.checked.limits.keys_kept is not None:
            until = moment(self.now) + timedelta(microseconds=self.checked.limits.keys_kept)
            self.of.kept[held] = Kept(self._whole_request(endpoint), response, until)
        return response

    # ── Idempotency keys ──────────────────────────────────────────────────────────────────────────────────────

    def _key(self, endpoint: Endpoint) -> str | None:
        """The key that came, with quotes or without."""
        text = self.request.headers.get("idempotency-key")
        if endpoint.idempotency_key is None or text is None:
            return None
        return text.strip(" \t").strip('"') or None

    def _broken_key(self, endpoint: Endpoint) -> Iterator[str]:
        """The rule that the key does not keep, if any."""
        text = self.request.headers.get("idempotency-key")
        if endpoint.idempotency_key == "required" and text is None:
            yield "required"
        elif endpoint.idempotency_key is not None and text is not None and self._key(endpoint) is None:
            yield "minLength" if '"' in text else "format"

    def _held(self, endpoint: Endpoint, given: bodies.Given) -> tuple[Any, ...] | None:
        """What a key belongs to: the caller and the endpoint. A body that is no JSON came with it all the same."""
        key, malformed = self._key(endpoint), any(each.condition == "malformed" for each in self.failures)
        if key is None or not (given.readable or malformed):
            return None
        return (self.caller.who, None if self.caller.row is None else self.caller.row.key, endpoint.key, key)

    def _whole_request(self, endpoint: Endpoint) -> tuple[str, bytes]:
        """What makes it the same request: path, query and body, byte for byte. A body that is not read is none."""
        members = self.checked.requests_of(endpoint).unknown_members
        unread = endpoint.takes.body is None or (endpoint.takes.body == () and members == "ignored")
        return (self.request.target, b"" if unread else self.request.body or b"")

    def _path_values(self, texts: list[str]) -> dict[str, Any] | None:
        """Meaning "paths": what is not of the field's type is missing. None: then no row is addressed."""
        assert self.endpoint is not None
        values: dict[str, Any] = {}
        for name, text in zip(self._in_braces(), texts, strict=True):
            if isinstance(name, PathValue):
                continue
            try:
                values[name.text] = from_text(name.type, text)
                put = self.endpoint.operation
                if isinstance(put, Ensure) and "created" in put.outcomes and not name.through:
                    schema = self.checked.resources[name.resource].fields[name.field].schema
                    broken = (rule for _, rule in broken_rules(schema, values[name.text], ()))
                    misfits = [invalid("path", name.text, rule) for rule in broken]
                    self.failures += misfits
                    self.path_fits = self.path_fits and not misfits
            except Broken:
                self.failures.append(Failure("not found", name.resource))
        return values if len(values) == len({name.text for name in self.endpoint.names}) else None

    def _in_braces(self) -> list[PathName | PathValue]:
        assert self.endpoint is not None
        return [each for each in self.endpoint.segments if not isinstance(each, str)]

    def _declared_in_path(self, texts: list[str]) -> None:
        """Meaning "values in paths": what is no such value is `not found`, of the resource and of the value."""
        assert self.endpoint is not None
        declared = {each.name: each for each in self.endpoint.takes.path}
        for name, text in zip(self._in_braces(), texts, strict=True):
            if isinstance(name, PathValue) and name.text in declared:
                for _ in self._declared(declared[name.text], [text], self.names["request"]["path"]):
                    self.failures += [Failure("not found", each) for each in (name.resource, f"path.{name.text}")]

    def _case(self, every: Sequence[Endpoint], admission: Admission | None, is_well: bool) -> Endpoint | None:
        """The case that the request is of; None: nobody knows, or of none, and what is wrong with that is said.
        `is_well`: its parameters are as they are declared."""
        first = every[0].case
        reading = next((each for each in every if each.takes.body is not None), None)
        if first is not None and first.member is None:
            if admission is None or not is_well:
                self.failures += [] if reading is None else self._unreadable(reading)
                return None
            found = cases.by_request(every, self.all())
            if found is None:
                self.failures.append(Failure("forbidden", cases.whole(every).resource))
            return found
        if reading is None or (wrong := self._unreadable(reading)):
            self.failures += [] if reading is None else wrong
            return None
        chosen_ = cases.by_body(every, bodies.came(self.request, reading, self.checked))
        if isinstance(chosen_, Failure):
            self.failures.append(chosen_)
            return None
        return chosen_

    def _unreadable(self, endpoint: Endpoint) -> list[Failure]:
        """What is wrong with a body as a whole."""
        document = bodies.document_of(self.request, endpoint, self.checked)
        refused = isinstance(document, list) and bool(document) and isinstance(document[0], Failure)
        return document if refused else []

    def _accept(self, every: Sequence[Endpoint]) -> None:
        """Whether the client takes what is written here: the simple forms of Accept (RFC 9110 12.5.1)."""
        if all(each.response.content is None for each in every) or self.checked.produces is None:
            return
        accept = self.request.headers.get("accept", "*/*")
        ranges = [each.partition(";")[0].strip().lower() for each in accept.split(",")]
        offered = self.checked.produces.lower()
        if not {"*/*", offered.partition("/")[0] + "/*", offered} & set(ranges):
            self.failures.append(Failure("not acceptable"))

    def _admission(self, endpoint: Endpoint) -> Admission | None:
        """Meaning "credentials". None: the caller is not one whom the endpoint admits."""
        admitted = {each.who: each for each in endpoint.admissions}
        if list(admitted) == [ANYONE]:
            return admitted[ANYONE]  # no credential is read
        known: list[Caller] = []
        presents: list[str] = []
        for scheme in self.checked.schemes:
            if callers.presented(scheme, self.request, self.query) is not None:
                presents.append(scheme.name)
            text = callers.credential(scheme, self.request, self.query)
            caller = None if text is None else callers.recognised(scheme, text, self.all())
            if caller is not None:
                known.append(caller)
        self.caller = next((each for each in known if each.who in admitted), Caller())
        self.names["caller"] = self.caller.names
        if self.caller.who != ANYONE:
            return admitted[self.caller.who]
        if ANYONE in admitted and (known or not presents):
            return admitted[ANYONE]
        bad = next((name for name in presents if name in admitted), next(iter(presents), None))
        self.failures.append(Failure("forbidden", endpoint.resource) if known else Failure("unauthenticated", bad))
        return None

    def _parameters(self, every: Sequence[Endpoint]) -> None:
        endpoint = every[0]
        known = {each.name for each in endpoint.takes.query}.union(*map(lists.names, every))
        known |= {scheme.parameter for scheme in self.checked.schemes if scheme.where == "query"}
        known |= set() if self.of.version_parameter is None else {self.of.version_parameter}
        if self.checked.requests_of(endpoint).unknown_parameters == "refused":
            self.failures += [invalid("query", name, "unknown") for name in self.query if name not in known]
        for place, declared in (("query", endpoint.takes.query), ("headers", endpoint.takes.headers)):
            for each in declared:
                header = self.request.headers.get(each.name.lower())
                texts = self.query.get(each.name) if place == "query" else None if header is None else [header]
                where = "query" if place == "query" else "header"
                items = split if place == "query" else split_header
                for path, rule in self._declared(each, texts, self.names["request"][place], items):
                    self.failures.append(invalid(where, each.name, rule, path))
        self.failures += [invalid("header", "Idempotency-Key", rule) for rule in self._broken_key(endpoint)]

    def _page(self, endpoint: Endpoint) -> Page:
        given = self.names["request"]["query"]
        self.chosen = chosen.asked(endpoint, given)
        return lists.asked(endpoint, self.query, given, self.failures)

    def _declared(
        self,
        each: Any,
        texts: list[str] | None,
        values: dict[str, Any],
        items: Callable[[str], list[str]] = split,
    ) -> Iterator[tuple[tuple[str | int, ...], str]]:
        if texts is None:
            if each.default:
                values[each.name] = read(each.type, each.default[0])
            elif each.required:
                yield (), "required"
            return
        is_list = isinstance(each.type, Array) and not each.is_json
        if len(texts) > 1 and not (is_list and each.explode):
            yield (), "repeated"
            return
        unread: list[tuple[tuple[str | int, ...], str]] = []
        try:
            if each.is_json:
                value: Any = parsed(texts[0].encode("utf-8", "surrogateescape"))
            elif is_list:
                value = []
                for index, text in enumerate(texts if each.explode else items(texts[0])):
                    try:
                        value.append(from_text(each.type.items, text))
                    except Broken as broken:
                        value.append(text.encode("utf-8", "backslashreplace").decode())
                        unread.append(((index,), broken.rule))
            else:
                value = from_text(each.type, texts[0])
        except Broken as broken:
            yield (), broken.rule
            return
        except ValueError:
            yield (), "type"
            return
        places = {path for path, _ in unread}
        found = [(path, rule) for path, rule in broken_rules(each.schema, value) if path[:1] not in places]
        if each.is_json and not found:
            try:
                value = read(each.type, value)
            except Broken as broken:
                found = [(broken.path, broken.rule)]
        if not unread and not (each.is_json and found):
            values[each.name] = value
        yield from sorted([*unread, *found], key=lambda one: one[0][:1]) if unread else found

    def _cursor(self, endpoint: Endpoint, page: Page) -> None:
        pages = pages_of(endpoint)
        if page.cursor is not None and pages is not None:
            stands_for = self.of.cursors.get(page.cursor)
            if stands_for is None or stands_for[:3] != (endpoint.key, self.caller.who, page.order_name):
                self.failures.append(invalid("query", pages.at or "", "format"))
            else:
                page.after = stands_for[3]

    def _body(self, endpoint: Endpoint, work: writes.Work) -> bodies.Given:
        """What the body gives. Objects are merged into the row only for whoever may change it."""
        if endpoint.takes.body is None or endpoint.resource is None:
            return bodies.Given()
        if endpoint.takes.body == () and self.checked.requests_of(endpoint).unknown_members == "ignored":
            return bodies.Given()
        document = bodies.document_of(self.request, endpoint, self.checked)
        if isinstance(document, list) and document and isinstance(document[0], Failure):
            self.failures += document
            return bodies.Given(readable=False)
        resource = self.checked.resources[endpoint.resource]
        by_form = bodies.is_form(self.request, endpoint, self.checked)
        given = bodies.given(document, endpoint, resource, self.checked, work.mergeable, by_form, self.of.becomes)
        self.failures += given.failures
        return given

    # ── What is done ──────────────────────────────────────────────────────────────────────────────────────────

    def _done(self, endpoint: Endpoint, work: writes.Work, page: Page, given: bodies.Given) -> Response:
        match endpoint.verb:
            case "compute":
                return self.respond(endpoint, self.seen())
            case "list":
                return self._listed(endpoint, work, page)
            case "read":
                assert work.row is not None
                return self._shown_row(endpoint, work.row, self._not_modified(endpoint, work.row))
        put = None if self.endpoint is None else self.endpoint.operation
        unchanged = put.outcomes.get("unchanged") if isinstance(put, Ensure) else None
        checks = () if self.endpoint is None else writes.guards_of(self.endpoint)[1]
        was = work.row
        if unchanged is not None and was is not None and work.leaves_it(given):
            if failed := self._broken(checks, was, was):
                return self.refused(*failed)
            same = replace(endpoint, operation=replace(endpoint.operation, response=unchanged))
            return self._shown_row(same, was, False)
        before = self.rows
        self.rows = work.reading.rows.copied()
        changed = writes.Change(replace(work, reading=self.all()), given)
        row = changed.done()
        if endpoint.verb != "delete" and (failed := self._broken(checks, row, was)):
            self.told_of = row
            response = self.refused(*failed)
            self.rows = before
            return response
        self.names["issued"] = issued = changed.issued
        if failed := self._caused(endpoint.operation, row, was):
            response = self.refused(*failed)
            self.rows = before
            return response
        further = further_of(endpoint)
        for transition in further:
            following = self._following(endpoint, transition, row, changed)
            failed = following.refusals(endpoint.admissions[0], bodies.Given(), replace(self.request, headers={}))
            if failed:
                self.told_of = row if self.is_seen(row) and not row.is_gone else None
                response = self.refused(*failed)
                self.rows = before
                return response
            changed = writes.Change(following, bodies.Given())
            row = changed.done()
            issued |= changed.issued
            if failed := self._caused(following.endpoint.operation, row, was, last=transition is further[-1]):
                response = self.refused(*failed)
                self.rows = before
                return response
        if endpoint.verb != "delete":
            failed = [Failure("check", row.resource.name, each.code) for each in self._broken_invariants(row)]
            if failed:
                self.told_of = row
                response = self.refused(*failed)
                self.rows = before
                return response
        after = self.rows
        if endpoint.verb == "delete":  # what is shown of the row is as it was
            self.rows = before
        response = self._shown_row(endpoint, row, False)
        self.of.rows = after
        return response

    # ── Effects ───────────────────────────────────────────────────────────────────────────────────────────────

    def _caused(self, operation: Any, this: Row, was: Row | None, last: bool = True) -> list[Failure]:
        """Do what else an operation does, one after another (meaning "effects"); what refuses it. What the endpoint
        states comes after the `last` of its operations."""
        own = getattr(operation, "effects", ())
        for effect in own if last else operation.transition.also:
            if failed := self._effect(effect, operation, this, was):
                return failed
        return []

    def _effect(self, effect: Effect, cause: Any, this: Row, was: Row | None) -> list[Failure]:
        before = {} if was is None else {this.resource.name: at_hand(was)}
        reading = self.all().also(this=at_hand(this), before=before)
        works = [*self._works(effect, cause, this, reading)]
        assert self.endpoint is not None
        admission = replace(self.endpoint.admissions[0], condition=None, of_request=False)
        for work in works:
            failed = work.refusals(admission, bodies.Given(), replace(self.request, headers={}))
            if failed:
                self._tells_of(work.row)
                return failed
        changed = [writes.Change(work, bodies.Given()) for work in works]
        for work, change in zip(works, changed, strict=True):
            if work.row is not None and self.rows.find(effect.resource, work.row.key) is None:
                continue  # it fell with another one
            old = work.row
            row = change.done()
            if failed := self._caused(work.endpoint.operation, row, old):
                return failed
            if effect.verb != "delete":
                if failed := [Failure("check", effect.resource, each.code) for each in self._broken_invariants(row)]:
                    self._tells_of(row)
                    return failed
        return []

    def _tells_of(self, row: Row | None) -> None:
        self.told_of = row if row is not None and self.is_seen(row) and not row.is_gone else None

    def _works(self, effect: Effect, cause: Any, this: Row, reading: Reading) -> Iterator[writes.Work]:
        """What an effect does, row by row, by an endpoint that everybody may call."""
        assert self.endpoint is not None
        resource = self.checked.resources[effect.resource]
        kind = KINDS.get(effect.verb, TRANSITION)
        stated: dict[str, Any] = {"key": cause.key, "place": cause.place, "kind": kind, "resource": resource.name}
        stated |= {"response": cause.response, "errors": cause.errors, "takes": replace(cause.takes, body=())}
        if kind.makes:
            own = replace(self.endpoint, operation=Create(**stated, sets=effect.sets))
            items = (
                [{}] if effect.each is None else [{"each": each} for each in reading.value_or_none(effect.each) or ()]
            )
            for item in items:
                of_item = reading.also(**item)
                if effect.where is None or of_item.holds(effect.where):
                    yield writes.Work(of_item, own, self.checked, {}, lambda row: True)
            return
        machine = resource.machine
        transition = None if effect.verb in KINDS or machine is None else machine.transitions[effect.verb]
        if effect.verb == "delete":
            operation: Any = Delete(**stated)
        else:
            operation = Update(**stated, transition=transition, sets=effect.sets)
        own = replace(self.endpoint, operation=operation)
        found = [
            row
            for row in self.rows.all(resource.name)
            if not (resource.name == this.resource.name and row.key == this.key)
            and (effect.of_one or not row.is_gone or (transition is not None and _state(row) in transition.origins))
            and (effect.where is None or reading.also(**{resource.name: at_hand(row)}).holds(effect.where))
        ]
        for row in lists.sorted_rows(found, lists.whole_order((), resource.primary_key), self.all()):
            yield writes.Work(reading, own, self.checked, {}, lambda row: True, row=row)

    def _done_to_all(
        self, endpoint: Endpoint, admission: Admission, work: writes.Work, page: Page, given: bodies.Given
    ) -> Response:
        """Each row is judged as it is before any of them changes; then all change, each made of what was."""
        order = lists.whole_order((), work.resource.primary_key)
        found = lists.filtered(work.listed, endpoint, page, self.seen())
        found = lists.sorted_rows(found, order, self.seen())
        each = [work.of_one(row, admission) for row in found]
        for one in each:
            failed = one.refusals(admission, given, replace(self.request, headers={}))
            if failed:
                self.told_of = one.row
                return self.refused(*failed)
        self.names["page"] = {"total": len(found), "$count": len(found)}
        before, after = self.rows, self.rows.copied()
        response = self.respond(endpoint, self.seen(), found)
        becomes: list[Row] = []
        after.writes += 1  # one write, of all of them
        for one in each:
            self.rows = after if endpoint.verb == "delete" else before.copied()
            assert one.row is not None
            if self.rows.find(work.resource.name, one.row.key) is None:
                continue  # it fell with another one
            row = writes.Change(replace(one, reading=self.all()), given).done()
            if endpoint.verb != "delete":
                row.written = after.writes
                rows = after.of[row.resource.name]
                rows[next(at for at, old in enumerate(rows) if old.key == row.key)] = row
                becomes.append(row)
        self.rows = after
        broken = [(row, rule) for row in becomes for rule in self._broken_invariants(row)]
        if work.have_the_same(becomes):
            response = self.refused(Failure("conflict", work.resource.name))
        elif broken:
            self.told_of = broken[0][0]
            codes = dict.fromkeys(rule.code for _, rule in broken)
            response = self.refused(*(Failure("check", work.resource.name, code) for code in codes))
        else:
            if endpoint.verb != "delete":
                response = self.respond(endpoint, self.seen(), becomes)
            self.of.rows = before = after
        self.rows = before
        return response

    def _following(self, endpoint: Endpoint, transition: Transition, row: Row, before: writes.Change) -> writes.Work:
        """A transition that is taken after another operation: nothing that the endpoint states is about it."""
        of = endpoint.mutation
        assert of is not None
        taking = Update(
            of.key, of.place, TRANSITION, of.resource, of.response, errors=of.errors,
            takes=replace(of.takes, body=()), also=of.also, transition=transition,
        )  # fmt: skip
        own = replace(endpoint, operation=taking)
        return writes.Work(self.all(), own, self.checked, {}, self.is_seen, row=row, before=before)

    def _broken(self, checks: Sequence[Guard], row: Row, was: Row | None) -> list[Failure]:
        """What fails of the row as it has become, beside the row as it was."""
        name = row.resource.name
        before = {} if was is None else {name: at_hand(was)}
        reading = self.all().also(**{name: at_hand(row), "before": before})
        return [Failure("check", name, each.code) for each in checks if not reading.holds(each.that)]

    def _broken_invariants(self, row: Row) -> list[Any]:
        reading = self.all().also(**{row.resource.name: at_hand(row)})
        return [each for each in row.resource.invariants if not reading.holds(each.that)]

    def _listed(self, endpoint: Endpoint, work: writes.Work, page: Page) -> Response:
        assert endpoint.resource is not None
        resource = self.checked.resources[endpoint.resource]
        found = lists.filtered(work.listed, endpoint, page, self.seen())
        order = lists.whole_order(page.order, resource.primary_key)
        found = lists.sorted_rows(found, order, self.seen())
        total = len(found)
        following: str | int | None = None
        if page.after is not None:
            found = [
                row for row in found if lists.compared(lists.keys_of(row, order, self.seen()), page.after, order) > 0
            ]
        found = found[page.start :]
        if page.size == 0:
            found = []
        elif page.size is not None and len(found) > page.size:
            found = found[: page.size]
            pages = pages_of(endpoint)
            assert pages is not None
            if pages.by == "cursor":
                keys = lists.keys_of(found[-1], order, self.seen())
                following = self._made_cursor(endpoint, page, keys)
            else:
                following = lists.following(endpoint, page)
        self.names["page"] = {
            "next": following,
            "previous": lists.previous(endpoint, page),
            "total": total,
            "$count": len(found),
            "size": page.size,
            "start": page.start,
            "at": lambda text: lists.linked(self.sent, lists.page_parameter(endpoint), text),
        }
        return self.respond(endpoint, self.seen(), found)

    def _made_cursor(self, endpoint: Endpoint, page: Page, keys: lists.Keys) -> str:
        stands_for = (endpoint.key, self.caller.who, page.order_name, keys)
        cursor = "cursor-" + sha256(repr(stands_for).encode()).hexdigest()[:12]
        self.of.cursors[cursor] = stands_for
        return cursor

    # ── Answers ───────────────────────────────────────────────────────────────────────────────────────────────

    def _not_modified(self, endpoint: Endpoint, row: Row) -> bool:
        tags = self.request.headers.get("if-none-match")
        if not endpoint.operation.validator or tags is None:
            return False
        return tags.strip() == "*" or writes.opaque_tag(endpoint, row) in [
            each.strip().removeprefix("W/").strip('"') for each in tags.split(",")
        ]

    def _shown_row(self, endpoint: Endpoint, row: Row, not_modified: bool) -> Response:
        reading = self.seen().also(**{row.resource.name: at_hand(row)})
        response = self.respond(endpoint, reading)
        if endpoint.operation.validator and endpoint.verb != "delete":
            tag = f'"{writes.opaque_tag(endpoint, row)}"'
            response = replace(response, headers={"etag": tag, **response.headers})
        if not_modified:
            headers = {name: value for name, value in response.headers.items() if name != "content-type"}
            return Response(304, headers)
        return response

    def respond(self, endpoint: Endpoint, reading: Reading, rows: list[Row] | None = None) -> Response:
        headers: dict[str, str] = {}
        body: Any = NOTHING
        if endpoint.response.content is not None:
            body = shows.shown(endpoint.response.content, reading, rows or [], self.chosen)
            body = None if body is shows.LEFT_OUT else body
            headers["content-type"] = self.checked.produces or ""
        for name, leaf in endpoint.response.headers:
            value = shows.shown(leaf, reading)
            if value is not shows.LEFT_OUT and value is not None:
                headers[name.lower()] = _field_value(name, value)
        return Response(endpoint.response.status, headers, body)

    def refused(self, *failures: Failure) -> Response:
        errors, endpoint = self.checked.errors, self.endpoint
        refused = refusal(in_written_order(failures, endpoint), endpoint, errors)
        headers: dict[str, str] = {}
        if refused.status == 401 and endpoint is not None:
            admitted = {each.who for each in endpoint.admissions}
            schemes = [each for each in self.checked.schemes if each.name in admitted] or list(self.checked.schemes)
            challenges = ", ".join(dict.fromkeys(map(self._challenge, schemes)))
            headers |= {"www-authenticate": challenges} if challenges else {}
        if refused.code is None:
            return Response(refused.status, headers)
        for name in refused.code.said:
            value = None if name == "detail" else self._said(refused.code, name)
            if value is not None and not _NOT_IN_A_FIELD.search(value):
                headers[name.lower()] = _field_value(name, value)
        if errors.content is None:
            return Response(refused.status, headers)
        reading = self.seen()
        document = bodies.came(self.request, endpoint, self.checked)
        refused = replace(refused, fields=tuple(dict.fromkeys(each.sent(document) for each in refused.fields)))
        error = error_value(refused, self._said(refused.code, "detail"), errors)
        body = shows.shown(errors.content, reading.also(error=error))
        headers["content-type"] = errors.media_type or ""
        return Response(refused.status, headers, None if body is shows.LEFT_OUT else body)

    def _challenge(self, scheme: Scheme) -> str:
        """RFC 9110 11.6.1; RFC 6750 3.1 has a word for a bearer token that is not good."""
        text = callers.credential(scheme, self.request, self.query)
        if scheme.challenge == "Bearer" and text is not None and callers.recognised(scheme, text, self.all()) is None:
            return 'Bearer error="invalid_token"'
        return scheme.challenge

    def _said(self, code: Any, name: str) -> Any:
        said = code.said.get(name)
        if said is None:
            return None
        if self.told_of is not None and self.told_of.resource.name == code.resource:
            return self.seen().also(**{code.resource: at_hand(self.told_of)}).value_or_none(said)
        return None if _reads(said, code.resource) else self.seen().value_or_none(said)


def _state(row: Row) -> Any:
    return None if row.resource.machine is None else row.fields[row.resource.machine.field]


def _reads(node: Any, name: str) -> bool:
    """Whether an expression reads a root."""
    if isinstance(node, Variable):
        return node.name == name
    held = node if isinstance(node, tuple) else [getattr(node, each) for each in getattr(node, "__struct_fields__", ())]
    return any(_reads(each, name) for each in held)


def _field_value(name: str, text: str) -> str:
    return quote(text, safe="!#$%&'()*+,/:;=?@[]" if name.lower() in ("location", "content-location") else _VISIBLE)


_NOT_IN_A_FIELD = re.compile("[\x00-\x08\x0a-\x1f\x7f]|^[ \t]|[ \t]$")
"""RFC 9110 5.5."""

_VISIBLE = "".join(map(chr, range(0x20, 0x7F)))
