"""A frozen dataclass that is made quickly is the one that the standard library makes."""

from __future__ import annotations

import copy
import dataclasses
import operator
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from ninefold.diagnostics import frozen

Decorator = Callable[..., Any]


def made(dataclass: Decorator) -> dict[str, Any]:
    """One class of each form that there is."""

    @dataclass(frozen=True, slots=True)
    class Slotted:
        first: int
        second: str = "two"
        third: list[int] = dataclasses.field(default_factory=list)

    @dataclass(frozen=True)
    class Plain:
        first: int
        second: object = dataclasses.field(default=None, repr=False, compare=False)

    @dataclass(frozen=True, slots=True)
    class Inherits(Slotted):
        fourth: bool = False

    @dataclass(frozen=True, slots=True, eq=False)
    class ByIdentity:
        first: int

    @dataclass(frozen=True, slots=True)
    class Nothing:
        pass

    @dataclass(frozen=True, slots=True)
    class Own:
        first: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Own) and self.first % 10 == other.first % 10

        def __hash__(self) -> int:
            return self.first % 10

        def __repr__(self) -> str:
            return "own"

    @dataclass(frozen=True, slots=True, order=True)
    class Ordered:
        first: int
        second: int

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Named(Slotted):
        fourth: int
        fifth: int = 5

    @dataclass
    class Mutable:
        first: int

    @dataclass(slots=True)
    class MutableSlots:
        first: int
        second: list[int] = dataclasses.field(default_factory=list)

        def __post_init__(self) -> None:
            self.second = [*self.second, self.first]

    @dataclass(eq=False)
    class MutableByIdentity:
        first: int

    return {name: each for name, each in locals().items() if isinstance(each, type)}


STANDARD, QUICK = made(dataclasses.dataclass), made(frozen.dataclass)

CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Slotted", (1,), {}),
    ("Slotted", (1, "x", [3]), {}),
    ("Slotted", (), {"second": "y", "first": 2}),
    ("Slotted", (), {}),
    ("Slotted", (1,), {"fifth": 1}),
    ("Plain", (1,), {}),
    ("Plain", (1, 2), {}),
    ("Inherits", (1, "x", [], True), {}),
    ("ByIdentity", (1,), {}),
    ("Nothing", (), {}),
    ("Nothing", (1,), {}),
    ("Own", (1,), {}),
    ("Own", (11,), {}),
    ("Ordered", (1, 2), {}),
    ("Ordered", (2, 1), {}),
    ("Mutable", (1,), {}),
    ("Mutable", (), {}),
    ("MutableSlots", (1, [2]), {}),
    ("MutableByIdentity", (1,), {}),
    ("Named", (1,), {"fourth": 4}),
    ("Named", (1, "x", [], 4), {}),
]


def of(classes: dict[str, Any], name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    try:
        return classes[name](*given, **named)
    except TypeError as error:
        return str(error).rpartition(".")[2]


def told(value: Any) -> object:
    """What can be seen of an instance, apart from the module of its class."""
    if isinstance(value, str):
        return value
    return (
        repr(value).rpartition("<locals>.")[2] if "object at" not in repr(value) else "an object",
        [(each.name, each.default) for each in dataclasses.fields(value)],
        value.__match_args__,
        dataclasses.asdict(value),
        dataclasses.asdict(dataclasses.replace(value)),
        hasattr(value, "__dict__"),
    )


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_instances_are_alike(call: Any) -> None:
    assert told(of(QUICK, *call)) == told(of(STANDARD, *call))


def test_they_are_compared_alike() -> None:
    relations: tuple[Callable[[Any, Any], bool], ...] = (operator.eq, operator.ne, operator.lt, operator.ge)
    several: list[list[Any]] = [[of(classes, *call) for call in CALLS] for classes in (QUICK, STANDARD)]
    for which in relations:
        answers = []
        for values in several:
            found = list[object]()
            for one in values:
                for other in values:
                    try:
                        found.append(which(one, other))
                    except TypeError:
                        found.append(TypeError)
            answers.append(found)
        assert answers[0] == answers[1]


def test_equal_ones_have_one_hash() -> None:
    quick, other = QUICK["Plain"](1, 2), QUICK["Plain"](1, 3)
    assert quick == other and hash(quick) == hash(other)
    assert len({QUICK["Own"](1), QUICK["Own"](11)}) == 1
    assert len({QUICK["ByIdentity"](1), QUICK["ByIdentity"](1)}) == 2
    with pytest.raises(TypeError):
        hash(QUICK["Slotted"](1))


@pytest.mark.parametrize("name", ["Slotted", "Plain", "Own"])
def test_nothing_of_them_is_changed(name: str) -> None:
    value = QUICK[name](1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.first = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.first
    assert value.first == 1


@frozen.dataclass(frozen=True, slots=True)
class Kept:
    """Pickled by the name of its module."""

    first: int
    second: tuple[int, ...] = ()


def test_what_is_not_frozen_is_changed_and_has_no_hash_but_by_identity() -> None:
    for name in ("Mutable", "MutableSlots"):
        for classes in (QUICK, STANDARD):
            value = classes[name](1)
            value.first = 3
            assert value.first == 3 and copy.copy(value) == copy.deepcopy(value) == value
            with pytest.raises(TypeError):
                hash(value)
    assert len({QUICK["MutableByIdentity"](1), QUICK["MutableByIdentity"](1)}) == 2


@pytest.mark.parametrize("name", list(STANDARD))
def test_classes_are_alike(name: str) -> None:
    """But for the two methods by which slots are pickled: ours are by another."""
    without = {"__getstate__", "__setstate__", "__reduce__", "__doc__", "__init__", "__weakref__", "__dict__"}
    one, other = (
        {key: value for key, value in vars(classes[name]).items() if key not in without}
        for classes in (QUICK, STANDARD)
    )
    # Of a class that has none, only Python before 3.14 says so.
    assert one.pop("__annotations__", {}) == other.pop("__annotations__", {})
    assert one.keys() == other.keys() and one.get("__slots__") == other.get("__slots__")
    for field, same in zip(*map(dataclasses.fields, (QUICK[name], STANDARD[name])), strict=True):
        assert repr(field) == repr(same)


def test_they_are_copied_and_pickled() -> None:
    value = Kept(1, (2, 3))
    assert pickle.loads(pickle.dumps(value)) == copy.copy(value) == copy.deepcopy(value) == value
    match value:
        case Kept(first, (second, *_)):
            assert (first, second) == (1, 2)


@pytest.mark.parametrize("call", [call for call in CALLS if not isinstance(of(STANDARD, *call), str)], ids=str)
def test_one_takes_the_place_of_another_alike(call: Any) -> None:
    value = of(QUICK, *call)
    for changed in ({}, {"first": 7}, {"fifth": 8}, {"nobody": 9}):
        answers = []
        for replace in (frozen.replace, dataclasses.replace):
            try:
                answers.append(told(replace(value, **changed)))
            except TypeError:
                answers.append(TypeError)
        assert answers[0] == answers[1]
