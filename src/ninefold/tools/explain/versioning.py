"""Part 9: versioning."""

from __future__ import annotations

from ninefold.contract.versioning import Version, VersionScheme
from ninefold.language.expressions import Expression
from ninefold.language.fact import Name, value_of
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds


def asked(g: Grounds) -> list[Item]:
    """How a request says which version it wants, and which there are."""
    facts = g.contract.versioning
    items = g.fact("scheme", facts.scheme, _scheme, whole=True)
    if facts.default is not facts.scheme:
        items += g.fact("default", facts.default, _default, whole=True)
    if facts.versions is not facts.scheme:
        versions = value_of(facts.versions) or ()
        items += [_version(g, each, number) for number, each in enumerate(versions)] or g.fact(
            "versions", facts.versions
        )
    return items


def _default(default: Name | Expression) -> str:
    if isinstance(default, Name):
        return f"a request that names no version asks for `{default.text}`"
    return f"a request that names no version asks for the one that `{default.text}` gives, of who calls"


def _scheme(scheme: VersionScheme) -> str:
    match scheme.by:
        case "path":
            return "the version stands at the front of the path"
        case "query":
            return f"the version is asked for by the query parameter `{scheme.name}`"
        case "media type":
            return f"the version is asked for by the parameter `{scheme.name}` of the media type"
        case _:
            return f"the version is asked for by the header `{scheme.name}`"


def _version(g: Grounds, own: Version, number: int) -> Item:
    facts = g.fact("deprecated", own.deprecated, str) + g.fact("sunset", own.sunset, str)
    facts += g.fact("retired", own.retired, str)
    changes = value_of(own.changes)
    if changes is None:
        facts += g.fact("the way back to it", own.changes)
    facts += [g.item(g.written(each.node.span), each.node.span) for each in changes or ()]
    return g.together(f"the version `{own.name}`{', the newest' if number == 0 else ''}", own.span, facts)


def part(g: Grounds) -> list[Item]:
    facts = g.contract.versioning
    items = asked(g)
    return items if facts.compatible is facts.scheme else items + g.names("compatible changes", facts.compatible)
