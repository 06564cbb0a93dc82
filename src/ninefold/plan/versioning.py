"""Versions: which one a request asks for."""

from __future__ import annotations

from typing import Literal

import msgspec


class Versions(msgspec.Struct, frozen=True, omit_defaults=True):
    """`current` is the newest, which the plan's routes serve. A request that names one of `others` asks for
    something that is not in force (501); any other name is `unknown version`. `default` is the version of a
    request that names none; None: such a request is `unknown version`."""

    by: Literal["path", "header", "query"]
    current: str
    name: str = ""
    default: str | None = None
    others: tuple[str, ...] = ()
