"""The keys of part 4 by which a request chooses of what is shown."""

from __future__ import annotations

from ninefold.language.key import Key, adds, asked
from ninefold.language.shapes import MappingOf, Members, Name, Names, OneOf, Template, Word

_WRITTEN = Word(("repeated", "comma separated"))
_HOW = "How several names are given: the parameter is repeated, or its value has commas."
_ONE = "The parameter gives one name."
_GAP = "A gap: E is not served."


def chosen(part: int, path: str, question: str) -> tuple[Key, ...]:
    """The rows of `projection` and `expand` under `path`. `question` asks for what they cannot do without."""
    projection, expand = f"{path}.projection", f"{path}.expand"
    return (
        adds(
            part,
            projection,
            Members(),
            "The caller chooses which members of a row are shown.",
            "All members are shown.",
        ),
        asked(
            part,
            f"{projection}.parameter",
            Name("a query parameter"),
            question,
            "The query parameter that names the members to show. Where it is not given all are shown.",
            _GAP,
        ),
        asked(
            part,
            f"{projection}.offered",
            Names("a member of what is shown of a row"),
            question,
            "The members that can be named.",
            _GAP,
        ),
        adds(
            part,
            f"{projection}.always",
            Names("a member of what is shown of a row"),
            "Members that are shown whatever is named.",
            "Only what is named is shown.",
        ),
        adds(part, f"{projection}.written", _WRITTEN, _HOW, _ONE),
        adds(
            part,
            expand,
            Members(),
            "References are shown as rows where a request asks for it.",
            "What is shown is the same for every request.",
        ),
        asked(
            part,
            f"{expand}.parameter",
            Name("a query parameter"),
            question,
            "The query parameter that names what is to be shown as rows.",
            _GAP,
        ),
        asked(
            part,
            f"{expand}.offered",
            OneOf((Names("a reference"), MappingOf("names to what is shown"))),
            question,
            "What can be asked for: references, each shown as its whole row; or names, each with what is shown.",
            _GAP,
        ),
        adds(
            part,
            f"{expand}.offered.NAME",
            Template(),
            "What is shown under that name: a view applied to the reference, a template, or the resource that the "
            "reference leads to, for its whole row.",
            "It cannot be asked for.",
        ),
        adds(part, f"{expand}.written", _WRITTEN, _HOW, _ONE),
    )
