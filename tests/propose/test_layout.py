"""Where a proposal goes, by how the document is written."""

from __future__ import annotations

import pytest
from tests.propose.keeping import assert_kept, compiled

from ninefold.tools.propose.propose import propose

HEAD = """\
# Notes

## 1. What the service does

Keeps notes.

## 2. Resources and their fields

```yaml
note:
  primary key: id
  fields:
    id:   {type: string, format: uuid, on create: uuid()}
    text: {type: string}
```

## 3. States and transitions

States: none.

"""

TAIL = """\

## 5. Authentication

```yaml
schemes: none
rows: all
permissions: {all others: anyone}
```

## 6. Events

Events: none.

## 7. Errors

Errors: none.

## 8. Limits

```yaml
rates: none
body size: none
timeout: none
```

## 9. Versioning

Versioning: none.
"""


def endpoints(text: str) -> str:
    return f"{HEAD}## 4. Endpoints\n\n{text}{TAIL}"


def proposed(text: str, name: str = "contract.md") -> str:
    """The document with its proposals; that nothing else has changed is asserted."""
    before = compiled(text, name, accept=True)
    outcome = propose(before)
    assert_kept(before, outcome.text)
    assert propose(compiled(outcome.text, name, accept=True)).text == outcome.text
    return outcome.text


JSON = "produces: application/json\n"
READ = "GET /notes/{id}: {does: read note, responses: {200: note}}\n"
IN_BRACES = "requests: {media type: application/json, unknown members: refused, unknown parameters: refused}\n"
PATCHED = "PATCH /notes/{id}: {does: update note, body: [text], responses: {200: note}}"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        # between braces: before the last one, and the source at the end of the line
        (
            f"```yaml\n{IN_BRACES}{JSON}{PATCHED}\n```\n",
            "responses: {200: note}, patch: !proposed merge}  # RFC 7396: JSON merge patch\n```\n",
        ),
        # behind a comment that is there
        (
            f"```yaml\n{IN_BRACES}{JSON}{PATCHED}  # Ann wants it\n```\n",
            "patch: !proposed merge}  # Ann wants it; RFC 7396: JSON merge patch\n```\n",
        ),
        # a line of its own, indented like the others
        (
            f"```yaml\n{IN_BRACES}{JSON}PATCH /notes/{{id}}:\n"
            "     does: update note\n     body: [text]\n     responses: {200: note}\n```\n",
            "     responses: {200: note}\n     patch: !proposed merge  # RFC 7396: JSON merge patch\n```\n",
        ),
        # `not shown` becomes a comment
        (
            f"```yaml\n{IN_BRACES}{JSON}PATCH /notes/{{id}}:\n  does: update note\n"
            "  patch: not shown # yet\n  body: [text]\n  responses: {200: note}\n```\n",
            "  patch: !proposed merge  # RFC 7396: JSON merge patch; before: not shown # yet\n  body: [text]\n",
        ),
        (
            "```yaml\nrequests: {unknown members: not shown, unknown parameters: refused, "
            "media type: application/json}\n"
            f"{JSON}GET /notes/{{id}}: {{does: read note, body: none, responses: {{200: note}}}}\n```\n",
            "requests: {unknown members: !proposed refused  # RFC 9413: what nobody specified is refused, "
            "not tolerated; before: not shown\n  , unknown parameters: refused, media type: application/json}\n",
        ),
        # what the part lacks, in a block behind its last
        (
            "```yaml\n" + IN_BRACES + "GET /notes/{id}: {does: read note, responses: {200: note}}\n```\nProse.\n",
            "responses: {200: note}}\n```\n\n```yaml proposed\nproduces: application/json"
            "  # RFC 8259: JSON\n```\n\nProse.\n",
        ),
        # in a block that proposes, without another tag
        (
            "```yaml proposed\nrequests:\n  media type: application/json\n```\n\n```yaml\n"
            f"{JSON}{READ}```\n",
            "  media type: application/json\n  unknown parameters: refused  # RFC 9413: what",
        ),
    ],
)  # fmt: skip
def test_a_proposal_stands_where_an_author_would_put_it(written: str, expected: str) -> None:
    assert expected in proposed(endpoints(written))


def test_a_part_that_is_absent_gets_its_heading() -> None:
    text = HEAD + TAIL.replace("## 7. Errors\n\nErrors: none.\n\n", "")
    assert "\n\n## 7. Errors\n\n```yaml proposed\nerror shape:" in proposed(text)
    last = HEAD + TAIL.split("## 7.")[0]
    assert "\n\n## 7. Errors\n\n```yaml proposed\nerror shape:" in proposed(last)


def test_a_part_that_is_underlined_or_speaks_for_itself() -> None:
    text = HEAD + TAIL.replace("## 7. Errors\n\nErrors: none.", "Errors\n------")
    assert "Errors\n------\n\n```yaml proposed\nerror shape:" in proposed(text)
    said = HEAD + TAIL.replace("Errors: none.", "Errors: not shown.\n\nAnn will know.")
    assert "Errors: not shown.\n\n```yaml proposed\nerror shape:" in proposed(said)


def test_facts_in_a_list_and_in_a_quotation() -> None:
    block = f"{IN_BRACES}{JSON}PATCH /notes/{{id}}:\n  does: update note\n" + (
        "  body: [text]\n  responses: {200: note}"
    )
    lines = f"```yaml\n{block}\n```".splitlines()
    quoted = "\n".join(f"> {line}" for line in lines) + "\n"
    assert ">   responses: {200: note}\n>   patch: !proposed merge" in proposed(endpoints(quoted))
    item = "- " + "\n  ".join(lines) + "\n"
    assert "    responses: {200: note}\n    patch: !proposed merge" in proposed(endpoints(item))


PLAIN = """\
purpose: Keeps notes.
resources:
  note:
    fields: {text: {type: string}}
states: none
endpoints:
  GET /notes/{id}: {does: read note, responses: {200: note}}
authentication: {schemes: none, rows: all, permissions: {all others: anyone}}
events: none
errors: not shown
"""


@pytest.mark.parametrize("break_", ["\n", "\r\n"])
def test_the_plain_form(break_: str) -> None:
    text = proposed(PLAIN.replace("\n", break_), "contract.yaml")
    for expected in (
        "  note:\n    primary key: !proposed id  # RFC 9562: UUIDs, which the service makes\n    fields: {id: !prop",
        "responses: {200: note}}\n  requests: !proposed {unknown parameters: refused}  # RFC 9413: what nobody",
        "  produces: !proposed application/json  # RFC 8259: JSON\nauthentication:",
        "errors: # not shown\n  error shape: !proposed  # RFC 9457: problem details\n    media type: application/prob",
    ):
        assert expected.replace("\n", break_) in text


def test_a_document_that_is_one_mapping_in_braces() -> None:
    text = "{purpose: Keeps notes., resources: {note: {fields: {text: {type: string}}}}, states: none}\n"
    assert "note: {primary key: !proposed id, fields: {id: !proposed {" in proposed(text, "contract.yaml")


def test_a_line_that_ends_within_a_text_gets_no_comment() -> None:
    text = PLAIN.replace(
        "fields: {text: {type: string}}", 'fields: {text: {type: string}, b: {type: string, description: "a\n    b"}}'
    )
    proposed(text, "contract.yaml")


def test_a_value_of_several_lines_ends_where_it_ends() -> None:
    text = PLAIN.replace(
        "fields: {text: {type: string}}",
        "fields:\n      text:\n        type: string\n        description: |+\n          Two lines\n\n\n",
    )
    assert "id: !proposed" in proposed(text, "contract.yaml")
