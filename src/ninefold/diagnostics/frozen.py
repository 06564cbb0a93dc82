"""Dataclasses whose making costs the program little when it starts, most of them frozen.

`dataclasses.dataclass(frozen=True)` writes six methods of a class as text and compiles each when the module is
imported: of the 260 classes that a command loads, that was half the time of all imports. `dataclass` here makes the
same class, told by the same decorator and read by the same `fields`, `replace` and patterns; its `__init__` is compiled
when the first instance is made, and its other methods are plain functions.

Shorter by one thing: attributes beside the fields of a frozen one cannot be set in a subclass either.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True, order=False, kw_only=False):
        """As `dataclasses.dataclass`; fields are all given by `__init__`. It makes what is not frozen, too."""

        def made(cls: type) -> type:
            fields = _fields(cls, kw_only)
            own = {name: value for name, value in vars(cls).items() if name not in fields}
            methods: dict[str, Any] = {"__repr__": _repr}
            if frozen:
                methods |= {"__setattr__": _cannot_set, "__delattr__": _cannot_delete, "__reduce__": _reduce}
            if eq:
                methods |= _compared(fields.values(), order) | ({} if frozen else {"__hash__": None})
            added = {name: method for name, method in methods.items() if own.get(name) is None}
            added |= _OF_CLASS[frozen] | {"__dataclass_fields__": fields, "__doc__": cls.__doc__ or cls.__name__}
            if "__match_args__" not in own:
                added["__match_args__"] = tuple(each.name for each in fields.values() if not each.kw_only)
            cls = _slotted(cls, own | added) if slots else _extended(cls, added)
            cls.__init__ = _init_of(cls)
            return cls

        return made if cls is None else made(cls)


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _Changed:
    """As the standard library makes them."""

    field: object


@dataclasses.dataclass(frozen=True, init=False, repr=False, eq=False)
class _Frozen:
    """As the standard library makes them."""


_OF_CLASS = {
    each is _Frozen: {name: vars(each)[name] for name in ("__dataclass_params__", "__replace__") if name in vars(each)}
    for each in (_Changed, _Frozen)
}
_OF_FIELD: Any = _Changed.__dataclass_fields__["field"]._field_type  # type: ignore[attr-defined]
"""What `dataclasses` knows its classes and their fields by, in the version of Python that runs."""


def _fields(cls: type, kw_only: bool) -> dict[str, dataclasses.Field[Any]]:
    """Those of a class by their names, of its bases first. `dataclasses` would search each annotation, which is a text,
    for `ClassVar` and the like three times, which none of ours is."""
    found: dict[str, dataclasses.Field[Any]] = {}
    for each in cls.__mro__[:0:-1]:
        found |= vars(each).get("__dataclass_fields__", {})
    for name, type_ in cls.__annotations__.items():
        default = vars(cls).get(name, dataclasses.MISSING)
        declared: Any = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
        declared.name, declared.type, declared._field_type = name, type_, _OF_FIELD
        if declared.kw_only is dataclasses.MISSING:
            declared.kw_only = kw_only
        found[name] = declared
    return found


def _slotted(cls: type, members: dict[str, Any]) -> type:
    """The class anew, with a slot for each field that has none in a base."""
    taken = {name for each in cls.__mro__[1:] for name in vars(each).get("__slots__", ())}
    members["__slots__"] = tuple(name for name in members["__dataclass_fields__"] if name not in taken)
    members["__qualname__"] = cls.__qualname__
    for name in ("__dict__", "__weakref__"):
        members.pop(name, None)
    return type(cls)(cls.__name__, cls.__bases__, members)


def _extended(cls: type, members: dict[str, Any]) -> type:
    """The class itself; the default of a field is its attribute."""
    for name in cls.__annotations__:
        default = members["__dataclass_fields__"][name].default
        if default is not dataclasses.MISSING:
            setattr(cls, name, default)
        elif name in vars(cls):
            delattr(cls, name)
    for name, value in members.items():
        setattr(cls, name, value)
    return cls


def _compared(fields: Iterable[dataclasses.Field[Any]], order: bool) -> dict[str, Any]:
    """How instances are compared, and their hash."""
    names = [each.name for each in fields if each.compare]
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
    has_slots = not cls.__dictoffset__ or any(type(getattr(cls, name, None)) is _SLOT for name in setters)

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
        if has_slots:
            for name, value in values.items():
                setters[name](made, value)
        else:
            made.__dict__.update(values)
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
