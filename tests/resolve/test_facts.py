"""What is written, as facts: shown, none, gaps, proposals; and what several ways of writing come to."""

from __future__ import annotations

from tests.resolve.documents import EXAMPLES, PLAIN, document, resolved

from ninefold.contract.resolve.contract import resolve
from ninefold.contract.service import Contract
from ninefold.language.authentication import Every
from ninefold.language.fact import Gap, Proposal, Shown, StatedNone, is_open, value_of
from ninefold.language.routes import Literal, PathName
from ninefold.syntax.parser import Form

TITLE = "# Notes\n\n"


def contract(text: str, accept: bool = False) -> Contract:
    outcome = resolved(text, accept)
    assert outcome.diagnostics == ()
    return outcome.value


def literate(text: str, accept: bool = False) -> Contract:
    outcome = resolve(document(TITLE + text, Form.LITERATE), accept)
    assert outcome.diagnostics == ()
    return outcome.value


def test_a_statement_speaks_for_a_whole_part() -> None:
    found = literate("## 3. States\n\nStates: none.\n\n## 5. Authentication\n\nWho may call: not shown.\n")
    assert isinstance(found.states.machines, StatedNone)
    authentication = found.authentication
    for fact in (
        authentication.schemes,
        authentication.rows,
        authentication.unseen_rows,
        authentication.permissions,
    ):
        assert isinstance(fact, Gap)
    assert found.events.kinds is None


def test_nothing_written_is_nothing() -> None:
    found = contract("purpose: Keeps notes.\n")
    assert value_of(found.purpose.text) == "Keeps notes."
    assert found.resources.resources is None and found.endpoints.endpoints is None and found.limits.pages is None


def test_the_purpose_in_quotes_or_as_a_block_is_its_words() -> None:
    assert value_of(contract('purpose: "Keeps: notes."\n').purpose.text) == "Keeps: notes."
    assert value_of(contract("purpose: |\n  Keeps\n  notes.\n").purpose.text) == "Keeps\nnotes."


def test_quoted_words_are_text() -> None:
    text = PLAIN.replace("title: Not valid", 'title: "none"').replace("title: Nothing to send", "title: 'not shown'")
    codes = value_of(contract(text).errors.codes) or ()
    assert [value_of(code.title) for code in codes] == ["none", "not shown"]


def test_a_proposed_fact_is_in_force_only_when_accepted() -> None:
    text = PLAIN.replace("unseen rows: not found", "unseen rows: !proposed not found")
    waiting, accepted = contract(text), contract(text, accept=True)
    assert isinstance(waiting.authentication.unseen_rows, Proposal) and is_open(waiting.authentication.unseen_rows)
    assert isinstance(accepted.authentication.unseen_rows, Shown) and accepted.authentication.unseen_rows.proposed


def test_a_proposed_part_is_one_proposal() -> None:
    block = "## Resources\n\n```yaml proposed\nnote:\n  primary key: id\n  fields: {id: {type: string}}\n```\n"
    found = literate(block).resources.resources
    assert isinstance(found, Proposal) and isinstance(found.candidate, Shown)
    (note,) = found.candidate.value
    assert isinstance(note.primary_key, Shown) and isinstance(note.fields, Shown)
    assert isinstance(literate(block, accept=True).resources.resources, Shown)


def test_each_fact_of_a_proposed_endpoint_is_a_proposal() -> None:
    text = PLAIN.replace("GET /notes/{id}: {does", "GET /notes/{id}: !proposed {does")
    endpoints = {each.key: each for each in value_of(contract(text).endpoints.endpoints) or ()}
    proposed, other = endpoints["GET /notes/{id}"], endpoints["GET /notes"]
    assert isinstance(proposed.does, Proposal) and isinstance(proposed.responses, Proposal)
    assert proposed.body is None
    assert isinstance(other.does, Shown)


def test_an_endpoint_that_is_not_shown_is_there_and_open() -> None:
    text = PLAIN.replace("{does: read note, responses: {200: note}}", "not shown")
    (found,) = [e for e in value_of(contract(text).endpoints.endpoints) or () if e.key == "GET /notes/{id}"]
    assert isinstance(found.does, Gap) and found.responses is None


def test_an_endpoint_that_is_none_is_not_there() -> None:
    text = PLAIN.replace("{does: read note, responses: {200: note}}", "none")
    keys = [each.key for each in value_of(contract(text).endpoints.endpoints) or ()]
    assert "GET /notes/{id}" not in keys


def test_a_check_may_stand_alone() -> None:
    found = resolve(document((EXAMPLES / "orders.md").read_text(encoding="utf-8"), Form.LITERATE)).value
    (patch,) = [each for each in value_of(found.endpoints.endpoints) or () if each.method == "PATCH"]
    (guard,) = value_of(patch.check) or ()
    assert guard.that.text == "order.status == 'draft'"
    assert guard.code is not None and guard.code.text == "not_a_draft"


def test_checks_are_several() -> None:
    guards = 'check: [{that: "true", else: empty}, {that: "false"}]'
    text = PLAIN.replace("does: read note,", f"does: read note, {guards},")
    (found,) = [each for each in value_of(contract(text).endpoints.endpoints) or () if each.key == "GET /notes/{id}"]
    assert [guard.that.text for guard in value_of(found.check) or ()] == ["true", "false"]


def admitted(written: str) -> list[tuple[str, str]]:
    text = PLAIN.replace("all others: key", f"all others: {written}")
    *_, others = value_of(contract(text).authentication.permissions) or ()
    admissions = value_of(others.admits) or ()
    conditions = [(each.who.text, value_of(each.condition)) for each in admissions]
    return [(who, "true" if isinstance(what, Every) else what.text if what else "") for who, what in conditions]


def test_who_may_call_is_written_in_several_ways() -> None:
    assert admitted("key") == [("key", "true")]
    assert admitted("[key, anyone]") == [("key", "true"), ("anyone", "true")]
    assert admitted("{key: true, anyone: false}") == [("key", "true"), ("anyone", "")]
    assert admitted('{key: "caller.person.id > 1"}') == [("key", "caller.person.id > 1")]
    assert admitted("[{key: now == now}, anyone]") == [("key", "now == now"), ("anyone", "true")]


def test_rows_of_every_caller() -> None:
    every = contract(PLAIN).authentication.rows
    assert isinstance(every, Shown) and isinstance(every.value, Every)
    rows = contract(PLAIN.replace("rows: all", "rows: {note: all}")).authentication.rows
    assert isinstance(rows, Shown) and not isinstance(rows.value, Every)
    assert [each.who.text for each in value_of(rows.value[0].admits) or ()] == ["key", "anyone"]


def test_a_path_is_literal_segments_and_names() -> None:
    text = PLAIN.replace("GET /notes/{id}: {does", "GET /people/{owner.key}/notes/{id}: {does")
    (found,) = [
        each for each in value_of(contract(text).endpoints.endpoints) or () if each.key.startswith("GET /people")
    ]
    people, owner, notes, id = found.segments
    assert (people, notes) == (Literal("people"), Literal("notes"))
    assert isinstance(owner, PathName) and owner.names == ("owner", "key")
    assert isinstance(id, PathName) and text[id.span.start : id.span.end] == "{id}"


def test_quantities_are_microseconds_and_bytes() -> None:
    limits = contract(PLAIN).limits
    (rate,) = value_of(limits.rates) or ()
    assert value_of(rate.per) == 60_000_000
    assert value_of(limits.timeout) == 10_000_000
    assert value_of(limits.body_size) == 65_536


def test_an_expression_may_be_a_number_a_truth_value_or_null() -> None:
    for written in ("0", "-1", "1.5", "true", "null", '"[]"', "\"'draft'\""):
        text = PLAIN.replace("text: {type: string, maxLength: 100}", f"text: {{type: string, on create: {written}}}")
        contract(text)


def test_a_gap_is_no_error_for_what_refers_to_it() -> None:
    codes = PLAIN[PLAIN.index("  codes:\n") : PLAIN.index("  messages:")]
    contract(PLAIN.replace(codes, "  codes: not shown\n"))
    contract(PLAIN.replace(codes, ""))
    contract(PLAIN.replace("schemes: {key: {type: http, scheme: bearer, matches: person.key}}", "schemes: not shown"))
    contract(PLAIN.replace("states: [draft, sent]", "states: not shown"))


def test_a_type_that_is_not_shown_leaves_open_what_refers_to_it() -> None:
    start = PLAIN.index("  types:\n")
    text = PLAIN[:start] + "  types: not shown\n" + PLAIN[PLAIN.index("states:\n") :]
    resources = {each.name: each for each in value_of(contract(text).resources.resources) or ()}
    fields = {each.name: each for each in value_of(resources["person"].fields) or ()}
    assert isinstance(fields["pages"].schema, Gap) and isinstance(fields["key"].schema, Shown)
