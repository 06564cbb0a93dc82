"""The words of an expression: CEL's lexical grammar (cel-spec, langdef.md, "Syntax"), with places.

What other languages write for a CEL operator (`=`, `&`, `<>` …) is read as that operator and noted as a `Fix`,
so that the whole corrected text can be shown at once.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import BAD_LITERAL, UNREADABLE
from ninefold.diagnostics.frozen import dataclass
from ninefold.expressions.ast import Problem
from ninefold.values import GREATEST_INTEGER

Kind: TypeAlias = Literal["name", "number", "string", "symbol", "end"]

KEYWORDS = frozenset(["true", "false", "null", "in"])
"""Words that CEL never reads as a name, not even behind a dot."""


@dataclass(frozen=True, slots=True)
class Token:
    """`value` is that of a number or a string."""

    kind: Kind
    text: str
    start: int
    end: int
    value: int | float | str | None = None


@dataclass(frozen=True, slots=True)
class Fix:
    """`text[start:end]` should have been `right`."""

    start: int
    end: int
    right: str


class Unreadable(Exception):
    """Reading stops: inside `parse` only, which returns the problem."""

    def __init__(self, problem: Problem):
        super().__init__(problem.message)
        self.problem: Final = problem


RESERVED: Final = frozenset(
    "as break const continue else for function if import let loop package namespace return var void while".split()
)
"""Words that CEL keeps for itself: not names, but they may be members (`page.as`)."""

_BLANK: Final = regex.compile(r"(?:[ \t\n\f\r]|//[^\n]*)+")
_NAME: Final = regex.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NUMBER: Final = regex.compile(r"0[xX][0-9A-Fa-f]+|(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_SYMBOL: Final = regex.compile(r"===|!==|&&|\|\||==|!=|<=|>=|<>|[-+*/%!<>=?:.,()\[\]{}&|]")
_STRING: Final = regex.compile(r"([bBrR]{0,2})('''|\"\"\"|'|\")")
_ESCAPE: Final = regex.compile(
    r"\\(?:([abfnrtv\\?\"'`])|[xX]([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2}))"
)
_PLAIN_ESCAPES: Final = dict(zip("abfnrtv\\?\"'`", "\a\b\f\n\r\t\v\\?\"'`", strict=True))
_FIXES: Final = {"=": "==", "===": "==", "!==": "!=", "<>": "!=", "&": "&&", "|": "||"}
_CURLY_QUOTES: Final = "‘’‚“”„«»`´"


def tokens(text: str) -> tuple[list[Token], list[Fix]]:
    """All tokens of a text, the last of kind `end`; raises `Unreadable`."""
    found: list[Token] = []
    fixes: list[Fix] = []
    at = 0
    while True:
        if blank := _BLANK.match(text, at):
            at = blank.end()
        if at >= len(text):
            return [*found, Token("end", "", len(text), len(text))], fixes
        if string := _STRING.match(text, at):
            token = _string(text, at, string)
        elif text[at].isdigit() or (text[at] == "." and text[at + 1 : at + 2].isdigit()):
            token = _number(text, at)
        elif name := _NAME.match(text, at):
            token = Token("name", name[0], at, name.end())
        elif symbol := _SYMBOL.match(text, at):
            right = _FIXES.get(symbol[0])
            if right is not None:
                fixes.append(Fix(at, symbol.end(), right))
            token = Token("symbol", right or symbol[0], at, symbol.end())
        else:
            raise Unreadable(_stray(text, at))
        found.append(token)
        at = token.end


def _stray(text: str, at: int) -> Problem:
    if text[at] in _CURLY_QUOTES:
        return Problem(
            UNREADABLE,
            f"text is not quoted with `{text[at]}`",
            at,
            at + 1,
            ("text stands in straight quotes: `'draft'`",),
        )
    shown = f"`{text[at]}`" if text[at].isprintable() else f"U+{ord(text[at]):04X}"
    return Problem(UNREADABLE, f"{shown} has no meaning in an expression", at, at + 1)


def _number(text: str, at: int) -> Token:
    found = _NUMBER.match(text, at)
    if found is None:
        raise Unreadable(_stray(text, at))
    written, end = found[0], found.end()
    if text[end : end + 1] in ("u", "U"):
        raise Unreadable(
            Problem(
                UNREADABLE,
                f"`{text[at : end + 1]}` is an unsigned integer, and there is no such type",
                at,
                end + 1,
                (f"an integer has no suffix: `{written}`",),
            )
        )
    if trailing := _NAME.match(text, end):
        raise Unreadable(Problem(UNREADABLE, f"`{text[at : trailing.end()]}` is not a number", at, trailing.end()))
    if written[:2] in ("0x", "0X"):
        value: int | float = int(written, 16)
    elif written.isdigit():
        # More digits are outside of 64 bits anyway, and Python refuses to read thousands of them.
        value = int(written[-40:]) if not written[:-40].strip("0") else GREATEST_INTEGER + 2
    else:
        value = float(written)
    if value == float("inf"):
        raise Unreadable(Problem(BAD_LITERAL, f"`{written}` is too large for a number (a double)", at, end))
    return Token("number", written, at, end, value)


def _string(text: str, at: int, opening: re.Match[str]) -> Token:
    prefix, quote = opening[1].lower(), opening[2]
    if "b" in prefix or len(prefix) > 1:
        raise Unreadable(
            Problem(UNREADABLE, "bytes are not a type of the contract language", at, opening.end(), (), "bytes")
        )
    raw = prefix == "r"
    characters: list[str] = []
    place = opening.end()
    while not text.startswith(quote, place):
        if place >= len(text) or (len(quote) == 1 and text[place] in "\r\n"):
            raise Unreadable(
                Problem(
                    UNREADABLE, f"text that begins with {quote} has no end", at, min(place, len(text)), (), "not closed"
                )
            )
        if text[place] != "\\":
            characters.append(text[place])
            place += 1
        elif raw:
            # A quote after a backslash does not end a raw string; both are part of it.
            characters.append(text[place : place + 2])
            place += 2
        else:
            character, place = _escape(text, place)
            characters.append(character)
    end = place + len(quote)
    value = "".join(characters)
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise Unreadable(
            Problem(BAD_LITERAL, "text cannot hold U+0000 or half of a surrogate pair", at, end, (), "not a text")
        )
    return Token("string", text[at:end], at, end, value)


def _escape(text: str, at: int) -> tuple[str, int]:
    found = _ESCAPE.match(text, at)
    if found is None:
        raise Unreadable(
            Problem(
                UNREADABLE,
                f"`{text[at : at + 2]}` is not an escape of CEL",
                at,
                min(at + 2, len(text)),
                ("a backslash itself is written `\\\\`, or the text is raw: `r'\\S'`",),
            )
        )
    plain, short, four, eight, octal = found.groups()
    if plain is not None:
        return _PLAIN_ESCAPES[plain], found.end()
    code = int(octal, 8) if octal is not None else int(short or four or eight, 16)
    if code > 0x10FFFF:
        raise Unreadable(Problem(BAD_LITERAL, f"`{found[0]}` is not a character of Unicode", at, found.end()))
    return chr(code), found.end()
