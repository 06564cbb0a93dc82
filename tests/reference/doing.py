"""What is done: rows shown, listed and changed, one or all of those that a list would show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from tests.reference import (
    answers,
    bodies,
    credentials,
    effects,
    events,
    lists,
    streams,
    writes,
)
from tests.reference.asking import Asking
from tests.reference.failures import Failure
from tests.reference.lists import Page
from tests.reference.messages import Response
from tests.reference.operations import further_of, pages_of
from tests.reference.rows import Row

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.checked.operations import TRANSITION, Ensure, SortKeys, Update
from ninefold.checked.resources import Guard, Transition
from ninefold.language.verbs import GRANT


def done(asking: Asking, endpoint: Endpoint, work: writes.Work, page: Page, given: bodies.Given) -> Response:
    match endpoint.verb:
        case "compute":
            return answers.on_condition(asking, endpoint, answers.respond(asking, endpoint, asking.seen()))
        case "stream event":
            return streams.told(asking, endpoint, page)
        case "list":
            return answers.on_condition(asking, endpoint, _listed(asking, endpoint, work, page))
        case "read":
            assert work.row is not None
            return answers.on_condition(asking, endpoint, answers.shown_row(asking, endpoint, work.row))
        case verb if verb in credentials.SIGNING:
            assert work.row is not None
            asking.rows = asking.rows.copied()
            credentials.written(asking, endpoint, work.row, bodies.Given(), _asked(asking))
            events.Happened(asking, _signing(asking) or verb, work.row, work.row).tell(asking.all())
            events.numbered(asking)
            asking.of.rows = asking.rows
            return answers.shown_row(asking, endpoint, work.row)
    put = None if asking.endpoint is None else asking.endpoint.operation
    if work.removes is not None and work.row is None:
        return answers.shown_row(asking, endpoint, work.as_named())
    unchanged = put.outcomes.get("unchanged") if isinstance(put, Ensure) else None
    checks = () if asking.endpoint is None else writes.guards_of(asking.endpoint)[1]
    was = work.row
    if unchanged is not None and was is not None and work.leaves_it(given):
        if failed := effects.broken(asking, checks, was, was):
            return answers.refused(asking, *failed)
        same = replace(endpoint, operation=replace(endpoint.operation, response=unchanged))
        return answers.shown_row(asking, same, was)
    before = asking.rows
    asking.rows = work.reading.rows.copied()
    changed = writes.Change(replace(work, reading=asking.all()), given)
    changed.done()
    row, failed = _followed(asking, endpoint, changed, was, checks)
    if failed:
        response = answers.refused(asking, *failed)
        asking.rows = before
        return response
    after = asking.rows
    events.numbered(asking)
    if endpoint.verb == "delete" and work.removes is None:  # what is shown of the row is as it was
        asking.rows = before
    response = answers.shown_row(asking, endpoint, row)
    asking.of.rows = after
    return response


def _followed(
    asking: Asking, endpoint: Endpoint, changed: writes.Change, was: Row | None, checks: Sequence[Guard]
) -> tuple[Row, list[Failure]]:
    """Do what follows from a write, one after another; the row as it is
    at the end, and what refuses it."""
    row = changed.row
    if endpoint.verb != "delete":
        credentials.written(asking, endpoint, row, changed.given, _asked(asking))
    if endpoint.verb != "delete" and (failed := effects.broken(asking, checks, row, was)):
        asking.told_of = row
        return row, failed
    asking.names["issued"] = issued = changed.issued
    if failed := effects.caused(asking, endpoint, row, was, verb=_signing(asking)):
        return row, failed
    row = asking.rows.as_it_is(row)
    further = further_of(endpoint)
    for transition in further:
        following = _following(asking, endpoint, transition, row, changed)
        failed = following.refusals(endpoint.admissions[0], bodies.Given(), replace(asking.request, headers={}))
        if failed:
            effects.tells_of(asking, row)
            return row, failed
        changed = writes.Change(following, bodies.Given())
        row = changed.done()
        issued |= changed.issued
        if failed := effects.caused(asking, following.endpoint, row, was, last=transition is further[-1]):
            return row, failed
        row = asking.rows.as_it_is(row)
    if endpoint.verb == "delete":
        return row, effects.broken_of_cleared(asking)
    if failed := [Failure("check", row.resource.name, each.code) for each in effects.broken_checks(asking, row)]:
        asking.told_of = row
    return row, failed


def _signing(asking: Asking) -> str | None:
    """The verb of who signs in, also by a grant, or out; None: it is another."""
    verb = None if asking.endpoint is None else asking.endpoint.verb
    return "sign in" if verb == GRANT else verb if verb in credentials.SIGNING else None


def _asked(asking: Asking) -> list[str] | None:
    """The scopes that a request for a token asks for."""
    scope = asking.asked_for.get("scope") if isinstance(asking.asked_for, dict) else None
    return scope.split(" ") if isinstance(scope, str) else None


def done_to_all(
    asking: Asking, endpoint: Endpoint, admission: Admission, work: writes.Work, page: Page, given: bodies.Given
) -> Response:
    """Each row is judged as it is before any of them changes; then all change, each made of what was."""
    order = lists.whole_order((), work.resource.primary_key)
    found = lists.filtered(work.listed, endpoint, page, asking.seen())
    found = lists.sorted_rows(found, order, asking.seen())
    each = [work.of_one(row, admission) for row in found]
    for one in each:
        failed = one.refusals(admission, given, replace(asking.request, headers={}))
        if failed:
            asking.told_of = one.row
            return answers.refused(asking, *failed)
    asking.names["page"] = {"total": len(found), "$count": len(found)}
    before, after = asking.rows, asking.rows.copied()
    response = answers.respond(asking, endpoint, asking.seen(), found)
    becomes: list[Row] = []
    done: list[tuple[writes.Work, Row]] = []
    after.writes += 1  # one write, of all of them
    for one in each:
        asking.rows = after if endpoint.verb == "delete" else before.copied()
        assert one.row is not None
        row = one.row
        if asking.rows.find(work.resource.name, row.key) is not None:  # it did not fall with another one
            row = writes.Change(replace(one, reading=asking.all()), given).done()
        done.append((one, row))
        if endpoint.verb != "delete":
            row.written = after.writes
            rows = after.of[row.resource.name]
            rows[next(at for at, old in enumerate(rows) if old.key == row.key)] = row
            becomes.append(row)
    asking.rows = after
    again = work.have_the_same(becomes, given)
    failed = [] if again is None else again[1]
    failed = failed or effects.caused_by_each(asking, [(one.endpoint, row, one.row) for one, row in done])
    failed = failed or (effects.broken_of_cleared(asking) if endpoint.verb == "delete" else [])
    becomes = [after.as_it_is(row) for row in becomes]
    broken = [(row, rule) for row in becomes for rule in effects.broken_checks(asking, row)]
    if failed:
        response = answers.refused(asking, *failed)
    elif broken:
        asking.told_of = broken[0][0]
        codes = dict.fromkeys(rule.code for _, rule in broken)
        response = answers.refused(asking, *(Failure("check", work.resource.name, code) for code in codes))
    else:
        if endpoint.verb != "delete":
            response = answers.respond(asking, endpoint, asking.seen(), becomes)
        events.numbered(asking)
        asking.of.rows = before = after
    asking.rows = before
    return response


def _following(
    asking: Asking, endpoint: Endpoint, transition: Transition, row: Row, before: writes.Change
) -> writes.Work:
    """A transition that is taken after another operation: nothing that the endpoint states is about it."""
    of = endpoint.mutation
    assert of is not None
    taking = Update(
        of.key, of.place, TRANSITION, of.resource, of.response, errors=of.errors,
        takes=replace(of.takes, body=()), also=of.also, transition=transition,
    )  # fmt: skip
    own = replace(endpoint, operation=taking)
    return writes.Work(asking.all(), own, asking.checked, {}, asking.is_seen, row=row, before=before)


def _listed(asking: Asking, endpoint: Endpoint, work: writes.Work, page: Page) -> Response:
    assert endpoint.resource is not None
    resource = asking.checked.resources[endpoint.resource]
    found = lists.filtered(work.listed, endpoint, page, asking.seen())
    order = lists.whole_order(page.order, resource.primary_key)
    found = lists.sorted_rows(found, order, asking.seen())
    total = len(found)
    following: str | int | None = None
    if page.after is not None:
        found = [
            row for row in found if lists.compared(lists.keys_of(row, order, asking.seen()), page.after, order) > 0
        ]
    found = found[page.start :]
    if page.size == 0:
        found = []
    elif page.size is not None and len(found) > page.size:
        found = found[: page.size]
        pages = pages_of(endpoint)
        assert pages is not None
        if pages.by == "cursor":
            keys = lists.keys_of(found[-1], order, asking.seen())
            following = _made_cursor(asking, endpoint, order, keys)
        else:
            following = lists.following(endpoint, page)
    asking.names["page"] = {
        "next": following,
        "previous": lists.previous(endpoint, page),
        "total": total,
        "$count": len(found),
        "size": page.size,
        "start": page.start,
        "at": lambda text: lists.linked(asking.sent, lists.page_parameter(endpoint), text),
    }
    return answers.respond(asking, endpoint, asking.seen(), found)


def _made_cursor(asking: Asking, endpoint: Endpoint, order: SortKeys, keys: lists.Keys) -> str:
    stands_for = (endpoint.key, endpoint.called, asking.caller.who, order, keys)
    cursor = "cursor-" + sha256(repr((asking.of.version, stands_for)).encode()).hexdigest()[:12]
    asking.of.cursors[cursor] = stands_for
    return cursor
