"""What is true of every explanation, whatever the contract: its lines are there, nothing of an endpoint is passed over,
and the errors are those that the service can answer, in its order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.contracts import ALL, EXAMPLES, ROOT, compiled, title
from tests.slices import examples, some

from ninefold.contract.questions.errors import arising
from ninefold.contract.survey import Survey
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import value_of
from ninefold.language.meanings import meanings
from ninefold.pipeline import Loaded, compile_document
from ninefold.plan.operations import Compute, Stream
from ninefold.plan.routes import Served, in_case
from ninefold.plan.writes import Further, Write
from ninefold.runtime.messages.problems import Failure, Problems
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.explanation import Explanation, all_items
from ninefold.tools.explain.grounds import leaves
from ninefold.tools.explain.render import to_json, to_markdown, to_text
from ninefold.tools.explain.service import explain_service
from ninefold.trace.refusals import of_operation

CONTRACTS = some(ALL, 32)
ORDERS = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8").split("\n")


@lru_cache(maxsize=1)
def explained(path: Path) -> Mapping[str, Explanation]:
    """The page of each endpoint of a contract, by its key. The laws of one contract are asked one after another."""
    loaded = compiled(path)
    return {each.key: explain_endpoint(loaded, each) for each in endpoints_of(loaded)}


def endpoints_of(loaded: Loaded) -> tuple[Endpoint, ...]:
    return value_of(loaded.contract.endpoints.endpoints) or ()


def pages(loaded: Loaded) -> Iterator[Explanation]:
    yield explain_service(loaded)
    for endpoint in endpoints_of(loaded):
        yield explain_endpoint(loaded, endpoint, with_statements=True)


def check_page(loaded: Loaded, page: Explanation) -> None:
    """Every place is in the document, every meaning that is cited is told, and every form can be written."""
    names = [meaning.name for meaning in page.meanings]
    assert names == [name for name in meanings() if name in names]
    for item in all_items(page):
        assert item.text and "\n" not in item.text
        assert set(item.meanings) <= set(names)
        if item.place is not None:
            assert 1 <= item.place.line <= len(loaded.source.line_starts)
            assert 1 <= item.place.column <= len(loaded.source.line(item.place.line)) + 1
        if item.standing in ("gap", "proposed"):
            assert item.place is not None
    assert to_text(page).endswith("\n") and to_markdown(page).startswith("# ")
    assert to_json(page)["about"] == page.about


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_every_line_is_there(path: Path) -> None:
    loaded = compiled(path)
    for page in pages(loaded):
        check_page(loaded, page)


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_every_fact_of_an_endpoint_is_told_by_its_line(path: Path) -> None:
    loaded = compiled(path)
    facts = loaded.document.part("endpoints").facts
    for endpoint in endpoints_of(loaded):
        entry = facts.get(endpoint.key)
        assert entry is not None
        told = {item.place.line for item in all_items(explained(path)[endpoint.key]) if item.place is not None}
        stated = {loaded.source.place(span.start).line for span, _ in leaves(entry.value)}
        assert stated <= told, f"{endpoint.key}: lines {sorted(stated - told)} are not told"


@pytest.mark.parametrize("path", EXAMPLES, ids=title)
def test_in_an_example_no_fact_is_told_only_as_it_is_written(path: Path) -> None:
    for page in pages(compiled(path)):
        assert "Also written" not in {section.title for section in page.sections}


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_every_gap_that_blocks_an_endpoint_is_told(path: Path) -> None:
    loaded = compiled(path)
    for endpoint in endpoints_of(loaded):
        told = {(item.place, item.text) for item in all_items(explained(path)[endpoint.key])}
        for question in loaded.open_questions:
            if endpoint.key in question.blocks:
                assert (loaded.source.place(question.span.start), f"not shown: {question.text}") in told


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_every_condition_of_the_judge_is_told_with_the_code_of_the_service(path: Path) -> None:
    """The server's own reading of part 7 is the oracle."""
    loaded = compiled(path)
    for route, page in _served(path):
        problems = Problems(loaded.plan.problems)  # type: ignore[union-attr]
        causes = [item.cause for item in all_items(page) if item.cause is not None]
        told = {(cause.condition, cause.subject, cause.code) for cause in causes}
        for case in _cases(route):
            for operation, who in ((each.operation, each.who) for each in case.admissions):
                for each in () if isinstance(operation, Compute | Stream) else of_operation(operation, who):
                    code = problems.code(Failure(each.condition, each.subject, each.code), case.errors)
                    assert (each.condition, each.subject, code) in told, f"{route.key}: {each}"


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_errors_stand_in_the_order_in_which_the_service_counts_them(path: Path) -> None:
    loaded = compiled(path)
    for route, page in _served(path):
        assert loaded.plan is not None
        problems = Problems(loaded.plan.problems)
        statuses = {code.name: code.status for code in loaded.plan.problems.codes}
        (section,) = (each for each in page.sections if each.title.startswith("Errors"))
        ranks, asked_last = [], False
        for item in section.items:
            for cause, text in ((each.cause, each.text) for each in item.items if each.cause is not None):
                # A code that is stated for one check alone cannot be had from the condition.
                own = cause.code if cause.condition in ("check", "invalid") else None
                failure = Failure(cause.condition, cause.subject, own)
                # A resource's check is asked of what has become, where nothing else has refused the write (meaning
                # "before and after").
                become = cause.condition == "check" and bool(_OF_WHAT_HAS_BECOME.search(text))
                asked_last = asked_last or become
                # Of several operations each is refused by its own, one after another.
                last = ("check", "unavailable", "timed out", "internal")
                assert not asked_last or cause.condition in last or _further(route)
                # One without a status is a bare status.
                codes = [(problems.code(failure, case.errors), case) for case in _cases(route)]
                of = next(case for code, case in codes if (code if code in statuses else None) == cause.code)
                if not become:
                    ranks.append(problems.rank(failure, of.errors))
                assert cause.status == statuses.get(cause.code or "", loaded.plan.problems.statuses[cause.condition])
        # Of several operations the earlier one counts first, whatever the ranks.
        assert sum(later < earlier for earlier, later in pairwise(ranks)) <= _further(route)


_OF_WHAT_HAS_BECOME = re.compile("would not hold|cannot be made")


def _cases(route: Served) -> list[Served]:
    """The route in each of its cases, which may have codes of their own."""
    return [in_case(route, each) for each in (range(1, len(route.cases.cases) + 1) if route.cases else (0,))]


def _further(route: Served) -> int:
    operations = (admission.operation for admission in route.admissions)
    return max((len(each.steps(Further)) for each in operations if isinstance(each, Write)), default=0)


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_every_condition_that_can_arise_is_told(path: Path) -> None:
    loaded = compiled(path)
    for endpoint in endpoints_of(loaded):
        page = explained(path)[endpoint.key]
        told = {item.cause.condition for item in all_items(page) if item.cause is not None}
        for each in arising(Survey(loaded.contract)):
            if each.endpoint == endpoint.key:
                assert each.condition in told, f"{endpoint.key}: {each.text}"


@pytest.mark.parametrize("path", EXAMPLES, ids=title)
def test_every_declared_error_is_told_with_what_provokes_it(path: Path) -> None:
    loaded = compiled(path)
    (section,) = (each for each in explain_service(loaded).sections if each.title == "7. Errors")
    used = dict.fromkeys(_codes(loaded), False)
    for item in section.items:
        for code in used:
            if item.text.startswith(f"`{code}`"):
                used[code] = any(each.cause is not None and each.cause.code == code for each in item.items)
    assert [code for code, provoked in used.items() if not provoked] == []


def _codes(loaded: Loaded) -> list[str]:
    return [code.name for code in value_of(loaded.contract.errors.codes) or ()]


def _served(path: Path) -> Iterator[tuple[Served, Explanation]]:
    loaded = compiled(path)
    routes = loaded.plan.routes if loaded.plan is not None else ()
    for route in routes:
        if isinstance(route, Served):
            yield route, explained(path)[route.key]


_WORDS = st.sampled_from(["not shown", "none", "!proposed x", "[]", "{}", "order", "-1", "'x'", "a.b(c)", ""])


@st.composite
def broken(draw: st.DrawFn) -> str:
    """The example with lines taken out, and with values replaced by others."""
    lines = list(ORDERS)
    for _ in range(draw(st.integers(0, 3))):
        index = draw(st.integers(0, len(lines) - 1))
        key, colon, _ = lines[index].partition(": ")
        lines[index] = f"{key}: {draw(_WORDS)}" if colon else lines[index]
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(lines) - 1))
        del lines[start : start + draw(st.integers(1, 12))]
    return "\n".join(lines)


@settings(max_examples=examples(50))
@given(broken())
def test_a_broken_contract_is_explained_as_far_as_it_goes(text: str) -> None:
    for accept in (False, True):
        loaded = compile_document("orders.md", text.encode(), accept_proposals=accept)
        for page in pages(loaded):
            check_page(loaded, page)
