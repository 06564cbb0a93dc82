"""Frozen dataclasses whose making costs the program little when it starts.

`dataclasses.dataclass(frozen=True)` writes six methods of a class as text and compiles each when the module is
imported: of the 260 classes that a command loads, that was half the time of all imports. `dataclass` here makes the
same class, told by the same decorator and read by the same `fields`, `replace` and patterns; its `__init__` is compiled
when the first instance is made, and its other methods are plain functions.

Shorter by one thing: attributes beside the fields cannot be set in a subclass either.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, order=False, kw_only=False):
        """As `dataclasses.dataclass`, which makes what is not frozen. Its fields are all given by `__init__`."""
        if cls is not None or not frozen:
            return dataclasses.dataclass(cls, slots=slots, eq=eq, order=order, kw_only=kw_only)

        def made(cls: type) -> type:
            own = vars(cls)
            cls.__doc__ = cls.__doc__ or cls.__name__  # else the signature is written there, after a long look for it
            types = cls.__annotations__
            cls.__annotations__ = dict.fromkeys(types, object)  # a text is searched for `ClassVar` and the like: thrice
            cls = dataclasses.dataclass(cls, init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)
            cls.__annotations__ = types
            for name, type_ in types.items():
                cls.__dataclass_fields__[name].type = type_
            methods = {"__setattr__": _cannot_set, "__delattr__": _cannot_delete, "__repr__": _repr}
            if eq:
                methods |= _compared(cls, order)
            for name, method in methods.items():
                if own.get(name) is None:
                    setattr(cls, name, method)
            cls.__reduce__ = _reduce
            cls.__init__ = _init_of(cls)
            return cls

        return made


def _compared(cls: type, order: bool) -> dict[str, Any]:
    """How instances are compared, and their hash."""
    names = [each.name for each in dataclasses.fields(cls) if each.compare]
    values = attrgetter(*names) if names else type

    def __eq__(self: Any, other: Any) -> bool:
        if self is other:
            return True
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(values(self))

    def ordered(by: Callable[[Any, Any], bool]) -> Any:
        def of_two(self: Any, other: Any) -> bool:
            return by(values(self), values(other)) if other.__class__ is self.__class__ else NotImplemented

        return of_two

    orders = (operator.lt, operator.le, operator.gt, operator.ge) if order else ()
    return {"__eq__": __eq__, "__hash__": __hash__} | {f"__{by.__name__}__": ordered(by) for by in orders}


def _init_of(cls: type) -> Any:
    """The first instances are given their values one by one; then the real one is made, in its place. So it is at once
    where these do not fit, for it to say so."""
    left = _FIRST
    fill: Callable[[Any, tuple[Any, ...], dict[str, Any]], bool] | None = None

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        nonlocal left, fill
        left -= 1
        if left >= 0:
            fill = fill or _filling(cls)
            if fill(self, given, named):
                return
        real = _compiled(cls)
        cls.__init__ = real  # type: ignore[misc]
        real(self, *given, **named)

    return __init__


_FIRST = 32
"""Instances for which an `__init__` is not worth its compilation: three of four classes have no more."""


def _filling(cls: type) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], bool]:
    """What gives an instance its values; it is False where some are missing, or too many."""
    fields = dataclasses.fields(cls)
    setters = {each.name: _setter(cls, each.name) for each in fields}
    names = [each.name for each in fields if not each.kw_only]
    defaults = {each.name: each.default for each in fields if each.default is not dataclasses.MISSING}
    makers = {each.name: each.default_factory for each in fields if each.default_factory is not dataclasses.MISSING}
    has_more = hasattr(cls, "__post_init__")

    def fill(made: Any, given: tuple[Any, ...], named: dict[str, Any]) -> bool:
        values = dict(zip(names, given, strict=False)) | named
        if len(values) != len(given) + len(named):
            return False
        if len(values) < len(setters):
            for name, maker in makers.items():
                if name not in values:
                    values[name] = maker()
            values = defaults | values
        if values.keys() != setters.keys():
            return False
        for name, value in values.items():
            setters[name](made, value)
        if has_more:
            made.__post_init__()
        return True

    return fill


def _setter(cls: type, name: str) -> Callable[[Any, Any], None]:
    slot: Any = getattr(cls, name, None)
    if type(slot) is _SLOT:
        return slot.__set__  # type: ignore[no-any-return]
    return lambda made, value: object.__setattr__(made, name, value)


def _compiled(cls: type) -> Any:
    """`__init__` as a function of the fields. What has a slot is set by its descriptor, which is the quickest way."""
    known: dict[str, Any] = {"_factory": _FACTORY}
    placed, named, lines = ["self"], ["*"], list[str]()
    for number, each in enumerate(dataclasses.fields(cls)):
        assert each.init
        parameters = named if each.kw_only else placed
        value = each.name
        if each.default is not dataclasses.MISSING:
            known[f"_default{number}"] = each.default
            parameters.append(f"{each.name}=_default{number}")
        elif each.default_factory is not dataclasses.MISSING:
            known[f"_default{number}"] = each.default_factory
            parameters.append(f"{each.name}=_factory")
            value = f"_default{number}() if {each.name} is _factory else {each.name}"
        else:
            parameters.append(each.name)
        slot: Any = getattr(cls, each.name, None)
        if type(slot) is _SLOT:
            known[f"_set{number}"] = slot.__set__
            lines.append(f"_set{number}(self, {value})")
        else:
            known["_set"] = object.__setattr__
            lines.append(f"_set(self, {each.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    text = f"def __init__({', '.join(placed + named[len(named) == 1 :])}):\n  " + "\n  ".join(lines or ["pass"])
    exec(compile(text, f"<{cls.__qualname__}>", "exec"), known)
    known["__init__"].__qualname__ = f"{cls.__qualname__}.__init__"
    return known["__init__"]


_FACTORY = object()


class _Slotted:
    __slots__ = ("slot",)


_SLOT = type(_Slotted.__dict__["slot"])


def _cannot_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _cannot_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _reduce(self: Any) -> tuple[object, ...]:
    """For pickling and copying, which would set attributes one by one."""
    return _again, (self.__class__, {each.name: getattr(self, each.name) for each in dataclasses.fields(self)})


def _again(cls: type, values: dict[str, Any]) -> Any:
    return cls(**values)
