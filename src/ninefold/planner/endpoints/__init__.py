"""Part 4: what each verb becomes. `plan` gives the operation of an endpoint for one kind of caller."""

from __future__ import annotations

from msgspec.structs import replace

from ninefold.checked.endpoints import Admission, Endpoint
from ninefold.plan.operations import Compute, Operation, Stream, Write
from ninefold.planner.endpoints.compute import compute
from ninefold.planner.endpoints.create import create
from ninefold.planner.endpoints.delete import delete
from ninefold.planner.endpoints.ensure import ensure
from ninefold.planner.endpoints.givers import givers, which_rows
from ninefold.planner.endpoints.list import list_rows
from ninefold.planner.endpoints.read import read
from ninefold.planner.endpoints.remove import remove
from ninefold.planner.endpoints.sign_in import sign_in
from ninefold.planner.endpoints.sign_out import sign_out
from ninefold.planner.endpoints.update import update, with_its_identifier
from ninefold.planner.events import stream
from ninefold.planner.perspective import Perspective


def plan(endpoint: Endpoint, admission: Admission, perspective: Perspective) -> Operation:
    operation = _plan(endpoint, admission, perspective)
    if isinstance(operation, Stream | Compute):
        return operation
    resource = perspective.checked.resources[operation.resource]
    seen = which_rows(endpoint, resource, perspective)
    if isinstance(operation, Write):
        return replace(operation, seen=seen, places=givers(endpoint, resource, perspective))
    return replace(operation, seen=seen)


def _plan(endpoint: Endpoint, admission: Admission, perspective: Perspective) -> Operation:
    match endpoint.verb:
        case "create":
            return create(endpoint, admission, perspective)
        case "read":
            return read(endpoint, admission, perspective)
        case "list":
            return list_rows(endpoint, admission, perspective)
        case "update" | "replace" | "transition":
            return update(with_its_identifier(endpoint, perspective), admission, perspective)
        case "delete":
            return delete(endpoint, admission, perspective)
        case "ensure":
            return ensure(endpoint, admission, perspective)
        case "remove":
            return remove(endpoint, admission, perspective)
        case "sign in" | "grant token":
            return sign_in(endpoint, admission, perspective)
        case "sign out":
            return sign_out(endpoint, admission, perspective)
        case "stream events":
            return stream(endpoint, admission, perspective)
        case _:
            return compute(endpoint, perspective)
