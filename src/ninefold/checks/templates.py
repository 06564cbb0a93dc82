"""What an expression in a template shows, as it is written: objects, a row by its name, rows of a page, or a value."""

from __future__ import annotations

from ninefold.checks.findings import reads_database
from ninefold.checks.showing import Showing
from ninefold.expressions.ast import Ast, Conditional, Invocation, ListLiteral, MapLiteral, Member, Name, every
from ninefold.expressions.check import check
from ninefold.expressions.functions import MACROS, overloads
from ninefold.expressions.rows import is_as_it_was
from ninefold.expressions.scope import Scope
from ninefold.values import Array as ArrayType
from ninefold.values import Row


def binds(ast: Ast, name: str) -> bool:
    """Whether a macro gives a variable this name."""
    return any(
        isinstance(each, Invocation)
        and each.function in MACROS
        and each.arguments[:1]
        and is_name(each.arguments[0], name)
        for each in every(ast)
    )


def is_name(ast: Ast, name: str) -> bool:
    return isinstance(ast, Name) and ast.name == name


def is_items(ast: Ast) -> bool:
    return (
        isinstance(ast, Member) and ast.name == "items" and isinstance(ast.operand, Name) and ast.operand.name == "page"
    )


def shows_page(ast: Ast, scope: Scope, showing: Showing) -> bool:
    """Whether an expression shows each row of the page, or is made of parts that do."""
    match ast:
        case Invocation(function="map", target=target, arguments=(Name(), body)) if target is not None:
            return is_items(target) and not any(map(is_items, every(body)))
        case Invocation(target=None, arguments=(argument,)):
            return is_items(argument)
        case MapLiteral() | ListLiteral():
            return is_template(ast, scope, showing)
        case Conditional(condition=asked):
            return is_template(ast, scope, showing) and not any(map(is_items, every(asked)))
        case _:
            return False


def is_template(ast: Ast, scope: Scope, showing: Showing) -> bool:
    """Whether an expression makes objects: it then is a template within a template."""
    match ast:
        case MapLiteral():
            return True
        case ListLiteral(items=items):
            return any(is_template(item, scope, showing) for item in items)
        case Invocation(function="map", target=target, arguments=(Name(), *bodies)) if target is not None and bodies:
            return is_template(bodies[-1], scope, showing)
        case Invocation(target=None, arguments=(_,)):
            return is_view(ast, showing)
        case Conditional(yes=yes, no=no):
            return any(
                is_template(each, scope, showing) or is_whole(each, scope, showing) or is_meant_as_view(each)
                for each in (yes, no)
            )
        case _:
            return False


def is_whole(ast: Ast, scope: Scope, showing: Showing) -> bool:
    """Whether an expression names what is shown as a whole: a row that goes by a name, or the rows of the page."""
    if showing.listed is not None and is_items(ast):
        return True
    if isinstance(ast, Name):
        return ast.name not in scope.items and isinstance(scope.variables.get(ast.name), Row)
    found = check(ast, scope).typed if isinstance(ast, Member) else None
    return found is not None and isinstance(found.type, Row) and is_as_it_was(found)


def is_meant_as_view(ast: Ast) -> bool:
    """Whether it is a call of one argument and of nothing that is a function."""
    return (
        isinstance(ast, Invocation)
        and ast.target is None
        and len(ast.arguments) == 1
        and ast.function not in MACROS
        and not overloads(ast.function)
    )


def chooses(ast: Ast, scope: Scope, showing: Showing) -> bool:
    """Whether one of several templates is chosen within, but for the items of an array: those are an expression where
    no row has a part in them."""
    match ast:
        case Conditional():
            return is_template(ast, scope, showing)
        case MapLiteral(entries=entries):
            return any(chooses(value, scope, showing) for _, value in entries)
        case ListLiteral(items=items):
            return any(chooses(item, scope, showing) for item in items)
        case _:
            return False


def is_of_the_request(ast: Ast, scope: Scope) -> bool:
    """Whether an expression makes its objects of what comes with the request: no row has a part in it."""
    found = check(ast, scope).typed
    return found is not None and not reads_database(found, scope)


def is_view(call: Invocation, showing: Showing) -> bool:
    """Whether a call is a view applied, or a resource's own name, which shows the row as a whole. A view comes before a
    function of the closed table, and that before a resource."""
    if call.target is not None or len(call.arguments) != 1:
        return False
    return (
        any(call.function in showing.views(name) for name in showing.resources)
        or (call.function in showing.resources and not overloads(call.function))
        or (is_items(call.arguments[0]) and showing.listed is not None)
    )


def is_applied_to_rows(call: Invocation, scope: Scope) -> bool:
    """Whether a call of what is no function is applied to rows, and so is meant to be a view."""
    if not is_meant_as_view(call):
        return False
    found = check(call.arguments[0], scope).typed
    type_ = None if found is None else found.type
    return isinstance(type_.items if isinstance(type_, ArrayType) else type_, Row)
