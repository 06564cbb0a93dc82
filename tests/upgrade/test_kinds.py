"""The kinds of subscriptions are kept in rows, and follow the contract as the rows of any resource do: what part 9 says
of them is done, and where nothing says what has become of a kind it is asked before anything is served."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from tests.events.receiver import Receiver, receiving
from tests.events.service import running
from tests.postgresql import server
from tests.versions.test_kinds import CONTRACT, NONE, hook, renamed

from ninefold.cli import main
from ninefold.library import DatabaseRefused, application

pytestmark = pytest.mark.serves

ONE: Final = """\
versioning:
  in: header
  name: Api-Version
  default: "1"
  versions: {"1": {}}
  compatible: none
"""
TWO: Final = """\
versioning:
  in: header
  name: Api-Version
  default: "1"
  versions:
    "2": {}
    "1": {changes: [{rename: thing.born, to: thing.made}]}
  compatible: none
"""
SET: Final = """\
changes:
  - {set: subscription.kinds, is: "old.kinds.map(kind, kind == 'thing.made' ? 'thing.born' : kind)"}
"""


@dataclass(frozen=True)
class Kept:
    """A database, and the contract that is served over it."""

    database: Path | str
    contract: Path

    def opened(self, text: str) -> None:
        """As `serve` opens it."""
        self.contract.write_text(text, encoding="utf-8")
        served = application(self.contract, database=str(self.database))
        served.open()
        served.close()

    def upgraded(self, *more: str) -> int:
        return main(["upgrade", str(self.contract), "--database", str(self.database), *more])

    def subscribed(self, receiver: Receiver, text: str) -> None:
        self.opened(text)
        with running(self.database, text, name="contract.yaml") as service:
            hook(service, receiver.url, "thing.made", "thing.changed", headers={})

    def tells(self, receiver: Receiver, text: str, kind: str) -> None:
        """The subscription is told as before; `kind` is what its version calls it."""
        self.opened(text)
        with running(self.database, text, name="contract.yaml") as service:
            service.http.post("/things", json={"name": "a"})
            assert [each.json["type"] for each in receiver.until(1)] == [kind]


@pytest.fixture(params=["sqlite", "postgresql"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Kept:
    database = tmp_path / "things.db" if request.param == "sqlite" else server.database()
    return Kept(database, tmp_path / "contract.yaml")


def test_a_kind_that_part_9_says_was_called_otherwise_need_not_be_said_again(
    kept: Kept, capsys: pytest.CaptureFixture[str]
) -> None:
    text = renamed(CONTRACT) + TWO
    with receiving() as receiver:
        kept.subscribed(receiver, CONTRACT + ONE)
        with pytest.raises(DatabaseRefused, match=r"subscription\.kinds"):
            kept.opened(text)
        assert kept.upgraded("--apply") == 0
        assert "subscription.kinds is `value.map(" in capsys.readouterr().out
        kept.tells(receiver, text, "thing.made")
        assert kept.upgraded() == 0
        assert "nothing has to be changed" in capsys.readouterr().out


def test_a_kind_that_goes_without_a_word_is_asked_for(kept: Kept, capsys: pytest.CaptureFixture[str]) -> None:
    text = renamed(CONTRACT) + NONE
    with receiving() as receiver:
        kept.subscribed(receiver, CONTRACT + NONE)
        with pytest.raises(DatabaseRefused, match=r"1 row does not fit `subscription\.kinds` any more"):
            kept.opened(text)
        assert kept.upgraded("--apply") == 1
        assert "{leave: subscription.kinds}" in capsys.readouterr().out
        decisions = kept.contract.with_name("contract.upgrade.yaml")
        decisions.write_text(SET, encoding="utf-8")
        assert kept.upgraded("--decisions", str(decisions), "--apply") == 0, capsys.readouterr()
        kept.tells(receiver, text, "thing.born")


def test_a_kind_more_is_no_question(kept: Kept) -> None:
    gone = "    thing.gone: {upon: delete thing, payload: {type: \"'gone'\"}}\n"
    more = CONTRACT.replace("  delivery:\n", gone + "  delivery:\n") + NONE
    assert gone in more
    with receiving() as receiver:
        kept.subscribed(receiver, CONTRACT + NONE)
        kept.tells(receiver, more, "thing.made")
