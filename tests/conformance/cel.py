"""The conformance files of CEL, asked of our expressions: `python -m tests.conformance.cel DIRECTORY`.

The directory is `tests/simple/testdata` of a checkout of cel-spec. For each file it prints how many expressions are in
our subset and give what the file says, how many are outside the subset and why, and how many are neither, which is a
defect. Outside the subset is only what `OUTSIDE` names, in the words of `docs/expressions.md`: an expression that we
refuse for no reason of that list counts as failing.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from tests.conformance.text_format import Message, read

from ninefold.expressions.ast import Problem
from ninefold.expressions.check import check
from ninefold.expressions.evaluate import EvaluationError, compile
from ninefold.expressions.parse import parse
from ninefold.expressions.scope import Scope
from ninefold.values import (
    Anything,
    Array,
    Boolean,
    Duration,
    Integer,
    Number,
    Object,
    Text,
    Timestamp,
    Type,
    timestamp,
)

FILES: Final = (
    "basic", "comparisons", "conversions", "dynamic", "fields", "fp_math", "integer_math", "lists", "logic", "macros",
    "macros2",
    "parse", "plumbing", "string", "string_ext", "timestamps", "type_deduction",
)  # fmt: skip
"""The files with something of our subset. The others are about messages of protocol buffers (`enums`, `namespace`,
`proto2`, `proto2_ext`, `proto3`, `wrappers`), about libraries that we do not have (`bindings_ext`, `block_ext`,
`encoders_ext`, `math_ext`, `network_ext`, `optionals`), or about values not known yet (`unknowns`)."""

ERROR: Final = object()
REFUSED: Final = object()
"""Refused before the start."""
UNTOLD: Final = object()
"""The file says the type alone."""
_WORDS: Final = {id(ERROR): "an error", id(REFUSED): "refused"}


@dataclass(frozen=True, slots=True)
class Case:
    """One expression with what is bound to its names, and what it gives: a value, or `ERROR`."""

    file: str
    name: str
    text: str
    types: Mapping[str, Type]
    bound: Mapping[str, Any]
    gives: Any


class Outside(Exception):
    """What a case needs is not in our subset."""


def cases(file: Path) -> Iterator[Case | tuple[str, str]]:
    """The cases of a file; instead of one that cannot even be stated here, its name and why."""
    for section in read(file.read_text(encoding="utf-8")).get("section", []):
        for test in section.get("test", []):  # type: ignore[union-attr]
            assert isinstance(test, dict)
            name = f"{_text(section, 'name')}/{_text(test, 'name')}"  # type: ignore[arg-type]
            try:
                yield _case(file.stem, name, test)
            except Outside as why:
                yield name, str(why)


def _case(file: str, name: str, test: Message) -> Case:
    if "container" in test or "disable_macros" in test:
        raise Outside(MESSAGES if "container" in test else "macros are part of the language")
    types: dict[str, Type] = {}
    for declared in test.get("type_env", []):
        assert isinstance(declared, dict)
        if "ident" not in declared:
            raise Outside("functions are one closed table")
        types[_text(declared, "name")] = _type(_child(_child(declared, "ident"), "type"))
    bound = {}
    for binding in test.get("bindings", []):
        assert isinstance(binding, dict)
        if "value" not in _child(binding, "value"):
            raise Outside("values not known yet")
        bound[_text(binding, "key")] = _value(_child(_child(binding, "value"), "value"))
    gives: Any = True
    if "value" in test:
        gives = _value(_child(test, "value"))
    elif "typed_result" in test:
        result = _child(test, "typed_result")
        gives = _value(_child(result, "result")) if "result" in result and "check_only" not in test else UNTOLD
        _type(_child(result, "deduced_type"))
    elif "eval_error" in test or "any_eval_errors" in test:
        gives = ERROR
    elif "unknown" in test or "any_unknowns" in test:
        raise Outside("values not known yet")
    return Case(file, name, _text(test, "expr"), types, bound, gives)


def _text(message: Message, name: str) -> str:
    found = message[name][0]
    assert isinstance(found, bytes)
    return found.decode()


def _child(message: Message, name: str) -> Message:
    found = message[name][0]
    assert isinstance(found, dict)
    return found


MESSAGES: Final = "messages, enumerations and wrappers of protocol buffers"
UNSIGNED: Final = "`uint`"
BYTES: Final = "`bytes`"
TYPES: Final = "`type()` and types as values"
NOT_JSON: Final = "infinity, NaN"
KEYS: Final = "objects whose members are not named by strings"

_PRIMITIVES: Final[Mapping[str, Type | str]] = {
    "BOOL": Boolean(), "INT64": Integer(), "DOUBLE": Number(), "STRING": Text(), "UINT64": UNSIGNED, "BYTES": BYTES,
}  # fmt: skip


def _type(written: Message) -> Type:
    match next(iter(written.items()), ("dyn", [])):
        case "primitive", [str(name)]:
            found = _PRIMITIVES[name]
            if isinstance(found, str):
                raise Outside(found)
            return found
        case "well_known", ["TIMESTAMP"]:
            return Timestamp()
        case "well_known", ["DURATION"]:
            return Duration()
        case "list_type", [dict() as listed]:
            return Array(items=_type(_child(listed, "elem_type")) if "elem_type" in listed else Anything())
        case "map_type", [dict() as mapped]:
            if "key_type" in mapped and not isinstance(_type(_child(mapped, "key_type")), Text | Anything):
                raise Outside(KEYS)
            if "value_type" in mapped:
                _type(_child(mapped, "value_type"))
            return Object()
        case ("dyn", _) | ("null", _) | ("well_known", ["ANY"]):
            return Anything()
        case "type", _:
            raise Outside(TYPES)
        case _:
            raise Outside(MESSAGES)


def _value(written: Message) -> Any:
    (kind, [found]) = next(iter(written.items()))
    match kind, found:
        case "int64_value", str(digits):
            return int(digits, 0)
        case "double_value", str(digits):
            return float(digits)
        case "bool_value", _:
            return found == "true"
        case "string_value", bytes(content):
            return content.decode()
        case "null_value", _:
            return None
        case "list_value", dict(listed):
            return [_value(item) for item in listed.get("values", [])]  # type: ignore[arg-type]
        case "map_value", dict(mapped):
            entries = [
                (_value(_child(entry, "key")), _value(_child(entry, "value")))  # type: ignore[arg-type]
                for entry in mapped.get("entries", [])
            ]
            if not all(isinstance(key, str) for key, _ in entries):
                raise Outside(KEYS)
            return dict(entries)
        case "object_value", dict(packed):
            return _well_known(packed)
        case "uint64_value", _:
            raise Outside(UNSIGNED)
        case "bytes_value", _:
            raise Outside(BYTES)
        case "type_value", _:
            raise Outside(TYPES)
        case _:
            raise Outside(MESSAGES)


def _well_known(packed: Message) -> Any:
    (name, [message]) = next(iter(packed.items()))
    assert isinstance(message, dict)
    seconds, nanos = (int(str(message.get(part, ["0"])[0])) for part in ("seconds", "nanos"))
    if name.endswith("/google.protobuf.Duration]"):
        return seconds * 1_000_000 + nanos // 1000
    if name.endswith("/google.protobuf.Timestamp]"):
        return timestamp(
            (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds, microseconds=nanos // 1000)).isoformat()
        )
    raise Outside(MESSAGES)


MIXED: Final = "values of different types compared, combined, or as the two sides of `?:`"
FUNCTIONS: Final = "functions that are not in the table"

OUTSIDE: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (why, re.compile(pattern, re.VERBOSE))
    for why, pattern in (
        (UNSIGNED, r"\d[uU]\b | \buint\("),
        (BYTES, r"""(?<![\w"'])[rR]?[bB][rR]?["'] | \bbytes\("""),
        (TYPES, r"\btype\( | ^(?:int|bool|string|double|list|map|null_type|type|dyn)$"),
        ("`dyn()`", r"\bdyn\("),
        (MESSAGES, r"\b(?:google\.protobuf|TestAllTypes|cel\.expr|NestedTestAllTypes)\b"),
        (KEYS, r"[{,]\s*(?:-?[\d.]+|true|false|null)\s*:"),
        (FUNCTIONS, r"\.(?:charAt|format|indexOf|join|lastIndexOf|quote|replace|reverse|split|substring)\(|f_unknown"),
        (FUNCTIONS, r"^a\.[a-z]+\(\)\ \|\|\ true$"),
        (NOT_JSON, r"/\s?0\.0 | e\+307\b"),
        ("nanoseconds", r"\dns' | \.\d{9}Z"),
        ("`getHours('Europe/Berlin')`", r"\.get[A-Z][A-Za-z]+\('"),
        ("`string()` of a date-time or duration in CEL's own form", r"^string\((?:timestamp|duration)\("),
        ("`int('+1')`, `int(' 1')`, `bool('1')`", r"^bool\('"),
        ("U+0000 in text", r"\\(?:000|[xX]00|u0000|U00000000)"),
        ("names in backquotes", r"`"),
    )
)  # fmt: skip
"""What our subset leaves out, and how an expression shows that it needs it."""

OUTSIDE_BY_NAME: Final[Mapping[str, str]] = {
    name: why
    for why, names in (
        (
            MIXED,
            "comparisons/eq_literal/not_eq_list_length comparisons/eq_literal/eq_mixed_types "
            "comparisons/eq_literal/eq_list_elem_mixed_types macros2/exists/list_elem_type_exhaustive "
            "logic/conditional/mixed_type "
            "logic/AND/short_circuit_type_left logic/AND/short_circuit_type_right logic/OR/short_circuit_type_left "
            "logic/OR/short_circuit_type_right macros/exists/list_elem_type_exhaustive fields/in/empty",
        ),
        ("names that nobody declared", "basic/variables/unbound_is_runtime_error"),
        (
            "names with dots in them",
            "fields/qualified_identifier_resolution/qualified_ident "
            "fields/qualified_identifier_resolution/map_field_select "
            "fields/qualified_identifier_resolution/qualified_identifier_resolution_unchecked "
            "fields/qualified_identifier_resolution/ident_with_longest_prefix_check",
        ),
        ("a member that is not there is an error", "fields/map_fields/map_field_select_no_such_key"),
        ("a member that an object is known not to have", "fields/map_has/has_not"),
        (
            "durations end at 10,000 years",
            "timestamps/timestamp_range/sub_time_duration_over timestamps/timestamp_range/sub_time_duration_under "
            "timestamps/duration_range/from_string_under timestamps/duration_range/from_string_over "
            "timestamps/duration_range/add_under timestamps/duration_range/add_over "
            "timestamps/duration_range/sub_under timestamps/duration_range/sub_over",
        ),
    )
    for name in names.split()
}
"""Where the expression alone does not show it."""


def outcome(case: Case) -> str | None:
    """None: it gives what the file says, or is refused before the start where the file says that it fails. Otherwise
    why not, in words that begin with "outside:" or "failed:"."""
    reason = OUTSIDE_BY_NAME.get(f"{case.file}/{case.name}") or next(
        (why for why, pattern in OUTSIDE if pattern.search(case.text)), None
    )
    found = _found(case)
    if found is REFUSED and case.gives is ERROR:
        return None
    if case.gives is UNTOLD:
        matches = found is not REFUSED
    else:
        matches = _same(found, case.gives)
    if matches:
        return None
    if reason:
        return f"outside: {reason}"
    return f"failed: {_WORDS.get(id(found)) or f'gives {found!r}'}"


def _found(case: Case) -> Any:
    """The value, `ERROR`, or `REFUSED`."""
    tree = parse(case.text)
    if isinstance(tree, Problem):
        return REFUSED
    typed = check(tree, Scope(case.types)).typed
    if typed is None:
        return REFUSED
    try:
        return compile(typed)(case.bound)
    except EvaluationError:
        return ERROR


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return isinstance(found, list) and len(found) == len(expected) and all(map(_same, found, expected))
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(_same(found[k], expected[k]) for k in found)
        )
    if isinstance(expected, float) and math.isnan(expected):
        return False
    return type(found) is type(expected) and found == expected


def main(arguments: list[str]) -> int:
    directory = Path(arguments[0])
    failing = 0
    total: Counter[str] = Counter()
    for file in FILES:
        counts: Counter[str] = Counter()
        for case in cases(directory / f"{file}.textproto"):
            came = f"outside: {case[1]}" if isinstance(case, tuple) else outcome(case)
            counts[came.partition(":")[0] if came else "passed"] += 1
            if isinstance(case, Case) and came and came.startswith("failed"):
                failing += 1
                print(f"  {file}/{case.name}: {case.text!r} is {case.gives!r}: {came}")
            elif came:
                total[came] += 1
        print(f"{file:15} {counts['passed']:4} passed  {counts['outside']:4} outside  {counts['failed']:4} failed")
    for why, count in total.most_common():
        print(f"{count:5} {why}")
    return 1 if failing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
