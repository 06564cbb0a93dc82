"""The reference says what the table of functions says."""

from __future__ import annotations

from pathlib import Path

from ninefold.expressions.ast import DEEPEST
from ninefold.expressions.functions import MACROS, SPECIAL, TABLE, Overload
from ninefold.expressions.parse import LONGEST
from ninefold.sql.fragment import Fragment
from ninefold.sql.sqlite import SQLITE
from ninefold.values import Anything, Array, Boolean, Duration, Integer, Number, Object, Text, Timestamp, Type

PAGE = Path(__file__).parents[2] / "docs" / "expressions.md"
NAMES: dict[type, str] = {
    Boolean: "boolean",
    Integer: "integer",
    Number: "number",
    Text: "string",
    Timestamp: "date-time",
    Duration: "duration",
    Object: "object",
    Anything: "any",
}
BY_RELATIONS = {"size_array", "sum_integer", "distinct", "sort", "reverse", "first", "add_array"}
"""What `to_sql` makes of queries rather than of a function of the dialect."""


def name_of(type_: Type) -> str:
    if isinstance(type_, Array):
        return "array" if isinstance(type_.items, Anything) else f"array of {name_of(type_.items)}s"
    return NAMES[type(type_)]


def written(overload: Overload) -> str:
    names = "abcdef"[: len(overload.parameters)]
    if overload.style == "operator":
        return f"`{overload.name}a`" if len(names) == 1 else f"`a {overload.name} b`"
    if overload.style == "method":
        return f"`a.{overload.name}({', '.join(names[1:])})`"
    return f"`{overload.name}({', '.join(names)})`"


def is_in_sql(overload: Overload) -> bool:
    arguments = tuple(Fragment("?") for _ in overload.parameters)
    return overload.id in BY_RELATIONS or SQLITE.function(overload.id, arguments) is not None


def table_of_functions() -> str:
    """One line for each name and meaning; types that share them stand together."""
    lines: dict[tuple[str, str, str], list[str]] = {}
    for overload in TABLE:
        takes = ", ".join(map(name_of, overload.parameters)) or "nothing"
        gives = name_of(overload.gives(overload.parameters))
        key = (written(overload), overload.meaning, "yes" if is_in_sql(overload) else "request values only")
        lines.setdefault(key, []).append(f"{takes} → {gives}")
    rows = [f"| {text} | {'; '.join(types)} | {says} | {sql} |" for (text, says, sql), types in lines.items()]
    return "\n".join(["| written | types | meaning | in SQL |", "|---|---|---|---|", *rows])


def in_a_cell(text: str) -> str:
    return text.replace("|", "\\|")


def table_of_forms(forms: dict[str, str]) -> str:
    rows = [f"| `{in_a_cell(name)}` | {in_a_cell(says)} |" for name, says in forms.items()]
    return "\n".join(["| form | meaning |", "|---|---|", *rows])


def test_the_reference_prints_the_tables() -> None:
    page = PAGE.read_text()
    assert table_of_functions() in page, f"the table of functions is now:\n\n{table_of_functions()}"
    assert table_of_forms(dict(SPECIAL)) in page, table_of_forms(dict(SPECIAL))
    assert table_of_forms(dict(MACROS)) in page, table_of_forms(dict(MACROS))


def test_the_reference_names_the_bounds() -> None:
    page = PAGE.read_text()
    assert f"{LONGEST:,} characters" in page and f"{DEEPEST} deep" in page
