"""An expression as it is written: a tree in which every node has its place, and nothing has a type yet.

Offsets are half-open, in code points from the start of the expression's text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from ninefold.diagnostics.diagnostic import Code
from ninefold.diagnostics.frozen import dataclass, replace

DEEPEST: Final = 48
"""How deep the parts of an expression stand in each other. Every later stage recurses, and relies on it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One fact about an expression, at its place: what a diagnostic is made of where the document is known.

    `label` is what is to be seen there; it may be empty.
    """

    code: Code
    message: str
    start: int
    end: int
    help: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Literal:
    value: None | bool | int | float | str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Const:
    """A constant that is written as JSON, and in no text of an expression: `{const: …}`."""

    value: object
    start: int
    end: int

    def __hash__(self) -> int:
        # By its place: a list or a mapping has no hash.
        return hash((self.start, self.end))


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Member:
    """`operand.name`, or `operand['name']`, which is the same. `name_start` is where the name begins; it ends `closing`
    code points before the end."""

    operand: Ast
    name: str
    name_start: int
    start: int
    end: int
    closing: int = 0

    @property
    def name_end(self) -> int:
        return self.end - self.closing


@dataclass(frozen=True, slots=True)
class Index:
    """`operand[index]`, where the index is no literal text."""

    operand: Ast
    index: Ast
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Invocation:
    """`function(arguments)`, or `target.function(arguments)`; macros are written so too."""

    function: str
    target: Ast | None
    arguments: tuple[Ast, ...]
    name_start: int
    start: int
    end: int

    @property
    def name_end(self) -> int:
        if self.target is not None and self.name_start == self.start:
            return self.end  # it is what a term means, and stands where that is called
        return self.name_start + len(self.function)


@dataclass(frozen=True, slots=True)
class ListLiteral:
    items: tuple[Ast, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class MapLiteral:
    entries: tuple[tuple[Ast, Ast], ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unary:
    """`!` or `-`"""

    operator: str
    operand: Ast
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Binary:
    operator: str
    left: Ast
    right: Ast
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Held(Binary):
    """`==` of a field and what it is given, which nobody wrote: a reference is given a row, or what it is known by."""


@dataclass(frozen=True, slots=True)
class Conditional:
    """`condition ? yes : no`"""

    condition: Ast
    yes: Ast
    no: Ast
    start: int
    end: int


Ast: TypeAlias = (
    Literal | Const | Name | Member | Index | Invocation | ListLiteral | MapLiteral | Unary | Binary | Conditional
)


def parts(ast: Ast) -> tuple[Ast, ...]:
    """The nodes directly inside one, as written."""
    match ast:
        case Literal() | Const() | Name():
            return ()
        case Member(operand=operand) | Unary(operand=operand):
            return (operand,)
        case Index(operand=operand, index=index):
            return (operand, index)
        case Invocation(target=target, arguments=arguments):
            return arguments if target is None else (target, *arguments)
        case ListLiteral(items=items):
            return items
        case MapLiteral(entries=entries):
            return tuple(each for entry in entries for each in entry)
        case Binary(left=left, right=right):
            return (left, right)
        case Conditional(condition=condition, yes=yes, no=no):
            return (condition, yes, no)


def every(ast: Ast) -> Iterator[Ast]:
    """The node and all nodes in it, outermost first."""
    left = [ast]
    while left:
        each = left.pop()
        yield each
        left += reversed(parts(each))


def is_member(ast: Ast, root: str, *names: str) -> bool:
    """Whether it is one of these members of what stands at a root: `request.query`."""
    return isinstance(ast, Member) and ast.name in names and isinstance(ast.operand, Name) and ast.operand.name == root


def reads_member(ast: Ast, root: str, names: Collection[str]) -> bool:
    """Whether it reads one of these members of what stands at a root."""
    return any(is_member(node, root, *names) for node in every(ast))


def reads_row(ast: Ast, row: str) -> bool:
    """Whether it reads the row of that name; `all(row)` is all rows, and a macro's variable is its own."""
    match ast:
        case Name(name=name):
            return name == row
        case Invocation(function="all", target=None):
            return False
        case Invocation(target=target) if target is not None and any(each.name == row for each in variables_of(ast)):
            return reads_row(target, row)
        case _:
            return any(reads_row(part, row) for part in parts(ast))


def held_equal(condition: Ast, row: str) -> Iterator[tuple[str, Ast]]:
    """The members of a row for which a condition admits one value alone, each with that: operands of its outermost `&&`
    that are `row.member == E`. A row that is said to be another one, `row == E`, is the member `""`, and what a member
    leads to is written as it is read: `room.id`. E does not read the row, and is not `null`, which is no value."""
    match condition:
        case Binary(operator="&&", left=left, right=right):
            yield from held_equal(left, row)
            yield from held_equal(right, row)
        case Binary(operator="==", left=left, right=right):
            for held, value in ((left, right), (right, left)):
                if reads_row(value, row) or value == Literal(None, value.start, value.end):
                    continue
                match held:
                    case Name(name=name) if name == row:
                        yield "", value
                    case Member(operand=Name(name=of), name=name) if of == row:
                        yield name, value
                    case Member(operand=Member(operand=Name(name=of), name=through), name=name) if of == row:
                        yield f"{through}.{name}", value
                    case _:
                        pass
        case _:
            pass


def held_members(condition: Ast | None, row: str, same: Mapping[str, str]) -> set[str]:
    """The members of a row that a condition holds equal to something, as `held_equal` says. `same`: what is held as a
    member where it is (`room.id`: `room`)."""
    return set() if condition is None else {same.get(name, name) for name, _ in held_equal(condition, row)}


def named_by(
    condition: Ast | None,
    row: str,
    keys: Iterable[tuple[str, ...]],
    same: Mapping[str, str],
    known: Collection[str] = (),
) -> tuple[str, ...] | None:
    """By what a condition says which one row is meant: `()`, it is said to be another one; else the first of these keys
    of which all members are held equal to something, or are `known` already. None: it does not. `same`: as of
    `held_members`."""
    held = held_members(condition, row, same)
    return () if "" in held else next((key for key in keys if key and held.union(known).issuperset(key)), None)


def height(ast: Ast) -> int:
    """How many nodes stand in each other; a loop, because the answer may be "thousands"."""
    level, found = [ast], 0
    while level:
        level = [part for node in level for part in parts(node)]
        found += 1
    return found


def with_parts(ast: Ast, change: Callable[[Ast], Ast]) -> Ast:
    """The node with each node directly inside it changed."""
    match ast:
        case Literal() | Const() | Name():
            return ast
        case Member() | Unary():
            return replace(ast, operand=change(ast.operand))
        case Index():
            return replace(ast, operand=change(ast.operand), index=change(ast.index))
        case Invocation():
            target = None if ast.target is None else change(ast.target)
            return replace(ast, target=target, arguments=tuple(map(change, ast.arguments)))
        case ListLiteral():
            return replace(ast, items=tuple(map(change, ast.items)))
        case MapLiteral():
            return replace(ast, entries=tuple((change(name), change(value)) for name, value in ast.entries))
        case Binary():
            return replace(ast, left=change(ast.left), right=change(ast.right))
        case Conditional():
            return replace(ast, condition=change(ast.condition), yes=change(ast.yes), no=change(ast.no))


VARIABLES: Final[Mapping[str, Mapping[int, int]]] = {
    **{name: {2: 1, 3: 2} for name in ("exists", "all", "exists_one", "existsOne")},
    **{name: {2: 1} for name in ("filter", "flatMap", "sortBy")},
    "map": {2: 1, 3: 1},
    **{name: {3: 2, 4: 2} for name in ("transformList", "transformMap")},
}
"""The macros that have variables: of so many arguments, how many are. The last one is the item; the one before it is
where that is, a position in an array or a name in an object."""

MAKING_ARRAYS: Final = ("map", "flatMap", "transformList")
"""Those that make an array of what their last argument gives."""


def variables_of(ast: Ast) -> tuple[Name, ...]:
    """The variables that a macro brings; none of what is no macro."""
    if isinstance(ast, Invocation) and ast.function in VARIABLES and ast.target is not None:
        count = VARIABLES[ast.function].get(len(ast.arguments), 1)
        return tuple(each for each in ast.arguments[:count] if isinstance(each, Name))
    return ()


CONDITIONS: Final = frozenset(
    {"==", "!=", "<", "<=", ">", ">=", "in", "&&", "||", "!", "has", "exists", "all", "exists_one", "existsOne"}
)
"""The operators and macros of which a condition is made."""


def is_condition(ast: Ast) -> bool:
    """Whether an expression is written as a condition. `all(R)` is none: it has no target."""
    match ast:
        case Binary(operator=operator) | Unary(operator=operator):
            return operator in CONDITIONS
        case Invocation(function=function, target=target):
            return function in CONDITIONS and (target is not None or function == "has")
        case _:
            return False


def is_items(ast: Ast) -> bool:
    """Whether it is `page.items`, the rows of the page."""
    return is_member(ast, "page", "items")


def counts_items(ast: Ast) -> bool:
    """Whether it is `page.items.size()`, or `size(page.items)`: how many rows the page has, which reads none."""
    if not isinstance(ast, Invocation) or ast.function != "size":
        return False
    given = ast.arguments if ast.target is None else (ast.target, *ast.arguments)
    return len(given) == 1 and is_items(given[0])
