"""What an endpoint can do: every operation of a plan, made ready."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from ninefold.plan import operations as plan
from ninefold.plan.writes import Write as PlannedWrite
from ninefold.runtime.operations.execute import Compute, List, Read
from ninefold.runtime.operations.stream import Stream
from ninefold.runtime.operations.sweep import Sweep
from ninefold.runtime.operations.write import Write

Operation: TypeAlias = Read | List | Write | Sweep | Compute | Stream


def ready(operation: plan.Operation) -> Operation:
    """An operation of the plan, made ready."""
    match operation:
        case plan.Read():
            return Read(operation)
        case plan.List():
            return List(operation)
        case PlannedWrite():
            return Write(operation)
        case plan.Sweep():
            return Sweep(operation)
        case plan.Compute():
            return Compute(operation)
        case plan.Stream():
            return Stream(operation)
        case _:
            assert_never(operation)
