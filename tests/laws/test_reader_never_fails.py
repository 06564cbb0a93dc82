"""Whatever the bytes, reading yields a document with nine parts and diagnostics at places in it, in bounded time."""

from __future__ import annotations

import json
import time
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.slices import some

from ninefold.diagnostics.diagnostic import Diagnostic
from ninefold.diagnostics.render import render, summary, to_json_lines
from ninefold.syntax.nodes import Document
from ninefold.syntax.parser import LARGEST_DOCUMENT, Form, form_of, parse, read

EXAMPLES = [path.read_bytes() for path in sorted((Path(__file__).parents[2] / "examples").glob("*.md"))]
BLANK = b"# T\n\n" + b"\n".join(b"## %d\n\nX: not shown.\n" % number for number in range(1, 10))
DOCUMENTS = st.sampled_from([*EXAMPLES, BLANK])

SNIPPETS = st.sampled_from(
    [
        *(
            b"```",
            b"```yaml\n",
            b"````",
            b"~~~\n",
            b"## 4\n",
            b"# x\n",
            b"===\n",
            b"> ",
            b"- ",
            b"    ",
            b"<!--",
            b"-->",
        ),
        *(b"<pre>", b"{", b"}", b"[", b"]", b": ", b":", b",", b"'", b'"', b"\\", b"!", b"!proposed ", b"&a ", b"*a"),
        *(b"<<: ", b"---\n", b"...\n", b"%YAML 1.1\n", b"|", b">", b"?", b"#", b"@", b"none", b"not shown"),
        *(
            b"\t",
            b"\n",
            b"\n\n",
            b"\r",
            b"\r\n",
            b"\x00",
            b"\x1b[2J",
            b"\xff",
            b"\xef\xbb\xbf",
            b"\xc2\x85",
            b"\xe2\x80\xa8",
        ),
        "😀".encode(),
    ]
)


@st.composite
def mutations(draw: st.DrawFn) -> bytes:
    """An example, some of whose bytes are removed, repeated, replaced, or have something put before them."""
    data = draw(DOCUMENTS)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(data)))
        size = draw(st.sampled_from([1, 1, 2, 5, 30, 400]))
        match draw(st.sampled_from(["delete", "repeat", "insert", "insert", "flip", "truncate", "swap"])):
            case "delete":
                data = data[:at] + data[at + size :]
            case "repeat":
                data = data[: at + size] + data[at : at + size] + data[at + size :]
            case "insert":
                data = data[:at] + draw(SNIPPETS) + data[at:]
            case "flip":
                bits = draw(st.integers(1, 255))
                data = data[:at] + bytes(byte ^ bits for byte in data[at : at + 1]) + data[at + 1 :]
            case "truncate":
                data = data[:at]
            case "swap":
                other = draw(st.integers(0, len(data)))
                low, high = sorted((at, other))
                data = data[:low] + data[high:] + data[low:high]
    return data


def whole_reading(name: str, data: bytes) -> tuple[Document, tuple[Diagnostic, ...]]:
    source = read(name, data)
    outcome = parse(source.value, form_of(name, source.value.text))
    return outcome.value, (*source.diagnostics, *outcome.diagnostics)


def check_reading(name: str, data: bytes) -> None:
    document, diagnostics = whole_reading(name, data)
    assert [part.number for part in document.parts] == list(range(1, 10))
    size = len(document.source.text)
    for diagnostic in diagnostics:
        for label in diagnostic.labels:
            assert 0 <= label.span.start <= label.span.end <= max(size, 1)
    shown = render(diagnostics[:50], document.source)
    assert not {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")} - set("\n\u200c\u200d")
    summary(diagnostics)
    for line in to_json_lines(diagnostics[:50], document.source).splitlines():
        json.loads(line)


@given(mutations(), st.sampled_from(["contract.md", "contract.yaml", "contract"]))
def test_a_mutated_document_is_read(data: bytes, name: str) -> None:
    check_reading(name, data)


@given(st.binary(max_size=400), st.sampled_from(["contract.md", "contract.yaml"]))
def test_any_bytes_are_read(data: bytes, name: str) -> None:
    check_reading(name, data)


@given(st.lists(SNIPPETS, max_size=60), st.booleans(), st.sampled_from(["contract.md", "contract.yaml"]))
def test_any_syntax_is_read(snippets: list[bytes], fenced: bool, name: str) -> None:
    data = b"".join(snippets)
    check_reading(name, b"## 8\n\n```yaml\n" + data if fenced else data)


def fenced(body: str) -> str:
    return f"# T\n\n## 8. Limits\n\n```yaml\n{body}\n```\n"


N = 25_000
HARD = {
    "brackets": fenced("a: " + "[" * N),
    "braces": fenced("a: " + "{a: " * N),
    "brackets on lines": fenced("a: " + "[\n" * N),
    "closing brackets": fenced("a: " + "]" * N),
    "dashes": fenced("- " * N),
    "question marks": fenced("? " * N),
    "indentation": fenced("\n".join(" " * i + "a:" for i in range(1500))),
    "a long line": fenced("a: " + "b " * 1_000_000),
    "a long key": fenced("a" * N + ": b"),
    "a long quote": fenced('"' + "a" * N),
    "a long number": fenced("a: " + "9" * N),
    "tags": fenced("a: !x\n" * 20_000),
    "keys without values": fenced("a:\n" * 20_000),
    "keys without values, further in": fenced("a:\n  b:\n  c: d\n" * 7_000),
    "lines indented too far": fenced("a: b\n  c: d\n" * 10_000),
    "a first line indented too far": fenced("  a: b\n" + "c: d\n" * 20_000),
    "calls": fenced("a: [" + "f(a, " * 20_000 + "]"),
    "lone keys": fenced("a: {" + "b, " * 20_000 + "}"),
    "errors": fenced("a: @b\n" * 20_000),
    "unclosed quotes": fenced("a: 'b\n" * 20_001),
    "colons": fenced("a: b: c\n" * 20_000),
    "tabs": fenced("\ta: b\n" * 20_000),
    "equal keys": fenced("a: b\n" * N),
    "open fences": "# T\n" + "```yaml\n" * N,
    "open fences in parts": "# T\n" + "## 3\n```yaml\na: b\n" * 20_000,
    "fences": "# T\n## 3\n" + "```yaml\na: b\n```\n" * 20_000,
    "headings": "## x\n" * N,
    "the same heading": "## 3\n" * N,
    "quotations": ">" * N,
    "lists": "- " * N,
    "list items": "- a\n" * N,
    "open comments": "## 3\n<!--\n" * 20_000,
    "comments in a line": "## 3\nx <!-- " * 20_000,
    "spaces": "## 3\n```yaml\n## " + " " * N + "x",
    "hashes": "## 3\n```yaml\n## " + "# " * N,
    "statements": "## 3\nx: none.\n\n" * 20_000,
    "nearly statements": "## 3\n" + "x" * N + ": None.",
    "nearly headings": "##3. States\n" * N + "\n" + "**3. States**\n\n" * N + "3. States\n---\n\n" * N,
    "signs": ("## " + "# " * 95 + "x\n") * 5_000,
    "open headings of HTML": "<h1>" * 4 * N,
    "headings of HTML that are no tags": "<h1 " * 4 * N + "\n\n<h1" + " " * 4 * N,
    "headings of HTML": "<h1>a</h1 " * 4 * N + "\n\n" + "<h1>3. States</h1>" * N,
    "control characters": "\x00" * N,
}


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", some(list(HARD), 2))
def test_a_hard_document_is_read_in_bounded_time(name: str) -> None:
    started = time.process_time()
    check_reading("contract.md", HARD[name].encode())
    check_reading("contract.yaml", HARD[name].encode())
    assert time.process_time() - started < 20


def test_a_document_has_a_largest_size() -> None:
    assert len(read("c.md", b"a" * LARGEST_DOCUMENT).value.text) == LARGEST_DOCUMENT
    outcome = read("c.md", b"a" * (LARGEST_DOCUMENT + 1))
    assert [d.code.id for d in outcome.diagnostics] == ["NF0102"]
    assert len(parse(outcome.value, Form.LITERATE).value.parts) == 9
