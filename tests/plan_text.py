"""A plan as text in which a change is a change of a few lines: what fits stands on one line."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from ninefold.plan.service import ServicePlan

WIDTH = 160


def plan_text(plan: ServicePlan) -> str:
    """The plan's JSON, members in the order in which the plan has them."""
    return _laid_out(msgspec.json.decode(msgspec.json.encode(plan)), "") + "\n"


def _laid_out(value: Any, margin: str) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if len(margin) + len(flat) <= WIDTH or not value or not isinstance(value, dict | list):
        return flat
    inner = margin + " "
    if isinstance(value, dict):
        members = [f"{inner}{json.dumps(name)}: {_laid_out(member, inner)}" for name, member in value.items()]
        return "{\n" + ",\n".join(members) + f"\n{margin}}}"
    return "[\n" + ",\n".join(inner + _laid_out(item, inner) for item in value) + f"\n{margin}]"
