"""Requests that show a difference: told to the old contract, and to it with the difference alone, in process."""

from __future__ import annotations

from ninefold.ablate.ablate import asked_of
from ninefold.ablate.fixed import Whole
from ninefold.ablate.rehearsal import Seen, Told
from ninefold.diff.compare import Showing
from ninefold.diff.finding import Witness
from ninefold.plan.service import ServicePlan


def showing(whole: Whole) -> Showing:
    """By the fixed requests of the old contract."""

    def shown(plan: ServicePlan, endpoints: tuple[str, ...]) -> Witness | None:
        for each in asked_of(whole, plan):
            concerned = {each.old.endpoint, each.new.endpoint} & {*endpoints} or not endpoints
            if concerned and not each.turns_on_a_tag:
                return Witness(f"{each.asked.where}: {_request(each.asked.told)}", _answer(each.old), _answer(each.new))
        return None

    return shown


def _request(told: Told) -> str:
    query = f"?{told.query.decode('latin-1')}" if told.query else ""
    return f"{told.method} {told.path.decode('latin-1')}{query}"


def _answer(seen: Seen) -> str:
    body = " ".join(seen.body[:160].decode("utf-8", "replace").split())
    return f"{seen.status} {body}".strip()
