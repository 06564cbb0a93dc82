"""What the members of a plan are about is said by their names, so each name is that of a member."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import msgspec

import ninefold.plan
from ninefold.diff import meaning


def test_each_name_is_of_a_member_of_the_plan() -> None:
    modules = [import_module(f"ninefold.plan.{each.name}") for each in iter_modules(ninefold.plan.__path__)]
    structs = [each for module in modules for each in vars(module).values() if isinstance(each, type)]
    members = {
        member.encode_name
        for each in structs
        if issubclass(each, msgspec.Struct)
        for member in msgspec.structs.fields(each)
    }
    named = {*meaning._WORDS, *meaning._OF_PLACES, *meaning._SIDES, *meaning._SIDES_WITHIN, *meaning._SIDES_OF_ALL}
    assert named <= members, named - members
