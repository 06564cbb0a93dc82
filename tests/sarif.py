"""The schema of SARIF 2.1.0, as its standard has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs


def _official() -> Any:
    path = Path(__file__).parent / "diagnostics" / "sarif" / "sarif-2.1.0-rtm.5.json"
    schema = json.loads(path.read_text(encoding="utf-8"))
    for name in ("run", "toolComponent"):
        # As in errata 01 of the standard: the bracket too many makes it no regular expression of ECMA-262.
        schema["definitions"][name]["properties"]["language"]["pattern"] = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$"
    return schema


VALIDATOR = jsonschema_rs.Draft4Validator(_official(), validate_formats=True)
