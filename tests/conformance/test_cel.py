"""The conformance files of CEL, where a checkout of them is named; and the reader of their format, always."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.conformance.cel import FILES, Case, cases, outcome
from tests.conformance.text_format import read

NAMED = os.environ.get("NINEFOLD_CEL_SPEC")

SAMPLE = """# a comment
name: "sample"
section {
  name: "one"
  test { name: "sum", expr: "1 + a" type_env: { name: "a", ident: { type: { primitive: INT64 } } }
         bindings: { key: "a" value: { value: { int64_value: -2 } } } value: { int64_value: -1 } }
  test { name: "wrong" expr: "'a' '\\x62'" value: { string_value: 'a' "\\142" } }
  test { name: "wrong" expr: "2 + 2" value: { int64_value: 5 } }
  test { name: "fails" expr: "1 / 0" eval_error: { errors: [{ message: "any" }] } }
  test { name: "time" expr: "timestamp('1970-01-01T00:00:01Z')"
         value: { object_value: { [type.googleapis.com/google.protobuf.Timestamp] { seconds: 1 } } } }
  test { name: "unsigned" expr: "1u" value: { uint64_value: 1 } }
}
"""


def test_the_text_format_is_read() -> None:
    assert read("a: 1 a: [2, -3] b { c: 'x' \"\\x79\\172\" } d < e: F >; # end") == {
        "a": ["1", "2", "-3"],
        "b": [{"c": [b"xyz"]}],
        "d": [{"e": ["F"]}],
    }


@pytest.mark.parametrize("text", ["a {", "a: {b: 1", 'a: "x', "}", "a: ]"])
def test_what_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read(text)


def test_a_wrong_answer_is_told_from_a_right_one(tmp_path: Path) -> None:
    file = tmp_path / "sample.textproto"
    file.write_text(SAMPLE, encoding="utf-8")
    found = [outcome(case) if isinstance(case, Case) else f"outside: {case[1]}" for case in cases(file)]
    assert found == [None, "failed: refused", "failed: gives 4", None, None, "outside: `uint`"]


@pytest.mark.skipif(
    NAMED is None, reason="NINEFOLD_CEL_SPEC does not name tests/simple/testdata of a checkout of cel-spec"
)
@pytest.mark.parametrize("name", FILES)
def test_what_applies_of_a_file_passes(name: str) -> None:
    assert NAMED is not None
    came = [(case.name, outcome(case)) for case in cases(Path(NAMED) / f"{name}.textproto") if isinstance(case, Case)]
    assert not [(name, why) for name, why in came if why and why.startswith("failed")]
    assert any(why is None for _, why in came)
