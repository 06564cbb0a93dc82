"""A plan as bytes, for another process of this program.

What is a default stays one: of a record that leaves out defaults when it is written (`omit_defaults`), msgspec leaves
out what is the default itself, and writes what only equals it; pickle by itself makes a new text of each. By what is
written plans and schemas are known (`ninefold.trace.identifier.digest`, `ninefold.upgrade.shape.digest`), whichever
process says it.
"""

from __future__ import annotations

import copyreg
import pickle
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import Struct


def dumps(value: object) -> bytes:
    """A plan, or what holds one; `pickle.loads` reads it."""
    written = _Written()
    pickler = pickle.Pickler(written, pickle.HIGHEST_PROTOCOL)
    # What has no entry here is pickled without a call of Python, as nearly all of a plan is.
    pickler.dispatch_table = {**copyreg.dispatch_table, **dict.fromkeys(filter(_has_defaults, _below(Struct)), _told)}
    pickler.dump(value)
    return b"".join(written)


class _Written(list[bytes]):
    write = list.append


def _below(kind: type[Struct]) -> Iterator[type[Struct]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)


def _has_defaults(kind: type[Struct]) -> bool:
    """Whether a record has defaults of which there may be another that equals them, as of texts: there is one None, one
    True, and one empty text. What is given anew to each record is of a type of msgspec's own."""
    return any(isinstance(each, _OF_ANOTHER) and each and each is not True for each in kind.__struct_defaults__)


_OF_ANOTHER = (str, int, tuple, Struct)


def _told(value: Struct) -> tuple[Callable[..., Struct], tuple[object, ...]]:
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
