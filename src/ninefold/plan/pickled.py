"""A plan as bytes, for another process of this program.

What is a default stays one: of a record that leaves out defaults when it is written (`omit_defaults`), msgspec leaves
out what is the default itself, and writes what only equals it; pickle by itself makes a new text of each. By what is
written plans and schemas are known (`ninefold.trace.identifier.digest`, `ninefold.upgrade.shape.digest`), whichever
process says it.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec import Struct


def dumps(value: object) -> bytes:
    """A plan, or what holds one; `pickle.loads` reads it."""
    written = _Written()
    _Pickler(written, pickle.HIGHEST_PROTOCOL).dump(value)
    return b"".join(written)


class _Written(list[bytes]):
    write = list.append


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, Struct):
            return NotImplemented
        kind = type(value)
        defaults = _defaults(kind)
        told = ((name, getattr(value, name)) for name in kind.__struct_fields__)
        return _again, (kind, {name: each for name, each in told if each is not defaults.get(name, _NONE)})


_NONE = object()


@cache
def _defaults(kind: type[Struct]) -> Mapping[str, object]:
    """The defaults of a record, which stand for its last fields."""
    defaults = kind.__struct_defaults__
    return dict(zip(kind.__struct_fields__[len(kind.__struct_fields__) - len(defaults) :], defaults, strict=True))


def _again(kind: type[Struct], values: Mapping[str, Any]) -> Struct:
    return kind(**values)
