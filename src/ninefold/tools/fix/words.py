"""The words of `ninefold.language.former`, by the records in which `fix` meets them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from ninefold.language.conditions import CHECK
from ninefold.language.former import action, beside, cause, condition, outcomes, renamed

__all__ = ["KEYS", "action", "beside", "cause", "condition", "is_check", "outcomes"]


def is_check(text: str) -> bool:
    """Whether a condition is a check now, of which no code speaks but its own."""
    return condition(text).partition(" ")[0] == CHECK


RULES: Final[Mapping[str, str]] = {"refers to": "references", "otherwise": "all others"}
"""The rules that messages are for."""

KEYS: Final[Mapping[str, Mapping[str, str]]] = {
    record: dict(renamed(part, path))
    for record, (part, path) in {
        "resource": (2, "RESOURCE"),
        "field": (2, "RESOURCE.fields.FIELD"),
        "cors": (4, "cross origin"),
        "pages": (8, "pages"),
        "scheme": (5, "schemes.SCHEME"),
        "kind": (6, "kinds.KIND"),
        "webhooks": (6, "delivery.webhooks"),
        "errors": (7, ""),
        "code": (7, "codes.CODE"),
    }.items()
}
