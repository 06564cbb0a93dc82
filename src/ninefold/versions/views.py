"""Views that showed something else."""

from __future__ import annotations

from dataclasses import replace

from ninefold.contract.versioning import Change
from ninefold.language.fact import Shown, value_of
from ninefold.language.resources import Resource
from ninefold.versions.way import Way


def change_view(way: Way, change: Change, resource: Resource, name: str) -> None:
    if not way.only(change, ("view",), "a view"):
        return
    if change.verb not in ("add", "change"):
        way.refuse(change, f"no caller sees that a view is called `{name}`", ("say what it showed: `view: …`",))
        return
    views = value_of(resource.views) or ()
    found = next((each for each in views if each.name == name), None)
    if change.verb == "change" and found is None:
        way.not_there(change, f"a view of `{resource.name}`", [f"{resource.name}.views.{each.name}" for each in views])
        return
    if change.verb == "add" and found is not None:
        way.taken(name, change.subject.span, f"a view of `{resource.name}` called", found.span)
        return
    if change.view is None:
        way.refuse(change, f"what `{change.subject.text}` showed is not said", ("write it beside: `view: …`",))
        return
    older = replace(change.view, name=name)
    kept = tuple(older if each is found else each for each in views) + (() if found is not None else (older,))

    def one(each: Resource) -> Resource:
        if each.name != resource.name:
            return each
        return replace(each, views=Shown(kept, older.span))

    way.with_resources(one)
