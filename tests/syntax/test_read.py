"""From bytes to text."""

from __future__ import annotations

from ninefold.diagnostics.place import Place
from ninefold.syntax.parser import read


def test_a_byte_order_mark_is_no_text() -> None:
    outcome = read("c.md", b"\xef\xbb\xbf# T\n")
    assert outcome.value.text == "# T\n"
    assert outcome.diagnostics == ()


def test_bytes_that_are_not_utf_8_have_their_place() -> None:
    outcome = read("c.md", "# é\nx: ".encode() + b"\xe9\xff z")
    [diagnostic] = outcome.diagnostics
    assert diagnostic.code.id == "NF0101"
    assert diagnostic.message == "the document is not UTF-8: 0xE9 at byte 8"
    assert outcome.value.place(diagnostic.span.start) == Place(2, 4)
    assert outcome.value.text == "# é\nx: \ufffd\ufffd z"


def test_the_byte_is_counted_from_the_byte_order_mark() -> None:
    [diagnostic] = read("c.md", b"\xef\xbb\xbfa\xff").diagnostics
    assert diagnostic.message.endswith("byte 4")


def test_utf_16_is_recognised() -> None:
    diagnostic, *_ = read("c.md", "# T".encode("utf-16")).diagnostics
    assert "UTF-16" in diagnostic.help[0]


def test_control_characters_are_one_diagnostic() -> None:
    outcome = read("c.md", b"# T\r\n\x1b[31m\x00\ta\xc2\x85b")
    [diagnostic] = outcome.diagnostics
    assert diagnostic.code.id == "NF0103"
    assert diagnostic.message.endswith("the control character U+001B (ESC), the first of 2 control characters")
    assert outcome.value.place(diagnostic.span.start) == Place(2, 1)
