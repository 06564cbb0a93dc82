"""Functions of the operator's that requests call, before anything is done and outside of every transaction."""

from __future__ import annotations

from typing import Any

import msgspec

from ninefold.diagnostics.place import Place
from ninefold.expressions.tree import Typed
from ninefold.plan.held import Held
from ninefold.values import Type


class Argument(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value that a function is called with, by `name`, as JSON has it. It is `held` to what the function takes, as a
    field is; None: it always can be made, and is so. Without `nullable` a value has to be there. `copied`: it is as it
    stands at its one origin, and what is wrong within it is wrong there."""

    name: str
    value: Typed
    type: Type
    held: Held | None = None
    nullable: bool = False
    copied: bool = False


class Call(msgspec.Struct, frozen=True, omit_defaults=True):
    """`function` is called by this name, and what it gives is held to the JSON Schema `gives` and is `result.NAME`. It
    may refuse with the codes in `refuses`. `fields`: the fields that the body gives, each with where `request.body` has
    it for the arguments."""

    function: str
    arguments: tuple[Argument, ...]
    gives: dict[str, Any]
    type: Type
    refuses: tuple[str, ...] = ()
    fields: tuple[tuple[str, tuple[str, ...]], ...] = ()
    trace: tuple[Place, ...] = ()
