"""Which types a keyword of JSON Schema says something of, by a validator that others wrote: what is warned of narrows
nothing, and what is not may."""

from __future__ import annotations

import json
from typing import Any, Final

import jsonschema_rs
import pytest

from ninefold.language.json_schema import KEYWORDS, TELLING, TYPES, TYPES_OF
from ninefold.pipeline import compile_document

VALUES: Final[dict[str, list[Any]]] = {
    "string": ["", "a", "abcdef"],
    "integer": [0, 1, 7],
    "number": [0.5, 1.5, 7.25],
    "boolean": [True, False],
    "array": [[], [1], [1, 1], ["a", 2, 3]],
    "object": [{}, {"a": 1}, {"a": 1, "b": 2}],
    "null": [None],
}
NARROW: Final[dict[str, Any]] = {
    "format": "date", "pattern": "^no$", "minLength": 9, "maxLength": 0,
    "minimum": 9, "maximum": -1, "exclusiveMinimum": 9, "exclusiveMaximum": -1, "multipleOf": 11,
    "items": False, "prefixItems": [False], "contains": False, "minContains": 1, "maxContains": 0, "minItems": 9,
    "maxItems": 0, "uniqueItems": True, "unevaluatedItems": False, "properties": {"a": False}, "required": ["c"],
    "additionalProperties": False, "patternProperties": {"a": False}, "propertyNames": False, "minProperties": 9,
    "maxProperties": 0, "dependentRequired": {"a": ["c"]}, "dependentSchemas": {"a": False},
    "unevaluatedProperties": False,
}  # fmt: skip
"""Each with what hardly a value of its own type keeps."""

BESIDE: Final = {"minContains": {"contains": False}, "maxContains": {"contains": True}}
OF_ANY: Final = {"type", "$ref", "enum", "const", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"}

CONTRACT: Final = """# Of one field

## 2. Resources and their fields

```yaml
thing: {{primary key: id, fields: {{id: {{type: integer}}, it: {schema}}}}}
```
"""


def test_each_keyword_is_of_types_or_of_any() -> None:
    assert {*TYPES_OF} == {*NARROW} == {*KEYWORDS} - OF_ANY - TELLING


@pytest.mark.parametrize("keyword", sorted(NARROW))
@pytest.mark.parametrize("kind", TYPES)
def test_a_keyword_that_narrows_nothing_of_a_type_is_warned_of(keyword: str, kind: str) -> None:
    schema = {"type": kind, keyword: NARROW[keyword], **BESIDE.get(keyword, {})}
    keeps = jsonschema_rs.Draft202012Validator(schema, validate_formats=True).is_valid
    found = compile_document("thing.md", CONTRACT.format(schema=json.dumps(schema)).encode()).diagnostics
    told = any(each.message.startswith(f"`{keyword}` says nothing of ") for each in found)
    assert told == all(map(keeps, VALUES[kind]))
