"""Functions of the operator's that requests call, before anything is done and outside of every transaction."""

from __future__ import annotations

from typing import Any

import msgspec

from ninefold.expressions.tree import Typed
from ninefold.plan.places import Place
from ninefold.values import Type


class Argument(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value that a function is called with, by `name`, as JSON has it. It is held to `schema`; without `nullable` a
    value has to be there. `given`: where the request gives it (`body`, then the names of members), which is where it is
    wrong; empty: it is not the request that gives it."""

    name: str
    value: Typed
    type: Type
    schema: dict[str, Any]
    nullable: bool = False
    given: tuple[str, ...] = ()
    trace: tuple[Place, ...] = ()


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
