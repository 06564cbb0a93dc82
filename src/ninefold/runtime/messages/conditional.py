"""Entity tags and conditional requests (RFC 9110 8.8.3 and 13.1)."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Literal

from ninefold.diagnostics.frozen import dataclass
from ninefold.plan.environment import Precondition
from ninefold.runtime.messages.message import Request, Response

# Possessive (`*+`), so that a long run of spaces, or of elements that are empty, is gone over once.
_MEMBER = re.compile(r'[ \t,]*+(?:(W/)?"([\x21\x23-\x7e\x80-\xff]*+)")?[ \t]*+(?:,|$)')


@dataclass(frozen=True, slots=True)
class EntityTag:
    opaque: str
    weak: bool = False


def entity_tags(field: str) -> tuple[EntityTag, ...] | Literal["*"] | None:
    """The tags of an If-Match or If-None-Match field; None: it is not a list of tags."""
    if field.strip(" \t") == "*":
        return "*"
    tags: list[EntityTag] = []
    at = 0
    while at < len(field):
        member = _MEMBER.match(field, at)
        if member is None:
            return None
        weak, opaque = member.groups()
        if opaque is not None:
            tags.append(EntityTag(opaque, weak is not None))
        at = member.end()
    return tuple(tags) if tags else None


def unchanged(if_none_match: str, opaque: str | None) -> bool:
    """Whether the client has the representation with this tag already: weak comparison (RFC 9110 13.1.2). None: it has
    no tag, so that `*` alone names it. A field that cannot be read is no condition."""
    tags = entity_tags(if_none_match)
    return tags == "*" or (tags is not None and any(tag.opaque == opaque for tag in tags))


def of_row(headers: Mapping[str, str], prefix: str) -> Precondition:
    """What `If-Match` and `If-None-Match` ask of the row of a write. `prefix`: of its entity tags; none: it has none.
    A field that cannot be read names no tag."""
    found: Precondition = {}
    if "if-match" in headers:
        found["there"] = True
        named = _revisions(headers["if-match"], prefix, weak=False)
        if named is not None:
            found["match"] = named
    if "if-none-match" in headers:
        named = _revisions(headers["if-none-match"], prefix, weak=True)
        if named is None:
            found["match"] = []
        else:
            found["others"] = named
    return found


def _revisions(field: str, prefix: str, weak: bool) -> list[str] | None:
    """The revisions that are named, by `weak` or strong comparison (RFC 9110 8.8.3.2); None: any (`*`). Where a tag is
    of the content as well, the revision is what stands before the digest."""
    tags = entity_tags(field)
    if tags == "*":
        return None
    known = [tag for tag in tags or () if prefix and (weak or not tag.weak)]
    return [tag.opaque[len(prefix) :].partition(".")[0] for tag in known if tag.opaque.startswith(prefix)]


def names(if_match: str, opaque: str | None) -> bool:
    """Whether If-Match names a representation that is there, by strong comparison; None: it has no strong tag."""
    tags = entity_tags(if_match)
    return tags == "*" or any(tag.opaque == opaque and not tag.weak for tag in tags or ())


def is_asked(request: Request) -> bool:
    """Whether a request has a condition on what it selects."""
    return "if-match" in request.headers or "if-none-match" in request.headers


def is_changed(request: Request, field: str | None) -> bool | None:
    """Whether a representation is to be shown, by the conditions of the request, in their order (RFC 9110 13.2.2):
    False: the client has it (304); None: it is not the one that the client asks for (412). Only of GET and HEAD is one
    that the client has no error. `field`: its ETag; None: it has none."""
    headers, own = request.headers, entity_tags(field or "")
    tag = own[0] if isinstance(own, tuple) and len(own) == 1 else None
    if "if-match" in headers and not names(headers["if-match"], None if tag is None or tag.weak else tag.opaque):
        return None
    if "if-none-match" in headers and unchanged(headers["if-none-match"], None if tag is None else tag.opaque):
        return False if request.method in ("GET", "HEAD") else None
    return True


def not_modified(response: Response) -> Response:
    """304 in its place, with what is known of it without the content (RFC 9110 15.4.5)."""
    return Response(304, tuple(field for field in response.headers if field[0] != b"content-type"))


def digest(body: bytes) -> str:
    """What tells one content from another, as a part of a tag: 128 bits of SHA-256, URL-safe."""
    return urlsafe_b64encode(sha256(body).digest()[:16]).rstrip(b"=").decode("ascii")
