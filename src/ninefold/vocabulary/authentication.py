"""The keys of part 5: who may call, and what they see. Nothing here merely restricts."""

from __future__ import annotations

from ninefold.language.key import Key, asked, asked_when, falling_back, names, tells
from ninefold.language.shapes import (
    Duration,
    Expression,
    ListOf,
    MappingOf,
    Members,
    Name,
    Names,
    OneOf,
    Shape,
    Text,
    Word,
)

SCHEMES = "schemes"
PRESENTED = "presented"
CREDENTIAL = "credential"
LASTS = "lasts"
GRANTED = "granted"
AUDIENCE = "audience"
CALLERS = "callers"
ROWS = "rows"
UNSEEN = "unseen rows"

SCHEME_TYPES = ("http", "apiKey", "oauth2", "openIdConnect", "mutualTLS")
"""The types of OpenAPI's Security Scheme Object."""

_S = "schemes.SCHEME"
_NO_SCHEME = "A gap: endpoints that name the scheme are not served."
_ADMISSION: Shape = OneOf((Word(("any",)), Expression()))
ADMISSIONS: Shape = OneOf((
    Word(("any", "anyone")), Name("a scheme"), ListOf(Name("a scheme")), MappingOf("schemes to conditions"),
))  # fmt: skip

KEYS: tuple[Key, ...] = (
    asked(5, "schemes", MappingOf("schemes to how they work"), SCHEMES, "How callers say who they are.",
          "A gap: nothing is served.", says_none=True),
    names(5, _S, Members(), "A security scheme, in OpenAPI's words.", "Each use of its name is an error."),
    asked(5, f"{_S}.type", Word(SCHEME_TYPES), PRESENTED, "The type of the scheme.", _NO_SCHEME),
    asked_when(5, f"{_S}.scheme", Name("an HTTP authentication scheme such as `bearer`"), PRESENTED,
              "the type is `http`",
          "Of `http`: the word before the credential in the header Authorization (RFC 9110, 11.4).",
          "A gap: endpoints that name the scheme are not served."),
    asked_when(5, f"{_S}.in", Word(("header", "query", "cookie")), PRESENTED, "the type is `apiKey`",
              "Of `apiKey`: where the key is.",
          "A gap: endpoints that name the scheme are not served."),
    asked_when(5, f"{_S}.name", Name("a header, query parameter or cookie"), PRESENTED, "the type is `apiKey`",
              "Of `apiKey`: what it is called.",
          "A gap: endpoints that name the scheme are not served."),
    asked_when(5, f"{_S}.matches", Name("a secret field such as `customer.api_key`"), CREDENTIAL,
              "the service makes or looks up the credential, and no `issued to` is there",
          "The field that the credential is looked up in, a `secret: token`; its row is `caller.R`. Of HTTP's Basic "
          "scheme: the unique field that the user-id is, such as `customer.email`; the password is held to the field "
          "of the same resource that is `secret: password`.", "A gap: endpoints that name the scheme are not served."),
    asked_when(5, f"{_S}.credential", Expression(), CREDENTIAL, "`matches` names a field and the type is `mutualTLS`",
          "Of `mutualTLS`: what of the client's certificate is looked up, such as `claims.fingerprint`.",
          "A gap: endpoints that name the scheme are not served. Else nothing is looked up."),
    asked_when(5, f"{_S}.issued to", Name("a resource"), CREDENTIAL,
              "the service makes or looks up the credential, and no `matches` is there",
          "The service makes the credential itself, for a row of that resource, which is `caller.R`.",
          "A gap: endpoints that name the scheme are not served."),
    asked_when(5, f"{_S}.lasts", Duration(), LASTS, "the service makes the credential",
          "How long an issued credential is good; `none`: as long as its row is there.",
          "A gap: endpoints that name the scheme are not served.", says_none=True),
    asked_when(5, f"{_S}.openIdConnectUrl", Expression(), CREDENTIAL, "the type is `openIdConnect`",
          "The issuer, or where its configuration is: `operator.NAME`.",
          "A gap: endpoints that name the scheme are not served."),
    asked_when(5, f"{_S}.issuer", Expression(), CREDENTIAL,
              "somebody else signs the tokens, and no `openIdConnectUrl` is there",
              "Who signs the tokens: `operator.NAME`.", "A gap: endpoints that name the scheme are not served."),
    asked_when(5, f"{_S}.audience", Name("an audience"), AUDIENCE, "somebody else signs the tokens",
              "The audience that a signed token is for.", "A gap: endpoints that name the scheme are not served."),
    asked_when(5, f"{_S}.algorithms", Names("a signature algorithm"), CREDENTIAL, "the scheme states its own `keys`",
          "The signature algorithms (RFC 7518) that are taken.",
          "A gap: endpoints that name the scheme are not served. Else the configuration of the issuer says."),
    asked_when(5, f"{_S}.keys", Expression(), CREDENTIAL, "there is no `openIdConnectUrl` that leads to them",
              "The issuer's key set, or where it is: `operator.NAME`.",
          "A gap: endpoints that name the scheme are not served. Else the configuration of the issuer says."),
    names(5, _S + ".scopes", Names("a new name"), "Scopes that conditions may ask for.",
          "Each use of a scope is an error."),
    asked_when(5, f"{_S}.granted", Expression(), GRANTED,
              "the scheme lists scopes and the service makes the credential",
          "Of issued credentials: which of the scopes a row may be granted, an array of texts over that row.",
          "A gap: endpoints that name the scheme are not served.", says_none=True),
    asked_when(5, f"{_S}.realm", Text(), PRESENTED,
              "it is the Basic scheme of HTTP, which has to name one (RFC 7617), or one whose tokens are granted, "
              "since clients come for these by that scheme", "The realm that a challenge names (RFC 9110, 11.5).",
          "A gap: endpoints that name the scheme are not served. Else challenges name none."),
    tells(5, f"{_S}.flows", Members(), "OpenAPI's flows of an `oauth2` scheme."),
    names(5, f"{_S}.caller", MappingOf("names to expressions"), "What the scheme adds to `caller`, from `claims.NAME`.",
          "Each use of such a name is an error."),
    names(5, f"{_S}.caller.NAME", Expression(), "The value of `caller.NAME`.", "Each use of the name is an error."),
    asked(5, "rows", OneOf((Word(("any",)), MappingOf("resources to who sees which rows"))), ROWS,
          "Which rows a caller may see at all; `any` where every caller sees all rows.",
          "A gap: endpoints that show, or find, rows of R are not served."),
    asked(5, "rows.RESOURCE", ADMISSIONS, ROWS, "Who sees which rows of the resource.",
          "A gap: endpoints that show, or find, rows of R are not served."),
    asked(5, "rows.RESOURCE.CALLER", _ADMISSION, ROWS,
          "The rows that callers of one scheme, or `anyone`, see; `none`: no row.",
          "A gap: endpoints by which such callers are shown, or find, rows of R are not served."),
    asked_when(5, "unseen rows", Word(("missing", "forbidden")), UNSEEN, "a row rule hides rows",
              "What a row is that the caller may not see.",
          "A gap: endpoints with a row rule are not served."),
    asked(5, "permissions", MappingOf("endpoints to who may call"), CALLERS, "Who may call each endpoint.",
          "A gap: no endpoint is served."),
    asked(5, "permissions.all others", ADMISSIONS, CALLERS,
          "Who may call the endpoints that have no line; `none`: nobody.",
          "A gap: endpoints without a line are not served.", says_none=True),
    falling_back(asked(5, "permissions.ENDPOINT", ADMISSIONS, CALLERS,
    "Who may call the endpoint; it wins over `all others`; `none`: nobody.",
          "A gap: E is not served.", says_none=True), 5, "permissions.all others"),
    asked_when(5, "permissions.ENDPOINT.CALLER", _ADMISSION, CALLERS, "nobody else is admitted by the line",
               "When callers of one scheme, or `anyone`, may call.",
               "A gap: E is not served. Else such callers may not call."),
)  # fmt: skip
