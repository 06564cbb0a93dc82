"""The diagnostics of reading: NF01xx about the document and its Markdown, NF02xx about its YAML."""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import Code, Severity

ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def _explained(text: str, wrong: str, right: str, language: str = "yaml") -> str:
    """An explanation with a wrong and a corrected example."""
    fence = "````" if "```" in wrong + right else "```"
    return f"{text}\n\nWrong:\n\n{fence}{language}\n{wrong}\n{fence}\n\nRight:\n\n{fence}{language}\n{right}\n{fence}\n"


# The document and its Markdown

NOT_UTF_8 = Code("NF0101", ERROR, "The document is not UTF-8", _explained(
    "A contract is text in UTF-8 (RFC 3629); a byte order mark before it does no harm. The place shown is that of "
    "the first bytes that are not UTF-8; they are read as U+FFFD, so that the rest can be checked.",
    "caf\\xe9            (Latin-1)", "caf\\xc3\\xa9        (UTF-8)", "text"))  # fmt: skip

TOO_LARGE = Code("NF0102", ERROR, "The document is too large", _explained(
    "A document has at most 1 MiB (1 048 576 bytes), many times what a large contract needs. Nothing of a "
    "larger one is read.",
    "a log, pasted below `## 9. Versioning`", "the nine parts, and no log", "text"))  # fmt: skip

CONTROL_CHARACTER = Code("NF0103", ERROR, "The document has a control character", _explained(
    "Text has line breaks and tabs, and no other control characters; neither Markdown nor YAML admits them, and "
    "they cannot be seen. A quoted scalar can hold one as an escape.",
    'pattern: "^<U+0007>$"', 'pattern: "^\\a$"'))  # fmt: skip

NO_TITLE = Code("NF0104", WARNING, "The document has no title", _explained(
    "A contract in Markdown begins with a heading of the first level: the name of the service.",
    "## 1. What the service does", "# Orders\n\n## 1. What the service does", "markdown"))  # fmt: skip

PART_TWICE = Code("NF0105", ERROR, "A part has two headings", _explained(
    "Each of the nine parts has one heading. The facts below both are read as one part, so that the rest of the "
    "document can be checked.",
    "## 6. Events\n\n## 7. Errors\n\n## Events", "## 6. Events\n\n## 7. Errors", "markdown"))  # fmt: skip

UNKNOWN_HEADING = Code("NF0106", WARNING, "A heading names no part", _explained(
    "A heading of the second level starts one of the nine parts; its number or its name is enough. What stands "
    "below another heading belongs to no part and states nothing.",
    "## Endpiont", "## 4. Endpoints", "markdown"))  # fmt: skip

HEADING_DISAGREES = Code("NF0107", ERROR, "The number and the name of a heading name different parts", _explained(
    "The number or the name of a part is enough. Where both are written they have to agree; the name is taken.",
    "## 3. Endpoints", "## 4. Endpoints", "markdown"))  # fmt: skip

HEADING_LEVEL = Code("NF0108", WARNING, "A part's heading has the wrong level", _explained(
    "The title has one `#`, a part has two. A heading of another level starts no part.",
    "# 4. Endpoints", "## 4. Endpoints", "markdown"))  # fmt: skip

FENCE_UNCLOSED = Code("NF0109", ERROR, "A fenced block is never closed", _explained(
    "A block ends at a line that has its own fence and nothing else; without it, Markdown counts everything that "
    "follows to the block, headings and other blocks included. So that the rest of the document can be checked, "
    "the block is read as ending before the first part or block that it would swallow.",
    "```yaml\nrates: none\n\n## 9. Versioning", "```yaml\nrates: none\n```\n\n## 9. Versioning", "markdown",
))  # fmt: skip

HTML_UNCLOSED = Code("NF0110", ERROR, "An HTML comment or element is never closed", _explained(
    "Markdown counts everything after an open `<!--` (or `<script>`, `<pre>`, `<style>`, `<textarea>`) to it. The "
    "rest is read as if it ended before the next part.",
    "<!-- to do\n\n## 9. Versioning", "<!-- to do -->\n\n## 9. Versioning", "markdown"))  # fmt: skip

FACTS_IN_HTML = Code("NF0111", WARNING, "A block stands inside HTML", _explained(
    "Markdown reads HTML up to the next empty line as it stands. A fenced block directly below a tag is not a "
    "block, and states nothing.",
    "<details>\n```yaml\nrates: none\n```\n</details>", "<details>\n\n```yaml\nrates: none\n```\n\n</details>",
    "markdown"))  # fmt: skip

FACTS_OUTSIDE = Code("NF0112", WARNING, "Facts stand outside every part", _explained(
    "A `yaml` block belongs to the part whose heading it stands below. Before the first heading there is no part, "
    "and the block states nothing.",
    "# Orders\n\n```yaml\nrates: none\n```", "# Orders\n\n## 8. Limits\n\n```yaml\nrates: none\n```",
    "markdown"))  # fmt: skip

INFO_STRING = Code("NF0113", WARNING, "A block is nearly, but not, facts", _explained(
    "The blocks that state facts are fenced `yaml` (or `yml`) and `yaml proposed`, in these words and lower case. "
    "A block of another language is an example, and states nothing.",
    "```YAML\nrates: none\n```", "```yaml\nrates: none\n```", "markdown"))  # fmt: skip

NO_LANGUAGE = Code("NF0114", NOTE, "A block names no language", _explained(
    "A block without a language (or one that is only indented) is an example, and states nothing.",
    "```\nrates: none\n```", "```yaml\nrates: none\n```", "markdown"))  # fmt: skip

STATEMENT_BESIDE_FACTS = Code("NF0115", ERROR, "A part says `none` or `not shown` beside its facts", _explained(
    "A paragraph `<any words>: none.` or `<any words>: not shown.` speaks for the whole part. A part that has facts "
    "is shown. (`not shown` beside proposals alone is no contradiction: a proposal is a gap with a candidate.)",
    "Events: none.\n\n```yaml\nkinds: {order.placed: {upon: place order, payload: order}}\n```",
    "```yaml\nkinds: {order.placed: {upon: place order, payload: order}}\n```", "markdown"))  # fmt: skip

TWO_STATEMENTS = Code("NF0116", ERROR, "A part is spoken for twice", _explained(
    "One paragraph speaks for a whole part. The first is taken.",
    "Events: none.\n\nDelivery: not shown.", "Events: none.", "markdown"))  # fmt: skip

NEARLY_A_STATEMENT = Code("NF0117", WARNING, "A sentence is nearly, but not, a statement", _explained(
    "What speaks for a part is a paragraph of its own, outside lists and quotations: any words, a colon, and "
    "`none` or `not shown` in lower case and without emphasis. Another sentence is prose, and states nothing.",
    "Events: **None**.", "Events: none.", "markdown"))  # fmt: skip

TOO_MANY = Code("NF0118", ERROR, "The document has more problems than are listed", _explained(
    "Reading stops to list problems after the first 500; they are probably not five hundred mistakes, but one.",
    "{a, a, a, a, …}", "a: none"))  # fmt: skip

# YAML

NOT_YAML = Code("NF0201", ERROR, "This cannot be read as YAML", _explained(
    "The label says what is at the place where reading came to an end. The rest of the block is read without the "
    "lines that could not be.",
    "responses: {200: order}}", "responses: {200: order}"))  # fmt: skip

DUPLICATE_KEY = Code("NF0202", ERROR, "A key is given twice", _explained(
    "A mapping has each key once, and the blocks of a part are one mapping. The first is taken.",
    "rates: none\nrates: {}", "rates: none"))  # fmt: skip

ANCHOR = Code("NF0203", ERROR, "Anchors and aliases are not part of the language", _explained(
    "In YAML, a value that starts with `&` names a node, and one that starts with `*` repeats it. A contract says "
    "each thing where it holds; a shared schema is a type. A text that starts so is quoted.",
    "origins: *", 'origins: "*"'))  # fmt: skip

MERGE_KEY = Code("NF0204", ERROR, "Merge keys are not part of the language", _explained(
    "`<<` is no part of YAML 1.2. A contract says each thing where it holds; a shared schema is a type.",
    "line: {<<: {sku: {type: string}}}", "line: {sku: {type: string}}"))  # fmt: skip

TAG = Code("NF0205", ERROR, "`!proposed` is the only tag", _explained(
    "A tag stands before a value and starts with `!`. The language has one, `!proposed`.",
    "kept: !!str P7D", "kept: P7D"))  # fmt: skip

EXPRESSION_AS_TAG = Code("NF0206", ERROR, "An expression that starts with `!` is read as a tag", _explained(
    "In YAML a value that starts with `!` has a tag. An expression that starts so is quoted.",
    "when: !order.paid", 'when: "!order.paid"'))  # fmt: skip

SECOND_DOCUMENT = Code("NF0207", ERROR, "A block holds a second YAML document", _explained(
    "`---` starts a new YAML document. The facts of a block are one document.",
    "rates: none\n---\nsizes: {body: 1 MiB}", "rates: none\nsizes: {body: 1 MiB}"))  # fmt: skip

DIRECTIVE = Code("NF0208", ERROR, "YAML directives are not part of the language", _explained(
    "A contract is YAML 1.2 and does not say so.", "%YAML 1.1\n---\nrates: none", "rates: none"))  # fmt: skip

NOT_A_KEY = Code("NF0209", ERROR, "A key is not a text", _explained(
    "A key is one text, and neither empty nor a mapping or a list; a key that begins with a brace is quoted.",
    "{id}: order", '"{id}": order'))  # fmt: skip

TOO_DEEP = Code("NF0210", ERROR, "Values are nested too deep", _explained(
    "Mappings and lists may stand in one another 64 deep.", "[[[[[[…]]]]]]", "[[1]]"))  # fmt: skip

NO_VALUE = Code("NF0211", ERROR, "A key has no value", _explained(
    "Between braces, each entry is a key and a value. A word alone is a key without a value: a path in braces or a "
    "text with a comma is quoted; a list has brackets.",
    "row: {id}", 'row: "{id}"'))  # fmt: skip

COMMA_IN_CALL = Code("NF0212", ERROR, "The comma of a call is read as the end of the value", _explained(
    "Between braces or brackets, a comma ends the value. An expression with a comma is quoted there.",
    "{does: create order, where: max(a, b)}", '{does: create order, where: "max(a, b)"}'))  # fmt: skip

TAB = Code("NF0213", ERROR, "A tab is used as indentation", _explained(
    "YAML is indented with spaces. (The tab is drawn as `→` here.)", "order:\n→identifier: id",
    "order:\n  identifier: id"))  # fmt: skip

NO_SPACE = Code("NF0214", ERROR, "A space is missing after a colon or a dash", _explained(
    "A colon ends a key, and a dash starts an item, only with white space after it.",
    "order:\n  identifier:id\n  required: []", "order:\n  identifier: id\n  required: []"))  # fmt: skip

COLON_IN_TEXT = Code("NF0215", ERROR, "A text without quotes has a colon in it", _explained(
    "A colon with a space after it ends a key. A text that has one is quoted.",
    "title: Sorry: sold out", 'title: "Sorry: sold out"'))  # fmt: skip

CANNOT_START = Code("NF0216", ERROR, "A text without quotes cannot start with this character", _explained(
    "At the start of a value, `@`, `` ` ``, `%`, `|`, `>` and `?` mean something else to YAML, or are reserved by it. "
    "A text that starts with one is quoted.",
    "title: @home", 'title: "@home"'))  # fmt: skip

BRACKET_UNCLOSED = Code("NF0217", ERROR, "A brace or bracket is never closed", _explained(
    "A mapping that starts with `{` ends with `}`, a list that starts with `[` with `]`.",
    "responses: {200: order\nvalidators: etag", "responses: {200: order}\nvalidators: etag"))  # fmt: skip

QUOTE_UNCLOSED = Code("NF0218", ERROR, "A quotation is never closed", _explained(
    "A text that starts with a quote goes on to the next one of the same kind, over as many lines as it takes.",
    'title: "Sold out\nstatus: 409', 'title: "Sold out"\nstatus: 409'))  # fmt: skip

ESCAPE = Code("NF0219", ERROR, "A backslash starts no escape of YAML", _explained(
    "Between double quotes a backslash starts an escape such as `\\n` or `\\u00e9`. Between single quotes it is an "
    "ordinary character, as a pattern wants it.",
    'pattern: "^\\d+$"', "pattern: '^\\d+$'"))  # fmt: skip

INDENTATION = Code("NF0220", ERROR, "The indentation of a line fits nothing above it", _explained(
    "The entries of a mapping, and the items of a list, start in the same column.",
    "order:\n    identifier: id\n  required: []", "order:\n  identifier: id\n  required: []"))  # fmt: skip

NO_JSON_NUMBER = Code("NF0221", ERROR, "A number that JSON does not have", _explained(
    "Values are JSON (RFC 8259): there is no infinity and no not-a-number, and a number is not longer than a double "
    "can tell. What is meant as text is quoted.",
    "maximum: .inf", "maximum: 9007199254740991"))  # fmt: skip

NOT_A_MAPPING = Code("NF0222", ERROR, "The facts of a part are not a mapping", _explained(
    "Facts are keys and their values. What speaks for a whole part is written as a sentence outside the block.",
    "```yaml\nnone\n```", "Events: none.", "markdown"))  # fmt: skip

UNKNOWN_PART = Code("NF0223", ERROR, "A key names no part", _explained(
    "A contract in YAML has nine keys: purpose, resources, states, endpoints, authentication, events, errors, "
    "limits and versioning.",
    "endpoint: not shown", "endpoints: not shown"))  # fmt: skip

NOT_A_PART = Code("NF0224", ERROR, "A part's value is not a part", _explained(
    "A part is a mapping of facts, `none`, or `not shown`; the purpose is a text.",
    "events: order.placed", "events: none"))  # fmt: skip

AFTER_QUOTE = Code("NF0225", ERROR, "A text goes on after its closing quote", _explained(
    "A quoted text ends at its quote. Between single quotes, a single quote is written twice.",
    "title: 'It's gone'", "title: 'It''s gone'"))  # fmt: skip

NEITHER_KEY_NOR_VALUE = Code("NF0226", ERROR, "A line is neither a key nor a value", _explained(
    "Below a mapping's entries, a line without a colon belongs to nothing.",
    "rates: none\nsizes", "rates: none\nsizes: none"))  # fmt: skip

NEEDS_QUOTES = Code("NF0227", ERROR, "A text between braces needs quotes", _explained(
    "Between braces or brackets, these characters end a value or start another. A text or an expression that has "
    "one is quoted.",
    "{when: order.status in ['draft']}", "{when: \"order.status in ['draft']\"}"))  # fmt: skip

CODES: tuple[Code, ...] = (
    NOT_UTF_8, TOO_LARGE, CONTROL_CHARACTER, NO_TITLE, PART_TWICE, UNKNOWN_HEADING, HEADING_DISAGREES,
    HEADING_LEVEL, FENCE_UNCLOSED, HTML_UNCLOSED, FACTS_IN_HTML, FACTS_OUTSIDE, INFO_STRING, NO_LANGUAGE,
    STATEMENT_BESIDE_FACTS, TWO_STATEMENTS, NEARLY_A_STATEMENT, TOO_MANY,
    NOT_YAML, DUPLICATE_KEY, ANCHOR, MERGE_KEY, TAG, EXPRESSION_AS_TAG, SECOND_DOCUMENT, DIRECTIVE, NOT_A_KEY,
    TOO_DEEP, NO_VALUE, COMMA_IN_CALL, TAB, NO_SPACE, COLON_IN_TEXT, CANNOT_START, BRACKET_UNCLOSED,
    QUOTE_UNCLOSED, ESCAPE, INDENTATION, NO_JSON_NUMBER, NOT_A_MAPPING, UNKNOWN_PART, NOT_A_PART, AFTER_QUOTE,
    NEITHER_KEY_NOR_VALUE, NEEDS_QUOTES,
)  # fmt: skip
