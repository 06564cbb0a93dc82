"""Part 1: what the service does, in prose. It has no keys: its prose is its fact."""

from __future__ import annotations

from textwrap import dedent

from ninefold.diagnostics.frozen import dataclass
from ninefold.language.fact import Fact, Shown
from ninefold.language.reading import Reading, spoken
from ninefold.syntax.nodes import Part


@dataclass(frozen=True, slots=True)
class Purpose:
    """The prose of part 1."""

    text: Fact[str] | None


def purpose(r: Reading, part: Part) -> Purpose:
    said = spoken(part)
    for entry in part.facts.entries:
        r.unknown(entry.key, "", (), ("the purpose is prose; facts stand in the parts below",))
    if said is not None or not part.prose:
        return Purpose(said)
    text = "\n\n".join(r.document.source.cut(span).strip() for span in part.prose)
    if r.document.source.cut(part.place) == "purpose":
        text = written_out(text)
    return Purpose(Shown(text, part.prose[0].to(part.prose[-1])))


def written_out(scalar: str) -> str:
    """The words of a YAML scalar (the plain form's purpose): without its quotes, or its block's first line."""
    if scalar[:1] in ("|", ">"):
        return dedent(scalar.partition("\n")[2]).strip()
    quoted = len(scalar) > 1 and scalar[0] == scalar[-1] and scalar[0] in ("'", '"')
    return scalar[1:-1] if quoted else scalar
