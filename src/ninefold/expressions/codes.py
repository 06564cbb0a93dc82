"""The diagnostics of expressions, NF0401 to NF0419."""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import Code, Severity


def _error(id: str, title: str, explanation: str) -> Code:
    return Code(id, Severity.ERROR, title, explanation.strip() + "\n")


UNREADABLE = _error(
    "NF0401",
    "an expression cannot be read",
    """
An expression is CEL (https://cel.dev), and this text is not. The label shows where reading stopped.

Wrong: `order.total >`

Right: `order.total > 0`
""",
)

TOO_LARGE = _error(
    "NF0402",
    "an expression is too long or too deep",
    """
An expression has at most 4,096 characters, and its parts stand in each other at most 48 deep, computed fields
that it reads included. `a && b && c` is not deep; `f(g(h(x)))` and `a + b + c` are. With its terms, or with the
computed fields that it reads, in the place of their names it has at most 10,000 parts; computed fields read each other
at most 8 deep.

Wrong: `((((…order.total…)))) > 0` with fifty brackets

Right: `order.total > 0`
""",
)

NO_SUCH_FIELD = _error(
    "NF0403",
    "there is no such field",
    """
The resource, or the object, has no field of that name. What refers to a resource with `back:` gives it a name
that is read like a field.

Wrong: `order.totl > 0`

Right: `order.total > 0`
""",
)

NO_SUCH_NAME = _error(
    "NF0404",
    "a name is not known here",
    """
An expression reads the resource by its own name, `caller`, `now` and what else its place offers: `value` in a
filter, `page` in the response of a list, `error` in the shape of errors. Any other name is an error. Text stands
in quotes.

Wrong: `order.status == draft`

Right: `order.status == 'draft'`
""",
)

NO_SUCH_FUNCTION = _error(
    "NF0405",
    "there is no such function",
    """
Functions are one closed table, printed in `docs/expressions.md`. Some stand after a dot (`text.contains('a')`),
some before their argument (`double(order.total)`). A view is no function: it is applied in what a response, another
view or a payload shows, and nowhere else.

Wrong: `len(order.lines) > 0`

Right: `size(order.lines) > 0`
""",
)

WRONG_ARGUMENTS = _error(
    "NF0406",
    "a function does not take these arguments",
    """
The function exists, but not for this number or these types of arguments. There is no conversion that is not
written.

Wrong: `order.note.startsWith(5)`

Right: `order.note.startsWith('5')`
""",
)

WRONG_OPERANDS = _error(
    "NF0407",
    "an operator does not take these operands",
    """
Both sides of an operator are of one type. Integers and numbers do not mix: `double(x)` and `int(x)` convert. A
date-time is compared with `now` or `timestamp('2026-01-31T00:00:00Z')`, not with text.

Wrong: `order.created_at > '2026-01-31T00:00:00Z'`

Right: `order.created_at > timestamp('2026-01-31T00:00:00Z')`
""",
)

WRONG_TYPE = _error(
    "NF0408",
    "an expression is not of the type that its place needs",
    """
A condition is a boolean; the value of a field is of the field's type.

Wrong: `when: order.lines.size()`

Right: `when: order.lines.size() > 0`
""",
)

SECRET = _error(
    "NF0409",
    "a secret cannot be read",
    """
Of a `secret` field only a digest is stored. It is found by the scheme that `matches` it and never read,
compared or shown; a token that was just made is shown once, as `issued.NAME`.

Wrong: `customer.api_key == 'abc'`

Right: `customer == caller.customer`
""",
)

NOT_A_VALUE = _error(
    "NF0410",
    "a row with several identifier fields is not a value",
    """
A row stands for its identifier where it is listed or shown, or looked for in an array. If the identifier is made of
several fields there is no one value to stand for. `==` and `!=` compare all of them.

Wrong: `favorite in article.favorites`

Right: `article.favorites.exists(f, f == favorite)`
""",
)

NO_ONE_TYPE = _error(
    "NF0411",
    "the type of a value cannot be told",
    """
The type of a filter's `value` is the one that its expression gives it: that of the field it is compared with. An
expression that gives it none, or two, leaves open which texts are valid.

Wrong: `order.total == value || order.status == value`

Right: `order.status == value`
""",
)

NOT_IN_SQL = _error(
    "NF0412",
    "the database cannot answer this",
    """
A filter, a row rule, or a guard is part of a statement. Some functions are for values of the request only, which
are known before the statement runs; `docs/expressions.md` marks them.

Wrong: `where: "article.title.matches('^A')"`

Right: `where: "article.title.startsWith('A')"`
""",
)

BAD_LITERAL = _error(
    "NF0413",
    "a literal has no value",
    """
The text of `timestamp('…')` is a date and time of RFC 3339, that of `duration('…')` is ISO 8601 (`PT30M`) or CEL's
(`30m`), the pattern of `matches` is a regular expression without back-references, and an integer has 64 bits.

Wrong: `now - order.created_at > duration('half an hour')`

Right: `now - order.created_at > duration('PT30M')`
""",
)

NAME_TAKEN = _error(
    "NF0414",
    "a name is already in use",
    """
The variable of `exists`, `all`, `exists_one`, `filter`, `map` and `flatMap` is a name of its own, so that a reader
need not ask which one is meant.

Wrong: `order.lines.exists(order, order.quantity > 1)`

Right: `order.lines.exists(l, l.quantity > 1)`
""",
)

OTHER_LANGUAGE = _error(
    "NF0415",
    "this is how another language writes it",
    """
The text is not CEL, but it is plain what it would be. The help shows it as CEL.

Wrong: `order.status = 'draft' and not order.hidden`

Right: `order.status == 'draft' && !order.hidden`
""",
)

SERIAL = _error(
    "NF0416",
    "`serial()` stands alone, in `on create`",
    """
The database makes the next number while it stores the row. So `serial()` is the whole of an integer field's
`on create`, and not part of another expression.

Wrong: `on create: serial() + 1000`

Right: `on create: serial()`
""",
)

NEEDS_DATABASE = _error(
    "NF0417",
    "this is known before any row is read",
    """
Some expressions are judged before the database is asked. They can read the request, the caller and what was
loaded with the caller, and no further rows.

Wrong: `of: caller.user.followers.size()` as the key of a rate limit

Right: `of: caller.user.id`
""",
)

BACK_OF_BEFORE = _error(
    "NF0418",
    "which rows referred back before is not known",
    """
`before.R` has the fields of the row as they were, computed ones too. The rows that refer back to it are those that
there are now, and are read from the row as it has become.

Wrong: `before.order.lines.size()`

Right: `before.order.line_count`, with `line_count: {type: integer, computed: order.lines.size()}`
""",
)

CODES = (
    UNREADABLE,
    TOO_LARGE,
    NO_SUCH_FIELD,
    NO_SUCH_NAME,
    NO_SUCH_FUNCTION,
    WRONG_ARGUMENTS,
    WRONG_OPERANDS,
    WRONG_TYPE,
    SECRET,
    NOT_A_VALUE,
    NO_ONE_TYPE,
    NOT_IN_SQL,
    BAD_LITERAL,
    NAME_TAKEN,
    OTHER_LANGUAGE,
    SERIAL,
    NEEDS_DATABASE,
    BACK_OF_BEFORE,
)
