"""Which endpoints answer a request that is like an earlier one without the steps, for each kind of caller.

What is left of the steps is one function then (`ninefold.runtime.request.likewise`).
"""

from __future__ import annotations

from ninefold.plan.operations import Compute, List, Read
from ninefold.plan.routes import Admission, Served


def takes_steps(route: Served, admission: Admission, dialect: str) -> str | None:
    """Why all requests of a kind of caller take the steps; None: not those that are like an earlier one."""
    if not isinstance(admission.operation, Read | List | Compute):
        return "it writes, or goes on"
    if route.method != "GET":
        return "it is no GET"
    if route.cases is not None:
        return "it has cases"
    if route.path or route.stored:
        return "the values of its path have to keep rules"
    if route.body is not None:
        return "it takes a body"
    if admission.call is not None:
        return "a function is called first"
    if dialect != "sqlite":
        return "several processes may serve the database"
    return None
