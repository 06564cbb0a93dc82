"""YAML as it is written right, and as everybody writes it wrong first."""

from __future__ import annotations

import pytest

from ninefold.syntax.excerpt import whole
from ninefold.syntax.nodes import JSONScalar, Mapping, Node, Scalar, Sequence, Style
from ninefold.syntax.yaml import DEEPEST, compose

Plain = JSONScalar | list["Plain"] | dict[str, "Plain"]


def plain(node: Node | None) -> Plain:
    match node:
        case Scalar(value=value):
            return value
        case Mapping(entries=entries):
            return {entry.name: plain(entry.value) for entry in entries}
        case Sequence(items=items):
            return [plain(item) for item in items]
        case None:
            return None


def values(text: str) -> tuple[Plain, list[str]]:
    """A text as plain values; of each diagnostic the code, the text at its first label, and the help."""
    outcome = compose(whole(text))
    found = []
    for diagnostic in outcome.diagnostics:
        at = text[diagnostic.span.start : diagnostic.span.end]
        found.append(" ".join([diagnostic.code.id, at, *diagnostic.help]).strip())
    return plain(outcome.value), found


# Each is read as it was probably meant, so that what follows is checked too.
MISTAKES: list[tuple[str, str, Plain, list[str]]] = [
    (
        "a tag",
        "when: !order.paid && x\nb: c",
        {"when": "!order.paid && x", "b": "c"},
        ['NF0206 !order.paid quote the expression: `when: "!order.paid && x"`'],
    ),
    ("a tag alone", "{a: !x, b: c}", {"a": "!x", "b": "c"}, ['NF0206 !x quote the expression: `a: "!x"`']),
    (
        "a tag before a bracket",
        "a: !f(b)[0]",
        {"a": "!f(b)[0]"},
        ['NF0206 !f(b)[0] quote the expression: `a: "!f(b)[0]"`'],
    ),
    ("a foreign tag", "a: !!str b", {"a": "b"}, ["NF0205 !!str"]),
    ("a misspelt tag", "a: !propose b", {"a": "b"}, ["NF0205 !propose did you mean `!proposed`?"]),
    (
        "a tag before a key",
        "!proposed a: b",
        {"a": "b"},
        ["NF0205 !proposed `!proposed` stands before the value: `a: !proposed …`"],
    ),
    (
        "a path in braces",
        "row: {id}",
        {"row": "not shown"},
        ['NF0211 id a list has brackets: `row: [id]` as a text it is quoted: `row: "{id}"`'],
    ),
    (
        "words in braces",
        "a: {b, c}",
        {"a": "not shown"},
        ['NF0211 b a list has brackets: `a: [b, c]` as a text it is quoted: `a: "{b, c}"`'],
    ),
    (
        "a field in braces",
        "a: {b: {task.id}, c: d}",
        {"a": {"b": "not shown", "c": "d"}},
        ["NF0211 task.id an expression stands without braces: `b: task.id`"],
    ),
    (
        "a list without brackets",
        "a: {b: c, d}",
        {"a": {"b": "not shown"}},
        ['NF0211 d a list has brackets: `b: [c, d]` as a text it is quoted: `b: "c, d"`'],
    ),
    ("a colon without a value", "a: {204: }", {"a": {"204": None}}, []),
    (
        "a comma in a call",
        "POST /x: {does: read x, on create: f(a, b)}",
        {"POST /x": {"does": "read x", "on create": "f(a, b)"}},
        ['NF0212 , quote the expression: `on create: "f(a, b)"`'],
    ),
    (
        "a comma in a call in a list",
        "a: [b, f(c, d), e]",
        {"a": ["b", "f(c, d)", "e"]},
        ['NF0212 , quote the expression: `"f(c, d)"`'],
    ),
    ("no space after a colon", "a: b\nc:d\ne: f", {"a": "b", "c": "d", "e": "f"}, ["NF0214 : write `c: d`"]),
    (
        "no space after the first colon",
        "f:\n  n:string\n  i: x",
        {"f": {"n": "string", "i": "x"}},
        ["NF0214 : write `n: string`"],
    ),
    ("no space in braces", "{type:string, a: b}", {"type": "string", "a": "b"}, ["NF0214 : write `type: string`"]),
    ("no space after a dash", "- a\n-b\n- c", ["a", "b", "c"], ["NF0214 - write `- b`"]),
    (
        "a colon in a text",
        "title: Sorry: sold out\nb: c",
        {"title": "Sorry: sold out", "b": "c"},
        ['NF0215 : quote the text: `title: "Sorry: sold out"`'],
    ),
    (
        "a colon in a text in braces",
        "{a: b c: d, e: f}",
        {"a": "b c: d", "e": "f"},
        ['NF0215 : quote the text: `a: "b c: d"`'],
    ),
    ("a tab", "a:\n\tb: c\n\td: e\nf: g", {"a": "not shown", "f": "g"}, ["NF0213 \t indent with spaces"]),
    (
        "a tab before a key, and spaces before what is below it",
        "r:\n  a:\n\tb:\n    c: d\n    e: f\n  g: h",
        {"r": {"a": "not shown", "g": "h"}},
        ["NF0213 \t indent with spaces"],
    ),
    (
        "a tab among spaces",
        "a:\n  b: c\n\td: e\n  f: g",
        {"a": {"b": "c", "f": "g"}},
        ["NF0213 \t indent with spaces"],
    ),
    ("a tab after a dash", "- \ta", ["a"], ["NF0213 \t indent with spaces"]),
    ("an at sign", "a: @b\nc: d", {"a": "@b", "c": "d"}, ['NF0216 @ quote the text: `a: "@b"`']),
    ("a backtick", "a: `b`\nc: d", {"a": "`b`", "c": "d"}, ['NF0216 ` quote the text: `a: "`b`"`']),
    ("a percent sign", "a: %b\nc: d", {"a": "%b", "c": "d"}, ['NF0216 % quote the text: `a: "%b"`']),
    ("a pipe", "a: | b\nc: d", {"a": "| b", "c": "d"}, ['NF0216 | quote the text: `a: "| b"`']),
    ("a question mark", "a: ? b", {"a": "? b"}, ['NF0216 ? quote the text: `a: "? b"`']),
    ("an open brace", "a:\n  b: {c: d\n  e: f\ng: h", {"a": {"e": "f"}, "g": "h"}, ["NF0217 { close it with `}`"]),
    ("an open bracket", "a: [b, c\nd: e", {"d": "e"}, ["NF0217 [ close it with `]`"]),
    ("an open bracket at the end", "a: [b,\n", None, ["NF0217 [ close it with `]`"]),
    ("an open quote", "a: 'b\nc: d", {"c": "d"}, ["NF0218 ' close it with ' on its line"]),
    (
        "a quote closed by the next",
        "a: 'b\nc: 'd'\ne: f",
        {"c": "d", "e": "f"},
        ["NF0218 ' close it with ' on its line"],
    ),
    ("an apostrophe", "a: 'it's'\nb: c", {"a": "'it's'", "b": "c"}, ["NF0225 s' quote it all: `\"it's\"`"]),
    (
        "text after a quote",
        'a: "b" == c\nd: e',
        {"a": '"b" == c', "d": "e"},
        ["NF0225 == c quote it all: `'\"b\" == c'`"],
    ),
    (
        "a pattern",
        'a: "^\\d+$"\nb: c',
        {"a": "^\\d+$", "b": "c"},
        ["NF0219 \\d between single quotes it is an ordinary character: `'^\\d+$'`"],
    ),
    (
        "a surrogate pair",
        'a: "\\ud83d\\ude00"',
        {"a": "\\ud83d\\ude00"},
        ["NF0219 \\ud83d\\ude00 a character outside the basic plane is written `\\U` and eight digits, or as itself"],
    ),
    ("a dedented line", "a:\n    b: c\n  d: e\nf: g", {"a": {"b": "c"}, "d": "e", "f": "g"}, ["NF0220 d: e"]),
    ("an indented line", "a: b\n c: d\ne: f", {"a": "b", "c": "d", "e": "f"}, ["NF0220 c:"]),
    ("a list and a key", "- a\nb: c", ["a"], ["NF0220 b: c"]),
    ("a line without a colon", "a: b\nc", {"a": "b"}, ["NF0226 c"]),
    ("an anchor", "a: &b c\nd: e", {"a": "&b c", "d": "e"}, ['NF0203 &b as a text it is quoted: `a: "&b c"`']),
    ("an alias", "a: *b\nc: d", {"a": "*b", "c": "d"}, ['NF0203 *b as a text it is quoted: `a: "*b"`']),
    ("an asterisk", "a: *\nb: c", {"a": "*", "b": "c"}, ['NF0203 * as a text it is quoted: `a: "*"`']),
    ("a merge key", "<<: {a: b}\nc: d", {"c": "d"}, ["NF0204 <<"]),
    ("a second document", "a: b\n---\nc: d", {"a": "b", "c": "d"}, ["NF0207 ---"]),
    ("a document after its end", "a: b\n...\nc: d", {"a": "b", "c": "d"}, ["NF0207 ..."]),
    ("a directive", "%YAML 1.1\n---\na: b", {"a": "b"}, ["NF0208 %YAML 1.1"]),
    ("a brace as a key", "{id}: x", {"{id}": "x"}, ['NF0209 {id} quote it: `"{id}"`']),
    ("an empty key", ": x\na: b", {"a": "b"}, ["NF0209 :"]),
    ("equal keys", 'a: 1\n"a": 2', {"a": 1}, ['NF0202 "a"']),
    (
        "infinity",
        "a: .inf\nb: 1e999\nc: -.INF\nd: .nan",
        dict.fromkeys("abcd", "not shown"),
        ["NF0221 .inf", "NF0221 1e999", "NF0221 -.INF", "NF0221 .nan"],
    ),
    ("a stray brace", "a: {b: c}}\nd: e", {"a": {"b": "c"}, "d": "e"}, ["NF0201 }"]),
    ("two commas", "{a: b,, c: d}", {"a": "b", "c": "d"}, ["NF0201 ,"]),
    ("a list on its key's line", "a: - b", {"a": "- b"}, ["NF0201 - write `[b]`, or the items on lines of their own"]),
    (
        "an operator in braces",
        "{when: a in ['b'], c: d}",
        {"when": "a in ['b']", "c": "d"},
        ["NF0227 [ quote the text: `when: \"a in ['b']\"`"],
    ),
]


@pytest.mark.parametrize(
    ("text", "value", "found"), [case[1:] for case in MISTAKES], ids=[case[0] for case in MISTAKES]
)
def test_a_mistake(text: str, value: Plain, found: list[str]) -> None:
    assert values(text) == (value, found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("~", None), ("null", None), ("Null", None), ("true", True), ("True", True), ("FALSE", False), ("yes", "yes"),
        ("on", "on"), ("No", "No"), ("12", 12), ("-7", -7), ("+7", 7), ("012", 12), ("0o17", 15), ("0x1F", 31),
        ("1_000", "1_000"), ("1.5", 1.5), (".5", 0.5), ("1.", 1.0), ("-1.5e3", -1500.0), ("12:30", "12:30"),
        ("2026-01-01", "2026-01-01"), ("'12'", "12"), ('"true"', "true"), ("0b1", "0b1"), (".", "."), ("-", None),
        ("9" * 30, int("9" * 30)), ("none", "none"), ("not shown", "not shown"), ("=", "="),
    ],
)  # fmt: skip
def test_the_core_schema(text: str, value: JSONScalar) -> None:
    if text == "-":
        assert values("- -") == ([[None]], [])
    else:
        assert values(f"a: {text}") == ({"a": value}, [])


def test_a_number_that_is_too_long_is_no_number() -> None:
    value, found = values("a: " + "9" * 5000)
    assert value == {"a": "not shown"}
    assert [line[:6] for line in found] == ["NF0221"]


def test_keys_are_texts() -> None:
    assert values("200: a\ntrue: b\n1.0: c\n.inf: d\n~: e") == (
        {"200": "a", "true": "b", "1.0": "c", ".inf": "d", "~": "e"}, [],
    )  # fmt: skip


def test_a_key_given_twice_shows_both_places() -> None:
    [diagnostic] = compose(whole("x: {a: 1, b: 2, 'a': 3}")).diagnostics
    assert diagnostic.message == "the key `a` is given twice"
    assert [(label.span.start, label.span.end) for label in diagnostic.labels] == [(16, 19), (4, 5)]


def test_only_an_unquoted_word_is_a_keyword() -> None:
    root = compose(whole("a: not shown\nb: 'not shown'\nc: >-\n  not shown")).value
    assert isinstance(root, Mapping)
    said = [entry.value.says("not shown") for entry in root.entries if isinstance(entry.value, Scalar)]
    assert said == [True, False, False]


def test_proposals() -> None:
    root = compose(whole("a: !proposed 1\nb: !proposed {c: 1}\nd: [!proposed e]\nf:\n  !proposed\n  g: h\ni: j")).value
    assert isinstance(root, Mapping)
    assert [entry.proposed for entry in root.entries] == [True, True, False, True, False]
    b, d = root.entries[1].value, root.entries[2].value
    assert isinstance(b, Mapping) and b.proposed and (b.span.start, b.span.end) == (28, 34)
    assert isinstance(d, Sequence) and d.items[0].proposed and d.items[0].span.start == 49


@pytest.mark.parametrize(
    ("text", "style", "read", "offsets"),
    [
        ("a b", Style.PLAIN, "a b", range(4)),
        ("''", Style.SINGLE, "", range(1, 2)),
        ("'it''s'", Style.SINGLE, "it's", (1, 2, 3, 5, 6)),
        ('"a\\u00e9\\n"', Style.DOUBLE, "aé\n", (1, 2, 8, 10)),
        ('"a\\\n  b"', Style.DOUBLE, "ab", (1, 6, 7)),
        ("a\r\n  b\n\n  c", Style.PLAIN, "a b\nc", (0, 1, 5, 7, 10, 11)),
        ("|\n  a\n   b\n", Style.LITERAL, "a\n b\n", (4, 5, 8, 9, 10, 11)),
        (">-\n  a\n  b\n\n  c\n", Style.FOLDED, "a b\nc", (5, 6, 9, 11, 14, 15)),
        ("|+\n  a\n\n", Style.LITERAL, "a\n\n", range(5, 9)),
        ("|2\n   a", Style.LITERAL, " a", range(5, 8)),
        ("a\u2028b\u0085c", Style.PLAIN, "a\u2028b\u0085c", range(6)),
        ('"\u2028 😀"', Style.DOUBLE, "\u2028 😀", range(1, 5)),
    ],
)
def test_each_character_has_its_place(text: str, style: Style, read: str, offsets: range | tuple[int, ...]) -> None:
    scalar = compose(whole(text)).value
    assert isinstance(scalar, Scalar)
    assert (scalar.text, scalar.style, scalar.offsets) == (read, style, offsets)


def test_a_part_of_an_expression_has_its_span() -> None:
    root = compose(whole("when: 'a == ''b'' && c'")).value
    assert isinstance(root, Mapping)
    scalar = root.entries[0].value
    assert isinstance(scalar, Scalar)
    at = scalar.text.index("c")
    span = scalar.part(at, at + 1)
    assert "when: 'a == ''b'' && c'"[span.start : span.end] == "c"


def test_nesting_is_bounded() -> None:
    assert values("[" * DEEPEST + "]" * DEEPEST)[1] == []
    value, found = values("a: " + "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1) + "\nb: c")
    assert value == {"b": "c"}
    assert found == ["NF0210 ["]


def test_all_mistakes_are_told_together() -> None:
    text = "a: @b\nc: 'd\ne: {f: g\nh: {i}\nj: &k l\nm: .nan\na: n"
    value, found = values(text)
    assert [line[:6] for line in sorted(found)] == [
        "NF0202",
        "NF0203",
        "NF0211",
        "NF0216",
        "NF0217",
        "NF0218",
        "NF0221",
    ]
    assert value == {"a": "@b", "h": "not shown", "j": "&k l", "m": "not shown"}


def test_nothing_is_read_from_nothing() -> None:
    assert values("") == (None, [])
    assert values("# a comment\n\n") == (None, [])
