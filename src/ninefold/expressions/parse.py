"""Text to tree: the grammar of CEL (cel-spec, langdef.md, "Syntax"), by precedence climbing.

Nothing that a text can hold makes this raise, recurse without bound or take more than linear time.
"""

from __future__ import annotations

from typing import Final

from ninefold.diagnostics.codes import BAD_LITERAL, OTHER_LANGUAGE, TOO_LARGE, UNREADABLE
from ninefold.expressions.ast import (
    DEEPEST,
    Ast,
    Binary,
    Conditional,
    Index,
    Invocation,
    ListLiteral,
    Literal,
    MapLiteral,
    Member,
    Name,
    Problem,
    Unary,
    height,
)
from ninefold.expressions.tokens import KEYWORDS, RESERVED, Fix, Token, Unreadable, tokens
from ninefold.values import GREATEST_INTEGER

LONGEST: Final = 4096
"""Code points of an expression."""


_PRECEDENCE: Final = {
    "||": 1,
    "&&": 2,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">=", "in"), 3),
    **dict.fromkeys(("+", "-"), 4),
    **dict.fromkeys(("*", "/", "%"), 5),
}
_WORD_OPERATORS: Final = {
    **dict.fromkeys(("and", "AND"), "&&"),
    **dict.fromkeys(("or", "OR"), "||"),
    **dict.fromkeys(("is", "IS", "eq"), "=="),
    "ne": "!=",
}
_WORD_NULLS: Final = frozenset({"NULL", "None", "nil"})
_INSTEAD: Final = {
    "like": "that a text holds another is `a.contains(b)`, `a.startsWith(b)` or `a.endsWith(b)`",
    "between": "between two bounds is `low <= a && a <= high`",
    "if": "one of two values is `predicate ? this : that`",
}
"""Words of other languages for which there is no one operator, in lower case."""
_CONSTANTS: Final = {"true": True, "false": False, "null": None}


def parse(text: str) -> Ast | Problem:
    """The tree of an expression, or the first thing in it that cannot be read."""
    if len(text) > LONGEST:
        return Problem(
            TOO_LARGE,
            f"an expression has at most {LONGEST:,} characters, and this one {len(text):,}",
            0,
            len(text),
        )
    try:
        words, fixes = tokens(text)
        parser = _Parser(text, words, fixes)
        tree = parser.whole()
    except Unreadable as unreadable:
        return unreadable.problem
    if fixes:
        return _other_language(text, sorted(fixes, key=lambda fix: fix.start))
    if height(tree) > DEEPEST:
        return _too_deep(0, len(text))
    return tree


def _other_language(text: str, fixes: list[Fix]) -> Problem:
    first, right, at = fixes[0], "", 0
    for fix in fixes:
        right += text[at : fix.start] + fix.right
        at = fix.end
    right += text[at:]
    wrong = text[first.start : first.end].strip()
    return Problem(
        OTHER_LANGUAGE,
        f"`{wrong}` is not how an expression writes `{first.right.strip()}`",
        first.start,
        first.end,
        (f"write `{right}`",),
    )


def _too_deep(start: int, end: int) -> Problem:
    return Problem(TOO_LARGE, f"the parts of an expression stand in each other at most {DEEPEST} deep", start, end)


class _Parser:
    """A place in a list of tokens. Raises `Unreadable`."""

    def __init__(self, text: str, words: list[Token], fixes: list[Fix]):
        self._text = text
        self._words = words
        self._fixes = fixes
        self._at = 0
        self._depth = 0

    # ── Tokens ────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _next(self) -> Token:
        return self._words[self._at]

    def _take(self) -> Token:
        token = self._words[self._at]
        if token.kind != "end":
            self._at += 1
        return token

    def _sees(self, symbol: str) -> bool:
        return self._next.kind == "symbol" and self._next.text == symbol

    def _takes(self, symbol: str) -> bool:
        seen = self._sees(symbol)
        if seen:
            self._take()
        return seen

    def _expect(self, symbol: str, opened: Token) -> Token:
        if self._sees(symbol):
            return self._take()
        if self._next.kind == "end":
            raise Unreadable(
                Problem(UNREADABLE, f"`{opened.text}` is not closed", opened.start, opened.end, (), "opened here")
            )
        raise self._unexpected(f"`{symbol}`")

    def _unexpected(self, wanted: str) -> Unreadable:
        token = self._next
        if token.kind == "end":
            end = len(self._text.rstrip())
            return Unreadable(
                Problem(UNREADABLE, f"the expression ends where {wanted} should follow", max(end - 1, 0), max(end, 1))
            )
        instead = _INSTEAD.get(token.text.lower())
        help = () if instead is None else (instead,)
        return Unreadable(
            Problem(UNREADABLE, f"`{token.text}` stands where {wanted} should", token.start, token.end, help)
        )

    # ── Grammar ───────────────────────────────────────────────────────────────────────────────────────────

    def whole(self) -> Ast:
        tree = self._expression()
        if self._next.kind != "end":
            raise self._unexpected("the end or an operator")
        return tree

    def _expression(self) -> Ast:
        """`Expr = ConditionalOr ["?" ConditionalOr ":" Expr]`"""
        self._depth += 1
        if self._depth > DEEPEST:
            raise Unreadable(_too_deep(self._next.start, self._next.end))
        condition = self._binary(1)
        if self._sees("?"):
            question = self._take()
            yes = self._expression()
            self._expect(":", question)
            no = self._expression()
            condition = Conditional(condition, yes, no, condition.start, no.end)
        self._depth -= 1
        return condition

    def _operator(self) -> str | None:
        """The binary operator that comes next, as CEL writes it."""
        token = self._next
        if token.kind == "symbol":
            return token.text if token.text in _PRECEDENCE else None
        if token.kind == "name":
            if token.text == "in":
                return "in"
            return _WORD_OPERATORS.get(token.text)
        return None

    def _binary(self, least: int) -> Ast:
        left = self._unary()
        while (operator := self._operator()) is not None and _PRECEDENCE[operator] >= least:
            precedence = _PRECEDENCE[operator]
            operands = [left]
            # A chain of `&&` is read whole, to be built as a low tree: many conditions are not deep.
            while self._operator() == operator and (len(operands) == 1 or precedence <= 2):
                token = self._take()
                if token.text in ("is", "IS"):
                    operands.append(self._compared_by_a_word(token))
                    continue
                if token.text != operator:
                    self._fixes.append(Fix(token.start, token.end, operator))
                operands.append(self._binary(precedence + 1))
            left = _balanced(operator, operands)
        return left

    def _compared_by_a_word(self, word: Token) -> Ast:
        """What stands behind `is` or `is not`, which is often SQL's word for no value."""
        end, right = word.end, "=="
        if self._next.kind == "name" and self._next.text in ("not", "NOT"):
            end, right = self._take().end, "!="
        self._fixes.append(Fix(word.start, end, right))
        if self._next.kind == "name" and self._next.text in _WORD_NULLS:
            self._fixes.append(Fix(self._next.start, self._next.end, "null"))
        return self._binary(_PRECEDENCE["=="] + 1)

    def _unary(self) -> Ast:
        operators: list[Token] = []
        while self._sees("!") or self._sees("-") or self._sees_not():
            token = self._take()
            if token.kind == "name":
                # `not x` loses its space with the word, `not (x)` its meaning as a call.
                blank = self._next.start
                self._fixes.append(Fix(token.start, blank, "!"))
            operators.append(token)
            if len(operators) > DEEPEST:
                raise Unreadable(_too_deep(token.start, token.end))
        if operators and operators[-1].text == "-" and self._next.kind == "number":
            sign = operators.pop()
            tree = self._members(self._literal(self._take(), sign))
        else:
            tree = self._members(self._primary())
        for token in reversed(operators):
            tree = Unary("-" if token.text == "-" else "!", tree, token.start, tree.end)
        return tree

    def _sees_not(self) -> bool:
        token, after = self._next, self._words[min(self._at + 1, len(self._words) - 1)]
        return (
            token.kind == "name"
            and token.text in ("not", "NOT")
            and (after.kind in ("name", "number", "string") or (after.kind == "symbol" and after.text in "(!["))
        )

    def _members(self, tree: Ast) -> Ast:
        """`Member = Primary | Member "." SELECTOR ["(" [ExprList] ")"] | Member "[" Expr "]"`"""
        while True:
            if self._takes("."):
                name = self._take()
                if name.kind != "name" or name.text in KEYWORDS:
                    self._at -= name.kind != "end"
                    raise self._member_name()
                if self._sees("("):
                    opened = self._take()
                    arguments, closed = self._list(")", opened)
                    tree = Invocation(name.text, tree, arguments, name.start, tree.start, closed.end)
                else:
                    tree = Member(tree, name.text, name.start, tree.start, name.end)
            elif self._sees("["):
                opened = self._take()
                index = self._expression()
                end = self._expect("]", opened).end
                if isinstance(index, Literal) and isinstance(index.value, str):
                    tree = Member(tree, index.value, index.start, tree.start, end, end - index.end)
                else:
                    tree = Index(tree, index, tree.start, end)
            else:
                return tree

    def _member_name(self) -> Unreadable:
        unexpected = self._unexpected("the name of a member")
        if self._next.kind != "name":
            return unexpected
        problem, word = unexpected.problem, self._next.text
        return Unreadable(
            Problem(
                problem.code,
                f"`{word}` is a word of CEL and not a name",
                problem.start,
                problem.end,
                (f"a member of that name is read as `['{word}']`",),
            )
        )

    def _list(self, close: str, opened: Token) -> tuple[tuple[Ast, ...], Token]:
        items: list[Ast] = []
        while not self._sees(close):
            items.append(self._expression())
            if not self._takes(","):
                break
            if close == ")" and self._sees(")"):
                raise self._unexpected("another argument")
        return tuple(items), self._expect(close, opened)

    def _primary(self) -> Ast:
        token = self._next
        if token.kind in ("number", "string"):
            return self._literal(self._take(), None)
        if token.kind == "name":
            return self._name(self._take())
        if self._takes("("):
            inner = self._expression()
            self._expect(")", token)
            return inner
        if self._takes("["):
            items, closed = self._list("]", token)
            return ListLiteral(items, token.start, closed.end)
        if self._takes("{"):
            return self._map(token)
        raise self._unexpected("a value")

    def _name(self, token: Token) -> Ast:
        if token.text in _CONSTANTS:
            return Literal(_CONSTANTS[token.text], token.start, token.end)
        if token.text in RESERVED or token.text == "in":
            raise Unreadable(
                Problem(UNREADABLE, f"`{token.text}` is a word of CEL and not a name", token.start, token.end)
            )
        if self._sees("("):
            arguments, closed = self._list(")", self._take())
            return Invocation(token.text, None, arguments, token.start, token.start, closed.end)
        return Name(token.text, token.start, token.end)

    def _map(self, opened: Token) -> Ast:
        entries: list[tuple[Ast, Ast]] = []
        while not self._sees("}"):
            key = self._expression()
            if isinstance(key, Name) and (self._sees("}") or self._sees(",")):
                raise Unreadable(
                    Problem(
                        UNREADABLE,
                        f"`{{{key.name}}}` is not an expression",
                        opened.start,
                        key.end + 1,
                        (f"a name is read without braces: `{key.name}`", f"text stands in quotes: `'{key.name}'`"),
                    )
                )
            self._expect(":", opened)
            entries.append((key, self._expression()))
            if not self._takes(","):
                break
        return MapLiteral(tuple(entries), opened.start, self._expect("}", opened).end)

    def _literal(self, token: Token, sign: Token | None) -> Ast:
        value, start = token.value, token.start if sign is None else sign.start
        if sign is not None and not isinstance(value, str) and value is not None:
            value = -value
        if isinstance(value, int) and not -GREATEST_INTEGER - 1 <= value <= GREATEST_INTEGER:
            raise Unreadable(Problem(BAD_LITERAL, f"`{token.text}` is an integer outside of 64 bits", start, token.end))
        # There is one zero (values.number).
        return Literal(value + 0.0 if isinstance(value, float) else value, start, token.end)


def _balanced(operator: str, operands: list[Ast]) -> Ast:
    """A chain as a tree of logarithmic height. `&&` and `||` are associative, errors included."""
    if len(operands) == 1:
        return operands[0]
    half = (len(operands) + 1) // 2
    left, right = _balanced(operator, operands[:half]), _balanced(operator, operands[half:])
    return Binary(operator, left, right, left.start, right.end)
