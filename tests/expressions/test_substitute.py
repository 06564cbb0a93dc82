"""One expression in the place of a root of another."""

from __future__ import annotations

from ninefold.expressions.tree import Call, Comprehension, Select, Typed, Variable, substitute, walk
from ninefold.values import Array, Boolean, Integer, Object, Row, Text

TAGS = Object(members={}, others=Integer())


def test_a_variable_that_is_called_otherwise_keeps_its_types() -> None:
    """Of arrays, of objects whose members have a type, and of rows; the place of an item as well."""
    of: list[tuple[Typed, str, object, object]] = [
        (Variable("texts", Array(items=Text())), "place", Text(), Integer()),
        (Variable("tags", TAGS), "name", Integer(), Text()),
        (Variable("rows", Array(items=Row(resource="note"))), "place", Row(resource="note"), Integer()),
    ]
    for range_, _, item, place in of:
        assert isinstance(item, Integer | Text | Row) and isinstance(place, Integer | Text)
        body = Call(
            "&&",
            [Call("==", [Variable("x", item), Variable("free", item)], Boolean()), Variable("p", place)],
            Boolean(),
        )
        macro = Comprehension("exists", range_, "x", body, Boolean(), condition=Variable("x", item), place="p")
        wanted = Select(Call("+", [Variable("x", Text()), Variable("p", Text())], Text()), "of", item)
        found = substitute(macro, "free", wanted)
        assert isinstance(found, Comprehension)
        assert (found.variable, found.place) == ("x'", "p'")
        types = {each.name: each.type for part in (found.body, found.condition) if part for each in walk(part)
                 if isinstance(each, Variable)}  # fmt: skip
        assert types == {"x'": item, "p'": place, "x": Text(), "p": Text()}
