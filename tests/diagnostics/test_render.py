"""How diagnostics look, in a terminal and as JSON lines."""

from __future__ import annotations

import json
from textwrap import dedent

from rich.cells import cell_len

from ninefold.diagnostics.diagnostic import Code, Diagnostic, Label, Severity
from ninefold.diagnostics.render import render, summary, to_json_lines, visible
from ninefold.diagnostics.source import Source, Span

ERROR = Code("NF9901", Severity.ERROR)
WARNING = Code("NF9902", Severity.WARNING)
NOTE = Code("NF9903", Severity.NOTE)


def at(source: Source, text: str, label: str = "", nth: int = 1) -> Label:
    start = -1
    for _ in range(nth):
        start = source.text.index(text, start + 1)
    return Label(Span(start, start + len(text)), label)


def shown(text: str, marked: str, label: str = "here", width: int = 120) -> list[str]:
    """The lines of a diagnostic at `marked`, from the source line on."""
    source = Source("c.md", text)
    return render([Diagnostic(ERROR, "m", (at(source, marked, label),))], source, width=width).splitlines()[3:-1]


def test_the_form_of_rustc() -> None:
    source = Source("contract.md", "\n" * 87 + 'place: {when: "order.totl > 0"}\n')
    label = at(source, "order.totl", "not a field")
    diagnostic = Diagnostic(ERROR, "resource `order` has no field `totl`", (label,), ("did you mean `total`?",))
    assert render([diagnostic], source) == dedent("""\
        error[NF9901]: resource `order` has no field `totl`
          --> contract.md:88:16
           |
        88 | place: {when: "order.totl > 0"}
           |                ^^^^^^^^^^ not a field
           = help: did you mean `total`?

        """)


def test_labels_on_other_lines_and_help_of_several_lines() -> None:
    source = Source("c.md", "a: 1\nb: 2\nc: 3\nd: 4\na: 5\n")
    labels = (at(source, "a", "again", 2), at(source, "a", "first"), at(source, "b: 2", ""))
    assert render([Diagnostic(WARNING, "twice", labels, ("write\na: 1", "or not"))], source) == dedent("""\
        warning[NF9902]: twice
         --> c.md:5:1
          |
        1 | a: 1
          | - first
        2 | b: 2
          | ----
        ...
        5 | a: 5
          | ^ again
          = help: write
                  a: 1
          = help: or not

        """)


def test_two_labels_on_one_line() -> None:
    source = Source("c.md", "x: {a: f(b, c)}")
    labels = (at(source, ",", "the value ends"), at(source, "c)", "a key"))
    assert render([Diagnostic(NOTE, "m", labels)], source).splitlines()[3:6] == [
        "1 | x: {a: f(b, c)}",
        "  |           ^ the value ends",
        "  |             -- a key",
    ]


def test_carets_stand_below_wide_characters_and_tabs() -> None:
    assert shown("日本: 😀x", "x") == ["1 | 日本: 😀x", "  |         ^ here"]
    assert shown("a\tb\tcc", "cc") == ["1 | a   b   cc", "  |         ^^ here"]
    assert shown("日本", "本") == ["1 | 日本", "  |   ^^ here"]


def test_a_place_without_width_has_one_caret() -> None:
    source = Source("c.md", "ab\n")
    for offset, line in ((1, "  |  ^"), (2, "  |   ^"), (3, "  | ^")):
        diagnostic = Diagnostic(ERROR, "m", (Label(Span(offset, offset)),))
        assert render([diagnostic], source).splitlines()[4] == line
    assert ":1:1" in render([Diagnostic(ERROR, "m", ())], source)


def test_a_span_over_several_lines_is_marked_on_its_first() -> None:
    assert shown("a: b\n  c\nd", "b\n  c") == ["1 | a: b", "  |    ^ here"]


def test_a_long_line_is_shown_around_its_mark() -> None:
    for text in ("a" * 300 + "X" + "b" * 300, "日" * 300 + "X" + "本" * 300, "X" + "b" * 300, "a" * 300 + "X"):
        source_line, under = shown(text, "X", width=60)
        assert cell_len(source_line) <= 66
        assert cell_len(source_line[: source_line.index("X")]) == under.index("^")
    source_line, under = shown("a" * 300 + "X" * 300, "X" * 300, width=60)
    assert cell_len(source_line) <= 66 and 10 < under.count("^") <= 60


def test_nothing_that_a_terminal_obeys_is_shown() -> None:
    source = Source("\x1b[1mname", "a: \x1b[31m\x9b2J\u202e\x7f\x00\x85\u2028\u200bz")
    diagnostic = Diagnostic(ERROR, "m \x1b[2J\n", (at(source, "z", "l \x07"),), ("h \x1b]0;t\x07",))
    text = render([diagnostic], source)
    assert "␛[1mname:1:" in text
    assert "a: ␛[31m<U+009B>2J<U+202E>␡␀<U+0085><U+2028><U+200B>z" in text
    assert all(char == "\n" or char.isprintable() for char in text)
    assert visible("caf\u00e9 \U0001f469\u200d\U0001f680") == "caf\u00e9 \U0001f469\u200d\U0001f680"


def test_colour_is_asked_for() -> None:
    source = Source("c.md", "ab")
    diagnostic = Diagnostic(ERROR, "m", (at(source, "a", "x"),), ("h",))
    plain, coloured = render([diagnostic], source), render([diagnostic], source, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[1;31merror[NF9901]\x1b[0m" in coloured


def test_the_summary_counts() -> None:
    diagnostics = [Diagnostic(code, "m", ()) for code in (ERROR, WARNING, ERROR, NOTE)]
    assert summary(diagnostics) == "2 errors, 1 warning, 1 note"
    assert summary([]) == ""


def test_json_lines() -> None:
    source = Source("c.md", "😀\nab: c\n")
    diagnostic = Diagnostic(WARNING, "m\x1b", (at(source, "ab", "one"), Label(Span(0, 1))), ("h",))
    [line] = to_json_lines([diagnostic], source).splitlines()
    assert json.loads(line) == {
        "code": "NF9902", "severity": "warning", "message": "m\x1b", "source": "c.md",
        "line": 2, "column": 1, "end_line": 2, "end_column": 3,
        "labels": [
            {"text": "one", "line": 2, "column": 1, "end_line": 2, "end_column": 3},
            {"text": "", "line": 1, "column": 1, "end_line": 1, "end_column": 2},
        ],
        "help": ["h"],
    }  # fmt: skip
