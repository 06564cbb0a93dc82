"""Small databases and type-directed expressions over them, for the laws of expressions.

An expression is made as text, so that a law reads it the way a contract is read. Rows are stored in SQLite, and
the same rows are loaded for Python with everything that they refer to, in circles if need be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st
from tests.laws.databases import Table

from ninefold.expressions.ast import Problem
from ninefold.expressions.check import check
from ninefold.expressions.evaluate import holds
from ninefold.expressions.functions import TABLE, Overload
from ninefold.expressions.parse import parse
from ninefold.expressions.scope import Model, ResourceShape, Scope
from ninefold.expressions.tree import Typed
from ninefold.sql.operators import is_in_sql
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Duration,
    Integer,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
    required,
)

LINE: Final = Object(
    members={"k": Integer(), "w": Integer(nullable=True), "z": Text(nullable=True), "g": Boolean(nullable=True)}
)
ITEM: Final[dict[str, Type]] = {
    "id": Integer(),
    "a": Integer(),
    "b": Integer(nullable=True),
    "x": Number(),
    "y": Number(nullable=True),
    "s": Text(),
    "t": Text(nullable=True),
    "p": Boolean(),
    "q": Boolean(nullable=True),
    "m": Timestamp(),
    "n": Timestamp(nullable=True),
    "tags": Array(items=Text()),
    "nums": Array(items=Integer()),
    "more": Array(items=Integer(nullable=True), nullable=True),
    "lines": Array(items=LINE),
    "ref": Row(resource="owner"),
    "opt": Row(resource="owner", nullable=True),
    "c": Integer(),
    "d": Boolean(),
}
OWNER: Final[dict[str, Type]] = {
    "id": Text(),
    "name": Text(),
    "nick": Text(nullable=True),
    "level": Integer(nullable=True),
    "boss": Row(resource="owner", nullable=True),
    "f": Boolean(),
}
COMPUTED: Final = {
    ("item", "c"): "item.a + item.nums.sum()",
    ("item", "d"): "item.b > 0",
    ("owner", "f"): "owner.items.exists(i, i.a > 5 || i.d)",
}
ROOTS: Final[dict[str, Type]] = {
    "item": Row(resource="item"),
    "limit": Integer(),
    "word": Text(),
    "maybe": Text(nullable=True),
    "now": Timestamp(),
    "caller": Object(members={"owner": Row(resource="owner"), "role": Text()}),
}


def _model() -> Model:
    model = {
        "item": ResourceShape("item", ("id",), ITEM, computed_fields={"c", "d"}),
        "owner": ResourceShape(
            "owner", ("id",), OWNER, {"items": ("item", "ref"), "staff": ("owner", "boss")}, computed_fields={"f"}
        ),
    }
    for (resource, name), text in COMPUTED.items():
        shape = model[resource]
        scope = Scope({**ROOTS, "owner": Row(resource="owner")}, model)
        typed = typed_of(text, scope, shape.fields[name])
        model[resource] = ResourceShape(
            shape.name, shape.primary_key, shape.fields, shape.inverse, {**shape.computed, name: typed}
        )
    return model


def typed_of(text: str, scope: Scope, expected: Type | None = None) -> Typed:
    ast = parse(text)
    assert not isinstance(ast, Problem), (text, ast.message)
    checking = check(ast, scope, expected)
    assert checking.typed is not None, (text, [problem.message for problem in checking.problems])
    return checking.typed


MODEL: Final = _model()
SCOPE: Final = Scope(ROOTS, MODEL)

# ── Values ────────────────────────────────────────────────────────────────────────────────────────────────

INTEGERS = st.one_of(
    st.integers(-4, 4),
    st.sampled_from([2**63 - 1, -(2**63), 2**62, -(2**62), 2**32, 10**6]),
    st.integers(-(2**63), 2**63 - 1),
)
NUMBERS = st.one_of(
    st.sampled_from([0.0, 1.0, -1.5, 0.1, 1e308, -1e308, 9.3e18, 5e-324]),
    st.floats(allow_nan=False, allow_infinity=False),
).map(lambda value: value + 0.0)
TEXTS = st.one_of(
    st.sampled_from(["", "a", "ab", "Ab", "b", "é", "e\u0301", "👍", "👍🏽", "\uffff", "ﬀ", " a\u2003", "%_", "'\"\\"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4),
)
TIMES = st.one_of(
    st.sampled_from(
        [
            "0001-01-01T00:00:00.000000Z",
            "9999-12-31T23:59:59.999999Z",
            "1969-12-31T23:59:59.999999Z",
            "1970-01-01T00:00:00.000000Z",
            "2024-02-29T12:34:56.789012Z",
        ]
    ),
    st.datetimes().map(lambda moment: moment.isoformat(timespec="microseconds") + "Z"),
)


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


LINES = st.fixed_dictionaries(
    {"k": INTEGERS}, optional={"w": _maybe(INTEGERS), "z": _maybe(TEXTS), "g": _maybe(st.booleans())}
)
NAMES: Final = ("o1", "o2", "é3")


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """One to three owners, one to three items that refer to them, and a request."""
    names = NAMES[: draw(st.integers(1, 3))]
    owners = [
        {
            "id": name,
            "name": draw(TEXTS),
            "nick": draw(_maybe(TEXTS)),
            "level": draw(_maybe(INTEGERS)),
            "boss": draw(_maybe(st.sampled_from(names))),
        }
        for name in names
    ]
    items = [
        {
            "id": number,
            "a": draw(INTEGERS),
            "b": draw(_maybe(INTEGERS)),
            "x": draw(NUMBERS),
            "y": draw(_maybe(NUMBERS)),
            "s": draw(TEXTS),
            "t": draw(_maybe(TEXTS)),
            "p": draw(st.booleans()),
            "q": draw(_maybe(st.booleans())),
            "m": draw(TIMES),
            "n": draw(_maybe(TIMES)),
            "tags": draw(st.lists(TEXTS, max_size=3)),
            "nums": draw(st.lists(INTEGERS, max_size=3)),
            "more": draw(_maybe(st.lists(_maybe(INTEGERS), max_size=3))),
            "lines": draw(st.lists(LINES, max_size=3)),
            "ref": draw(st.sampled_from(names)),
            "opt": draw(_maybe(st.sampled_from(names))),
        }
        for number in range(1, 1 + draw(st.integers(1, 3)))
    ]
    request: dict[str, Any] = {
        "limit": draw(INTEGERS),
        "word": draw(TEXTS),
        "maybe": draw(_maybe(TEXTS)),
        "now": draw(TIMES),
    }
    caller = {name: draw(value) for name, value in {"owner": st.sampled_from(names), "role": TEXTS}.items()}
    caller = {name: value for name, value in caller.items() if draw(st.booleans())}
    return World(items, owners, request, caller)


class Loaded(dict[str, Any]):
    """A row with the rows that it refers to in place of their identifiers; as a value it is its identifier."""

    def __eq__(self, other: object) -> bool:
        return bool(self["id"] == (other["id"] if isinstance(other, Loaded) else other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None


@dataclass(frozen=True)
class World:
    items: list[dict[str, Any]]
    owners: list[dict[str, Any]]
    request: dict[str, Any]
    caller: dict[str, Any]

    def tables(self) -> list[Table]:
        """The rows as the service stores them."""
        made = []
        for name, fields, rows in (("owner", OWNER, self.owners), ("item", ITEM, self.items)):
            stored = {each: type_ for each, type_ in fields.items() if (name, each) not in COMPUTED}
            made.append(Table(name, stored, rows))
        return made

    def env(self) -> dict[str, Any]:
        """The request's environment as a statement's binds see it: the caller's row is loaded, and no other."""
        rows = {owner["id"]: owner for owner in self.owners}
        caller = {name: rows[value] if name == "owner" else value for name, value in self.caller.items()}
        return {**self.request, "caller": caller}

    def loaded(self) -> tuple[dict[str, Any], Mapping[str, list[Loaded]]]:
        """The request's environment, and all rows in the order of their identifiers."""
        owners = {row["id"]: Loaded(row) for row in sorted(self.owners, key=lambda row: row["id"])}
        items = [Loaded(row) for row in self.items]
        for owner in owners.values():
            owner["boss"] = owners.get(owner["boss"])
            owner["items"] = [item for item in items if item["ref"] == owner["id"]]
        for owner in owners.values():
            owner["staff"] = [other for other in owners.values() if other["boss"] == owner]
        for item in items:
            item["ref"], item["opt"] = owners[item["ref"]], owners.get(item["opt"])
        flag = holds(MODEL["owner"].computed["f"], MODEL)
        for owner in owners.values():
            owner["f"] = flag({"owner": owner})
        caller = dict(self.caller)
        if "owner" in caller:
            caller["owner"] = owners[caller["owner"]]
        return {**self.request, "caller": caller}, {"item": items, "owner": list(owners.values())}


# ── Expressions ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Names:
    """What may be read at a place: row variables and line variables, and how deep the place is."""

    items: tuple[str, ...] = ("item",)
    owners: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    depth: int = 3

    def deeper(self, **more: tuple[str, ...]) -> Names:
        return Names(
            more.get("items", self.items),
            more.get("owners", self.owners),
            more.get("lines", self.lines),
            self.depth - 1,
        )


def written(overload: Overload, arguments: Sequence[str]) -> str:
    """A call of a function, or an operator between its operands."""
    match overload.style, arguments:
        case "operator", [one]:
            return f"({overload.name}{one})"
        case "operator", [one, two]:
            return f"({one} {overload.name} {two})"
        case "function", _:
            return f"{overload.name}({', '.join(arguments)})"
        case _:
            return f"{arguments[0]}.{overload.name}({', '.join(arguments[1:])})"


def calls(wanted: Type) -> dict[str, list[tuple[Overload, tuple[Type, ...]]]]:
    """The functions with SQL that give a type, by their names, each with the types that it is given."""
    found: dict[str, list[tuple[Overload, tuple[Type, ...]]]] = {}
    for overload in TABLE:
        if not is_in_sql(overload):
            continue
        given = [overload.parameters]
        if callable(overload.result):  # what it gives follows from the arrays that it is given
            given = [(each,) * len(overload.parameters) for each, _ in MADE if isinstance(each, Array)]
        for types in given:
            if required(overload.gives(types)) == wanted:
                found.setdefault(overload.name, []).append((overload, types))
    return found


@st.composite
def called(draw: st.DrawFn, wanted: Type, at: Names) -> str:
    of = CALLS[str(wanted)]
    overload, types = draw(st.sampled_from(of[draw(st.sampled_from(sorted(of)))]))
    return written(overload, [draw(next(made for type_, made in MADE if type_ == each)(at)) for each in types])


def _quoted(text: str) -> str:
    escaped = "".join(character if character.isalnum() else f"\\U{ord(character):08x}" for character in text)
    return f"'{escaped}'"


@st.composite
def owners(draw: st.DrawFn, at: Names) -> str:
    """An expression for a row of `owner`."""
    here = [f"{name}.{field}" for name in at.items for field in ("ref", "opt")]
    here += list(at.owners) + [f"{name}.boss" for name in at.owners] + ["caller.owner"]
    base = draw(st.sampled_from(here))
    if at.depth > 1 and draw(st.integers(0, 7)) == 0:
        base = f"{draw(owner_rows(at.deeper()))}.first()"
    return base + ".boss" if draw(st.integers(0, 4)) == 0 else base


@st.composite
def integers(draw: st.DrawFn, at: Names) -> str:
    leaves = [f"{name}.{field}" for name in at.items for field in ("a", "b", "c", "id")]
    leaves += [f"{name}.{field}" for name in at.lines for field in ("k", "w")]
    leaves += [f"{name}.level" for name in at.owners] + ["limit", "0", "1", "-1", "2", "7", "9223372036854775807"]
    if at.depth <= 0:
        return draw(st.sampled_from(leaves))
    down = at.deeper()
    match draw(st.integers(0, 11)):
        case 0 | 1 | 2:
            return draw(st.sampled_from(leaves))
        case 3:
            fresh = f"f{at.depth}"
            ordered = f".sortBy({fresh}, {fresh}.b)" if draw(st.booleans()) else ""
            row = f"{draw(item_rows(down))}{ordered}.first()"
            return draw(st.sampled_from([f"{row}.{name}" for name in ("a", "b", "c", "id")]))
        case 4:
            return f"({draw(booleans(down))} ? {draw(integers(down))} : {draw(integers(down))})"
        case 5:
            return f"{draw(owners(at))}.level"
        case 6:
            return (
                f"{draw(st.sampled_from(at.items))}.{draw(st.sampled_from(['nums', 'more']))}[{draw(integers(down))}]"
            )
        case _:
            return draw(called(Integer(), down))


@st.composite
def numbers(draw: st.DrawFn, at: Names) -> str:
    leaves = [f"{name}.{field}" for name in at.items for field in ("x", "y")] + ["0.5", "-2.0", "1e300"]
    if at.depth <= 0 or draw(st.booleans()):
        return draw(st.sampled_from(leaves))
    return draw(called(Number(), at.deeper()))


@st.composite
def texts(draw: st.DrawFn, at: Names) -> str:
    leaves = [f"{name}.{field}" for name in at.items for field in ("s", "t")]
    leaves += [f"{name}.z" for name in at.lines] + [
        f"{name}.{field}" for name in at.owners for field in ("name", "nick")
    ]
    leaves += ["word", "maybe", "caller.role", _quoted(draw(TEXTS))]
    if at.depth <= 0:
        return draw(st.sampled_from(leaves))
    down = at.deeper()
    match draw(st.integers(0, 9)):
        case 0 | 1 | 2:
            return draw(st.sampled_from(leaves))
        case 3:
            return f"{draw(owners(at))}.{draw(st.sampled_from(['name', 'nick', 'id']))}"
        case 4:
            return f"({draw(booleans(down))} ? {draw(texts(down))} : {draw(st.one_of(texts(down), st.just('null')))})"
        case 5:
            return f"{draw(st.sampled_from(at.items))}.tags[{draw(integers(down))}]"
        case _:
            return draw(called(Text(), down))


@st.composite
def times(draw: st.DrawFn, at: Names) -> str:
    leaves = [f"{name}.{field}" for name in at.items for field in ("m", "n")] + ["now"]
    if at.depth <= 0 or draw(st.booleans()):
        return draw(st.sampled_from(leaves))
    return draw(called(Timestamp(), at.deeper()))


@st.composite
def durations(draw: st.DrawFn, at: Names) -> str:
    if at.depth <= 0 or draw(st.booleans()):
        return draw(
            st.sampled_from(["duration('PT30M')", "duration('1.000001s')", "duration('-P400D')", "duration('0s')"])
        )
    return draw(called(Duration(), at.deeper()))


@st.composite
def int_arrays(draw: st.DrawFn, at: Names) -> str:
    stored = [f"{name}.{field}" for name in at.items for field in ("nums", "more")]
    if at.depth <= 0:
        return draw(st.sampled_from(stored))
    fresh, down = f"v{at.depth}", at.deeper()
    match draw(st.integers(0, 5)):
        case 0:
            return draw(st.sampled_from(stored))
        case 1:
            name = draw(st.sampled_from(at.items))
            inner = at.deeper(lines=(*at.lines, fresh))
            return f"{name}.lines.map({fresh}, {draw(integers(inner))})"
        case 2:
            inner = at.deeper(items=(*at.items, fresh))
            return f"{draw(item_rows(at))}.map({fresh}, {draw(integers(inner))})"
        case 3:
            inner = at.deeper(items=(*at.items, fresh))
            return f"all(item).flatMap({fresh}, {draw(st.sampled_from([f'{fresh}.nums', f'{fresh}.more']))})"
        case 4:
            inner = at.deeper(items=(*at.items, fresh))
            key = draw(st.one_of(integers(inner), texts(inner), st.sampled_from([f"{fresh}.b", f"{fresh}.t"])))
            return f"{draw(item_rows(at))}.sortBy({fresh}, {key}).map({fresh}, {fresh}.id)"
        case _:
            return draw(called(Array(items=Integer()), down))


@st.composite
def text_arrays(draw: st.DrawFn, at: Names) -> str:
    stored = [f"{name}.tags" for name in at.items]
    if at.depth <= 0:
        return draw(st.sampled_from(stored))
    fresh = f"v{at.depth}"
    match draw(st.integers(0, 5)):
        case 0:
            return draw(st.sampled_from(stored))
        case 1:
            inner = at.deeper(owners=(*at.owners, fresh))
            return f"{draw(owner_rows(at))}.map({fresh}, {draw(texts(inner))})"
        case 2:
            return f"all(item).flatMap({fresh}, {fresh}.tags)"
        case 3:
            return f"[{draw(texts(at.deeper()))}, {draw(texts(at.deeper()))}]"
        case _:
            return draw(called(Array(items=Text()), at.deeper()))


@st.composite
def item_rows(draw: st.DrawFn, at: Names) -> str:
    rows = "all(item)" if draw(st.booleans()) else f"{draw(owners(at))}.items"
    if at.depth > 0 and draw(st.integers(0, 2)) == 0:
        fresh = f"r{at.depth}"
        return f"{rows}.filter({fresh}, {draw(booleans(at.deeper(items=(*at.items, fresh))))})"
    return rows


@st.composite
def owner_rows(draw: st.DrawFn, at: Names) -> str:
    match draw(st.integers(0, 2)):
        case 0:
            return "all(owner)"
        case 1:
            return f"{draw(owners(at))}.staff"
        case _:
            fresh = f"r{at.depth}"
            return (
                f"{draw(item_rows(at.deeper()))}.map({fresh}, {fresh}.{draw(st.sampled_from(['ref', 'ref', 'opt']))})"
            )


@st.composite
def number_arrays(draw: st.DrawFn, at: Names) -> str:
    fresh = f"v{at.depth}"
    inner = at.deeper(items=(*at.items, fresh))
    return f"{draw(item_rows(at))}.map({fresh}, {draw(numbers(inner))})"


@st.composite
def objects(draw: st.DrawFn, at: Names) -> str:
    return f"{draw(st.sampled_from(at.items))}.lines[{draw(integers(at.deeper()))}]"


def arrays(at: Names) -> st.SearchStrategy[str]:
    return st.one_of(int_arrays(at), text_arrays(at), item_rows(at), owner_rows(at))


@st.composite
def booleans(draw: st.DrawFn, at: Names) -> str:
    leaves = [f"{name}.{field}" for name in at.items for field in ("p", "q", "d")]
    leaves += [f"{name}.g" for name in at.lines] + [f"{name}.f" for name in at.owners] + ["true", "false"]
    if at.depth <= 0:
        return draw(st.sampled_from(leaves))
    down = at.deeper()
    match draw(st.integers(0, 15)):
        case 0:
            return draw(st.sampled_from(leaves))
        case 1 | 2:
            return f"({draw(booleans(down))} {draw(st.sampled_from(['&&', '||', '==']))} {draw(booleans(down))})"
        case 3:
            return f"!{draw(booleans(down))}"
        case 4 | 5 | 6:
            return draw(called(Boolean(), down))
        case 7:
            strategy = draw(st.sampled_from([integers, numbers, texts, times, booleans, owners]))
            return f"({draw(strategy(down))} {draw(st.sampled_from(['==', '!=']))} null)"
        case 8:
            return f"({draw(owners(at))} {draw(st.sampled_from(['==', '!=']))} {draw(owners(at))})"
        case 9:
            strategy = draw(st.sampled_from([integers, numbers, texts, times, durations]))
            return f"({draw(strategy(down))} {draw(st.sampled_from(['==', '!=']))} {draw(strategy(down))})"
        case 10:
            return f"({draw(integers(down))} in {draw(int_arrays(down))})"
        case 11:
            return f"({draw(texts(down))} in {draw(text_arrays(down))})"
        case 12:
            fresh, macro = f"q{at.depth}", draw(st.sampled_from(["exists", "all", "exists_one"]))
            inner = at.deeper(items=(*at.items, fresh))
            return f"{draw(item_rows(down))}.{macro}({fresh}, {draw(booleans(inner))})"
        case 13:
            fresh, macro = f"q{at.depth}", draw(st.sampled_from(["exists", "all", "exists_one"]))
            inner = at.deeper(lines=(*at.lines, fresh))
            return f"{draw(st.sampled_from(at.items))}.lines.{macro}({fresh}, {draw(booleans(inner))})"
        case 14:
            fresh, macro = f"q{at.depth}", draw(st.sampled_from(["exists", "all"]))
            inner = at.deeper(owners=(*at.owners, fresh))
            return f"{draw(owner_rows(down))}.{macro}({fresh}, {draw(booleans(inner))})"
        case _:
            fields = ["item.t", "item.opt", "caller.role", f"{draw(owners(at))}.nick"]
            return f"has({draw(st.sampled_from(fields))})"


MADE: Final[tuple[tuple[Type, Callable[[Names], st.SearchStrategy[str]]], ...]] = (
    (Boolean(), booleans), (Integer(), integers), (Number(), numbers), (Text(), texts), (Timestamp(), times),
    (Duration(), durations), (Object(), objects), (Array(items=Anything()), arrays),
    (Array(items=Integer()), int_arrays), (Array(items=Number()), number_arrays), (Array(items=Text()), text_arrays),
)  # fmt: skip
"""Each type with expressions of it."""

CALLS: Final = {str(each): calls(each) for each, _ in MADE}


def expressions(depth: int = 3) -> st.SearchStrategy[str]:
    """Expressions of any type over one `item` and a request."""
    at = Names(depth=depth)
    return st.one_of(
        booleans(at), booleans(at), integers(at), numbers(at), texts(at), times(at), int_arrays(at), text_arrays(at)
    )
