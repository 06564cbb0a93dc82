"""What a response may tell of the page of a list: `page.next`, `page.pages` and so on."""

from __future__ import annotations

from ninefold.server.parameters import Page


def page_told(page: Page, by: str, count: int, total: object, more: bool, cursor: str | None) -> dict[str, object]:
    """`count`: how many rows the page has. `total`: how many the list has, where that was asked. `more`: whether rows
    come after the page. `cursor`: what asks for them, where pages are reached so."""
    told: dict[str, object] = {"count": count, "total": total, "next": cursor, "previous": None}
    if page.size is None:
        return told
    told |= {"size": page.size, "start": page.start, "number": page.number}
    if isinstance(total, int):
        told["pages"] = -(-total // page.size)
    if by == "page":
        told["next"] = page.number + 1 if more else None
        told["previous"] = page.number - 1 if page.start > 0 else None
    elif by == "offset":
        told["next"] = page.start + page.size if more else None
        told["previous"] = max(0, page.start - page.size) if page.start > 0 else None
    return told
