"""The literate form: Markdown whose `##` headings are the nine parts, whose `yaml` blocks are the facts, and in which a
sentence can speak for a whole part: `<any words>: none.` and `<any words>: not shown.`"""

from __future__ import annotations

import re
from dataclasses import field

from ninefold.diagnostics import regex
from ninefold.diagnostics.codes import (
    DUPLICATE_KEY,
    FACTS_IN_HTML,
    FACTS_OUTSIDE,
    HEADING_DISAGREES,
    HEADING_LEVEL,
    INFO_STRING,
    NEARLY_A_STATEMENT,
    NO_LANGUAGE,
    NO_TITLE,
    NOT_A_MAPPING,
    PART_TWICE,
    STATEMENT_BESIDE_FACTS,
    TWO_STATEMENTS,
    UNKNOWN_HEADING,
)
from ninefold.diagnostics.diagnostic import Diagnostic, Label, Outcome
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Source, Span
from ninefold.diagnostics.suggest import did_you_mean, nearest
from ninefold.syntax.markdown import Fence, HeadingBlock, Html, Indented, Paragraph, blocks_of
from ninefold.syntax.nodes import (
    NUMBERED_TITLES,
    PARTS,
    TITLES,
    TOLD_IN,
    Document,
    Entry,
    Mapping,
    Part,
    Scalar,
    Statement,
    Word,
    heading,
)
from ninefold.syntax.yaml import compose, proposal

_STATEMENT = regex.compile(r"(\S.*):\s+(none|not\s+shown)\s*\.?", re.DOTALL)
_SENTENCE_END = regex.compile(r"[.!?]\s+")
_NEARLY = regex.compile(r"(\S.*?)(?::\s*|\s[–—-]\s+)(none|not\s+shown)\s*[.!]?", re.DOTALL | re.IGNORECASE)
_EMPHASIS = str.maketrans("", "", "*_`")
_INVISIBLE = "\u200b\u2060\ufeff"
_SIGNS = regex.compile(rf"[\s{_INVISIBLE}]*([#＃]+)[\s{_INVISIBLE}]*(.*?)[#＃\s]*")
_NUMBERED_ITEM = regex.compile(r"\d{1,9}[.)]\s.*")
_UNDERLINE = regex.compile(r"\s{0,3}(?:-{2,}|={2,})\s*")
_IN_HTML = regex.compile(r"<(h[1-6])\b[^<>]{0,200}>([^<]{0,200})</\1\s{0,9}>", re.IGNORECASE)
_LONGEST_HEADING = 200


def statement(paragraph: Paragraph) -> Statement | None:
    """What a paragraph says for its part, if it does. The words before the colon are not two sentences; the
    final period may be left out."""
    found = _STATEMENT.fullmatch(_without_comments(paragraph.text).strip())
    if found is None or not paragraph.top or _SENTENCE_END.search(found[1]):
        return None
    return Statement(Word.NONE if found[2] == "none" else Word.NOT_SHOWN, paragraph.span)


def nearly_a_statement(paragraph: Paragraph) -> Diagnostic | None:
    """A warning about a paragraph that looks like a statement and is none."""
    text = _without_comments(paragraph.text).translate(_EMPHASIS).strip()
    if len(text) > 2000:
        return None
    found = _NEARLY.fullmatch(text)
    if found is None:
        return None
    words = _SENTENCE_END.split(found[1])[-1].strip(" :")
    corrected = f"{words}: {' '.join(found[2].lower().split())}."
    return Diagnostic(
        NEARLY_A_STATEMENT,
        "a sentence is nearly, but not, a statement about its part",
        (Label(paragraph.span, "read as prose"),),
        (f"as a paragraph of its own: `{corrected}`",),
    )


def nearly_a_heading(line: str) -> int | None:
    """The part whose heading a line of prose would be, if `#` stood before a space there: `##3. States`."""
    signs = _SIGNS.fullmatch(line) if len(line) <= _LONGEST_HEADING else None
    named = heading(signs[2]) if signs else None
    # `#3 is the third` is a sentence.
    return named.part if signs and named and (len(signs[1]) > 1 or named.by_name) else None


def named_alone(text: str) -> int | None:
    """The part of which a text is the name, with its number and emphasis or without: `**3. States**`."""
    named = heading(text.translate(_EMPHASIS)) if len(text) <= _LONGEST_HEADING else None
    return named.part if named and named.by_name else None


def _without_comments(text: str) -> str:
    kept: list[str] = []
    at = 0
    while (opening := text.find("<!--", at)) >= 0 and (closing := text.find("-->", opening + 4)) >= 0:
        kept.append(text[at:opening])
        at = closing + 3
    return "".join(kept) + text[at:]


_FACTS = (["yaml"], ["yml"])
_PROPOSED_FACTS = (["yaml", "proposed"], ["yml", "proposed"])
_MOST_HINTS = 500
_YAML_FENCE = regex.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*ya?ml\b[^\r\n]*", re.MULTILINE | re.IGNORECASE)
_KEY_AND_TEXT = regex.compile(r"([^\s:]+):([^\s:/].*)")


@dataclass(slots=True)
class _Section:
    """A part while its blocks come in."""

    number: int
    place: Span
    entries: list[Entry] = field(default_factory=list)
    given: dict[str, Span] = field(default_factory=dict)
    statement: Statement | None = None
    prose: list[Span] = field(default_factory=list)
    blocks: list[Span] = field(default_factory=list)


def literate(source: Source) -> Outcome[Document]:
    """A Markdown document as a contract."""
    blocks, diagnostics = blocks_of(source)
    reader = _Literate(source, diagnostics)
    for block in blocks:
        match block:
            case HeadingBlock():
                reader.heading(block)
            case Fence():
                reader.fence(block)
            case Paragraph():
                reader.paragraph(block)
            case Html():
                reader.html(block)
            case Indented(span):
                reader.no_language(span)
    return Outcome(reader.document(), tuple(reader.diagnostics))


class _Literate:
    """A document while its blocks come in."""

    def __init__(self, source: Source, diagnostics: list[Diagnostic]) -> None:
        self.source = source
        self.diagnostics = diagnostics
        self.alone: list[tuple[int, Span]] = []  # the names of parts that stand alone as prose
        self.title: HeadingBlock | None = None
        self.sections: dict[int, _Section] = {}
        self.section: _Section | None = None
        self.outside: HeadingBlock | None = None  # the heading above, if it names no part

    def report(self, diagnostic: Diagnostic) -> None:
        self.diagnostics.append(diagnostic)

    def wrong_level(self, block: HeadingBlock, words: str) -> None:
        help = (f"write `## {' '.join(block.text.split())}`",)
        self.report(
            Diagnostic(HEADING_LEVEL, "a part's heading has the wrong level", (Label(block.span, words),), help)
        )

    def heading(self, block: HeadingBlock) -> None:
        named = heading(block.text)
        if block.level > 2:
            if named.by_number and named.by_number == named.by_name:
                self.wrong_level(block, "a heading below those of the parts")
            return
        if block.level == 1:
            numbered = named.by_number is not None and named.by_name is not None
            if self.title is None:
                self.title = block
            self.section, self.outside = None, block
            if named.part and (numbered or self.title is not block):
                self.wrong_level(block, "a heading of the first level")
            return
        if not named.part:
            self.section, self.outside = None, block
            self.unknown(block)
            return
        self.outside = None
        number = named.part
        if named.disagrees:
            right = NUMBERED_TITLES[number - 1]
            label = Label(block.span, f"named like part {number}, and numbered otherwise")
            help = (f"write `## {right}`",)
            self.report(Diagnostic(HEADING_DISAGREES, "the number and the name of a heading disagree", (label,), help))
        first = self.sections.get(number)
        if first is not None:
            labels = (Label(block.span, "given again here"), Label(first.place, "given here first"))
            self.report(Diagnostic(PART_TWICE, f"part {number}, `{TITLES[number - 1]}`, has two headings", labels))
        self.section = first or _Section(number, block.span)
        self.sections[number] = self.section

    def nearly_a_heading(self, number: int, span: Span) -> None:
        label, help = Label(span, "read as prose"), (f"write `## {NUMBERED_TITLES[number - 1]}`",)
        self.report(Diagnostic(HEADING_LEVEL, "a line is nearly, but not, a part's heading", (label,), help))

    def looks_like_headings(self, block: Paragraph) -> bool:
        """Whether lines of a paragraph are nearly headings. One that is the name of a part is a heading only where the
        part has no other."""
        lines = block.text.split("\n")
        found = [(line.strip(), number) for line in lines if (number := nearly_a_heading(line))]
        at = block.span.start
        for text, number in found:
            begin = max(self.source.text.find(text, at, block.span.end), at)
            at = begin + len(text)
            self.nearly_a_heading(number, Span(begin, at))
        number = None if found else named_alone(lines[0])
        if number and (self.is_underlined(block, lines) if not block.top else len(lines) == 1):
            self.alone.append((number, block.span))
        return bool(found)

    def is_underlined(self, block: Paragraph, lines: list[str]) -> bool:
        """`3. States` is an item of a list, also above a line that would make another text a heading."""
        first = self.source.place(block.span.start).line
        if not _NUMBERED_ITEM.fullmatch(self.source.line(first).strip()):
            return False
        return len(lines) <= 2 and bool(_UNDERLINE.fullmatch(self.source.line(first + 1)))

    def unknown(self, block: HeadingBlock) -> None:
        text = " ".join(block.text.split())
        shown = text if len(text) <= 60 else text[:60] + "…"
        # A document of nothing but such headings is one mistake, and names are not sought for each of them.
        few = len(self.diagnostics) < _MOST_HINTS
        found = nearest(text, (*NUMBERED_TITLES, *TITLES, *PARTS)) if few else None
        number = heading(found).part if found else None
        help = did_you_mean(NUMBERED_TITLES[number - 1], NUMBERED_TITLES) if number else ()
        if told_in := TOLD_IN.get(text.casefold().strip(".:*_` ")):
            help = (f"that belongs to part {told_in}: `## {NUMBERED_TITLES[told_in - 1]}`",)
        label = Label(block.span, "what stands below it states nothing")
        self.report(Diagnostic(UNKNOWN_HEADING, f"`{shown}` is none of the nine parts", (label,), help))

    def fence(self, block: Fence) -> None:
        words = block.info.split()
        proposed = words in _PROPOSED_FACTS
        if words in _FACTS or proposed:
            self.facts(block, proposed)
            return
        if self.section is None or self.section.number == 1:
            return
        if not words:
            self.no_language(block.opening)
        elif words[0].lower().strip("{}.,:;") in ("yaml", "yml"):
            right = "yaml proposed" if len(words) > 1 and nearest(words[1], ("proposed",)) else "yaml"
            label = Label(block.opening, "read as an example")
            message = f"a block fenced `{block.info}` states nothing"
            self.report(Diagnostic(INFO_STRING, message, (label,), (f"facts are fenced `{right}`",)))

    def no_language(self, span: Span) -> None:
        if self.section is not None and self.section.number > 1:
            label = Label(span, "read as an example")
            message = "a block of no language states nothing"
            self.report(Diagnostic(NO_LANGUAGE, message, (label,), ("facts are fenced `yaml`",)))

    def facts(self, block: Fence, proposed: bool) -> None:
        section = self.section
        if section is None:
            # Below a heading that names no part, the heading is the mistake, and has its diagnostic.
            if self.outside is None or self.outside is self.title:
                label = Label(block.opening, "below no heading of a part")
                self.report(Diagnostic(FACTS_OUTSIDE, "facts stand outside every part", (label,)))
            return
        section.blocks.append(block.span)
        outcome = compose(block.excerpt)
        self.diagnostics += outcome.diagnostics
        root = outcome.value
        if root is None:
            return
        if not isinstance(root, Mapping):
            self.not_a_mapping(section, root.span, root if isinstance(root, Scalar) else None)
            return
        for entry in (proposal(root) if proposed else root).entries:  # type: ignore[union-attr]
            first = section.given.setdefault(entry.name, entry.key.span)
            if first is entry.key.span:
                section.entries.append(entry)
            else:
                labels = (Label(entry.key.span, "given again here"), Label(first, "given here first"))
                self.report(Diagnostic(DUPLICATE_KEY, f"the key `{entry.name}` is given twice", labels))

    def not_a_mapping(self, section: _Section, span: Span, scalar: Scalar | None) -> None:
        help: tuple[str, ...] = ()
        if scalar is not None:
            found = _KEY_AND_TEXT.fullmatch(scalar.text)
            if scalar.says("none") or scalar.says("not shown"):
                help = (f"as a paragraph outside the block: `{TITLES[section.number - 1]}: {scalar.text}.`",)
            elif found:
                help = (f"write `{found[1]}: {found[2]}`",)
        label = Label(span, "no key and value" if scalar else "a list")
        self.report(Diagnostic(NOT_A_MAPPING, "the facts of a part are not a mapping", (label,), help))

    def paragraph(self, block: Paragraph) -> None:
        section = self.section
        if self.looks_like_headings(block) and section is not None:
            section.prose.append(block.span)
            return
        if section is None:
            return
        said = statement(block)
        if said is None:
            section.prose.append(block.span)
            nearly = nearly_a_statement(block)
            if nearly is not None:
                self.report(nearly)
        elif section.statement is None:
            section.statement = said
        else:
            labels = (Label(said.span, "and again here"), Label(section.statement.span, "spoken for here first"))
            self.report(Diagnostic(TWO_STATEMENTS, "a part is spoken for twice", labels))

    def html(self, block: Html) -> None:
        for inside in () if block.text.startswith("<!--") else _IN_HTML.finditer(block.text):
            if number := named_alone(inside[2]):
                begin = block.span.start + inside.start()
                self.alone.append((number, Span(begin, block.span.start + inside.end())))
        found = _YAML_FENCE.search(block.text)
        if self.section is not None and found and not block.text.startswith("<!--"):
            at = block.span.start + found.start()
            label = Label(Span(at, block.span.start + found.end()), "read as HTML, not as a block")
            help = ("leave an empty line between the tag and the block",)
            self.report(Diagnostic(FACTS_IN_HTML, "a block stands inside HTML and states nothing", (label,), help))

    def document(self) -> Document:
        for number, span in self.alone:
            if number not in self.sections:
                self.nearly_a_heading(number, span)
        if self.title is None:
            label = Label(Span(0, 0), "no heading of the first level")
            help = ("begin with `# Name of the service`",)
            self.report(Diagnostic(NO_TITLE, "the document has no title", (label,), help))
        title_span = self.title.span if self.title else Span(0, 0)
        title = " ".join(self.title.text.split()) if self.title else ""
        parts = tuple(self.part(number, title_span) for number in range(1, len(PARTS) + 1))
        return Document(self.source, title, title_span, parts)

    def part(self, number: int, title: Span) -> Part:
        name = PARTS[number - 1]
        section = self.sections.get(number)
        if section is None:
            return Part(number, name, title, False, Mapping(title, ()), None, ())
        said = section.statement
        entries = tuple(section.entries)
        proposals_alone = all(entry.proposed for entry in entries)
        if said is not None and entries and not (said.word is Word.NOT_SHOWN and proposals_alone):
            labels = (Label(said.span, "said here"), Label(entries[0].span, "and shown here"))
            message = f"a part says `{said.word.value}` beside its facts"
            self.report(Diagnostic(STATEMENT_BESIDE_FACTS, message, labels))
            said = None
        span = entries[0].span.to(entries[-1].span) if entries else section.place
        facts = Mapping(span, entries, bool(entries) and proposals_alone)
        return Part(number, name, section.place, True, facts, said, tuple(section.prose), tuple(section.blocks))
