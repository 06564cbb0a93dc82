"""No comment is lost, wherever it stands, and none changes what is made of a contract."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.slices import some

from ninefold.diagnostics.source import Source
from ninefold.syntax.nodes import NUMBERED_TITLES, Document, Mapping, Node, Scalar, Sequence, Style
from ninefold.syntax.parser import form_of, parse
from ninefold.syntax.scalars import quoted
from ninefold.tools.fix.fix import fixed

OLD = sorted((Path(__file__).parent / "old").glob("*/contract.*"))
_LINE = re.compile(r"[^\n]*\n")
_PREFIX = re.compile(r"[ >]*")


def read(name: str, text: str) -> tuple[Document, tuple[object, ...]]:
    """With its facts as plain values, and the codes of what is wrong with how it is written."""
    outcome = parse(Source(name, text), form_of(name, text))
    codes = sorted(str(each.code) for each in outcome.diagnostics)
    return outcome.value, (codes, [plain(part.facts) for part in outcome.value.parts])


def plain(node: Node) -> object:
    match node:
        case Scalar():
            return node.text
        case Sequence():
            return [plain(item) for item in node.items]
        case Mapping():
            return [(entry.name, plain(entry.value)) for entry in node.entries]


def in_blocks(document: Document) -> str:
    """The same facts as a Markdown document without braces or brackets: each key and each item has its own line, and
    those of a part begin theirs."""
    text = document.source.text

    def lines(node: Node, indent: str) -> list[str]:
        """Of a scalar or of what is empty, what follows a colon or a dash; else the lines below it."""
        match node:
            case Scalar():
                within = text[node.span.start : node.span.end]
                is_one_line = node.style not in (Style.LITERAL, Style.FOLDED) and "\n" not in within
                return [within if is_one_line else quoted(node.text)]
            case Mapping(entries=entries) if entries:
                keys = ((text[each.key.span.start : each.key.span.end], each.value) for each in entries)
                return [line for key, value in keys for line in below(f"{indent}{key}:", value, indent)]
            case Sequence(items=items) if items:
                return [line for each in items for line in below(f"{indent}-", each, indent)]
        return ["{}" if isinstance(node, Mapping) else "[]"]

    def below(before: str, node: Node, indent: str) -> list[str]:
        tag = " !proposed" if node.proposed else ""
        inner = lines(node, indent + "  ")
        if isinstance(node, Scalar) or inner in (["{}"], ["[]"]):
            return [f"{before}{tag} {inner[0]}".rstrip()]
        return [before + tag, *inner]

    parts = zip(NUMBERED_TITLES, document.parts, strict=True)
    told = (f"## {title}\n\n```yaml\n{chr(10).join(lines(part.facts, ''))}\n```\n" for title, part in parts)
    return "# A contract\n\n" + "\n".join(each.replace("```yaml\n{}\n```\n", "Nothing.\n") for each in told)


def commented(name: str, text: str) -> str:
    """The contract with a comment above each line, and behind each, where that leaves its facts as they are."""
    document, facts = read(name, text)
    held = [part.facts.span for part in document.parts if part.facts.entries]
    lines = [(each.start(), each[0]) for each in _LINE.finditer(text)]
    within = [any(span.start <= at <= span.end for span in held) for at, _ in lines]

    def with_comments(chosen: dict[int, str]) -> str:
        said = []
        for number, (_, line) in enumerate(lines):
            prefix = _PREFIX.match(line)
            above, behind = f"{prefix[0] if prefix else ''}# above {number}.\n", f"{line[:-1]} # behind {number}.\n"
            which = chosen.get(number, "")
            said.append((above if "above" in which else "") + (behind if "behind" in which else line))
        return "".join(said)

    def grown(numbers: list[int], which: str, so_far: dict[int, str]) -> dict[int, str]:
        """As many as leave the facts, halved where one does not."""
        if not numbers:
            return so_far
        more = {**so_far, **{number: so_far.get(number, "") + which for number in numbers}}
        if read(name, with_comments(more))[1] == facts:
            return more
        if len(numbers) == 1:
            return so_far
        half = len(numbers) // 2
        return grown(numbers[half:], which, grown(numbers[:half], which, so_far))

    numbers = [number for number, inside in enumerate(within) if inside]
    return with_comments(grown(numbers, "behind", grown(numbers, "above", {})))


@pytest.mark.long
@pytest.mark.parametrize("layout", ["as it is", "in blocks"])
@pytest.mark.parametrize("path", some(OLD, 4), ids=lambda path: path.parent.name)
def test_each_comment_stays(path: Path, layout: str) -> None:
    name, text = path.name, path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    if layout == "in blocks":
        before = read(name, text)
        name, text = "contract.md", in_blocks(before[0])
        assert read(name, text)[1] == before[1]
    plainly = fixed(read(name, text)[0]).text
    with_them = commented(name, text)
    written = set(re.findall(r"# (?:above|behind) \d+\.", with_them))
    result = fixed(read(name, with_them)[0]).text
    assert written <= set(re.findall(r"# (?:above|behind) \d+\.", result))
    assert read(name, result)[1] == read(name, plainly)[1]
    assert fixed(read(name, result)[0]).text == result
