"""Random expressions of every type, made of what is declared: each function and operator with each kind of operand that
it takes, each macro in each of its forms. One that is declared later is among them by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from typing import Final

from ninefold.expressions.ast import Problem
from ninefold.expressions.check import check
from ninefold.expressions.choices import choices
from ninefold.expressions.forms import MACROS, SPECIAL
from ninefold.expressions.functions import TABLE, Overload
from ninefold.expressions.parse import parse
from ninefold.expressions.reads import is_pure
from ninefold.expressions.scope import Model, Scope, fits
from ninefold.expressions.tree import Typed
from ninefold.sql.expressions import sql_problem
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Duration,
    Integer,
    Null,
    Number,
    Object,
    Row,
    Text,
    Timestamp,
    Type,
    required,
)

BOOLEAN, INTEGER, NUMBER, TEXT = Boolean(), Integer(), Number(), Text()
TIMESTAMP, DURATION, ANYTHING = Timestamp(), Duration(), Anything()
OF_INTEGERS: Final = Object(others=INTEGER)
PLAIN: Final[tuple[Type, ...]] = (BOOLEAN, INTEGER, NUMBER, TEXT, TIMESTAMP, DURATION)
ARRAYS: Final = tuple(Array(items=each) for each in (INTEGER, TEXT, NUMBER, TIMESTAMP, BOOLEAN))
ROWS: Final = Array(items=Row(resource="thing"))
OPERANDS: Final[tuple[Type, ...]] = (*PLAIN, *ARRAYS, OF_INTEGERS, ROWS)
MADE: Final[tuple[Type, ...]] = (BOOLEAN, INTEGER, NUMBER, TEXT, TIMESTAMP, Array(items=INTEGER), Array(items=TEXT))
"""What the last argument of a macro is."""

_CONSTANTS: Final[Sequence[tuple[Type, Sequence[str]]]] = (
    (BOOLEAN, ("true", "false")),
    (INTEGER, ("0", "1", "2", "-1", "7", "100", "9223372036854775807", "-9223372036854775807")),
    (NUMBER, ("0.5", "2.0", "-1.5", "0.0", "1e10", "0.1", "1e21", "12345678.9")),
    (
        TEXT,
        (
            *(
                "''",
                "'a'",
                "'ab'",
                "'A'",
                "'b+'",
                "'é👍'",
                "' a '",
                "'12'",
                "'-0.5'",
                "'1e3'",
                "'true'",
                "','",
                "'B-a, a'",
            ),
            *("'2026-01-02T03:04:05.678+01:00'", "'PT1H30M'", "'1m30.5s'", "'-P1DT1S'"),
        ),
    ),
    (TIMESTAMP, ("timestamp('2026-01-02T03:04:05.678901Z')", "timestamp('1969-12-31T23:59:59.999999Z')")),
    (DURATION, ("duration('PT1H')", "duration('-PT90.5S')", "duration('0s')", "duration('P400DT0.000001S')")),
    (ARRAYS[0], ("[1, 2, 1]", "[3]")),
    (ARRAYS[1], ("['b', 'a', 'b']", "['', 'é']")),
    (ARRAYS[2], ("[0.5, 0.1, 0.2]", "[1e10, -1.5]")),
    (ARRAYS[3], ("[timestamp('2026-01-02T03:04:05Z')]",)),
    (ARRAYS[4], ("[true, false, true]",)),
    (OF_INTEGERS, ("{'a': 1, 'b': 2}", "{'é': -1}")),
)
CONSTANTS: Final = {repr(type_): texts for type_, texts in _CONSTANTS}

SPELT: Final[Mapping[str, str]] = {
    **dict.fromkeys(("==", "!="), "({0} OP {1})"),
    **dict.fromkeys(("&&", "||"), "({0} OP {1})"),
    "!": "!{0}",
    "?:": "({0} ? {1} : {2})",
    "in": "({0} in {1})",
    "[]": "{0}[{1}]",
}
"""How the operators that are no plain functions are written: a law says where one is missing here."""


@dataclass(frozen=True)
class Form:
    """Something declared, with operands of certain types. `of`: what it is, as `DECLARED` has it. `text`: its operands
    stand for `{0}` and so on, and `{n}` is a number that no variable around it has. `binds`: the variables that all but
    the first read."""

    of: str
    text: str
    operands: tuple[Type, ...]
    binds: tuple[tuple[str, Type], ...] = ()
    result: Type = ANYTHING


@dataclass(frozen=True)
class Place:
    """Where an expression stands. `leaves`: what it may read. `rows`: the rows that a statement has; None: it is made
    of the request."""

    scope: Scope
    model: Model
    leaves: tuple[tuple[str, Type], ...]
    rows: tuple[str, ...] | None = None

    def typed(self, text: str) -> Typed | None:
        """None: it cannot be said here."""
        ast = parse(text)
        typed = None if isinstance(ast, Problem) else check(ast, self.scope).typed
        if typed is None or self.rows is None:
            return typed
        problem = sql_problem(typed, self.rows, model=self.model)
        return typed if problem is None and is_pure(typed) else None


def _of_overload(overload: Overload) -> Iterator[Form]:
    name, marks = overload.name, [f"{{{index}}}" for index in range(len(overload.parameters))]
    match overload.style:
        case "operator":
            text = f"({f' {name} '.join(marks)})" if len(marks) > 1 else f"({name}{marks[0]})"
        case "function":
            text = f"{name}({', '.join(marks)})"
        case "method":
            text = f"{marks[0]}.{name}({', '.join(marks[1:])})"
    each = [[type_ for type_ in OPERANDS if fits(type_, of)] for of in overload.parameters]
    for types in product(*each):
        yield Form(f"{overload.style} {overload.id}", text, types)
    if overload.id in {one.id for one in choices(name, (ANYTHING,)).values()}:
        of_any, known = text.replace("{0}", "y{n}"), overload.parameters[0]
        for type_ in (type_ for type_ in OPERANDS if fits(type_, known)):
            mixed = f"[{{0}}, [2], 'x'].exists(y{{n}}, {of_any} == {text})"
            yield Form(f"{overload.style} {overload.id}", mixed, (type_,))


def _of_special(name: str) -> Iterator[Form]:
    text = SPELT[name].replace("OP", name)
    match name:
        case "==" | "!=":
            yield from (Form(name, text, (each, each)) for each in OPERANDS)
        case "?:":
            yield from (Form(name, text, (BOOLEAN, each, each)) for each in OPERANDS)
        case "in":
            yield from (Form(name, text, (each.items, each)) for each in ARRAYS)
            yield Form(name, text, (TEXT, OF_INTEGERS))
        case "[]":
            yield from (Form(name, text, (each, INTEGER)) for each in ARRAYS)
            yield Form(name, text, (OF_INTEGERS, TEXT))
        case _:
            yield Form(name, text, tuple(BOOLEAN for _ in range(text.count("{"))))


def _of_macro(name: str) -> Iterator[Form]:
    """As the declaration writes it: `a` is an array or rows, `o` an object, `c` a condition and `e` a value."""
    said = MACROS[name]
    while said == "the same":
        said = next(MACROS[each] for each in [*MACROS][[*MACROS].index(name) - 1 :: -1] if MACROS[each] != said)
    for letter, _, inside in re.findall(r"`([ao])\.(\w+)\(([^)]*)\)`", said):
        letters = inside.split(", ")
        ranges: tuple[Type, ...] = (OF_INTEGERS,) if letter == "o" else (*ARRAYS, ROWS, OF_INTEGERS)
        for of in ranges:
            item: Type = of.items if isinstance(of, Array) else INTEGER
            variables = [each for each in letters if each not in "ce"]
            types: list[Type] = [INTEGER if isinstance(of, Array) else TEXT, item][-len(variables) :]
            types = [TEXT] if isinstance(of, Object) and len(variables) == 1 else types
            binds = tuple((f"{each}{{n}}", type_) for each, type_ in zip(variables, types, strict=True))
            marks, number = [], 1
            for each in letters:
                marks.append(f"{each}{{n}}" if each in variables else f"{{{number}}}")
                number += each not in variables
            text = f"{{0}}.{name}({', '.join(marks)})"
            values = [each for each in letters if each in "ce"]
            before: list[Type] = [BOOLEAN for _ in values[1:]]
            for ends in MADE if "e" in values else (BOOLEAN,):
                yield Form(name, text, (of, *before, ends), binds)


HAS: Final = "has"
DECLARED: Final = (*(f"{each.style} {each.id}" for each in TABLE), *SPECIAL, *MACROS)
"""Each function in each style, each operator and each macro, as the language declares them."""


def forms(model: Model) -> Mapping[str, tuple[Form, ...]]:
    """The forms of all that is declared, by what they are of; each with its result."""
    variables = {repr(type_): f"v{index}" for index, type_ in enumerate((*OPERANDS, *MADE))}
    scope = Scope({variables[repr(type_)]: type_ for type_ in (*OPERANDS, *MADE)}, model)
    found: dict[str, tuple[Form, ...]] = {}
    every = [form for overload in TABLE for form in _of_overload(overload)]
    every += [form for name in SPECIAL if name in SPELT for form in _of_special(name)]
    every += [form for name in MACROS for form in _of_macro(name)]
    for form in every:
        if ROWS in form.operands and not model:
            continue
        ast = parse(form.text.format(*(variables[repr(each)] for each in form.operands), n=0))
        typed = None if isinstance(ast, Problem) else check(ast, scope).typed
        # What takes a literal alone is known by what is said of it where it is tried with one.
        result = _with_literal(form, variables, scope) if typed is None else typed.type
        if result is not None:
            found[form.of] = (*found.get(form.of, ()), replace(form, result=required(result)))
    found[HAS] = tuple(Form(HAS, "has({0})", (each,), result=BOOLEAN) for each in (*PLAIN, *ARRAYS))
    return found


def _with_literal(form: Form, variables: Mapping[str, str], scope: Scope) -> Type | None:
    *first, last = form.operands or (DURATION,)
    if not first or repr(last) not in CONSTANTS:
        return None
    ast = parse(form.text.format(*(variables[repr(each)] for each in first), CONSTANTS[repr(last)][1], n=0))
    typed = None if isinstance(ast, Problem) else check(ast, scope).typed
    return None if typed is None else typed.type


class Expressions:
    """Makes one after another for a place."""

    def __init__(self, random: Random, place: Place) -> None:
        self.random, self.place = random, place
        self.forms = forms(place.model)
        self.giving: dict[str, list[Form]] = {}
        for each in self.forms.values():
            for form in each:
                self.giving.setdefault(repr(form.result), []).append(form)
        self.number = 0

    def of(self, name: str, depth: int = 2) -> str | None:
        """One of what is declared by this name, as it can be shown; None: it cannot be said here."""
        for _ in range(40):
            if name not in self.forms:
                return None
            text = self._made(self.random.choice(self.forms[name]), depth, ())
            typed = None if text is None else self.place.typed(text)
            shown = None if typed is None or text is None else as_shown(text, typed.type)
            if shown is not None and self.place.typed(shown) is not None:
                return shown
            depth = max(depth - 1, 0)
        return None

    def _made(self, form: Form, depth: int, bound: tuple[tuple[str, Type], ...]) -> str | None:
        self.number += 1
        number, inner = self.number, bound
        if form.of == HAS:
            leaves = [text for text, type_ in (*self.place.leaves, *_read(bound, self.place.model)) if "." in text]
            return f"has({self.random.choice(leaves)})" if leaves else None
        operands = [self._value(form.operands[0], depth, bound)] if form.operands else []
        inner = (*bound, *((name.format(n=number), type_) for name, type_ in form.binds))
        operands += [self._value(each, depth, inner) for each in form.operands[1:]]
        return form.text.format(*operands, n=number)

    def _value(self, type_: Type, depth: int, bound: tuple[tuple[str, Type], ...]) -> str:
        leaves = (*self.place.leaves, *_read(bound, self.place.model))
        read = [text for text, of in leaves if required(of) == type_]
        if bound and self.random.random() < 0.6:
            own = [text for text, of in _read(bound, self.place.model) if required(of) == type_]
            read = own or read
        if depth > 0 and self.random.random() < 0.5:
            giving = self.giving.get(repr(type_))
            made = self._made(self.random.choice(giving), depth - 1, bound) if giving else None
            if made is not None:
                return made
        if read and (repr(type_) not in CONSTANTS or self.random.random() < 0.7):
            return self.random.choice(read)
        return self.random.choice(CONSTANTS.get(repr(type_), ("null",)))


def _read(bound: tuple[tuple[str, Type], ...], model: Model) -> Iterator[tuple[str, Type]]:
    """What may be read of variables."""
    for name, type_ in bound:
        yield name, type_
        if isinstance(type_, Row):
            yield from ((f"{name}.{field}", of) for field, of in model[type_.resource].fields.items())


def as_shown(text: str, type_: Type) -> str | None:
    """The expression so that an answer can show it; None: none can."""
    match type_:
        case Duration():
            return f"timestamp('2026-01-01T00:00:00Z') + {text}"
        case Row():
            return f"{text}.id"
        case Array(items=Row()):
            return f"{text}.map(shown, shown.id)"
        case Array(items=Duration() | Array()) | Null():
            return None
        case _:
            return text
