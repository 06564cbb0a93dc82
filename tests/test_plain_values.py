"""What a key says in plain values goes along to the plan from every record of which the plan has a `said`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

import pytest
from tests.contracts import ROOT

from ninefold.language import (
    authentication,
    check,
    declaration,
    effects,
    endpoints,
    errors,
    events,
    functions,
    limits,
    parameters,
    requests,
    resources,
    responses,
    states,
    versioning,
)
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan import authentication as plan_of_schemes
from ninefold.plan import events as plan_of_events
from ninefold.plan import limits as plan_of_limits
from ninefold.plan import operations, problems, routes, writes
from ninefold.plan import versioning as plan_of_versions
from ninefold.plan.jobs import Timer
from ninefold.plan.service import ServicePlan
from ninefold.plan.statement import parts

WHERE: Final = "it says where others stand"
STATEMENT: Final = "what is said of rows is in the statements"

CARRIERS: Final[dict[type, tuple[type, ...]]] = {
    authentication.Authentication: (ServicePlan,),
    authentication.Scheme: (plan_of_schemes.Scheme, writes.Issue),
    endpoints.Endpoint: (routes.Served,),
    endpoints.Endpoints: (ServicePlan,),
    parameters.Parameter: (routes.Parameter,),
    responses.Cors: (routes.Cors,),
    errors.ErrorCode: (problems.ErrorCode,),
    errors.Errors: (ServicePlan,),
    events.Envelope: (plan_of_events.Envelope,),
    events.Events: (ServicePlan,),
    events.EventKind: (plan_of_events.Event,),
    events.Webhooks: (plan_of_events.Webhooks,),
    limits.Limits: (plan_of_limits.Limits,),
    limits.Pages: (operations.Paging,),
    limits.Rate: (plan_of_limits.Rate,),
    requests.Requests: (routes.Requests,),
    resources.Field: (routes.BodyField,),
    states.Machine: (Timer, writes.Transition),
    states.Transition: (Timer, writes.Transition),
    versioning.Version: (plan_of_versions.Version,),
    versioning.Versioning: (ServicePlan,),
}
"""By a record of the language, what of the plan carries what it says."""

WITHOUT_ONE: Final[dict[type, str]] = {
    check.Check: STATEMENT,
    effects.Effect: STATEMENT,
    errors.Shape: "the body of an error is made of its content alone",
    events.Delivery: WHERE,
    functions.Function: "what is called is the operator's",
    resources.Resource: STATEMENT,
    resources.Resources: WHERE,
    resources.SharedType: STATEMENT,
    versioning.Change: "what an older version is, a contract is",
}
"""The other records, each with why the plan has no `said` of it."""


def _stated(of: Any, record: type) -> Iterator[Any]:
    if isinstance(of, record):
        yield of
    if isinstance(of, tuple):
        for each in of:
            yield from _stated(each, record)
    elif is_dataclass(of) and not isinstance(of, type):
        for each in fields(of):
            yield from _stated(getattr(of, each.name), record)


CASES: Final = ROOT / "tests" / "cases"
CONTRACTS: Final = (
    ROOT / "examples" / "orders.md",
    CASES / "a-page-of-another-origin" / "contract.md",
    CASES / "a-session-in-a-cookie" / "contract.md",
)
"""Together they have all of these."""


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Loaded, ...]]:
    """What is made of these as if each key said a plain value, so that it holds of keys that there are not yet."""
    every = declaration.members
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            declaration, "members", lambda of: tuple(replace(each, planned=True, header=None) for each in every(of))
        )
        patch.setattr(declaration, "_plain", repr)
        yield tuple(compile_document(path.name, path.read_bytes()) for path in CONTRACTS)


@pytest.mark.parametrize(("record", "carrier"), [(one, each) for one, all in CARRIERS.items() for each in all])
def test_what_a_record_says_is_in_the_plan(record: type, carrier: type[Any], made: tuple[Loaded, ...]) -> None:
    found = 0
    for loaded in made:
        stated = [said for each in _stated(loaded.contract, record) if (said := declaration.said(each))]
        carried = [each.said for each in parts(loaded.plan, carrier) if each.said]  # the language's own says nothing
        if stated:
            assert all(any(one.items() <= each.items() for one in stated) for each in carried)
            found += len(carried)
    assert found
