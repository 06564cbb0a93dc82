"""A contract that is a Python value, written as a document of the plain form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final


class _None:
    """The word `none`, which is no string."""

    def __repr__(self) -> str:
        return "NONE"

    def __deepcopy__(self, memo: Any) -> _None:
        return self


NONE: Final = _None()

_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./+-]*")
"""What needs no quotes. Words of the language, such as `all`, have none."""


def written(contract: Mapping[str, Any]) -> str:
    """The first two levels in lines of their own, what is deeper in flow style."""
    lines = []
    for part, facts in contract.items():
        if isinstance(facts, Mapping) and facts:
            lines.append(f"{part}:")
            for name, fact in facts.items():
                if part == "resources" and isinstance(fact, Mapping) and name != "types":
                    lines.append(f"  {name}:")
                    for key, value in fact.items():
                        if key == "fields" and value:
                            lines.append("    fields:")
                            lines += [f"      {field}: {_flow(schema)}" for field, schema in value.items()]
                        else:
                            lines.append(f"    {key}: {_flow(value)}")
                else:
                    lines.append(f"  {_flow(name)}: {_flow(fact)}")
        else:
            lines.append(f"{part}: {_flow(facts)}")
    return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    match value:
        case _None():
            return "none"
        case Mapping():
            return "{" + ", ".join(f"{_flow(str(name))}: {_flow(each)}" for name, each in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_flow, value)) + "]"
        case str() if _WORD.fullmatch(value) and value not in ("true", "false", "null", "none"):
            return value
        case _:
            return json.dumps(value, ensure_ascii=False)
