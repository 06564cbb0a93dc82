"""Every part of a response comes from somewhere: its status, each header and each member of its body has a cause, each
line of the contract that is named is there, and has something on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import httpx

from ninefold.pipeline import Loaded
from ninefold.tools.explain.explanation import all_items
from ninefold.tools.explain.render import to_text
from ninefold.tools.explain.traced import explain_response
from ninefold.trace.attribution import attribution
from ninefold.trace.causes import Attribution, Cause, Member, Stated
from ninefold.trace.causes import Path as MemberPath
from ninefold.trace.identifier import HEADER, LONGEST
from ninefold.trace.nodes import header_names

OF_CONNECTIONS: Final = frozenset({"connection"})
"""Whether a connection goes on is for its two ends, and no part of a response (RFC 9110, section 7.6.1)."""


def problems(loaded: Loaded, response: httpx.Response) -> Iterator[str]:
    """What of a response nothing accounts for."""
    assert loaded.plan is not None
    text = response.headers.get(HEADER)
    if text is None:
        yield "no identifier"
        return
    if len(text) > LONGEST:
        yield f"an identifier of {len(text)} characters"
    found = attribution(loaded.plan, text)
    if found.status != response.status_code:
        yield f"another status, {found.status}"
    if not found.causes:
        yield "the status has no cause"
    for each in found.refusals:
        if not each.causes:
            yield f"the refusal {each.condition} has no cause"
        if (each.where == "row" or each.rule == "stored") and not any(isinstance(c, Stated) for c in each.causes):
            yield f"no line gives what is refused by {each.rule}"
    of_headers = {each.name: each for each in found.headers}
    for name in response.headers:
        header = of_headers.get(name.lower())
        if name not in OF_CONNECTIONS | {HEADER.lower()} and (header is None or not header.causes or not header.value):
            unnamed = name.lower() not in header_names(loaded.plan)
            yield f"the header {name} has no " + ("name: `_names` of trace/nodes.py" if unnamed else "cause")
    if response.content:
        if "json" in response.headers["content-type"]:
            yield from unaccounted(response.json(), (), found.members)
        elif not found.members:
            yield "the body has no cause"
    elif found.members and response.request.method != "HEAD":
        yield "members of a body that is not there"
    for cause in every_cause(found):
        yield from not_there(loaded, cause)
    page = explain_response(loaded, found)
    if not list(all_items(page)) or str(response.status_code) not in to_text(page):
        yield "no page"


def unaccounted(value: Any, path: MemberPath, members: tuple[Member, ...]) -> Iterator[str]:
    """The members of a body that no attribution accounts for."""
    fitting = [each for each in members if each.path == path]
    if not fitting:
        yield f"{list(path)} has no member"
        return
    if any(each.whole for each in fitting):
        if not any(each.causes for each in fitting):
            yield f"{list(path)} has no cause"
        return
    leaf = not isinstance(value, dict | list)
    if not any(each.causes and (each.value or not leaf or value is None) for each in fitting) and (path or leaf):
        yield f"{list(path)} has no cause"
    if isinstance(value, dict):
        for name, each in value.items():
            yield from unaccounted(each, (*path, name), members)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            written_out = any(member.path == (*path, number) for member in members)
            yield from unaccounted(each, (*path, number if written_out else None), members)


def every_cause(found: Attribution) -> Iterator[Cause]:
    yield from found.causes
    for header in found.headers:
        yield from (*header.causes, *header.value)
    for member in found.members:
        yield from (*member.causes, *member.value)
    for refusal in found.refusals:
        yield from refusal.causes
    for event in found.events:
        yield from event.causes
        for member in event.members:
            yield from (*member.causes, *member.value)


def not_there(loaded: Loaded, cause: Cause) -> Iterator[str]:
    """Whether a place is none of the document."""
    if isinstance(cause, Stated):
        lines = loaded.source.text.splitlines()
        line = lines[cause.place.line - 1] if cause.place.line <= len(lines) else ""
        if not line[cause.place.column - 1 :].strip():
            yield f"nothing stands at {cause.place.line}:{cause.place.column}"
