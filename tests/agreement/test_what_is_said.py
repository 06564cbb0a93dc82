"""What the language can say is said by random contracts, so that each answer to it is compared: a new key, or a new
verb, is met here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.agreement.contracts import contract
from tests.agreement.test_agreement import MORE, TO_ALL
from tests.agreement.versions import compiled

from ninefold.diff.ablate.facts import written
from ninefold.language.json_schema import KEYWORDS
from ninefold.language.table import vocabulary
from ninefold.language.verbs import VERBS

SEEDS: Final = range(40)

NOT_SAID: Final = {
    "what the time does is asked of timers, of which the requests are made otherwise": (
        "RESOURCE.expires",
        "RESOURCE.transitions.TRANSITION.after",
    ),
    "it is told to others, and not answered": (
        "delivery.webhooks",
        "delivery.envelope",
        "RESOURCE.fields.FIELD.sensitive",
    ),
    "its tokens are signed by somebody else": (
        "schemes.SCHEME.algorithms",
        "schemes.SCHEME.audience",
        "schemes.SCHEME.credential",
        "schemes.SCHEME.issuer",
        "schemes.SCHEME.keys",
    ),
    "it is written in another way, and says what is said without": ("RESOURCE.includes", "terms"),
    "rows that are there before the first request are thrown besides": ("RESOURCE.records",),
}
"""Keys that no random contract has, with all below them, by the reason: of each there are tests of its own."""


def contracts() -> Iterator[dict[str, Any]]:
    for seed in SEEDS:
        yield contract(seed)
        yield contract(TO_ALL + seed, to_all=True)
        yield contract(MORE + seed, more=True)


def said_under(does: str, value: Any) -> Iterator[str]:
    """What stands under a key, wherever it does."""
    match value:
        case dict():
            for key, each in value.items():
                if key == does:
                    yield from map(str, each if isinstance(each, list) else [each])
                yield from said_under(does, each)
        case list():
            for each in value:
                yield from said_under(does, each)


def test_each_verb_is_done() -> None:
    done = {each for one in contracts() for each in said_under("does", one)}
    assert [verb for verb in VERBS if not any(f"{each} ".startswith(f"{verb} ") for each in done)] == []


@pytest.mark.long
@pytest.mark.slow
def test_each_key_is_said() -> None:
    """Those of cases are those of endpoints, and keywords of a schema are asked of values that break them elsewhere
    (`tests/laws`)."""
    said = {fact.path for one in contracts() for fact in written(compiled(one).document)}
    own = {key.path for key in vocabulary() if key.name not in KEYWORDS and ".cases." not in key.path}
    listed = {
        path: any(path == each or path.startswith(f"{each}.") for of in NOT_SAID.values() for each in of)
        for path in own
    }
    assert sorted(path for path in own - said if not listed[path]) == []
    assert sorted(path for path in own & said if listed[path]) == []
