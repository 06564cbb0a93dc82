"""From bytes to text: the first stage, and the only one that sees bytes."""

from __future__ import annotations

import re

from ninefold.diagnostics.diagnostic import Diagnostic, Label, Outcome
from ninefold.diagnostics.source import Source, Span
from ninefold.syntax.codes import CONTROL_CHARACTER, NOT_UTF_8, TOO_LARGE

LARGEST_DOCUMENT = 1024 * 1024
"""Bytes. It bounds the time that reading takes (seconds for the worst such document)."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f]")
"""Neither white space nor a line break to Markdown or YAML. U+0085, U+2028 and U+2029 are ordinary characters."""

_NAMES = {"\x00": "NUL", "\x07": "BEL", "\x08": "BS", "\x0b": "VT", "\x0c": "FF", "\x1b": "ESC", "\x7f": "DEL"}


def read(name: str, data: bytes) -> Outcome[Source]:
    """The text of a document: UTF-8 (RFC 3629), without its byte order mark.

    `name` is how diagnostics call it. Nothing is raised: bytes that are not UTF-8 are read as U+FFFD, and a
    document larger than `LARGEST_DOCUMENT` bytes as an empty one; each with its diagnostic.
    """
    if len(data) > LARGEST_DOCUMENT:
        message = f"the document has {len(data)} bytes; at most {LARGEST_DOCUMENT} are read"
        return Outcome(Source(name, ""), (Diagnostic(TOO_LARGE, message, (Label(Span(0, 0)),)),))
    mark = len(BYTE_ORDER_MARK) if data.startswith(BYTE_ORDER_MARK) else 0
    body = data[mark:]
    try:
        source = Source(name, body.decode("utf-8"))
    except UnicodeDecodeError as error:
        source = Source(name, body.decode("utf-8", "replace"))
        return Outcome(source, (_not_utf_8(body, mark, error), *_control_characters(source)))
    return Outcome(source, _control_characters(source))


def _not_utf_8(body: bytes, mark: int, error: UnicodeDecodeError) -> Diagnostic:
    at = len(body[: error.start].decode("utf-8"))
    wrong = " ".join(f"0x{byte:02X}" for byte in body[error.start : error.end])
    help = ("save the document as UTF-8; it begins like UTF-16",) if body.startswith(UTF_16_MARKS) else ()
    return Diagnostic(
        NOT_UTF_8,
        f"the document is not UTF-8: {wrong} at byte {mark + error.start}",
        (Label(Span(at, at + 1), "not UTF-8 from here"),),
        help or ("save the document as UTF-8",),
    )


def _control_characters(source: Source) -> tuple[Diagnostic, ...]:
    """One diagnostic, however many there are: rubbish is one mistake."""
    found = _CONTROL.search(source.text)
    if found is None:
        return ()
    char = found.group()
    name = f"U+{ord(char):04X}" + (f" ({_NAMES[char]})" if char in _NAMES else "")
    count = len(_CONTROL.findall(source.text))
    others = f", the first of {count} control characters" if count > 1 else ""
    return (
        Diagnostic(
            CONTROL_CHARACTER,
            f"the document has the control character {name}{others}",
            (Label(Span(found.start(), found.end()), "not text"),),
        ),
    )
