"""Part 2 as components: the shared types, and the rows and views that some response shows."""

from __future__ import annotations

from collections.abc import Iterator

from ninefold.checked.contents import Array, Choice, Content, Each, Leaf, Object, Rows
from ninefold.tools.openapi.schemas import component, members, stated, type_name, within
from ninefold.tools.openapi.service import Json, Service


def components(service: Service) -> Json:
    """Schemas by name: those of rows and views as responses show them, and those that fields share."""
    schemas: Json = {}
    for endpoint in service.endpoints:
        ends = endpoint.checked.operation.ends_well
        for content in (end.content for end in ends if end.content is not None):
            for each in _named(content):
                name = component(each.named or "")
                if name not in schemas:
                    schemas[name] = members(each, service)
    for name, shared in service.checked.types.items():
        schemas[component(type_name(name, service))] = within(shared, lambda each: stated(each, service))
    return schemas


def _named(content: Content) -> Iterator[Object]:
    match content:
        case Object(members=inside, expanded=asked):
            if content.named is not None:
                yield content
            for _, each in (*inside, *asked):
                yield from _named(each)
        case Array(items=items):
            for each in items:
                yield from _named(each)
        case Rows(item=item) | Each(item=item):
            yield from _named(item)
        case Choice(yes=yes, no=no):
            yield from _named(yes)
            yield from _named(no)
        case Leaf():
            pass
