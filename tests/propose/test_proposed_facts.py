"""A fact that is only proposed is an open question: it makes no error that goes once it is accepted."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from tests.contracts import ALL, compiled, title
from tests.mutations.trees import Members, places, plain_form, tree_of
from tests.slices import LONG, some

from ninefold.diagnostics.diagnostic import Severity, has_errors
from ninefold.pipeline import compile_document


def errors(tree: Members, *, accepted: bool) -> list[str]:
    told = compile_document("contract.yaml", plain_form(tree).encode(), accept_proposals=accepted).diagnostics
    return [f"{each.code.id} {each.message}" for each in told if each.code.severity is Severity.ERROR]


def made_by_proposing(path: Path, number: int) -> list[str]:
    """The errors of a contract of which one fact is only proposed, and that is without errors once it is accepted."""
    tree = tree_of(path.name, path.read_bytes())
    place = list(places(tree))[number]
    place.value.proposed = True
    told = errors(tree, accepted=False)
    return [f"{'.'.join(place.names)}: {each}" for each in told] if told and not errors(tree, accepted=True) else []


@pytest.mark.long
@pytest.mark.parametrize("path", some(ALL, 6), ids=title)
def test_a_proposal_makes_no_error(path: Path) -> None:
    if has_errors(compiled(path).diagnostics):
        pytest.skip("it has errors of its own")
    facts = len(list(places(tree_of(path.name, path.read_bytes()))))
    for number in Random(title(path)).sample(range(facts), min(facts, 12 if LONG else 1)):
        assert made_by_proposing(path, number) == []


@pytest.mark.parametrize(
    ("of", "key"),
    [
        ("conduit", "issues"),
        ("a-total-that-judges-by-more-than-it-shows", "inverse"),
        ("a-station-with-one-row-of-settings", "states"),
        ("links-that-repeat-the-request", "at"),
        ("reports-of-a-month", "endpoints"),
        ("reports-of-a-month", "path"),
        ("clients-of-oauth", "scheme"),
        ("a-session-in-a-cookie", "guest"),
        ("a-password-without-its-realm", "unique"),
        ("an-invariant-of-a-change", "item"),
        ("assets-of-two-sorts", "terms"),
        ("values-that-are-read-as-their-schema-says", "body"),
        ("members-whose-names-are-no-identifiers", "on create"),
        ("todos-of-an-owner", "on create"),
        ("sessions-that-are-ended", "schemes"),
        ("sessions-that-are-ended", "editor"),
    ],
)
def test_what_is_read_of_it_elsewhere_waits_for_it(of: str, key: str) -> None:
    """A credential that may be issued may be told; rows that refer back, the states in which rows begin, where pages
    begin, what the endpoints that a rate counts declare, what a
    name in a path is, whether a credential is a user-id, all of a resource, a term
    by which a member of a body is read, a body, what makes a token, and the schemes that issue are read by others."""
    (path,) = (each for each in ALL if title(each) == of)
    named = [each.names for each in places(tree_of(path.name, path.read_bytes()))]
    proposed = [number for number, names in enumerate(named) if names[-1] == key]
    assert proposed
    assert [each for number in proposed for each in made_by_proposing(path, number)] == []
