"""Part 5: who may call, how callers are known, and what they see. Nothing here merely
restricts: without it, somebody might do or see more (docs/honesty.md)."""

from __future__ import annotations

from operator import attrgetter
from typing import Final, TypeAlias

from ninefold.diagnostics.codes import RESERVED_NAME, TOO_MANY_SCHEMES, WRONG_WORD
from ninefold.diagnostics.diagnostic import Label
from ninefold.diagnostics.frozen import dataclass
from ninefold.diagnostics.source import Span
from ninefold.language import key, leaves, shapes
from ninefold.language.declaration import Each, When, asked, if_asked, named, names, says
from ninefold.language.expressions import Assignment, Expression, assignments, expression
from ninefold.language.fact import Fact, Gap, Name, Shown, text_of, value_of
from ninefold.language.key import Key, Kind, falling_back
from ninefold.language.question import Question
from ninefold.language.reading import Level, Read, Reading, Slot, quoted
from ninefold.language.records import of_entry
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence, is_word

# fmt: off

SCHEMES = Question("schemes", 5, "which schemes callers are recognised by, or none", "blocks", "every endpoint")
_NAMING = "the endpoints that name S"
PRESENTED = Question("presented", 5, "how a credential of {} is presented", "blocks", _NAMING, "S")
CREDENTIAL = Question(
    "credential", 5, "how a credential of {} is recognised: looked up, issued, or signed", "blocks", _NAMING, "S")
LASTS = Question("lasts", 5, "how long a credential of {} lasts", "blocks", _NAMING, "S", "of issued credentials")
GRANTED = Question(
    "granted", 5, "which scopes a row is granted with a credential of {}", "blocks", _NAMING, "S",
    "of issued credentials of a scheme that lists scopes")
AUDIENCE = Question("audience", 5, "the audience of {}", "blocks", _NAMING, "S", "of signed tokens")
CALLERS = Question("callers", 5, "who may call {}", "blocks", "E", "E")
ROWS = Question(
    "rows", 5, "which rows of {} may be seen", "blocks", "the endpoints by which such callers reach R", "R",
    "of each resource of which an endpoint shows or finds rows, for each scheme that it admits, and for `anyone` (what "
    "computed fields, checks and the like read is not asked for: they read all rows); "
    "a row just created, or just signed in to, is always shown in that response")
UNSEEN_ROWS = Question(
    "unseen rows", 5, "whether a row that the caller may not see is not found or forbidden", "blocks",
    "the endpoints with a row rule", asked="if a row rule hides rows")

SCHEME_TYPES = ("http", "apiKey", "oauth2", "openIdConnect", "mutualTLS")
"""The types of OpenAPI's Security Scheme Object."""

MOST_SCHEMES = 32
"""Each endpoint may admit each scheme, so what is made of a contract grows with their product."""

ALL = "all"
"""`matches: all`: every certificate of an authority that the operator trusts; of rows: every caller, every row."""

ANYONE = "anyone"
"""Who comes without a credential."""


def scheme_type(r: Reading, node: Node, slot: Slot) -> Name | None:
    """A word of OpenAPI's closed list; `bearer` and `basic` are said by `scheme`."""
    if isinstance(node, Scalar) and node.text.casefold() in ("bearer", "basic", "digest"):
        help = f"write `type: http, scheme: {node.text.casefold()}`"
        r.say(WRONG_WORD, f"`type` cannot be {quoted(node.text)}", Label(node.span), help=(help,))
        return None
    return leaves.word(r, node, slot)


def added_to_callers(r: Reading, node: Node, slot: Slot) -> tuple[Assignment, ...] | None:
    found = assignments(r, node, slot)
    for each in found or ():
        if each.name == "credential":
            r.say(
                RESERVED_NAME,
                "`caller.credential` is the credential itself, and nothing else can be called so",
                Label(each.span),
                help=("choose another name",),
            )
    return found


_NOT_NAMED = "endpoints that name the scheme are not served"
_MADE = "the service makes the credential"
_SIGNED = When("somebody else signs the tokens")
_BARE = attrgetter("text")
"""Words of other standards are told as they are, without the marks of names of the contract."""
_OWN_KEYS = When("somebody else signs the tokens, and the type is not `openIdConnect`")
_DISCOVERED = f"{_NOT_NAMED}. Else the configuration of the issuer says"


@dataclass(frozen=True, slots=True)
class Scheme:
    """A security scheme, in OpenAPI's words. `matches` is `resource.field`; of a certificate also `all`. `lasts` in
    microseconds."""

    name: str
    span: Span
    type: Fact[Name] | None = asked(
        "type", shapes.Word(SCHEME_TYPES), "The type of the scheme.", PRESENTED, _NOT_NAMED,
        main=True, read=scheme_type)
    scheme: Fact[Name] | None = asked(
        "scheme", shapes.Name("an HTTP authentication scheme such as `bearer`"),
        "Of `http`: the word before the credential in the header Authorization (RFC 9110, 11.4).",
        PRESENTED, _NOT_NAMED, when=says("the type is `http`", "type", "http"), read=leaves.header, words=_BARE)
    location: Fact[Name] | None = asked(
        "in", shapes.Word(("header", "query", "cookie")), "Of `apiKey`: where the key is.",
        PRESENTED, _NOT_NAMED, when=says("the type is `apiKey`", "type", "apiKey"))
    parameter: Fact[Name] | None = asked(
        "name", shapes.Name("a header, query parameter or cookie"), "Of `apiKey`: what it is called.",
        PRESENTED, _NOT_NAMED, when=says("the type is `apiKey`", "type", "apiKey"), read=leaves.header, words=_BARE)
    matches: Fact[Name] | None = asked(
        "matches", shapes.Name("a secret field such as `customer.api_key`"),
        "The field that the credential is looked up in, a `secret: token`; its row is `caller.R`. Of HTTP's Basic "
        "scheme: the unique field that the user-id is, such as `customer.email`; the password is held to the field "
        "of the same resource that is `secret: password`.",
        CREDENTIAL, _NOT_NAMED, when=When("the service makes or looks up the credential, and no `issued to` is there"))
    credential: Fact[Expression] | None = asked(
        "credential", shapes.Expression(shapes.Sight.NONE),
        "Of `mutualTLS`: what of the client's certificate is looked up, such as `claims.fingerprint`.",
        CREDENTIAL, f"{_NOT_NAMED}. Else nothing is looked up",
        when=When("`matches` names a field and the type is `mutualTLS`"), told="of the certificate")
    issued_to: Fact[Name] | None = asked(
        "issued to", shapes.Name("a resource"),
        "The service makes the credential itself, for a row of that resource, which is `caller.R`.",
        CREDENTIAL, _NOT_NAMED, when=When("the service makes or looks up the credential, and no `matches` is there"),
        told="issued to a row of", words=_BARE)
    lasts: Fact[int] | None = asked(
        "lasts", shapes.Duration(), "How long an issued credential is good; `none`: as long as its row is there.",
        LASTS, _NOT_NAMED, when=When(_MADE), says_none=True, order="more", promise="raise a limit",
        planned=True)
    issuer: Fact[Expression] | None = asked(
        "issuer", shapes.Expression(shapes.Sight.NONE),
        "Who signs the tokens: `operator.NAME`. Of `openIdConnect`: the issuer, or where its configuration is, which "
        "leads to the keys.", CREDENTIAL, _NOT_NAMED, when=_SIGNED, side="runs")
    audience: Fact[Name] | None = asked(
        "audience", shapes.Name("an audience"), "The audience that a signed token is for.", AUDIENCE, _NOT_NAMED,
        when=_SIGNED, words=_BARE)
    algorithms: Fact[tuple[Name, ...]] | None = asked(
        "algorithms", shapes.Names("a signature algorithm"), "The signature algorithms (RFC 7518) that are taken.",
        CREDENTIAL, _DISCOVERED, when=_OWN_KEYS, read=leaves.name_or_names)
    keys: Fact[Expression] | None = asked(
        "keys", shapes.Expression(shapes.Sight.NONE), "The issuer's key set, or where it is: `operator.NAME`.",
        CREDENTIAL, _DISCOVERED, when=_OWN_KEYS, side="runs")
    scopes: Fact[tuple[Name, ...]] | None = names(
        "scopes", shapes.NEW_NAMES, "Scopes that predicates may ask for.",
        "Each use of a scope is an error.", read=leaves.name_or_names, order="steps")
    granted: Fact[Expression] | None = asked(
        "granted", shapes.Expression(),
        "Of issued credentials: which of the scopes a row may be granted, an array of texts over that row.",
        GRANTED, _NOT_NAMED, when=When(f"the scheme lists scopes and {_MADE}"), says_none=True)
    realm: Fact[str] | None = asked(
        "realm", shapes.Text(), "The realm that a challenge names (RFC 9110, 11.5).",
        PRESENTED, f"{_NOT_NAMED}. Else challenges name none",
        when=When("it is the Basic scheme of HTTP (RFC 7617), or one whose tokens are granted"), side="gives",
        planned=True)
    caller: Fact[tuple[Assignment, ...]] | None = names(
        "caller", shapes.MappingOf("names to expressions"),
        "What the scheme adds to `caller`, from `claims.NAME`.", "Each use of such a name is an error.",
        read=added_to_callers,
        below=(key.names(0, "NAME", shapes.Expression(shapes.Sight.NONE), "The value of `caller.NAME`.",
                         "Each use of the name is an error."),))

    @property
    def is_certificate(self) -> bool:
        """Whether its credentials are the certificates of clients."""
        return self._is("mutualTLS")

    @property
    def is_discovered(self) -> bool:
        """Whether the configuration of its issuer says by which keys tokens are signed."""
        return self._is("openIdConnect")

    @property
    def is_signed(self) -> bool:
        """Whether it states who else signs its tokens, or by which keys."""
        return isinstance(self.issuer, Shown) or isinstance(self.keys, Shown)

    def _is(self, type: str) -> bool:
        return text_of(self.type) == type

    @property
    def is_basic(self) -> bool:
        """Whether it is HTTP's Basic scheme (RFC 7617): a user-id and a password."""
        name = value_of(self.scheme)
        return self._is("http") and name is not None and name.text.lower() == "basic"

    @property
    def may_be_basic(self) -> bool:
        """Whether it is that one, or of HTTP's and which one is open."""
        return self.is_basic or (self._is("http") and not isinstance(self.scheme, Shown))


def is_no_word(r: Reading, entry: Entry, _: Level) -> None:
    """What stands for every scheme, and who needs none, are words of the language."""
    if entry.name in (ALL, ANYONE):
        r.say(
            RESERVED_NAME,
            f"`{entry.name}` is a word of the language, and cannot be the name of a scheme",
            Label(entry.key.span),
            help=("choose another name",),
            of=entry.name,
        )


SCHEME = Each(
    Scheme, named("SCHEME", Kind.NAMES, "A security scheme, in OpenAPI's words.", "Each use of its name is an error.",
        promise="add a scheme"),
    "schemes to how they work", is_no_word)


def schemes(r: Reading, node: Node, slot: Slot) -> tuple[Scheme, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    if len(node.entries) > MOST_SCHEMES:
        place = node.entries[MOST_SCHEMES].key.span
        r.say(TOO_MANY_SCHEMES, f"there are {len(node.entries)} schemes", Label(place, "one too many"))
    one = of_entry(SCHEME)
    return r.each(node.entries[:MOST_SCHEMES], lambda entry: one(r, entry))


@dataclass(frozen=True, slots=True)
class Every:
    """`true` of one kind of caller, or a line without a condition: every such caller, every row."""

    span: Span


Condition: TypeAlias = Every | Expression


@dataclass(frozen=True, slots=True)
class Admission:
    """`who` is a scheme's name or `anyone`; of none where the condition is `false`."""

    who: Name
    condition: Fact[Condition]


@dataclass(frozen=True, slots=True)
class Permission:
    """`endpoint` is an endpoint's key as written, or `all others`. `admits` None: the endpoint of an older version, of
    which nothing is written."""

    endpoint: Name
    admits: Fact[tuple[Admission, ...]] | None


@dataclass(frozen=True, slots=True)
class RowRule:
    resource: Name
    admits: Fact[tuple[Admission, ...]]


_CONDITION: shapes.Shape = shapes.OneOf((shapes.Boolean(), shapes.Expression()))


_LINE = (shapes.Name("a scheme"), shapes.ListOf(shapes.Name("a scheme")), shapes.MappingOf("schemes to predicates"))
ADMISSIONS = shapes.OneOf((shapes.Word((ANYONE,)), *_LINE))
_RULE = shapes.OneOf((shapes.Word((ALL,)), *_LINE))
BY_CALLER: Final = (ADMISSIONS, _RULE)
"""What says of each kind of caller whether, or under which condition."""


def permissions(r: Reading, node: Node, slot: Slot) -> tuple[Permission, ...] | None:
    if not isinstance(node, Mapping):
        r.wrong_shape(node, slot)
        return None
    return tuple(Permission(*_line(r, entry, ADMISSIONS, admissions)) for entry in node.entries)


def rows(r: Reading, node: Node, slot: Slot) -> tuple[RowRule, ...] | Every | None:
    if is_word(node, ALL):
        return Every(node.span)
    if not isinstance(node, Mapping):
        every = isinstance(node, Scalar) and node.text.casefold() in ("every", "everyone", ANYONE, "*")
        r.wrong_shape(node, slot, help=("where every caller sees all rows, write `all`",) if every else ())
        return None
    return tuple(RowRule(*_line(r, entry, _RULE, row_rule)) for entry in node.entries)


_Admits: TypeAlias = tuple[Admission, ...]


def _line(r: Reading, entry: Entry, shape: shapes.Shape, read: Read[_Admits]) -> tuple[Name, Fact[_Admits]]:
    """What a line is about, and whom it admits."""
    return Name(entry.name, entry.key.span), r.fact(entry.value, Slot(entry.name, shape), read, entry.proposed)


def row_rule(r: Reading, node: Node, slot: Slot) -> _Admits | None:
    """As a line of permissions; or `all`: every scheme and `anyone`."""
    if is_word(node, ALL):
        every: Shown[Condition] = Shown(Every(node.span), node.span)
        return tuple(Admission(Name(who, node.span), every) for who in (*declared_schemes(r), ANYONE))
    return admissions(r, node, slot)


def admissions(r: Reading, node: Node, slot: Slot) -> _Admits | None:
    """`key`, `[key, staff]` or `{staff: condition}`."""
    match node:
        case Scalar():
            who = leaves.name(r, node, slot)
            return None if who is None else (Admission(who, Shown(Every(node.span), node.span)),)
        case Mapping():
            return tuple(Admission(Name(entry.name, entry.key.span), _when(r, entry)) for entry in node.entries)
        case Sequence():
            found = [each for item in r.items(node, slot) or () for each in admissions(r, item, slot) or ()]
            leaves.once(r, tuple(each.who for each in found), slot.called)
            return tuple(found) or None


def declared_schemes(r: Reading) -> tuple[str, ...]:
    """The schemes by the names that the part declares, in written order."""
    return tuple(each.name for each in r.document.part("authentication").facts.under("schemes")[:MOST_SCHEMES])


def _when(r: Reading, entry: Entry) -> Fact[Condition]:
    """Which rows, or when; `false`: no row, and never."""
    if r.is_no_answer(_ROWS_OF_CALLER, entry.value, entry.name):
        return Gap(entry.value.span)
    return r.fact(entry.value, Slot(entry.name, _CONDITION, "false"), condition, entry.proposed)


def condition(r: Reading, node: Node, slot: Slot) -> Condition | None:
    """`true`, or an expression."""
    if is_word(node, "true"):
        return Every(node.span)
    return expression(r, node, slot)


_NO_ROWS = "endpoints that show, or find, rows of R are not served"
_SEEN = "an endpoint finds, shows, filters or sorts by rows of it, or tells of its events"
_ROWS_OF_CALLER = key.asked_when(
    0, "RESOURCE.CALLER", _CONDITION, ROWS.id, f"{_SEEN}, and admits such callers",
    "The rows that callers of one scheme, or `anyone`, see; `true`: all, `false`: none.",
    "A gap: endpoints by which such callers are shown, or find, rows of R are not served.")
_ROW_RULES: tuple[Key, ...] = (
    key.asked_when(0, "RESOURCE", _RULE, ROWS.id, _SEEN,
                   "Who sees which rows of the resource; `all`: everyone sees all.", f"A gap: {_NO_ROWS}."),
    _ROWS_OF_CALLER,
)
_PERMISSIONS: tuple[Key, ...] = (
    key.asked_when(0, "all others", ADMISSIONS, CALLERS.id, "an endpoint has no line",
                   "Who may call the endpoints that have no line; `none`: nobody.",
                   "A gap: endpoints without a line are not served.", says_none=True),
    falling_back(
        key.asked(0, "ENDPOINT", ADMISSIONS, CALLERS.id,
                  "Who may call the endpoint; it wins over `all others`; `none`: nobody. Of one that only older "
                  "versions have it is asked for: `all others` is of those that the newest version has.", "",
                  says_none=True),
        5, "permissions.all others"),
    key.asked_when(0, "ENDPOINT.CALLER", _CONDITION, CALLERS.id, "nobody else is admitted by the line",
                   "When callers of one scheme, or `anyone`, may call; `true`: always, `false`: never.",
                   "A gap: E is not served. Else such callers may not call."),
)


@dataclass(frozen=True, slots=True)
class Authentication:
    """`rows` is `Every` for `rows: all`."""

    schemes: Fact[tuple[Scheme, ...]] | None = asked(
        "schemes", SCHEME, "How callers say who they are.", SCHEMES, "nothing is served", says_none=True, read=schemes,
        side="takes")
    rows: Fact[tuple[RowRule, ...] | Every] | None = asked(
        "rows", shapes.OneOf((shapes.Word((ALL,)), shapes.MappingOf("resources to who sees which rows"))),
        "Which rows a caller may see at all; `all` where every caller sees all rows.", ROWS, _NO_ROWS,
        when=When("rows are shown"), read=rows, below=_ROW_RULES)
    unseen_rows: Fact[Name] | None = asked(
        "unseen rows", shapes.Word(("not found", "forbidden")), "What a row is that the caller may not see.",
        UNSEEN_ROWS, "endpoints with a row rule are not served", when=if_asked(UNSEEN_ROWS),
        sentence="a row that the caller may not see is {}", side="gives")
    permissions: Fact[tuple[Permission, ...]] | None = asked(
        "permissions", shapes.MappingOf("endpoints to who may call"), "Who may call each endpoint.",
        CALLERS, "no endpoint is served", read=permissions, below=_PERMISSIONS)
