"""Dataclasses whose making costs the program little when it starts, most of them frozen.

`dataclasses.dataclass(frozen=True)` writes six methods of a class as text and compiles each when the module is
imported: of the 260 classes that a command loads, that was half the time of all imports. `dataclass` here makes the
same class, told by the same decorator and read by the same `fields`, `replace` and patterns; its `__init__` is made
when the first instance is, of what is compiled once for many classes, and its other methods are plain functions.

Shorter by one thing: attributes beside the fields of a frozen one cannot be set in a subclass either.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import replace as replace
else:

    def replace(value, /, **changed):
        """As `dataclasses.replace`, of what is made here: it looks at each field in C."""
        names, values = _read(value.__class__)
        return value.__class__(**dict(zip(names, values(value), strict=True)) | changed)

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


@cache
def _read(cls: type) -> tuple[tuple[str, ...], Callable[[Any], Iterable[Any]]]:
    """The names of its fields, and what reads them all."""
    names = tuple(each.name for each in dataclasses.fields(cls))
    return names, attrgetter(*names) if len(names) > 1 else lambda value: [getattr(value, each) for each in names]


def _init_of(cls: type) -> Any:
    """Many classes have no instance; the real one is made for the first, and is in its place from then on."""

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        real = cls.__init__ = _compiled(cls)  # type: ignore[misc]
        real(self, *given, **named)

    return __init__


def _compiled(cls: type) -> Any:
    """`__init__` as a function of the fields. What has a slot is set by its descriptor, which is the quickest way.
    What it does is compiled once for all classes whose fields are as many, and of the same kinds."""
    known: dict[str, Any] = {"_set": object.__setattr__, "_factory": _FACTORY}
    names: tuple[list[str], list[str]] = [], []
    given: tuple[list[str], list[str]] = [], []
    defaults = list[Any]()
    named_defaults = dict[str, Any]()
    lines = list[str]()
    for number, each in enumerate(dataclasses.fields(cls)):
        assert each.init
        value = f"_{number}"
        names[each.kw_only is True].append(each.name)
        given[each.kw_only is True].append(value)
        default = each.default
        if each.default_factory is not dataclasses.MISSING:
            known[f"_made{number}"], default = each.default_factory, _FACTORY
            value = f"_made{number}() if {value} is _factory else {value}"
        if default is not dataclasses.MISSING and each.kw_only:
            named_defaults[each.name] = default
        elif default is not dataclasses.MISSING:
            defaults.append(default)
        slot: Any = getattr(cls, each.name, None)
        if type(slot) is _SLOT:
            known[f"_set{number}"] = slot.__set__
            lines.append(f"_set{number}(self, {value})")
        else:
            known[f"_name{number}"] = each.name
            lines.append(f"_set(self, _name{number}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *given[0], *(["*", *given[1]] if given[1] else ())])
    code = _code(f"def __init__({parameters}):\n  " + "\n  ".join(lines or ["pass"]))
    code = code.replace(co_varnames=("self", *names[0], *names[1]), co_filename=f"<{cls.__qualname__}>")
    made = FunctionType(code, known, "__init__", tuple(defaults))
    made.__kwdefaults__ = named_defaults
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    return made


@cache
def _code(text: str) -> CodeType:
    """Of the one function that a text declares."""
    return next(each for each in compile(text, "<dataclass>", "exec").co_consts if isinstance(each, CodeType))


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
