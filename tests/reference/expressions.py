"""Expressions, evaluated on the typed tree by walking it: nothing is compiled, nothing is cached.

What has no value is `None`. What CEL calls an error is raised as `Fails`; only `&&`, `||`, `?:`, `exists`, `all` and
`has` look at what they need not, and a condition holds when it is `True` and in no other case (meaning "truth").
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, Protocol

from tests.reference.rows import Row, Rows
from tests.reference.values import Broken, from_text

from ninefold.checked.resources import Resource
from ninefold.expressions.tree import (
    All,
    Call,
    Comprehension,
    Constant,
    MakeArray,
    MakeObject,
    Select,
    Typed,
    Variable,
)
from ninefold.values import Anything, Array, Boolean, Duration, Integer, Number, Object, Text, Timestamp, Type
from ninefold.values import Row as RowType


class Fails(Exception):
    """What CEL calls an error."""


class TooLarge(Exception):
    """More than anything may grow to (meaning "too much"): the whole request is `too large`, whatever else it is."""


def called(value: Any, type_: Type) -> str | None:
    """What CEL calls the type of a value."""
    if value is None:
        return "null_type"
    if isinstance(type_, Timestamp | Duration | RowType):
        return None
    if isinstance(type_, Number) or isinstance(value, float):
        return "double"
    names = {bool: "bool", int: "int", str: "string", list: "list", dict: "map"}
    return names[type(value)]


LARGEST = 16 * 1024 * 1024
"""Code points of a text, items of an array; and bytes of a row that is written, unless a body may have half as many."""


class Chance(Protocol):
    """What is made at random. Whoever compares two services gives both the same."""

    def uuid(self) -> str: ...

    def token(self) -> str: ...

    def text(self, length: int) -> str: ...


@dataclass(frozen=True)
class Reference:
    """A row in an expression: known by its identifier, and perhaps at hand (`row`). `among`: of a row as it was, the
    rows that there were, which its computed fields are made of."""

    resource: str
    key: Any
    row: Row | None = None
    among: Rows | None = None


def at_hand(row: Row) -> Reference:
    return Reference(row.resource.name, row.key, row)


def as_it_was(row: Row | None, among: Rows) -> dict[str, Reference]:
    """`before`: of a row that is new there is nothing."""
    return {} if row is None else {row.resource.name: replace(at_hand(row), among=among)}


Sees = Callable[[Row], bool]


def all_rows(row: Row) -> bool:
    """Row rules, permissions, guards and invariants read all rows (meaning "row rules")."""
    return True


@dataclass(frozen=True)
class Reading:
    """All that an expression may read. `names` are the roots; `sees` says which rows there are besides those at
    hand; `chance` makes what is random."""

    resources: Mapping[str, Resource]
    rows: Rows
    names: Mapping[str, Any]
    sees: Sees = all_rows
    chance: Chance | None = None

    def also(self, **names: Any) -> Reading:
        return replace(self, names={**self.names, **names})

    def holds(self, condition: Typed) -> bool:
        try:
            return self.value(condition) is True
        except Fails:
            return False

    def value_or_none(self, typed: Typed) -> Any:
        """The value; none where there is an error (meaning "no value")."""
        try:
            return self.value(typed)
        except Fails:
            return None

    def value(self, typed: Typed) -> Any:
        match typed:
            case Constant(value=value):
                return value
            case Variable(name=name):
                return self.names.get(name)
            case All(resource=resource):
                return [at_hand(row) for row in self.rows.all(resource) if self.sees(row)]
            case MakeArray(items=items):
                return [self.value(item) for item in items]
            case MakeObject(members=members, nulls=nulls):
                read = {name: self.value_or_none if name in nulls else self.value for name, _ in members}
                values = {name: read[name](member) for name, member in members}
                return {name: value for name, value in values.items() if value is not None or name in nulls}
            case Select():
                return self._select(typed)
            case Comprehension():
                return self._comprehension(typed)
            case Call():
                return self._call(typed)

    # ── Members ───────────────────────────────────────────────────────────────────────────────────────────────

    def _select(self, select: Select) -> Any:
        of, name = self.value(select.operand), select.name
        if isinstance(select.operand.type, RowType) and of is not None and not isinstance(of, Reference):
            of = Reference(select.operand.type.resource, of)  # a row is its primary key where a value is wanted
        if isinstance(select.operand, Variable) and select.operand.name == "caller":
            if of is None or of.get(name) is None:
                raise Fails(f"the caller has no {name}")
            return of[name]
        if isinstance(of, Reference):
            return self._of_row(of, name, select)
        if isinstance(of, dict):
            return of.get(name)
        raise Fails(f"there is nothing to read {name} of")

    def _of_row(self, of: Reference, name: str, select: Select) -> Any:
        resource = self.resources[of.resource]
        if resource.primary_key == (name,):
            value = of.key
            field = resource.fields[name]
            if value is None and field.serial:
                raise Fails(f"the row has no {name} until it is stored")
            if field.references is not None and isinstance(select.type, RowType) and value is not None:
                return Reference(field.references, value)
            return value
        row = of.row or self._seen(of)
        if row is None:
            raise Fails(f"there is no such {of.resource}")
        if select.through == "back":
            return self._referring(row, name)
        reading = self
        if of.among is not None and row.resource.fields[name].computed is not None:
            reading = replace(self, rows=of.among)
        return reading.of_field(row, name, as_row=isinstance(select.type, RowType))

    def of_field(self, row: Row, name: str, as_row: bool) -> Any:
        field = row.resource.fields[name]
        if field.computed is not None:
            # A value is the same for everyone who may see it (meaning "row rules").
            inner = replace(self, names={**self.names, row.resource.name: at_hand(row)}, sees=all_rows)
            is_condition = isinstance(field.type, Boolean)
            return inner.holds(field.computed) if is_condition else inner.value_or_none(field.computed)
        value = row.fields[name]
        if value is None and field.serial:
            raise Fails(f"the row has no {name} until it is stored")
        if field.references is not None and as_row and value is not None:
            return Reference(field.references, value)
        return value

    def _seen(self, of: Reference) -> Row | None:
        row = self.rows.find(of.resource, of.key)
        return row if row is not None and self.sees(row) else None

    def there(self, of: Reference) -> bool:
        """Whether the row is there for whoever reads."""
        return of.row is not None or self._seen(of) is not None

    def _referring(self, row: Row, inverse: str) -> list[Reference]:
        if row.key is None:
            return []  # nothing refers to a row that is still to be stored
        for resource in self.resources.values():
            for field in resource.fields.values():
                if field.references == row.resource.name and field.inverse == inverse:
                    found = [each for each in self.rows.all(resource.name) if each.fields[field.name] == row.key]
                    return [at_hand(each) for each in found if self.sees(each)]
        raise AssertionError(inverse)

    # ── Macros ────────────────────────────────────────────────────────────────────────────────────────────────

    def _comprehension(self, typed: Comprehension) -> Any:
        found = needed(self.value(typed.range))
        pairs = sorted(found.items()) if isinstance(found, dict) else list(enumerate(found))
        items = [item for _, item in pairs]
        place = typed.place or "$place"
        each = [self.also(**{place: at, typed.variable: item}) for at, item in pairs]
        match typed.macro:
            case "exists" | "all":
                decisive, failed = typed.macro == "exists", False
                for one in each:
                    try:
                        if truth(one.value(typed.body)) is decisive:
                            return decisive
                    except Fails:
                        failed = True
                if failed:
                    raise Fails("nothing decides, and something fails")
                return not decisive
            case "exists_one":
                return [truth(one.value(typed.body)) for one in each].count(True) == 1
            case "filter":
                return [item for item, one in zip(items, each, strict=True) if truth(one.value(typed.body))]
            case "map":
                chosen = [one for one in each if typed.condition is None or truth(one.value(typed.condition))]
                return [one.value(typed.body) for one in chosen]
            case "flatMap":
                return [value for one in each for value in needed(one.value(typed.body))]
            case "sortBy":
                keyed = [(one.value(typed.body), item) for item, one in zip(items, each, strict=True)]
                return [item for _, item in sorted(keyed, key=lambda pair: (pair[0] is None, pair[0]))]
            case "transformMap":
                chosen = [one for one in each if typed.condition is None or truth(one.value(typed.condition))]
                made = {one.names[place]: one.value(typed.body) for one in chosen}
                return {name: value for name, value in made.items() if value is not None}

    # ── Operators and functions ───────────────────────────────────────────────────────────────────────────────

    def _call(self, call: Call) -> Any:
        arguments = call.arguments
        match call.function:
            case "&&" | "||":
                return self._logic(call.function == "||", arguments[0], arguments[1])
            case "!":
                return not truth(self.value(arguments[0]))
            case "?:":
                return self.value(arguments[1] if truth(self.value(arguments[0])) else arguments[2])
            case "==":
                return same(self.value(arguments[0]), self.value(arguments[1]))
            case "!=":
                return not same(self.value(arguments[0]), self.value(arguments[1]))
            case "is true":
                return self.holds(arguments[0])
            case "has":
                return self._has(arguments[0])
            case "in":
                item, container = self.value(arguments[0]), needed(self.value(arguments[1]))
                if isinstance(container, dict) and (item is None or isinstance(item, str)):
                    return item in container
                if isinstance(container, list):
                    return any(same(item, one) for one in container)
                raise Fails("this holds no such thing")
            case "[]":
                container, index = needed(self.value(arguments[0])), needed(self.value(arguments[1]))
                if isinstance(container, list) and type(index) is int and 0 <= index < len(container):
                    return container[index]
                if isinstance(container, dict) and isinstance(index, str):
                    return container.get(index)
                raise Fails("there is no such item")
            case "names of":
                return sorted(needed(self.value(arguments[0])))
            case "narrow":
                return narrowed(self.value(arguments[0]), call.type)
            case "uuid" | "token" | "random":
                return self._at_random(call)
            case "page.at":
                return self.names["page"]["at"](str(needed(self.value(arguments[1]))))
            case "is of type":
                return called(self.value(arguments[0]), arguments[0].type) == self.value(arguments[1])
        values = [needed(self.value(argument)) for argument in arguments]
        return apply(call.function, values, [argument.type for argument in arguments])

    def _logic(self, decisive: bool, left: Typed, right: Typed) -> bool:
        """`||` is decided by one true, `&&` by one false, whatever the other is."""
        failed = False
        for side in (left, right):
            try:
                if truth(self.value(side)) is decisive:
                    return decisive
            except Fails:
                failed = True
        if failed:
            raise Fails("one side fails, and the other does not decide")
        return not decisive

    def _has(self, argument: Typed) -> bool:
        if isinstance(argument, Select) and isinstance(argument.operand, Variable):
            if argument.operand.name == "caller":
                return (self.names.get("caller") or {}).get(argument.name) is not None
        return self.value(argument) is not None

    def _at_random(self, call: Call) -> str:
        assert self.chance is not None
        if call.function == "random":
            length = needed(self.value(call.arguments[0]))
            if not 1 <= length <= 256:
                raise Fails("random(n) makes 1 to 256 characters")
            return self.chance.text(length)
        return self.chance.uuid() if call.function == "uuid" else self.chance.token()


def bounded(joined: Any) -> Any:
    """A text or an array that `+` makes."""
    if len(joined) > LARGEST:
        raise TooLarge
    return joined


def needed(value: Any) -> Any:
    if value is None:
        raise Fails("no value where one is needed")
    return value


def names_of(typed: Typed) -> tuple[str, ...] | None:
    """`a.b.c`, as names; None: it is something else."""
    if isinstance(typed, Select):
        names = names_of(typed.operand)
        return None if names is None else (*names, typed.name)
    return (typed.name,) if isinstance(typed, Variable) else None


def truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise Fails("no truth value")
    return value


def same(left: Any, right: Any) -> bool:
    """CEL's `==`: a row is its identifier, a truth value is no number, null equals null alone."""
    left = left.key if isinstance(left, Reference) else left
    right = right.key if isinstance(right, Reference) else right
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(value, right[name]) for name, value in left.items())
    return bool(left == right)


def narrowed(value: Any, type_: Type) -> Any:
    """A value of any type as one of this type; an error where it is none."""
    kinds: dict[type, type | tuple[type, ...]] = {
        Boolean: bool,
        Integer: int,
        Number: (int, float),
        Text: str,
        Timestamp: str,
        Array: list,
        Object: dict,
    }
    wanted = kinds.get(type(type_))
    if value is None or wanted is None or isinstance(type_, Anything):
        return value
    if isinstance(type_, Integer) and isinstance(value, float) and value == int(value):
        return within(int(value))
    if not isinstance(value, wanted) or (isinstance(value, bool) and not isinstance(type_, Boolean)):
        raise Fails("a value of another type")
    if isinstance(type_, Array) and isinstance(value, list) and not isinstance(type_.items, Anything):
        return [narrowed(item if type_.items.nullable else needed(item), type_.items) for item in value]
    return float(value) if isinstance(type_, Number) and isinstance(value, int | float) else value


def within(value: int) -> int:
    if not -(2**63) <= value < 2**63:
        raise Fails("an integer outside of 64 bits")
    return value


def finite(value: float) -> float:
    if not math.isfinite(value):
        raise Fails("not a finite number")
    return value + 0.0


def toward_zero(left: int, right: int) -> int:
    if right == 0:
        raise Fails("division by zero")
    quotient = abs(left) // abs(right)
    return within(quotient if (left >= 0) == (right > 0) else -quotient)


def moment(text: str) -> datetime:
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")


def written(time: datetime) -> str:
    return time.isoformat(timespec="microseconds") + "Z"


def moved(text: str, microseconds: int) -> str:
    try:
        return written(moment(text) + timedelta(microseconds=microseconds))
    except OverflowError:
        raise Fails("outside of the years 1 to 9999") from None


def apply(function: str, values: list[Any], types: list[Type]) -> Any:
    """A function or operator whose arguments all have values."""
    kinds = tuple(type(each) for each in types)
    if kinds == (Anything,) and function in TAKES:
        found = called(values[0], types[0])
        if found not in TAKES[function]:
            raise Fails("of a type that the function does not take")
        kinds = (Text,) if found == "string" else ()
    match function, values:
        case "+", [a, b]:
            if kinds == (Timestamp, Duration):
                return moved(a, b)
            if kinds == (Duration, Timestamp):
                return moved(b, a)
            return finite(a + b) if isinstance(a, float) else within(a + b) if isinstance(a, int) else bounded(a + b)
        case "-", [a, b]:
            if kinds == (Timestamp, Timestamp):
                return (moment(a) - moment(b)) // timedelta(microseconds=1)
            if kinds == (Timestamp, Duration):
                return moved(a, -b)
            return finite(a - b) if isinstance(a, float) else within(a - b)
        case "-", [a]:
            return finite(-a) if isinstance(a, float) else within(-a)
        case "*", [a, b]:
            return finite(a * b) if isinstance(a, float) else within(a * b)
        case "/", [float() as a, float() as b]:
            if b == 0:
                raise Fails("division by zero")
            return finite(a / b)
        case "/", [a, b]:
            return toward_zero(a, b)
        case "%", [a, b]:
            return a - b * toward_zero(a, b)
        case "<", [a, b]:
            return a < b
        case "<=", [a, b]:
            return a <= b
        case ">", [a, b]:
            return a > b
        case ">=", [a, b]:
            return a >= b
        case "size", [a]:
            return len(a)
        case "contains", [a, b]:
            return b in a
        case "startsWith", [a, b]:
            return a.startswith(b)
        case "endsWith", [a, b]:
            return a.endswith(b)
        case "matches", [a, b]:
            return re.search(b, a) is not None
        case "lowerAscii", [a]:
            return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in a)
        case "upperAscii", [a]:
            return "".join(chr(ord(c) - 32) if "a" <= c <= "z" else c for c in a)
        case "trim", [a]:
            return a.strip()
        case "indexOf", [a, b]:
            return next((at for at in range(len(a) + 1) if a[at : at + len(b)] == b), -1)
        case "substring", [a, *ends]:
            begin, end = ends[0], ends[-1] if len(ends) == 2 else len(a)
            if not 0 <= begin <= end <= len(a):
                raise Fails("no such part of the text")
            return a[begin:end]
        case "replace", [a, b, c]:
            if b == "":
                raise Fails("nothing to replace")
            return c.join(_parts(a, b))
        case "split", [a, b]:
            return [*a] if b == "" else _parts(a, b)
        case "join", [list() as items, *between]:
            return "".join(between).join(needed(item) for item in items)
        case "string", [a]:
            return text_of(a, types[0])
        case "int", [str() as a] if kinds == (Timestamp,):
            return (moment(a) - datetime(1970, 1, 1)) // timedelta(seconds=1)
        case "int", [float() as a]:
            return within(math.trunc(a))
        case "double", [int() as a]:
            return float(a)
        case "int" | "double" | "bool" | "timestamp", [str() as a] if kinds == (Text,):
            try:
                return from_text(READ[function], a)
            except Broken:
                raise Fails("not as JSON writes it") from None
        case "timestamp", [int() as a]:
            return moved("1970-01-01T00:00:00.000000Z", a * 1_000_000)
        case "duration", [str() as a]:
            return length_of(a)
        case "int" | "double" | "bool" | "timestamp" | "duration", [a]:
            return a
        case "sum", [list() as items]:
            items = [needed(item) for item in items]
            of = types[0].items if isinstance(types[0], Array) else None
            return finite(math.fsum(items)) if isinstance(of, Number) else within(sum(items))
        case "distinct", [list() as items]:
            return [item for at, item in enumerate(items) if not any(same(item, other) for other in items[:at])]
        case "sort", [list() as items]:
            return sorted(i for i in items if i is not None) + [None] * items.count(None)
        case "reverse", [list() as items]:
            return [*reversed(items)]
        case "first", [list() as items]:
            return items[0] if items else None
        case "slug", [a]:
            if len(a) > 32_768:
                raise Fails("a text too long")
            return "-".join(_words(a))
    if function.startswith("get"):
        return part_of(moment(values[0]), function) if kinds == (Timestamp,) else units_of(values[0], function)
    raise NotImplementedError(f"{function} of {kinds}")


TAKES = {
    "size": ("string", "list", "map"),
    "string": ("string", "int", "double", "bool"),
    "int": ("int", "double", "string"),
    "double": ("double", "int", "string"),
    "bool": ("bool", "string"),
    "timestamp": ("string", "int"),
}
"""Of which values of JSON each function has a meaning, where its argument is of any type."""

READ: dict[str, Type] = {"int": Integer(), "double": Number(), "bool": Boolean(), "timestamp": Timestamp()}
"""What each function reads of a text."""


def _parts(text: str, separator: str) -> list[str]:
    """What stands between the separators."""
    parts, begin = [], 0
    while (at := text.find(separator, begin)) >= 0:
        parts.append(text[begin:at])
        begin = at + len(separator)
    return [*parts, text[begin:]]


def text_of(value: Any, type_: Type) -> str:
    """What `string` makes of a value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(type_, Duration):
        return written_length(value)
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


UNITS = (("D", 86_400_000_000), ("H", 3_600_000_000), ("M", 60_000_000))


def written_length(microseconds: int) -> str:
    """ISO 8601, in days, hours, minutes and seconds."""
    left, date, time = abs(microseconds), "", ""
    for unit, size in UNITS:
        count, left = divmod(left, size)
        if count and unit == "D":
            date = f"{count}D"
        elif count:
            time += f"{count}{unit}"
    if left:
        whole, below = divmod(left, 1_000_000)
        time += f"{whole}.{below:06}".rstrip("0").rstrip(".") + "S"
    if not date and not time:
        return "PT0S"
    return ("-" if microseconds < 0 else "") + "P" + date + ("T" + time if time else "")


_ISO = re.compile(
    r"P(?:(?P<W>\d{1,9})W|(?:(?P<D>\d{1,9})D)?"
    r"(?:T(?:(?P<H>\d{1,9})H)?(?:(?P<M>\d{1,9})M)?(?:(?P<S>\d{1,12}(?:\.\d{1,9})?)S)?)?)",
    re.ASCII,
)
_CEL = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)(h|ms|us|µs|m|s)", re.ASCII)


def length_of(text: str) -> int:
    """Microseconds of a duration, by ISO 8601 or as CEL writes it; what is below one is cut off."""
    sizes = {"W": 7 * 86_400_000_000, **dict(UNITS), "S": 1_000_000}
    sizes |= {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1, "µs": 1}
    unsigned = text.removeprefix("-")
    found = _ISO.fullmatch(unsigned)
    if found is not None and not unsigned.endswith(("P", "T")):
        parts = [(count, unit) for unit, count in found.groupdict().items() if count is not None]
    elif unsigned and re.fullmatch(f"(?:{_CEL.pattern})+", unsigned, re.ASCII):
        parts = _CEL.findall(unsigned)
    else:
        raise Fails("no duration")
    total = sum(int(Fraction(count) * sizes[unit]) for count, unit in parts)
    return within(-total if text.startswith("-") else total)


def units_of(microseconds: int, function: str) -> int:
    """All of a duration in whole units, toward zero; its thousandths are those beyond whole seconds."""
    if function == "getMilliseconds":
        return toward_zero(microseconds - 1_000_000 * toward_zero(microseconds, 1_000_000), 1_000)
    sizes = {"getHours": 3_600_000_000, "getMinutes": 60_000_000, "getSeconds": 1_000_000}
    return toward_zero(microseconds, sizes[function])


def part_of(time: datetime, function: str) -> int:
    parts = {
        "getFullYear": time.year,
        "getMonth": time.month - 1,
        "getDate": time.day,
        "getDayOfMonth": time.day - 1,
        "getDayOfWeek": time.isoweekday() % 7,
        "getDayOfYear": time.timetuple().tm_yday - 1,
        "getHours": time.hour,
        "getMinutes": time.minute,
        "getSeconds": time.second,
        "getMilliseconds": time.microsecond // 1000,
    }
    return parts[function]


def _words(text: str) -> Iterator[str]:
    """Letters and digits in lower case, without accents."""
    bare = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)).lower()
    for word in re.split(r"[\W_]+", bare):
        if word:
            yield unicodedata.normalize("NFC", word)
