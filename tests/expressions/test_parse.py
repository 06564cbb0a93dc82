"""What can be read, and what is said of what cannot."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ninefold.expressions.ast import Ast, Binary, Invocation, Literal, Member, Name, Problem, every
from ninefold.expressions.parse import parse


def read(text: str) -> Ast:
    tree = parse(text)
    assert not isinstance(tree, Problem), tree.message
    return tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("-9223372036854775808", -(2**63)),
        ("0xFf", 255),
        ("-0x10", -16),
        ("1.5", 1.5),
        (".5e1", 5.0),
        ("1e3", 1000.0),
        ("-0.0", 0.0),
        ("true", True),
        ("null", None),
        ("'it\\'s'", "it's"),
        ('"\\x41\\u00e9\\U0001F44D\\101"', "Aé👍A"),
        ("r'\\S'", "\\S"),
        ("'''two\nlines 'quoted' '''", "two\nlines 'quoted' "),
        ("'a' // a remark", "a"),
    ],
)
def test_literals(text: str, value: object) -> None:
    tree = read(text)
    assert isinstance(tree, Literal)
    assert (tree.value, type(tree.value)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a < b && c || d", "((a < b) && c) || d"),
        ("!a.b && -c < d", "(!(a.b)) && ((-c) < d)"),
        ("a ? b : c ? d : e", "a ? b : (c ? d : e)"),
        ("a in b == c", "(a in b) == c"),
        ("a + b in c", "(a + b) in c"),
        ("a.b(c)[0].d", "((a.b(c))[0]).d"),
    ],
)
def test_precedence(text: str, same: str) -> None:
    assert shape(read(text)) == shape(read(same))


def shape(tree: Ast) -> str:
    """A tree without its places."""
    described = []
    for node in every(tree):
        fields = {
            name: getattr(node, name) for name in ("operator", "name", "function", "value") if hasattr(node, name)
        }
        described.append(f"{type(node).__name__}{fields}")
    return " ".join(described)


def test_every_node_has_its_place() -> None:
    text = "order.lines.map(l, l.quantity * l.unit_price).sum() > 0"
    cut = {type(node).__name__ + ":" + text[node.start : node.end] for node in every(read(text))}
    assert "Invocation:order.lines.map(l, l.quantity * l.unit_price).sum()" in cut
    assert "Member:l.unit_price" in cut
    assert "Binary:l.quantity * l.unit_price" in cut
    assert "Literal:0" in cut
    members = [node for node in every(read(text)) if isinstance(node, Member)]
    assert all(text[node.name_start : node.end] == node.name for node in members)
    calls = [node for node in every(read(text)) if isinstance(node, Invocation)]
    assert all(text[node.name_start : node.name_end] == node.function for node in calls)


def test_a_long_chain_of_conditions_is_not_deep() -> None:
    assert isinstance(read(" && ".join(f"a{number}" for number in range(500))), Binary)
    assert isinstance(read(" || ".join(["a && b"] * 300)), Binary)


@pytest.mark.parametrize(
    ("text", "code", "message", "place", "help"),
    [
        (
            "order.status = 'draft'",
            "NF0415",
            "`=` is not how an expression writes `==`",
            "=",
            "write `order.status == 'draft'`",
        ),
        ("a = 1 and not b", "NF0415", "`=` is not how an expression writes `==`", "=", "write `a == 1 && !b`"),
        ("a === 1", "NF0415", "`===` is not how an expression writes `==`", "===", "write `a == 1`"),
        ("a <> b", "NF0415", "`<>` is not how an expression writes `!=`", "<>", "write `a != b`"),
        ("a & b", "NF0415", "`&` is not how an expression writes `&&`", "&", "write `a && b`"),
        ("not (a or b)", "NF0415", "`not` is not how an expression writes `!`", "not ", "write `!(a || b)`"),
        (
            "a IS NULL OR b is not None",
            "NF0415",
            "`IS` is not how an expression writes `==`",
            "IS",
            "write `a == null || b != null`",
        ),
        (
            "a LIKE 'b%'",
            "NF0401",
            "`LIKE` stands where the end or an operator should",
            "LIKE",
            "that a text holds another is `a.contains(b)`, `a.startsWith(b)` or `a.endsWith(b)`",
        ),
        ("{id}", "NF0401", "`{id}` is not an expression", "{id}", "a name is read without braces: `id`"),
        ("a >", "NF0401", "the expression ends where a value should follow", ">", None),
        ("", "NF0401", "the expression ends where a value should follow", "", None),
        ("(a", "NF0401", "`(` is not closed", "(", None),
        ("a b", "NF0401", "`b` stands where the end or an operator should", "b", None),
        ("f.in", "NF0401", "`in` is a word of CEL and not a name", "in", "a member of that name is read as `['in']`"),
        ("'draft", "NF0401", "text that begins with ' has no end", "'draft", None),
        ("x == ’a’", "NF0401", "text is not quoted with `’`", "’", "text stands in straight quotes: `'draft'`"),
        (
            "'\\S'",
            "NF0401",
            "`\\S` is not an escape of CEL",
            "\\S",
            "a backslash itself is written `\\\\`, or the text is raw: `r'\\S'`",
        ),
        (
            "5u",
            "NF0401",
            "`5u` is an unsigned integer, and there is no such type",
            "5u",
            "an integer has no suffix: `5`",
        ),
        ("b'x'", "NF0401", "bytes are not a type of the contract language", "b'", None),
        (
            "9223372036854775808",
            "NF0413",
            "`9223372036854775808` is an integer outside of 64 bits",
            "9223372036854775808",
            None,
        ),
        ("1e400", "NF0413", "`1e400` is too large for a number (a double)", "1e400", None),
        ("'\\u0000'", "NF0413", "text cannot hold U+0000 or half of a surrogate pair", "'\\u0000'", None),
        ("a[1:2]", "NF0401", "`:` stands where `]` should", ":", None),
        ("for", "NF0401", "`for` is a word of CEL and not a name", "for", None),
    ],
)
def test_what_cannot_be_read(text: str, code: str, message: str, place: str, help: str | None) -> None:
    problem = parse(text)
    assert isinstance(problem, Problem)
    assert (problem.code.id, problem.message) == (code, message)
    assert text[problem.start : problem.end] == place
    assert (problem.help[0] if problem.help else None) == help


@pytest.mark.parametrize(
    "text",
    [
        "(" * 4000,
        "[" * 4000,
        "{" * 4000,
        "!" * 4000 + "a",
        "-" * 4000 + "1",
        "a" + ".a" * 2000,
        "a" + "[0" * 1000,
        "f(" * 1300,
        "a ? " * 1000,
        "1" + " + 1" * 1000,
        "a" + "()" * 1000,
        "1" * 4097,
        "a.b(" * 1000,
        "not " * 1000,
    ],
)
def test_too_deep_is_a_problem_and_no_crash(text: str) -> None:
    assert isinstance(parse(text), Problem)


SIGNS = "&& || ! - ( ) [ ] { } , : ? = == < . .. // ' \" ''' \\ r' b'"
WORDS = st.sampled_from([*SIGNS.split(), *"a b.c in 1 0x 1e not and u map( true null 🜚".split(), "\n", "\0"])


@given(
    st.one_of(
        st.text(max_size=60), st.lists(WORDS, max_size=30).map(" ".join), st.lists(WORDS, max_size=30).map("".join)
    )
)
def test_no_text_crashes_the_reader_and_every_problem_has_a_place(text: str) -> None:
    found = parse(text)
    if isinstance(found, Problem):
        assert 0 <= found.start <= found.end <= max(len(text), 1)
        assert found.message and found.message[0] != " "
    else:
        assert all(0 <= node.start <= node.end <= len(text) for node in every(found))


def test_a_name_is_a_name() -> None:
    assert read("order") == Name("order", 0, 5)
