"""A place cuts out its own text: what the tree says of a scalar is what stands there in the document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from ninefold.diagnostics.source import Source
from ninefold.syntax.excerpt import readable, whole
from ninefold.syntax.nodes import Document, Scalar, Style, scalars
from ninefold.syntax.parser import Form, parse
from ninefold.syntax.yaml import compose

EXAMPLES = Path(__file__).parents[2] / "examples"

# Texts that YAML writes in many ways, with characters that tools get wrong: astral ones, line breaks of YAML 1.1
# that are none in 1.2, tabs, quotes, and what looks like syntax.
CHARACTERS = st.sampled_from("ab 1:#-{}[],'\"\\|>%@!&*?\n\té😀日\u2028\u0085\u2029\ufeff")
TEXTS = st.text(CHARACTERS, max_size=24)
TREES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *(
                "a",
                "b c",
                "é",
                "😀",
                "200",
                "f(a, b)",
                "k: ",
                "- ",
                ", ",
                ": ",
                " #x",
                "{",
                "}",
                "[",
                "]",
                "\u2028",
                "\u0085",
            ),
            *(
                "\n",
                "\n  ",
                "\n    ",
                "\n\n",
                "\r\n",
                "\t",
                "'",
                '"',
                "''",
                "\\n",
                "\\\n",
                "\\x41",
                "|\n",
                ">\n",
                "|-",
                ">+",
                "|2",
            ),
        ]
    ),
    max_size=24,
).map("".join)


def all_scalars(document: Document) -> Iterator[Scalar]:
    for part in document.parts:
        yield from scalars(part.facts)


def check_places(source: str, scalar: Scalar) -> None:
    """What holds for every scalar wherever it stands."""
    offsets = list(scalar.offsets)
    assert len(offsets) == len(scalar.text) + 1
    assert offsets == sorted(offsets)
    assert scalar.span.start <= offsets[0] and offsets[-1] <= max(scalar.span.end, offsets[0])
    if isinstance(scalar.offsets, range):
        assert source[offsets[0] : offsets[-1]] == scalar.text
    for char, at in zip(scalar.text, offsets, strict=False):
        origin = source[at]
        if scalar.style is Style.DOUBLE:
            assert origin in (char, "\\") or (origin in "\r\n" and char in " \n")
        else:
            assert origin == char or (origin in "\r\n" and char in " \n")


def check_cut(source: str, scalar: Scalar) -> None:
    """The cut of the span, read alone, is the same text."""
    cut = source[scalar.span.start : scalar.span.end]
    header = cut.split("\n")[0]
    if scalar.style in (Style.LITERAL, Style.FOLDED) and any(digit in header for digit in "123456789"):
        return  # its indentation is counted from what stands around it
    again = compose(whole(cut)).value
    if not cut:
        assert again is None and scalar.text == ""
    else:
        assert isinstance(again, Scalar) and again.text == scalar.text


def libyaml_texts(text: str) -> list[str]:
    return [e.value for e in yaml.parse(text, Loader=yaml.CLoader) if isinstance(e, yaml.ScalarEvent)]


STYLES = st.sampled_from([None, "'", '"', "|", ">"])
WIDTHS = st.sampled_from([10, 40, 1000])


@given(TREES, STYLES, WIDTHS, st.booleans(), st.booleans())
def test_a_place_cuts_out_its_own_text(tree: object, style: str | None, width: int, flow: bool, unicode: bool) -> None:
    text = yaml.dump(
        tree, Dumper=yaml.CSafeDumper, default_style=style, width=width, default_flow_style=flow, allow_unicode=unicode
    )
    text = "".join(c for c in text if c not in "\u2028\u2029\u0085\ufeff") if unicode else text
    assume("!!" not in text)  # the dumper tags what it quotes
    outcome = compose(whole(text))
    assume(not outcome.diagnostics)
    for scalar in scalars(outcome.value):
        check_places(text, scalar)
        check_cut(text, scalar)


@given(FRAGMENTS)
def test_our_texts_are_libyaml_s(text: str) -> None:
    """The text of a scalar is read here from the source: libyaml reads the same."""
    outcome = compose(whole(text))
    assume(outcome.value is not None and not outcome.diagnostics)
    found = list(scalars(outcome.value))
    masked = readable(whole(text)).masked
    assert [readable(whole(s.text)).masked for s in found] == [readable(whole(t)).masked for t in libyaml_texts(masked)]
    for scalar in found:
        check_places(text, scalar)
        check_cut(text, scalar)


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "k 1", "é", "😀"]), TEXTS), max_size=5), st.sampled_from(
    ["", "> ", "- ", "  ", "> > ", "1. ", ">  - "]), st.sampled_from(["\n", "\r\n", "\r"]))  # fmt: skip
def test_places_lead_through_fences(pairs: list[tuple[str, str]], prefix: str, ending: str) -> None:
    """Whatever a fence stands in: the characters at the places are those of the text."""
    lines = ["```yaml"]
    for key, value in pairs:
        lines += [f"{key}: {yaml.dump(value, Dumper=yaml.CSafeDumper, default_style=chr(34), width=1000).strip()}"]
    lines += ["block: |", "  one", "", "  two", "```"]
    rest = prefix if ">" in prefix and "-" not in prefix else prefix.replace("-", " ").replace("1.", "  ")
    fence = ending.join((prefix if i == 0 else rest) + line for i, line in enumerate(lines))
    text = ending.join(["# 😀", "", "## Limits", "", fence, ""])
    document = parse(Source("c.md", text), Form.LITERATE).value
    block = document.part("limits").facts.get("block")
    assert block is not None and isinstance(block.value, Scalar) and block.value.text == "one\n\ntwo\n"
    for scalar in all_scalars(document):
        check_places(text, scalar)


@pytest.mark.parametrize("name", ["orders.md", "conduit.md"])
def test_the_examples_have_exact_places(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    found = list(all_scalars(parse(Source(name, text), Form.LITERATE).value))
    assert len(found) > 500
    for scalar in found:
        check_places(text, scalar)
        check_cut(text, scalar)
