"""The comparison notices: each of these defects, planted in the planner or the server, ends in a disagreement."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from tests.agreement import functions
from tests.agreement.runs import run
from tests.slices import some

from ninefold.checked.contents import Choice
from ninefold.compile import errors, requirements
from ninefold.compile.perspective import Perspective
from ninefold.contract.resolve import contract as resolving
from ninefold.expressions import terms
from ninefold.language import conditions
from ninefold.plan import environment
from ninefold.plan.problems import Condition
from ninefold.runtime.messages import decode, parameters
from ninefold.runtime.operations import credentials
from ninefold.runtime.operations.stream import Stream, _shown
from ninefold.runtime.operations.write import Write
from ninefold.runtime.request import admit, rates, routes
from ninefold.runtime.request.algorithms import FixedWindow
from ninefold.runtime.request.cors import Cors
from ninefold.runtime.request.schemes import NOBODY, Scheme
from ninefold.runtime.sources import Sources, moved
from ninefold.sql.fragment import Fragment
from ninefold.sql.rows import Parts

MOST: Final = 200
"""Contracts after which a defect has gone unnoticed, beside the one that noticed it before."""

MOST_TO_BLESS: Final = 1_000
"""Those that are looked through for one to write down."""

BLESSES: Final = bool(os.environ.get("NINEFOLD_BLESS"))
"""Whether seeds are looked for that notice a defect, and written down: of all defects then."""

NOTICED: Final = Path(__file__).with_name("noticed.txt")
"""The seeds that noticed each defect, where it was not 0: they are tried first, to save time. Where contracts are made
otherwise now, the search goes on, and `NINEFOLD_BLESS=1 make test WORKERS=0 ARGS=tests/agreement/test_mutants.py`
writes what it finds, where the service without the defect answers as it should."""

Patch = pytest.MonkeyPatch

# The package has functions of the same names.
create, delete, lists, ordering, read, sign_in, update, writes = (
    import_module(f"ninefold.compile.endpoints.{name}")
    for name in ("create", "delete", "list", "orders", "read", "sign_in", "update", "writes")
)

compiled_contents = import_module("ninefold.compile.contents")
compiled_events = import_module("ninefold.compile.events")
versions_of_fields = import_module("ninefold.contract.versions.fields")
fields_of_bodies = import_module("ninefold.runtime.messages.fields")

MUTANTS: dict[str, Callable[[Patch], None]] = {}


def mutant(plant: Callable[[Patch], None]) -> Callable[[Patch], None]:
    MUTANTS[plant.__name__.replace("_", " ")] = plant
    return plant


@mutant
def a_row_rule_is_dropped(patch: Patch) -> None:
    patch.setattr(Perspective, "visible", lambda self, resource, alias: None)


@mutant
def a_row_rule_is_dropped_where_other_rows_are_shown(patch: Patch) -> None:
    def all_rows(self: Perspective, typed: Any, rows: Any, condition: bool = False) -> Fragment:
        return self.holds(typed, rows) if condition else self.value(typed, rows)

    patch.setattr(Perspective, "shown", all_rows)


@mutant
def a_row_rule_is_dropped_where_a_request_says_which_rows(patch: Patch) -> None:
    shown = Perspective.shown

    def all_rows(self: Perspective, typed: Any, rows: Any, condition: bool = False) -> Fragment:
        return self.holds(typed, rows) if condition else shown(self, typed, rows)

    patch.setattr(Perspective, "shown", all_rows)


@mutant
def what_is_computed_is_narrowed_where_it_is_shown(patch: Patch) -> None:
    @contextmanager
    def narrowed(self: Parts, computed: str) -> Iterator[None]:
        self._inside.append(computed)
        yield
        self._inside.pop()

    patch.setattr(Parts, "inside", narrowed)


@mutant
def rows_that_are_gone_are_listed(patch: Patch) -> None:
    patch.setattr(Perspective, "there", lambda self, resource, alias, besides=(): None)


@mutant
def what_is_not_seen_is_told_apart_from_what_is_not_there(patch: Patch) -> None:
    there = requirements.presence

    def swapped(endpoint: Any, resource: Any, perspective: Perspective) -> Any:
        found = there(endpoint, resource, perspective)
        return found[:1] if perspective.checked.unseen_rows == "forbidden" else found

    patch.setattr(read, "presence", swapped)


@mutant
def a_page_has_one_row_too_many(patch: Patch) -> None:
    paging = lists._paging

    def longer(*of: Any) -> Any:
        found = paging(*of)
        return msgspec.structs.replace(found, default=found.default + 1)

    patch.setattr(lists, "_paging", longer)


@mutant
def a_page_begins_with_the_last_row_of_the_one_before(patch: Patch) -> None:
    after = ordering._after

    def at_or_after(keys: Any, *others: Any, **named: Any) -> Fragment:
        found = after(keys, *others, **named)
        return Fragment(found.text.replace(" > ?", " >= ?"), found.binds)

    patch.setattr(ordering, "_after", at_or_after)


@mutant
def nulls_come_first(patch: Patch) -> None:
    ordered = ordering._ordered

    def first(fragment: Fragment, typed: Any, descending: bool) -> Fragment:
        found = ordered(fragment, typed, descending)
        return Fragment(found.text.replace("NULLS LAST", "NULLS FIRST"), found.binds)

    patch.setattr(ordering, "_ordered", first)


@mutant
def ties_are_left_to_the_database(patch: Patch) -> None:
    patch.setattr(ordering, "_with_identifier", lambda keys, resource: (*keys, (resource.primary_key[0], True)))


@mutant
def a_filter_is_left_out_of_the_total(patch: Patch) -> None:
    rows = lists.list_rows

    def miscounted(endpoint: Any, admission: Any, perspective: Perspective) -> Any:
        found = rows(endpoint, admission, perspective)
        if found.count is None:
            return found
        count = msgspec.structs.replace(found.count, pieces=found.count.pieces[:1])
        return msgspec.structs.replace(found, count=count)

    patch.setattr(lists, "list_rows", miscounted)


@mutant
def two_conditions_change_places(patch: Patch) -> None:
    order = conditions.precedence

    def swapped(stated: Any) -> Any:
        found = [*order(stated)]
        one, other = found.index("invalid"), found.index("not found")
        found[one], found[other] = found[other], found[one]
        return tuple(found)

    patch.setattr(errors, "precedence", swapped)


@mutant
def a_guard_is_not_asked(patch: Patch) -> None:
    def never(stated: Any, resource: Any, perspective: Any, scope: Any = requirements.Scope.ROW) -> Any:
        condition = Condition("check", resource.name, code=stated.code)
        return requirements.Requirement(condition, Fragment("TRUE"), scope)

    for module in (create, delete, read, update):
        patch.setattr(module, "guard", never)


@mutant
def a_permission_that_reads_the_row_is_not_asked(patch: Patch) -> None:
    for module in (create, read):
        patch.setattr(module, "permission", lambda *of: [])


@mutant
def a_parameter_that_is_refused_hides_what_checks_refuse(patch: Patch) -> None:
    wrong = Write.wrong

    def unknown(self: Write, call: Any, partly: bool) -> frozenset[str]:
        refused = call.env.get(environment.REFUSED, {})
        return wrong(self, call, partly) | ({"any"} if any(refused.values()) else set())

    patch.setattr(Write, "wrong", unknown)


@mutant
def invariants_are_not_asked(patch: Patch) -> None:
    for module in (create, update):
        patch.setattr(module, "invariants", lambda resource, perspective: [])


@mutant
def a_reference_may_point_at_rows_that_are_not_seen(patch: Patch) -> None:
    patch.setattr(Perspective, "present", lambda self, resource, alias: self.there(resource, alias))


@mutant
def what_refers_does_not_refuse_a_deletion(patch: Patch) -> None:
    patch.setattr(delete, "not_referred_to", lambda resource, perspective: [])


@mutant
def what_is_taken_is_told_of_its_first_field_alone(patch: Patch) -> None:
    unique = writes.unique

    def nowhere(fields: Any, pointers: Any, *more: Any) -> Any:
        return unique(fields, {}, *more)

    patch.setattr(writes, "unique", nowhere)


@mutant
def an_entity_tag_outlives_a_write(patch: Patch) -> None:
    patch.setattr(Sources, "revision", lambda self: "forever")


@mutant
def a_null_in_a_merge_patch_is_passed_over(patch: Patch) -> None:
    valid = decode.Body.valid

    def passing(self: Any, document: Any, *more: Any) -> Any:
        given = {n: v for n, v in document.items() if v is not None} if isinstance(document, dict) else document
        return valid(self, given, *more)

    patch.setattr(decode.Body, "valid", passing)


@mutant
def a_null_that_a_template_says_is_left_out(patch: Patch) -> None:
    content = compiled_contents.content

    def left_out(wanted: Any, columns: Any) -> Any:
        made = content(wanted, columns)
        return msgspec.structs.replace(made, null_shown=False) if isinstance(wanted, Choice) else made

    patch.setattr(compiled_contents, "content", left_out)


@mutant
def a_page_size_is_clamped(patch: Patch) -> None:
    integer = parameters.PageReader._integer

    def clamped(self: Any, query: Any, name: Any, least: int, largest: Any, default: int, failures: Any) -> int:
        value = integer(self, query, name, least, None, default, failures)
        return value if largest is None else min(value, largest)

    patch.setattr(parameters.PageReader, "_integer", clamped)


@mutant
def a_bad_credential_is_as_good_as_none(patch: Patch) -> None:
    patch.setattr(Scheme, "presented", lambda self, request, query: False)


@mutant
def a_parameter_that_is_not_known_is_ignored(patch: Patch) -> None:
    patch.setattr(admit, "_unknown", lambda query, known: [])


@mutant
def what_a_request_leaves_out_is_expanded(patch: Patch) -> None:
    switches = parameters.Chooser.switches

    def expanding(self: Any, values: Any) -> Any:
        on = switches(self, values)
        every = () if self._expansion is None else self._expansion.offered
        return frozenset(each for each in on if each.removeprefix("hide ") not in every)

    patch.setattr(parameters.Chooser, "switches", expanding)


@mutant
def a_name_may_be_given_twice(patch: Patch) -> None:
    several = parameters._several
    patch.setattr(
        parameters, "_several", lambda type_, schemas, texts: several(type_, schemas, [*dict.fromkeys(texts)])
    )


@mutant
def a_filter_has_the_newer_name_of_what_was_renamed(patch: Patch) -> None:
    patch.setattr(versions_of_fields, "_filter", lambda each, *of: each)


@mutant
def what_came_later_is_shown_in_an_older_version(patch: Patch) -> None:
    patch.setattr(versions_of_fields, "_remove", lambda *of: None)


@mutant
def what_an_older_version_gives_is_stored_as_it_came(patch: Patch) -> None:
    patch.setattr(fields_of_bodies.Field, "kept", lambda self, value: value)


@mutant
def an_unknown_version_is_the_default(patch: Patch) -> None:
    patch.setattr(routes.Versions, "_named", lambda self, stated, request, query: None)


@mutant
def a_function_is_called_with_whatever_there_is(patch: Patch) -> None:
    held = import_module("ninefold.runtime.operations.constraints").Held
    patch.setattr(held, "broken", lambda *of: [])


@mutant
def a_function_refuses_in_vain(patch: Patch) -> None:
    def gives(n: int) -> dict[str, int]:
        return {"n": n * 7}

    patch.setitem(functions.SERVED, "weigh", gives)


@mutant
def a_credential_outlasts_its_time(patch: Patch) -> None:
    patch.setattr(credentials, "moved", lambda time, microseconds: moved(time, 2 * microseconds))


@mutant
def a_wrong_secret_is_as_good_as_the_right_one(patch: Patch) -> None:
    patch.setattr(credentials, "is_password", lambda stored, password: stored is not None)


@mutant
def a_client_is_granted_what_it_asks_for(patch: Patch) -> None:
    only = sign_in.only_granted

    def never(*of: Any) -> Any:
        return replace(only(*of), holds=Fragment("TRUE"))

    patch.setattr(sign_in, "only_granted", never)


@mutant
def a_client_is_granted_all_that_it_may_have(patch: Patch) -> None:
    patch.setattr(credentials, "asked", lambda body: {"scopes": None})


@mutant
def events_that_are_not_seen_are_told(patch: Patch) -> None:
    patch.setattr(Perspective, "told_of", lambda self, alias: Fragment("TRUE"))


@mutant
def an_event_arises_of_every_row(patch: Patch) -> None:
    event = compiled_events._event
    patch.setattr(compiled_events, "_event", lambda kind, cause, *of: event(kind, replace(cause, when=None), *of))


@mutant
def an_event_of_what_is_deleted_reads_what_it_was_to_become(patch: Patch) -> None:
    patch.setattr(compiled_events, "_of_what_is_gone", lambda kind: kind)


@mutant
def a_transition_is_an_update_to_events(patch: Patch) -> None:
    caused = compiled_events.caused
    verbs = ("open", "close", "restore")
    patch.setattr(update, "caused", lambda verb, *of: caused("update" if verb in verbs else verb, *of))


@mutant
def what_is_deleted_gives_no_event(patch: Patch) -> None:
    patch.setattr(delete, "caused_by_deletion", lambda *of: None)


@mutant
def an_older_version_leads_nowhere(patch: Patch) -> None:
    patch.setattr(routes.Version, "told", lambda self, *of: self.headers)


@mutant
def accept_says_no_version(patch: Patch) -> None:
    patch.setattr(routes.Versions, "_in_media_types", lambda *of: None)


@mutant
def a_version_that_is_the_callers_is_nobodys(patch: Patch) -> None:
    patch.setattr(routes.Versions, "for_anyone", lambda *of: True)


@mutant
def a_version_that_a_header_pins_is_another(patch: Patch) -> None:
    patch.setattr(routes.Pin, "name", lambda *of: "three")


@mutant
def any_origin_may_do_what_one_may(patch: Patch) -> None:
    patch.setattr(Cors, "_allowed", lambda self, request, more: ((b"access-control-allow-origin", b"*"), *more))


@mutant
def a_preflight_is_any_other_request(patch: Patch) -> None:
    patch.setattr(Cors, "preflight", lambda *of: None)


@mutant
def a_rate_of_callers_counts_addresses(patch: Patch) -> None:
    patch.setattr(rates, "_caller", lambda caller, address, env: address)


@mutant
def a_rate_counts_what_another_one_refuses(patch: Patch) -> None:
    def all_count(keys: Any, now: int) -> Any:
        before = [(rate, rate.standing(key, now)) for rate, key in keys]
        for (rate, key), (_, standing) in zip(keys, before, strict=True):
            if standing.remaining > 0:
                rate.count(key, now)
        return tuple([rates.Told(rate, each, each.remaining < 1) for rate, each in before])

    patch.setattr(rates, "count_keys", all_count)


@mutant
def a_window_that_slides_is_a_fixed_one(patch: Patch) -> None:
    patch.setattr(rates, "SlidingWindow", FixedWindow)


@mutant
def a_rate_tells_of_the_one_that_is_furthest_from_its_end(patch: Patch) -> None:
    told = rates.Headers.told
    patch.setattr(rates.Headers, "told", lambda self, each, refused: told(self, each[::-1], refused))


@mutant
def a_caller_who_is_not_admitted_is_an_address_to_rates(patch: Patch) -> None:
    count = rates.keys_of

    def by_address(of: Any, asking: Any) -> Any:
        return count(of, asking if asking.env["caller"] else msgspec.structs.replace(asking, caller=NOBODY))

    patch.setattr(rates, "keys_of", by_address)


@mutant
def a_stream_begins_with_the_event_that_was_seen_last(patch: Patch) -> None:
    position = Stream._position
    patch.setattr(Stream, "_position", lambda self, *of: max(0, position(self, *of) - 1))


@mutant
def a_stream_tells_of_events_that_are_not_seen(patch: Patch) -> None:
    patch.setattr(import_module("ninefold.runtime.operations.stream"), "_shown", _shown_to_all)


def _shown_to_all(told: Any, sealed: Any, rows: Any, position: int) -> Any:
    every = [(at, True, *rest) for at, _, *rest in rows]
    return _shown(told, sealed, every, position)


@mutant
def a_variable_of_a_term_captures_what_the_term_is_given(patch: Patch) -> None:
    patch.setattr(terms, "_other", lambda name, taken: name)


@mutant
def what_is_included_need_not_be_given(patch: Patch) -> None:
    with_ = resolving._with
    patch.setattr(
        resolving, "_with", lambda r, own, other, at: replace(with_(r, own, other, at), required=own.required)
    )


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", MUTANTS if BLESSES else some(list(MUTANTS), 6))
def test_a_planted_defect_is_noticed(name: str) -> None:
    noticed = _noticed()
    known = noticed.get(name, 0)
    seeds = dict.fromkeys((known, *range(MOST_TO_BLESS if BLESSES else MOST)))
    # What is written down has to agree without the defect: it would notice anything.
    seed = next((each for each in seeds if not _agrees(each, name) and (not BLESSES or _agrees(each))), None)
    assert seed is not None
    if seed != known and BLESSES:
        lines = sorted((of, number) for of, number in {**noticed, name: seed}.items() if number)
        NOTICED.write_text("".join(f"{number} {of}\n" for of, number in lines), encoding="utf-8", newline="\n")


def _agrees(seed: int, planted: str | None = None) -> bool:
    """Whether the service, with a defect planted into it, answers what the interpreter does."""
    with pytest.MonkeyPatch.context() as patch:
        if planted is not None:
            MUTANTS[planted](patch)
        try:
            run(seed, 40)
        except AssertionError:  # a Disagreement, or what is no contract by names
            return False
    return True


def _noticed() -> dict[str, int]:
    lines = (line.split(" ", 1) for line in NOTICED.read_text(encoding="utf-8").splitlines())
    return {name: int(seed) for seed, name in lines}
