"""Which endpoints answer a request that is like an earlier one without the steps, for each kind of caller.

What is left of the steps is one function then (`ninefold.runtime.request.likewise`).
"""

from __future__ import annotations

from ninefold.plan.operations import Compute, List, Read
from ninefold.plan.routes import Admission, Served
from ninefold.plan.writes import SignIn, Update, Write, given_values


def takes_steps(route: Served, admission: Admission) -> str | None:
    """Why all requests of a kind of caller take the steps; None: not those that are like an earlier one."""
    operation = admission.operation
    if not isinstance(operation, Read | List | Compute | Write):
        return "it changes several rows, or goes on"
    if route.cases is not None:
        return "it has cases"
    if route.path or route.stored:
        return "the values of its path have to keep rules"
    if admission.call is not None:
        return "a function is called first"
    return _writes_in_steps(route, operation) if isinstance(operation, Write) else _reads_in_steps(route)


def _reads_in_steps(route: Served) -> str | None:
    if route.method != "GET":
        return "it is no GET"
    return None if route.body is None else "it takes a body"


def _writes_in_steps(route: Served, write: Write) -> str | None:
    if route.method == "GET":
        return "it is a GET that writes"
    if isinstance(write, SignIn) or any(each.secret == "password" for each in given_values(write)):
        return "a password is hashed or verified"
    if isinstance(write, Update) and write.current is not None:
        return "what it stores may be made of the row as it is"
    return None
