"""Part 4: what each verb becomes. `plan` gives the operation of an endpoint for one kind of caller."""

from __future__ import annotations

from typing import TypeAlias

from msgspec.structs import replace

from ninefold.checked import operations as stated
from ninefold.checked.endpoints import Admission
from ninefold.checked.lists import Asked
from ninefold.checked.operations import Mutation
from ninefold.compile.endpoints.assignments import givers, which_rows
from ninefold.compile.endpoints.compute import compute
from ninefold.compile.endpoints.create import create
from ninefold.compile.endpoints.delete import delete, remove
from ninefold.compile.endpoints.ensure import ensure
from ninefold.compile.endpoints.list import listing
from ninefold.compile.endpoints.read import read
from ninefold.compile.endpoints.rows import acted_on
from ninefold.compile.endpoints.sign_in import sign_in, sign_out
from ninefold.compile.endpoints.update import update, with_its_identifier
from ninefold.compile.events import stream
from ninefold.compile.perspective import Perspective
from ninefold.plan.operations import List, Operation, Read
from ninefold.plan.writes import Written

Shows: TypeAlias = stated.Read | stated.List | stated.Compute | stated.Stream


def plan(
    operation: Shows, admission: Admission, admissions: tuple[Admission, ...], perspective: Perspective
) -> Operation:
    """What an operation becomes that changes nothing, for one of the `admissions` to it."""
    match operation:
        case stated.Stream():
            return stream(operation, admission, perspective)
        case stated.Compute():
            return compute(operation, perspective)
        case stated.Read():
            shown: Read | List = read(operation, admission, perspective)
        case stated.List():
            shown = listing(Asked(operation, admissions), admission, perspective)
    resource = acted_on(operation, perspective)
    return replace(shown, seen=which_rows(operation, resource, perspective))


def written(operation: Mutation, admission: Admission, perspective: Perspective) -> Written:
    """What one becomes that changes a row."""
    resource = acted_on(operation, perspective)
    write = _write(operation, admission, perspective)
    seen = which_rows(operation, resource, perspective)
    return replace(write, seen=seen, places=givers(operation, resource, perspective))


def _write(operation: Mutation, admission: Admission, perspective: Perspective) -> Written:
    match operation:
        case stated.Create():
            return create(operation, admission, perspective)
        case stated.Update():
            return update(with_its_identifier(operation, perspective), admission, perspective)
        case stated.Delete():
            return delete(operation, admission, perspective)
        case stated.Ensure():
            return ensure(operation, admission, perspective)
        case stated.Remove():
            return remove(operation, admission, perspective)
        case stated.SignIn():
            return sign_in(operation, admission, perspective)
        case stated.SignOut():
            return sign_out(operation, admission, perspective)
