"""Protocol buffers in their text format, read without their schema: what the conformance files of CEL are written in.

A message becomes a mapping from a field's name to the list of its values, since only a schema says which fields repeat.
Numbers and names stay `str`, quoted values become `bytes`. Source: the text format language specification of protobuf.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

Message: TypeAlias = "dict[str, list[Message | bytes | str]]"
Value: TypeAlias = "Message | bytes | str"

_TOKEN: Final = re.compile(
    r"""\s+ | \#[^\n]*                                            # white space, comments
    | (?P<quoted> "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
    | (?P<any> \[ [A-Za-z0-9_.\-]+ (?:/[A-Za-z0-9_.\-]+)? \] (?=\s*[:{]) )  # [type.googleapis.com/…Any]
    | (?P<word> -?\s*[A-Za-z0-9_.+\-]+ )
    | (?P<mark> [{}<>:;,\[\]] )
    """,
    re.VERBOSE,
)
_ESCAPE: Final = re.compile(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_LETTERS: Final = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}
_CLOSES: Final = {"{": "}", "<": ">"}


def read(text: str) -> Message:
    """The message that a whole file is. Raises `ValueError` where it is none."""
    return _message(_Tokens(text), None)


class _Tokens:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self.next: tuple[str, str] | None = next(self._tokens, None)

    def take(self) -> tuple[str, str]:
        if self.next is None:
            raise ValueError("the text ends inside a message")
        taken, self.next = self.next, next(self._tokens, None)
        return taken

    def skip(self, *marks: str) -> None:
        if self.next is not None and self.next[0] == "mark" and self.next[1] in marks:
            self.take()


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(f"nothing of the text format: {text[at : at + 20]!r}")
        at = found.end()
        if found.lastgroup is not None:
            yield found.lastgroup, found.group()


def _message(tokens: _Tokens, close: str | None) -> Message:
    message: Message = {}
    while tokens.next is not None and tokens.next != ("mark", close):
        group, name = tokens.take()
        if group not in ("word", "any"):
            raise ValueError(f"not the name of a field: {name}")
        tokens.skip(":")
        message.setdefault(name, []).extend(_values(tokens))
        tokens.skip(",", ";")
    if close is not None:
        tokens.take()
    return message


def _values(tokens: _Tokens) -> Iterator[Value]:
    if tokens.next != ("mark", "["):
        yield _value(tokens)
        return
    tokens.take()
    while tokens.next != ("mark", "]"):
        yield _value(tokens)
        tokens.skip(",")
    tokens.take()


def _value(tokens: _Tokens) -> Value:
    group, written = tokens.take()
    if group == "mark" and written in _CLOSES:
        return _message(tokens, _CLOSES[written])
    if group == "word":
        return written
    if group != "quoted":
        raise ValueError(f"not a value: {written}")
    content = _unquoted(written)
    while tokens.next is not None and tokens.next[0] == "quoted":  # quoted values side by side are one
        content += _unquoted(tokens.take()[1])
    return content


def _unquoted(written: str) -> bytes:
    def meant(found: re.Match[bytes]) -> bytes:
        escape = found[1]
        if escape[:1] == b"x" and len(escape) > 1:
            return bytes([int(escape[1:], 16)])
        if escape[:1] in b"uU" and len(escape) > 1:
            return chr(int(escape[1:], 16)).encode()
        if escape.isdigit():
            return bytes([int(escape, 8)])
        return _LETTERS.get(escape, escape)

    return _ESCAPE.sub(meant, written[1:-1].encode())
