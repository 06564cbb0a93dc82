"""Documents in both forms: parts, statements, facts, prose, and what is written wrong around them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ninefold.diagnostics.source import Source, Span
from ninefold.syntax.nodes import PARTS, Document, Mapping, Scalar, Word, heading
from ninefold.syntax.parser import Form, form_of, parse

EXAMPLES = Path(__file__).parents[2] / "examples"

SEED = {
    "purpose": "The purpose and domain of the service: not shown.",
    "resources": "Resources, their identifiers and their fields: not shown.",
    "states": "States and the moves between them: not shown.",
    "endpoints": "Methods, path shapes, parameters, request payloads and response payloads: not shown.",
    "authentication": "Authentication scheme, credentials and permissions: not shown.",
    "events": "Event kinds, delivery and payloads: not shown.",
    "errors": "Error codes, status codes and error body shape: not shown.",
    "limits": "Rate limits, size limits, pagination bounds and timeouts: not shown.",
    "versioning": "Version scheme and compatibility rules: not shown.",
}
TITLES = ("1. What the service does", "2. Resources and their fields", "3. States and transitions", "4. Endpoints",
          "5. Authentication", "6. Events", "7. Errors", "8. Limits", "9. Versioning")  # fmt: skip


def read(text: str, name: str = "contract.md") -> tuple[Document, list[str]]:
    """The document, and of each diagnostic its code, its place, and the text at each of its labels."""
    source = Source(name, text)
    outcome = parse(source, form_of(name, text))
    found = [
        f"{d.code.id} {source.place(d.span.start)} {' / '.join(source.cut(label.span) for label in d.labels)}".strip()
        for d in outcome.diagnostics
    ]
    return outcome.value, found


def keys(document: Document, part: str) -> list[str]:
    return [entry.name for entry in document.part(part).facts.entries]


def test_a_document_in_which_nothing_is_shown() -> None:
    """Nine statements, each at its own place."""
    text = "# Service Specification: Interface Contract\n\nThis document covers all nine parts.\n"
    text += "".join(f"\n## {title}\n\n{words}\n" for title, words in zip(TITLES, SEED.values(), strict=True))
    document, found = read(text)
    assert found == []
    assert document.title == "Service Specification: Interface Contract"
    assert document.source.cut(document.title_span) == "# Service Specification: Interface Contract"
    for part, title in zip(document.parts, TITLES, strict=True):
        assert part.present and document.source.cut(part.place) == f"## {title}"
        assert part.statement is not None and part.statement.word is Word.NOT_SHOWN
        assert document.source.cut(part.statement.span) == SEED[part.name]
        assert part.prose == () and part.facts.entries == () and part.blocks == ()


@pytest.mark.parametrize("name", ["orders.md", "conduit.md"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_examples_are_read_without_a_diagnostic(name: str, ending: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8").replace("\n", ending)
    document, found = read(text)
    assert found == []
    for part in document.parts:
        assert part.present
        assert [document.source.cut(block).split(ending)[0] for block in part.blocks] == ["```yaml"] * len(part.blocks)
        assert all(document.source.cut(block).endswith("```") for block in part.blocks)


def test_an_absent_heading_is_a_part_at_the_title() -> None:
    document, found = read("# T\n\n## 8\n\nLimits: none.\n")
    assert found == []
    assert [part.name for part in document.parts if part.present] == ["limits"]
    assert {document.source.cut(part.place) for part in document.parts if not part.present} == {"# T"}


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("3", 3), ("3.", 3), ("3. Whatever", 3), ("States and transitions", 3), ("states", 3), ("STATES", 3),
        ("Part 3: States", 3), ("3) States", 3), ("**3. States**", 3), ("`Limits`", 8), ("What the service does", 1),
        ("Purpose", 1), ("10. Limits", 8), ("10", None), ("0", None), ("Stats", None), ("2026 plans", None), ("", None),
    ],
)  # fmt: skip
def test_the_number_or_the_name_is_enough(text: str, part: int | None) -> None:
    assert heading(text).part == part


def test_headings_in_any_order_and_underlined() -> None:
    document, found = read("T\n===\n\n## 9\n\nVersions: none.\n\nLimits\n------\n\nLimits: none.\n")
    assert found == []
    assert document.title == "T"
    assert document.source.cut(document.part("limits").place) == "Limits"
    assert [part.number for part in document.parts if part.statement] == [8, 9]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("## 8\n\nx\n", ["NF0104 1:1"]),
        ("# T\n\n## 8\n\n## Limits\n", ["NF0105 5:1 ## Limits / ## 8"]),
        ("# T\n\n## Limit\n\n```yaml\na: b\n```\n", ["NF0106 3:1 ## Limit"]),
        ("# T\n\n## 3. Endpoints\n", ["NF0107 3:1 ## 3. Endpoints"]),
        ("# T\n\n# 4. Endpoints\n", ["NF0108 3:1 # 4. Endpoints"]),
        ("# T\n\n### 4. Endpoints\n", ["NF0108 3:1 ### 4. Endpoints"]),
        ("# T\n\n```yaml\na: b\n```\n", ["NF0112 3:1 ```yaml"]),
        ("# T\n\n## 8\n\n```YAML\na: b\n```\n", ["NF0113 5:1 ```YAML"]),
        ("# T\n\n## 8\n\n```yaml title=x\na: b\n```\n", ["NF0113 5:1 ```yaml title=x"]),
        ("# T\n\n## 8\n\n```\na: b\n```\n", ["NF0114 5:1 ```"]),
        ("# T\n\n## 8\n\n    a: b\n", ["NF0114 5:5 a: b"]),
        ("# T\n\n## 1\n\n```\na: b\n```\n", []),
        ("# T\n\n## 8\n\n```json\n{}\n```\n\n```http\nGET /\n```\n", []),
        ("# T\n\n## 8\n\n<details>\n```yaml\na: b\n```\n</details>\n", ["NF0111 6:1 ```yaml"]),
        ("# T\n\n## 8\n\n<!--\n```yaml\na: b\n```\n-->\n", []),
        ("# T\n\n## 8\n\nLimits: none.\n\n```yaml\na: b\n```\n", ["NF0115 5:1 Limits: none. / a: b"]),
        ("# T\n\n## 8\n\nLimits: none.\n\nRates: not shown.\n", ["NF0116 7:1 Rates: not shown. / Limits: none."]),
        ("# T\n\n## 8\n\nLimits: None.\n", ["NF0117 5:1 Limits: None."]),
        ("# T\n\n## 8\n\n**Limits**: **none**.\n", ["NF0117 5:1 **Limits**: **none**."]),
        ("# T\n\n## 8\n\n- Limits: none.\n", ["NF0117 5:3 Limits: none."]),
        ("# T\n\n## 8\n\nThere are none. Limits: none.\n", ["NF0117 5:1 There are none. Limits: none."]),
        ("# T\n\n## 8\n\nThere are none.\n", []),
        ("# T\n\n## 8\n\n```yaml\na: b\n```\n\n```yaml\na: c\n```\n", ["NF0202 10:1 a / a"]),
        ("# T\n\n## 8\n\n```yaml\nnone\n```\n", ["NF0222 6:1 none"]),
        ("# T\n\n## 8\n\n```yaml\n- a\n```\n", ["NF0222 6:1 - a"]),
        ("# T\n\n## 8\n\n```yaml\n# nothing\n```\n", []),
    ],
)
def test_what_is_written_wrong_around_the_facts(text: str, found: list[str]) -> None:
    assert read(text)[1] == found


@pytest.mark.parametrize(
    "text", ["Limits: none.", "Limits: none", "A, b\nand c:\nnone.", "A: b: none.", "Limits: none. <!-- yet -->"]
)
def test_a_statement(text: str) -> None:
    document, found = read(f"# T\n\n## 8\n\n{text}\n")
    assert found == []
    statement = document.part("limits").statement
    assert statement is not None and statement.word is Word.NONE
    assert document.source.cut(statement.span) == text


def test_not_shown_may_stand_beside_proposals_alone() -> None:
    document, found = read("# T\n\n## 8\n\nLimits: not shown.\n\n```yaml proposed\nrates: none\nbody size: 1\n```\n")
    assert found == []
    part = document.part("limits")
    assert part.statement is not None and part.facts.proposed
    assert [(entry.proposed, entry.value.proposed) for entry in part.facts.entries] == [(True, True), (True, True)]


def test_prose_is_what_is_neither_heading_nor_block_nor_statement() -> None:
    text = "# T\nBefore.\n\n## 8\n\nOne\ntwo.\n\n### A\n\n- three\n\n> four\n> five\n\nLimits: none.\n\n<!-- no -->\n"
    document, _ = read(text)
    assert [document.source.cut(span) for span in document.part("limits").prose] == [
        "One\ntwo.", "three", "four\n> five",
    ]  # fmt: skip


def facts_at(text: str, part: str = "limits") -> list[tuple[str, str]]:
    """The keys and scalar values of a part, as the document has them at their places."""
    document, found = read(text)
    assert found == []
    entries = document.part(part).facts.entries
    return [(document.source.cut(e.key.span), document.source.cut(e.value.span)) for e in entries]


@pytest.mark.parametrize(
    "block",
    [
        "```yaml\na: b\n'c': \"d\"\n```",
        "~~~ yaml\na: b\n'c': \"d\"\n~~~",
        "````yml\na: b\n'c': \"d\"\n`````",
        "  ```yaml\n  a: b\n 'c': \"d\"\n  ```",
        "- item\n\n  ```yaml\n  a: b\n  'c': \"d\"\n  ```",
        "> ```yaml\n> a: b\n>'c': \"d\"\n> ```",
        "> - ```yaml\n>   a: b\n>   'c': \"d\"\n>   ```",
        "1.\t```yaml\n\ta: b\n\t'c': \"d\"\n\t```",
        "```yaml\n\na: b # 😀\n\n'c': \"d\"\n\n```",
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_block_wherever_it_stands(block: str, ending: str) -> None:
    text = f"# 😀\u2028\n\n## 8\u0085\n\n{block}\n".replace("\n", ending)
    assert facts_at(text) == [("a", "b"), ("'c'", '"d"')]


def test_a_fence_in_a_longer_fence_is_an_example() -> None:
    text = "# T\n\n## 8\n\n````markdown\n```yaml\nx: y\n```\n````\n\n```yaml\na: b\n```\n"
    assert facts_at(text) == [("a", "b")]


def test_columns_count_code_points_in_a_document() -> None:
    document, _ = read("# T\n\n## 8\n\n> ```yaml\n> '😀é': {a: \"\\u0041b\"}\n> ```\n")
    [entry] = document.part("limits").facts.entries
    assert isinstance(entry.value, Mapping)
    inner = entry.value.entries[0].value
    assert isinstance(inner, Scalar) and inner.text == "Ab"
    assert [str(document.source.place(at)) for at in inner.offsets] == ["6:14", "6:20", "6:21"]


def test_a_forgotten_fence_ends_before_the_next_part() -> None:
    text = "# T\n\n## 7\n\n```yaml\na: b\n\n## 8\n\n```yaml\nc: d\n```\n\n## 9\n\nVersions: none.\n"
    document, found = read(text)
    assert found == ["NF0109 5:1 ```yaml / ## 8"]
    assert [keys(document, part) for part in ("errors", "limits")] == [["a"], ["c"]]
    assert document.part("versioning").statement is not None


def test_a_forgotten_fence_ends_before_the_next_block() -> None:
    document, found = read("# T\n\n## 8\n\n```json\n{}\n\n```yaml\nc: d\n```\n")
    assert found == ["NF0109 5:1 ```json / ```yaml"]
    assert keys(document, "limits") == ["c"]


def test_a_forgotten_fence_at_the_end() -> None:
    document, found = read("# T\n\n## 8\n\n```yaml\na: b\n")
    assert found == ["NF0109 5:1 ```yaml"]
    assert keys(document, "limits") == ["a"]


def test_a_comment_in_a_closed_block_is_no_heading() -> None:
    assert facts_at("# T\n\n## 8\n\n```yaml\na: b\n## 9. Versioning\nc: d\n```\n") == [("a", "b"), ("c", "d")]


def test_an_open_comment_ends_before_the_next_part() -> None:
    document, found = read("# T\n\n## 8\n\n<!-- to do\n\n## 9\n\nVersions: none.\n")
    assert found == ["NF0110 5:1 <!-- / ## 9"]
    assert document.part("versioning").statement is not None


def test_a_mistake_in_one_block_hides_none_in_another() -> None:
    text = "# T\n\n## 7\n\n```yaml\na: {b\n```\n\n## 8\n\n```yaml\nc: @d\n```\n\n## 9\n\n```yaml\ne: !f\n```\n"
    assert read(text)[1] == ["NF0217 6:4 {", "NF0216 12:4 @", "NF0206 18:4 !f"]


def test_the_plain_form() -> None:
    text = "purpose: |\n  Sells things.\nresources: {a: {}}\nstates: none\nevents: not shown\n"
    text += "limits: !proposed {rates: none}\n"
    document, found = read(text, "contract.yaml")
    assert found == []
    assert [part.name for part in document.parts if part.present] == [
        "purpose",
        "resources",
        "states",
        "events",
        "limits",
    ]
    purpose, states, events = (document.part(name) for name in ("purpose", "states", "events"))
    assert [document.source.cut(span) for span in purpose.prose] == ["|\n  Sells things.\n"]
    assert states.statement is not None and states.statement.word is Word.NONE
    assert events.statement is not None and events.statement.word is Word.NOT_SHOWN
    assert document.source.cut(events.statement.span) == "not shown"
    assert document.source.cut(document.part("resources").place) == "resources"
    assert [document.source.cut(block) for block in document.part("resources").blocks] == ["{a: {}}"]
    assert document.part("limits").facts.entries[0].proposed
    assert document.part("errors").place == Span(0, 0)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("endpoint: none", ["NF0223 1:1 endpoint"]),
        ("events: some", ["NF0224 1:9 some"]),
        ("events: [a]", ["NF0224 1:9 [a]"]),
        ("events:", ["NF0224 1:8"]),
        ("events: !proposed none", ["NF0224 1:19 none"]),
        ("events: 'none'", ["NF0224 1:9 'none'"]),
        ("[a]", ["NF0222 1:1 [a]"]),
        ("events: none\nevents: none", ["NF0202 2:1 events / events"]),
        ("", []),
    ],
)
def test_what_is_written_wrong_in_the_plain_form(text: str, found: list[str]) -> None:
    document, diagnostics = read(text, "contract.yml")
    assert diagnostics == found
    assert [part.name for part in document.parts] == list(PARTS)


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.md", "purpose: x", Form.LITERATE), ("a.MARKDOWN", "", Form.LITERATE), ("a.yml", "# x", Form.PLAIN),
        ("a.yaml", "", Form.PLAIN), ("-", "# T\n## 1\n", Form.LITERATE), ("-", "# T\npurpose: x\n", Form.PLAIN),
        ("-", "", Form.LITERATE), ("a.txt", "limits: none", Form.PLAIN),
    ],
)  # fmt: skip
def test_the_form(name: str, text: str, form: Form) -> None:
    assert form_of(name, text) is form


def test_problems_without_end_are_cut_short() -> None:
    outcome = parse(Source("c.md", "# T\n" + "## x\n" * 700), Form.LITERATE)
    assert len(outcome.diagnostics) == 501
    assert outcome.diagnostics[-1].code.id == "NF0118"
