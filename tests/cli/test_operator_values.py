"""Where operator values come from, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ninefold.cli.operator_values import operator_values
from ninefold.cli.terminal import Unusable

WANTED = ("issuer", "secret_key", "other")


def secrets_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "secrets"
    path.write_bytes(text.encode())
    path.chmod(mode)
    return path


def test_the_first_place_that_has_a_name_counts(tmp_path: Path) -> None:
    file = secrets_file(tmp_path, "# comment\n\nissuer = from the file\r\nsecret_key=a=b#c\n")
    around = {
        "NINEFOLD_SET_issuer": "e",
        "NINEFOLD_SET_SECRET_KEY": "e",
        "NINEFOLD_SET_OTHER": "o",
        "NINEFOLD_SET_X": "x",
    }
    assert operator_values(WANTED, ["issuer=set"], file, around) == {
        "issuer": "set",
        "secret_key": "a=b#c",
        "other": "o",
    }
    assert operator_values(WANTED, [], file, around)["issuer"] == "from the file"
    assert operator_values(WANTED, [], None, around)["issuer"] == "e"
    assert operator_values(WANTED, [], None, {}) == {}


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["isuer=x"], "no operator.isuer"),
        (["issuer"], "not NAME=VALUE"),
        (["=x"], "not NAME=VALUE"),
        (["issuer="], "no value"),
        (["issuer=a", "issuer=b"], "given twice"),
    ],
)
def test_settings_that_are_refused(settings: list[str], said: str) -> None:
    with pytest.raises(Unusable, match=said):
        operator_values(WANTED, settings, None, {})


def test_an_unknown_name_has_a_suggestion() -> None:
    with pytest.raises(Unusable) as refusal:
        operator_values(WANTED, ["isuer=x"], None, {})
    assert refusal.value.help == ("did you mean `issuer`?",)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o610])
def test_a_secrets_file_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(Unusable, match="by others"):
        operator_values(WANTED, [], secrets_file(tmp_path, "issuer=x\n", mode), {})


def test_a_refusal_repeats_no_secret(tmp_path: Path) -> None:
    with pytest.raises(Unusable, match="entry 2") as refusal:
        operator_values(WANTED, [], secrets_file(tmp_path, "issuer=x\nhunter2\n"), {})
    assert "hunter2" not in str(refusal.value)


def test_a_secrets_file_that_cannot_be_read(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe=\xff")
    binary.chmod(0o600)
    for path in (tmp_path, tmp_path / "nothing", binary):
        with pytest.raises(Unusable):
            operator_values(WANTED, [], path, {})
