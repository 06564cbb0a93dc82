"""The OWASP API Security Top 10 (2023), asked of a service by what its contract says.

| item | here |
|---|---|
| API1 broken object level authorization | other people's rows: by path, in bodies, in lists, filters and sorts; and that what one does not see makes no difference to what one reads |
| API2 broken authentication | credentials that are none, in every variant |
| API3 broken object property level authorization | members that no view shows, secrets, fields that no body names |
| API4 unrestricted resource consumption | pages, bodies and rates beyond what is stated |
| API5 broken function level authorization | each endpoint as each kind of caller |
| API6 unrestricted access to sensitive business flows | steps of a state machine out of turn; which flows are sensitive, a contract does not say |
| API7 server side request forgery | webhooks to this machine, and keys that a token names: a service asks nobody else for anything |
| API8 security misconfiguration | whatever comes, no 5xx, no word of the program, no header that nobody stated |
| API9 improper inventory management | nothing answers but what the contract states |
| API10 unsafe consumption of APIs | issuers that misbehave: of other systems a service reads nothing but keys |
"""  # noqa: E501 - a table

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from tests.owasp.asking import Asking, Finding
from tests.owasp.bounds import bodies_beyond_their_size, pages_beyond_their_bounds
from tests.owasp.credentials import credentials_that_are_none
from tests.owasp.functions import endpoints_of_others, methods_in_disguise, steps_out_of_turn
from tests.owasp.objects import lists_of_other_peoples_rows, other_peoples_rows, references_to_other_peoples_rows
from tests.owasp.properties import fields_that_no_body_names, members_that_no_view_shows, secrets_that_are_shown
from tests.owasp.surface import what_is_not_expected, what_no_contract_states

Item: TypeAlias = Callable[[Asking], Iterator[Finding]]

ITEMS: tuple[Item, ...] = (
    other_peoples_rows,
    references_to_other_peoples_rows,
    lists_of_other_peoples_rows,
    endpoints_of_others,
    steps_out_of_turn,
    members_that_no_view_shows,
    pages_beyond_their_bounds,
    bodies_beyond_their_size,
    what_is_not_expected,
    what_no_contract_states,
    methods_in_disguise,
    credentials_that_are_none,
    secrets_that_are_shown,
    fields_that_no_body_names,
)
"""In an order in which what is refused comes first: the last ones store things."""
