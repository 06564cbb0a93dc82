"""Terms: expressions that part 2 names, put where the names stand.

A term means its expression wherever another reads its name, with what can be read *there*: it is no function, and has
no row of its own. A term reads only those that are written before it, so that there are no circles.
"""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.ast import names_of
from ninefold.language.codes import SAME_NAME, TERM_TOO_EARLY
from ninefold.language.expressions import ANY, expression
from ninefold.language.fact import Name
from ninefold.language.identifiers import RESOURCE_NAMES, declare
from ninefold.language.reading import Reading, Slot, Term
from ninefold.syntax.nodes import Part, Scalar


def terms(r: Reading, part: Part) -> None:
    """Reads the terms of part 2, each with those before it spelled out. From here on every expression knows them."""
    entry = part.facts.get("terms")
    if entry is None or (
        isinstance(entry.value, Scalar) and (entry.value.says("none") or entry.value.says("not shown"))
    ):
        return
    level = r.level(entry.value, 2, "terms", "terms")
    resources = {each.name: each.key for each in part.facts.entries}
    later = {each.name: each.key for each in level.named if each.name not in resources}
    for each in level.named:
        if isinstance(each.value, Scalar) and each.value.says("none"):
            continue
        declare(r, each.key, "a term", RESOURCE_NAMES)
        if each.name in resources:
            labels = Label(each.key.span, "again"), Label(resources[each.name].span, "first here")
            r.say(SAME_NAME, f"`{each.name}` is the name of a resource already", *labels)
            continue
        proposed = each.proposed or each.value.proposed or entry.proposed or entry.value.proposed
        gap = (proposed and not r.accept) or (isinstance(each.value, Scalar) and each.value.says("not shown"))
        found = None if gap else expression(r, each.value, Slot(each.name, ANY))
        early = [] if found is None else names_of(found.ast, later)
        for name in early:
            assert found is not None
            message = f"`{each.name}` reads the term `{name.name}`, which is not written before it"
            labels = Label(found.written.part(name.start, name.end)), Label(later[name.name].span, "is here")
            r.say(TERM_TOO_EARLY, message, *labels)
        del later[each.name]
        r.terms[each.name] = Term(
            Name(each.name, each.key.span), None if found is None or early else found.ast, each.value.span
        )
