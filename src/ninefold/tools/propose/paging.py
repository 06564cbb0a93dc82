"""Page bounds by convention: what a list does not say of its pages."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

from ninefold.contract.survey import Survey, actions
from ninefold.expressions import ast
from ninefold.language.endpoints import Endpoint
from ninefold.language.expressions import Expression
from ninefold.language.fact import Fact, Name, StatedNone, is_open, value_of
from ninefold.language.limits import Pages
from ninefold.syntax.nodes import Mapping, Scalar, Sequence
from ninefold.tools.propose.facts import PAGED, Proposed

DEFAULT, LARGEST = 20, 100


def pages(survey: Survey, endpoint: Endpoint | None) -> tuple[Proposed, ...]:
    """What part 8, or the list itself where it has `pages` of its own, does not say of them. No list: all of it."""
    own = endpoint.pages if endpoint is not None else None
    said = _stated(survey, endpoint)[0]

    def bound(name: str) -> Fact[object] | None:
        return _bound(survey, endpoint, name)

    part, path = (8, ("pages",)) if own is None or endpoint is None else (4, (endpoint.key, "pages"))
    found: list[tuple[tuple[str, ...], str]] = []
    default, largest = value_of(bound("default")), value_of(bound("largest"))
    if is_open(bound("default")):
        found.append((("default",), str(min(DEFAULT, largest) if isinstance(largest, int) else DEFAULT)))
    if is_open(bound("largest")):
        found.append((("largest",), str(max(LARGEST, default) if isinstance(default, int) else LARGEST)))
    by = _by(survey, bound("by"))
    if by is None:
        return ()
    if is_open(bound("by")):
        found.append((("by",), by))
    names = {"cursor": ("next", "cursor"), "offset": ("start", "offset"), "page": ("number", "page")}
    if by in names and is_open(bound(names[by][0])):
        if _first_parameters(said):
            found.append((("parameters", "size"), "limit"))
        found.append((("parameters", names[by][0]), names[by][1]))
    return tuple(Proposed(part, (*path, *below), value, PAGED) for below, value in found)


def reached_by(survey: Survey, endpoint: Endpoint) -> str | None:
    """How the pages of a list are reached, as it is stated or would be proposed; None: it is given whole."""
    if isinstance(endpoint.pages, StatedNone):
        return None
    return _by(survey, _bound(survey, endpoint, "by"))


def _stated(survey: Survey, endpoint: Endpoint | None) -> tuple[Pages | None, Pages | None]:
    """The bounds that a list states, and those of part 8 behind them."""
    shared = value_of(survey.contract.limits.pages)
    own = endpoint.pages if endpoint is not None else None
    return (value_of(own), shared) if own is not None else (shared, None)


def _bound(survey: Survey, endpoint: Endpoint | None, name: str) -> Fact[object] | None:
    for each in _stated(survey, endpoint):
        if each is not None and (fact := getattr(each, name)) is not None:
            return fact  # type: ignore[no-any-return]
    return None


def _first_parameters(said: Pages | None) -> bool:
    """Whether no parameter is said yet."""
    return said is None or (said.size, said.next, said.start, said.number, said.index) == (None,) * 5


def _by(survey: Survey, fact: Fact[object] | None) -> str | None:
    """How pages are reached; `None` where lists are given whole. A cursor helps only those who are shown it."""
    if isinstance(fact, StatedNone):
        return None
    stated = value_of(fact)
    if isinstance(stated, Name):
        return stated.text
    lists = [each for each in survey.endpoints if any(action.verb == "list" for action in actions(each))]
    shown = [each for each in lists if not is_open(each.responses)]
    return "offset" if shown and not any(_shows_cursor((each.responses, each.headers)) for each in shown) else "cursor"


def _shows_cursor(facts: object) -> bool:
    """Whether an expression of some facts reads `page.next`."""
    if isinstance(facts, Expression):
        return any(_is_cursor(each) for each in ast.every(facts.ast))
    if isinstance(facts, tuple):
        return any(map(_shows_cursor, facts))
    if is_dataclass(facts) and not isinstance(facts, Mapping | Scalar | Sequence):
        return any(_shows_cursor(getattr(facts, field.name)) for field in fields(facts))
    return False


def _is_cursor(node: ast.Ast) -> bool:
    if not isinstance(node, ast.Member) or node.name != "next":
        return False
    return isinstance(node.operand, ast.Name) and node.operand.name == "page"
