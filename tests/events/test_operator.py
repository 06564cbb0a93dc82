"""`ninefold events`: what the operator sees of the log, and has delivered again, beside a service that runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path

import pytest
from standardwebhooks import Webhook
from tests.events.receiver import Answer, receiving
from tests.events.service import Running, running
from tests.events.test_webhooks import until_left

from ninefold.cli import main
from ninefold.cli.events import events

pytestmark = pytest.mark.serves

CONTRACT = str(Path(__file__).parent / "contract.md")


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Running]:
    with running(tmp_path / "service.db") as service:
        yield service


def test_the_log_and_what_was_given_up(service: Running, capsys: pytest.CaptureFixture[str]) -> None:
    def said(*arguments: str) -> str:
        assert main(["events", CONTRACT, *arguments, "--database", str(service.path)]) == 0
        return capsys.readouterr().out

    ann = service.person("Ann")
    broken = True
    with receiving(lambda number: Answer(500 if broken else 204)) as receiver:
        made = service.subscribe(ann, receiver.url)
        note = service.note(ann, "tea")
        service.http.post(f"/notes/{note}/finish", headers=ann)
        until_left(service, [(1, 3, "answered 500"), (2, 3, "answered 500")])
        [newest, oldest] = map(json.loads, said("list", "--format", "json").splitlines())
        assert (newest["position"], newest["kind"], newest["row"]) == (2, "note.finished", note)
        assert (oldest["position"], oldest["resource"]) == (1, "note")
        assert "note.finished" in said() and "note.written" not in said("list", "--after", "1")
        [first, _] = map(json.loads, said("dead", "--format", "json").splitlines())
        assert (first["why"], first["attempts"], first["url"]) == ("answered 500", 3, receiver.url)
        broken = False
        assert said("replay") == "2 deliveries to be made again\n"
        assert [each.json["type"] for each in receiver.until(8)[6:]] == ["note.written", "note.finished"]
        until_left(service, [])
        assert said("replay", "--event", "1", "--subscription", made["id"]) == "1 delivery to be made again\n"
        receiver.until(9)
        until_left(service, [])
        assert said("replay") == "0 deliveries to be made again\n"


def test_a_receiver_that_was_gone_is_told_again(service: Running) -> None:
    ann = service.person("Ann")
    gone = True
    with receiving(lambda number: Answer(410 if gone else 204)) as receiver:
        made = service.subscribe(ann, receiver.url)
        service.note(ann, "tea")
        until_left(service, [(1, 0, "the receiver is gone (410)")])
        gone = False
        call = ["events", CONTRACT, "replay", "--subscription", made["id"], "--database", str(service.path)]
        assert main(call) == 0
        until_left(service, [])
        service.note(ann, "coffee")
        receiver.until(3)


def test_while_a_secret_takes_the_place_of_another_both_sign(
    service: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    ann = service.person("Ann")
    rotate = ["events", CONTRACT, "rotate", "--database", str(service.path), "--subscription"]
    with receiving() as receiver:
        made = service.subscribe(ann, receiver.url)
        assert main([*rotate, made["id"]]) == 0
        secret = capsys.readouterr().out.strip()
        service.note(ann, "tea")
        [came] = receiver.until(1)
        assert len(came.headers["webhook-signature"].split(" ")) == 2
        for each in (secret, made["secret"]):
            assert Webhook(each).verify(came.body, came.headers)
        assert main([*rotate, made["id"], "--overlap-hours", "0"]) == 0
        latest = capsys.readouterr().out.strip()
        service.note(ann, "coffee")
        came = receiver.until(2)[1]
    assert Webhook(latest).verify(came.body, came.headers)
    assert len(came.headers["webhook-signature"].split(" ")) == 1
    assert main([*rotate, "nobody"]) == 2
    assert "there is no subscription nobody" in capsys.readouterr().err


def test_what_there_is_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["events", CONTRACT, "--database", str(tmp_path / "none.db")]) == 2
    assert "there is no database" in capsys.readouterr().err
    assert main(["events", CONTRACT, "replay", "--database", str(tmp_path / "none.db")]) == 2
    assert "there is no database" in capsys.readouterr().err


def test_what_is_named_and_not_there_is_no_success(service: Running, capsys: pytest.CaptureFixture[str]) -> None:
    ann = service.person("Ann")
    with receiving(lambda number: Answer(204)) as receiver:
        made = service.subscribe(ann, receiver.url)
        service.note(ann, "tea")
        receiver.until(1)
        until_left(service, [])
        for named, words in (
            (("--event", "99"), "there is no event 99"),
            (("--event", "1", "--event", "0"), "there is no event 0"),
            (("--event", str(10**30)), f"there is no event {10**30}"),
            (("--subscription", "nonsense"), "there is no subscription nonsense"),
            (("--event", "1", "--subscription", "nonsense"), "there is no subscription nonsense"),
        ):
            assert main(["events", CONTRACT, "replay", *named, "--database", str(service.path)]) == 2
            said = capsys.readouterr()
            assert words in said.err and not said.out
        call = ["events", CONTRACT, "replay", "--subscription", made["id"], "--database", str(service.path)]
        assert main(call) == 0 and "0 deliveries" in capsys.readouterr().out
    assert len(receiver.came) == 1


OPTIONS = {
    "--after": ("1", {"list"}),
    "--limit": ("5", {"list", "dead"}),
    "--event": ("1", {"replay"}),
    "--subscription": ("x", {"replay", "rotate"}),
    "--overlap-hours": ("3", {"rotate"}),
    "--format": ("json", {"list", "dead"}),
}


def test_each_option_of_the_command_is_tried() -> None:
    taken = {name for name, each in signature(events).parameters.items() if each.kind is Parameter.KEYWORD_ONLY}
    own = {"overlap" if name == "--overlap-hours" else name.removeprefix("--") for name in OPTIONS}
    assert own == taken - {"database", "accept_proposals"}


@pytest.mark.parametrize("action", ["list", "dead", "replay", "rotate"])
@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_of_other_actions_is_not_dropped(
    action: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value, of = OPTIONS[option]
    assert main(["events", CONTRACT, action, option, value, "--database", str(tmp_path / "none.db")]) == 2
    assert (f"{action} takes no {option}" in capsys.readouterr().err) == (action not in of)
