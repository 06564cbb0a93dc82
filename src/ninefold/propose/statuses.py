"""The statuses of errors: the phrase of each, and the section that defines it."""

from __future__ import annotations

from dataclasses import dataclass

from ninefold.language import conditions


@dataclass(frozen=True, slots=True)
class Status:
    number: int
    phrase: str
    source: str


STATUSES = {
    each.number: each
    for each in (
        Status(400, "Bad Request", "RFC 9110, section 15.5.1"),
        Status(401, "Unauthorized", "RFC 9110, section 15.5.2"),
        Status(403, "Forbidden", "RFC 9110, section 15.5.4"),
        Status(404, "Not Found", "RFC 9110, section 15.5.5"),
        Status(405, "Method Not Allowed", "RFC 9110, section 15.5.6"),
        Status(406, "Not Acceptable", "RFC 9110, section 15.5.7"),
        Status(409, "Conflict", "RFC 9110, section 15.5.10"),
        Status(410, "Gone", "RFC 9110, section 15.5.11"),
        Status(412, "Precondition Failed", "RFC 9110, section 15.5.13"),
        Status(413, "Content Too Large", "RFC 9110, section 15.5.14"),
        Status(415, "Unsupported Media Type", "RFC 9110, section 15.5.16"),
        Status(422, "Unprocessable Content", "RFC 9110, section 15.5.21"),
        Status(428, "Precondition Required", "RFC 6585, section 3"),
        Status(429, "Too Many Requests", "RFC 6585, section 4"),
        Status(500, "Internal Server Error", "RFC 9110, section 15.6.1"),
        Status(503, "Service Unavailable", "RFC 9110, section 15.6.4"),
    )
}


def status_of(condition: str) -> Status:
    """The status that tells a condition (`missing`, or narrowed, `missing order`) where a contract gives it no code:
    its bare status."""
    found = conditions.split(condition)
    assert found is not None
    return STATUSES[conditions.STATUSES[found[0]]]
