"""A proposal in its place: the newer document with the changes in part 9, and the lines that they want in part 5. What
else stands there stays as it is, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ninefold.diagnostics.diagnostic import Severity
from ninefold.diagnostics.source import Source, Span
from ninefold.diff.older import Proposal
from ninefold.diff.wording import NOT_SHOWN, Step, quoted
from ninefold.pipeline import Loaded, compile_document
from ninefold.syntax.edits import Edit, edited, insertion, line_break
from ninefold.syntax.nodes import NUMBERED_TITLES, Document, Entry, Mapping, Part
from ninefold.syntax.parser import Form, form_of


class NoPlace(Exception):
    """A proposal that has no place in a document; the message says why."""


def written(found: Proposal, new: Loaded) -> str:
    """The text of the document then. Raises NoPlace."""
    part = new.document.part("versioning")
    versions = part.facts.get("versions")
    if not part.facts.entries:
        edits = [_whole(found, new.document, part)]
    elif versions is None or not isinstance(versions.value, Mapping) or not found.has_versions:
        raise NoPlace("part 9 does not say how a request names a version, nor which there are")
    elif not found.is_named:
        raise NoPlace(f"its newest version is called `{found.name}`, as the older one is: give it a name of its own")
    else:
        edits = [*_changes(found, versions.value, new.source)]
    edits += _lines(found, new)
    text = edited(new.source.text, edits)
    wrong = [
        each.message
        for each in compile_document(new.source.name, text.encode()).diagnostics
        if each.code.severity is Severity.ERROR
    ]
    if wrong:
        raise NoPlace(f"with the changes in it would be an error: {wrong[0]}")
    return text


def _whole(found: Proposal, document: Document, part: Part) -> Edit:
    """Part 9, where it says none of it: in the place of the sentence that says so."""
    text = document.source.text
    is_plain = form_of(document.source.name, text) is Form.PLAIN
    lines = [f"  {line}" for line in found.block()] if is_plain else ["```yaml", *found.block(), "```"]
    block, break_ = line_break(text).join(lines), line_break(text)
    if part.statement is not None:
        span = part.statement.span
        return Edit(Span(part.place.end, span.end), f":{break_}{block}") if is_plain else Edit(span, block)
    if part.present:
        return insertion(_end_of_line(document.source, part.place), f"{break_}{'' if is_plain else break_}{block}")
    heading = f"{part.name}:" if is_plain else f"## {NUMBERED_TITLES[part.number - 1]}{break_}"
    lead = "" if text.endswith(break_) else break_
    return insertion(len(text), f"{lead}{'' if is_plain else break_}{heading}{break_}{block}{break_}")


def _changes(found: Proposal, versions: Mapping, source: Source) -> Iterator[Edit]:
    steps = found.kept.steps
    entry, above = versions.get(found.name), versions.get(found.above)
    assert above is not None
    if entry is None:
        name = f'"{found.name}"'
        if _is_flow(source, versions.span):
            yield insertion(above.value.span.end, f", {name}: {{changes: {_flow(steps)}}}")
        else:
            indent = _column(source, above)
            yield insertion(
                _end_of_line(source, above.value.span),
                f"\n{indent}{name}:\n{indent}  changes:{_block(steps, indent + '    ')}",
            )
        return
    changes = entry.value.get("changes") if isinstance(entry.value, Mapping) else None
    if not isinstance(entry.value, Mapping) or not entry.value.entries:
        yield Edit(entry.value.span, f"{{changes: {_flow(steps)}}}")
    elif changes is None and _is_flow(source, entry.value.span):
        yield insertion(entry.value.entries[0].key.span.start, f"changes: {_flow(steps)}, ")
    elif changes is None:
        indent = _column(source, entry.value.entries[0])
        yield insertion(entry.value.entries[0].key.span.start, f"changes:{_block(steps, indent + '  ')}\n{indent}")
    else:
        yield Edit(changes.value.span, _flow(steps))


def _lines(found: Proposal, new: Loaded) -> Iterator[Edit]:
    """Of part 5."""
    stated = new.document.part("authentication").facts.get("permissions")
    if not found.lines:
        return
    if stated is None or not isinstance(stated.value, Mapping) or not stated.value.entries:
        raise NoPlace("part 5 has no list of permissions, in which endpoints that are added would have a line")
    last, lines = stated.value.entries[-1], [f"{quoted(key)}: {line or NOT_SHOWN}" for key, line in found.lines.items()]
    if _is_flow(new.source, stated.value.span):
        yield insertion(last.value.span.end, "".join(f", {line}" for line in lines))
    else:
        indent = _column(new.source, last)
        yield insertion(_end_of_line(new.source, last.value.span), "".join(f"\n{indent}{line}" for line in lines))


def _flow(steps: Sequence[Step]) -> str:
    return f"[{', '.join(each.written() for each in steps)}]" if steps else "none"


def _block(steps: Sequence[Step], indent: str) -> str:
    lines = (f"\n{indent}- {each.written()}" + (f"   # {each.note}" if each.note else "") for each in steps)
    return "".join(lines) or " none"


def _is_flow(source: Source, span: Span) -> bool:
    return source.text[span.start : span.start + 1] in ("{", "[")


def _column(source: Source, entry: Entry) -> str:
    return " " * (source.place(entry.key.span.start).column - 1)


def _end_of_line(source: Source, span: Span) -> int:
    """Of the last line on which something of it stands."""
    last = span.start + len(source.text[span.start : span.end].rstrip())
    end = source.text.find("\n", last)
    return len(source.text) if end < 0 else end - (source.text[end - 1] == "\r")
