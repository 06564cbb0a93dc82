"""API5 and API6: each endpoint as each kind of caller; steps out of turn."""

from __future__ import annotations

from collections.abc import Iterator

from tests.owasp.asking import NOW, REFUSALS, WRITING, Asking, Finding, admitted, anyone_may, is_good
from tests.owasp.world import ANYONE, Person
from tests.reference.operations import is_of_all, transition_of
from tests.reference.rows import Row

from ninefold.checked import endpoints as checked


def endpoints_of_others(a: Asking) -> Iterator[Finding]:
    """Each endpoint as each kind of caller: whom no line admits, it refuses, by the right name."""
    for endpoint in a.endpoints.values():
        for person in a.everybody():
            row = _most_likely(a, endpoint, person)
            path = a.path(endpoint, row)
            if path is None or (person.scheme != ANYONE and anyone_may(endpoint) and not admitted(endpoint, person)):
                continue
            of_request = all(each.of_request for each in endpoint.admissions if each.who == person.scheme)
            if admitted(endpoint, person) and (not of_request or a.admits(endpoint, person, row)):
                continue
            response, same = a.untouched(endpoint.key, person, path, a.body(endpoint, person))
            condition = "unauthenticated" if person.scheme == ANYONE else "forbidden"
            if response.status_code not in a.statuses(condition, endpoint) and (
                is_good(response) or response.status_code not in REFUSALS
            ):
                yield Finding("API5", endpoint.key, str(person), f"not {condition}: {response.status_code}")
            if is_good(response):
                yield Finding("API5", endpoint.key, str(person), f"may call: {response.status_code}")
            if not same:
                yield Finding("API5", endpoint.key, str(person), "something was stored")


def _most_likely(a: Asking, endpoint: checked.Endpoint, person: Person) -> Row | None:
    """The row of which nothing else would refuse the request: one that is seen, and in a state that fits."""

    def fits(row: Row) -> tuple[bool, bool]:
        machine, taken = row.resource.machine, transition_of(endpoint)
        in_turn = taken is None or machine is None or row.fields[machine.field] in taken.origins
        return a.world.sees(person, row, NOW), in_turn

    return max(a.rows(endpoint), key=fits, default=None)


def methods_in_disguise(a: Asking) -> Iterator[Finding]:
    """No header and no parameter makes one method of another."""
    for endpoint in a.endpoints.values():
        path = a.path(endpoint, next(iter(a.rows(endpoint)), None))
        if path is None or endpoint.method not in WRITING:
            continue
        for person in a.kinds(endpoint):
            for headers in ({"X-HTTP-Method-Override": endpoint.method}, {"X-Method-Override": endpoint.method}):
                _, same = a.untouched(endpoint.key, person, path, method="GET", headers=headers)
                if not same:
                    yield Finding("API5", endpoint.key, str(person), f"{headers} makes GET a {endpoint.method}")


def steps_out_of_turn(a: Asking) -> Iterator[Finding]:
    """A transition is taken from its own states alone, and nothing else moves a state."""
    for endpoint in a.endpoints.values():
        taken = transition_of(endpoint)
        if (
            taken is None
            or endpoint.resource is None
            or (endpoint.operation.where is not None and not endpoint.operation.names)
        ):
            continue
        if is_of_all(endpoint):
            continue  # where `where` leaves out what is in another state, nothing is done, and all is well
        machine = a.world.checked.resources[endpoint.resource].machine
        assert machine is not None
        for person in a.everybody():
            for row in a.rows(endpoint):
                state = row.fields[machine.field]
                path = a.path(endpoint, row)
                if state in taken.origins or path is None or not a.admits(endpoint, person, row):
                    continue
                response, same = a.untouched(endpoint.key, person, path, a.body(endpoint, person))
                if is_good(response) or not same:
                    yield Finding("API6", endpoint.key, str(person), f"is taken from {state}: {response.status_code}")
