"""The diagnostics of what a contract means, NF0501 to NF0699."""

from __future__ import annotations

from ninefold.diagnostics.diagnostic import Code, Severity


def _code(id: str, severity: Severity, title: str, says: str, wrong: str, right: str) -> Code:
    return Code(id, severity, title, f"{says}\n\nWrong: {wrong}\n\nRight: {right}\n")


COMPUTED_CYCLE = _code(
    "NF0501", Severity.ERROR, "computed fields read each other in a circle",
    "A computed field is made of other fields. Where the way leads back to itself there is nothing to start from.",
    '`net: {computed: "order.gross - order.tax"}` and `gross: {computed: "order.net + order.tax"}`',
    '`gross: {type: integer}` stored, and `net` computed from it',
)  # fmt: skip

NOT_THE_CLIENTS = _code(
    "NF0502", Severity.ERROR, "a body names a field that no client can set",
    "A state field moves by transitions alone, a computed field is made of others, and a number given by "
    "`serial()` is the database's.",
    "`body: [lines, status]` where `status` is `{state: true}`",
    "`body: [lines]`, and an endpoint that takes a transition: `POST /orders/{id}/place: {does: place order}`",
)  # fmt: skip

NEVER_GIVEN = _code(
    "NF0503", Severity.ERROR, "a required field is given by nothing",
    "On create a required field comes from the body, from the path, or from `on create`. Without any of them every "
    "such request would be refused.",
    "`required: [email, name]` and `POST /customers: {does: create customer, body: [email]}`",
    "`body: [email, name]`, or `name: {…, on create: \"'New customer'\"}`",
)  # fmt: skip

PATH_NAME = _code(
    "NF0504", Severity.ERROR, "a name in a path does not say which row",
    "A name in braces is the identifier or another unique field of the resource that the endpoint acts on, or a "
    "path through references to one (`{article.slug}` of a comment). Any other name is declared under `path`, with a "
    "schema, and is a value of the request: `request.path.NAME`.",
    "`GET /orders/{number}` where `number` is not unique",
    "`GET /orders/{id}`, or `number: {type: integer, unique: true}`",
)  # fmt: skip

NO_ROW = _code(
    "NF0505", Severity.ERROR, "an endpoint does not say which row it acts on",
    "What reads, changes or deletes one row finds it by a name in its path, or by `row:`. Where several fields "
    "together say which row, the path may name some of them, and `where` hold the others equal to something: "
    "`where: loan.member == caller.member`.",
    "`GET /order: {does: read order}`",
    "`GET /orders/{id}: {does: read order}`, or `row: caller.order`",
)  # fmt: skip

ONE_ROW = _code(
    "NF0590", Severity.ERROR, "an endpoint treats the one row of a resource as one of many",
    "A resource with `identifier: none` has one row, which is there from the start, as `on create` or its record makes "
    "it. It is read, updated and replaced, and takes transitions; it is not created, deleted, listed or referred to.",
    "`POST /settings: {does: create settings}`", "`PUT /settings: {does: replace settings}`",
)  # fmt: skip

PATH_OF_CREATE = _code(
    "NF0506", Severity.ERROR, "a path does not set what is created",
    "On create, a name in the path is a path through a reference of the new row, which it sets.",
    "`POST /orders/{id}: {does: create order}`",
    "`POST /projects/{project.id}/tasks: {does: create task}`",
)  # fmt: skip

NOT_A_SORT_KEY = _code(
    "NF0507", Severity.ERROR, "a list cannot be sorted by this",
    "A list is sorted by fields of the resource that have an order: text, numbers, truth values and times.",
    "`sorts: {default: [lines]}` where `lines` is an array",
    "`sorts: {default: [-created_at]}`",
)  # fmt: skip

SEVERAL_RESPONSES = _code(
    "NF0508", Severity.ERROR, "an operation with one good end has several responses",
    "Every verb but `ensure` and `remove` ends well in one way, and so has one status. These two have one status for "
    "both of their ends, or one for each: `{created: {201: …}, unchanged: {200: …}}`. What goes wrong is part 7's.",
    "`responses: {200: order, 404: none}`",
    "`responses: {200: order}`, and `codes: {not_found: {status: 404, …, when: missing}}`",
)  # fmt: skip

NO_SUCH_END = _code(
    "NF0581", Severity.ERROR, "an operation does not end in this way",
    "`ensure` ends as `created` or `unchanged`, `remove` as `removed` or `absent`. Every other verb ends well in one "
    "way.",
    "`does: create tag` with `responses: {created: {201: tag}}`",
    "`responses: {201: tag}`; or `does: ensure tag` with `responses: {created: {201: tag}, unchanged: {200: tag}}`",
)  # fmt: skip

NEEDS_WHAT_IS_NONE = _code(
    "NF0592", Severity.ERROR, "an endpoint needs something that is stated to be none",
    "`none` is an answer: there is no such thing. An endpoint that cannot do without it could never be served, and no "
    "gap would say why. What is only not known yet is `not shown`, or left out.",
    "`order: {identifier: none, fields: …}` with `GET /orders/{id}: {does: read order, …}`",
    "`order: {identifier: id, fields: …}`, or `identifier: not shown` while it is open",
)  # fmt: skip

ANY_ORIGIN_WITH_CREDENTIALS = _code(
    "NF0582", Severity.WARNING, "scripts of any origin may send their user's credentials",
    "A browser adds cookies and client certificates to what a script of another page sends, and lets the script read "
    "the answer. Where that is allowed to every origin, any page that a user opens can act for that user.",
    "`cross origin: {origins: any, credentials: true}`",
    "`cross origin: {origins: [https://shop.example], credentials: true}`",
)  # fmt: skip

STATUS_OF_ITS_OWN = _code(
    "NF0509", Severity.ERROR, "a response has a status that it cannot have",
    "204 and 205 have no content (RFC 9110, 15.3.5 and 15.3.6). 304 answers a request that asks for what has changed "
    "since (15.4.5), and is given where `validators: etag` is stated.",
    "`responses: {204: order}`",
    "`responses: {204: none}`",
)  # fmt: skip

NO_SUCH_VIEW = _code(
    "NF0510", Severity.ERROR, "there is no such view",
    "A view is applied to a row of its resource, `profile(article.author)`, to several of them, "
    "`full(article.comments)`, or to a list's rows, `listed(page.items)`.",
    "`responses: {200: full(order)}` where `order` has no view `full`",
    "`responses: {200: order}`, or `views: {full: [id, total]}` in part 2",
)  # fmt: skip

NOT_SHOWABLE = _code(
    "NF0511", Severity.ERROR, "a response holds what cannot be shown",
    "A leaf of a response is a value, a row (shown as its view or its resource's fields), several rows or, of a list, "
    "`page.items`, which a view or `map` may be applied to, and nothing else. A `secret` is shown to nobody; a token "
    "just made is `issued.NAME`.",
    "`responses: {200: {key: customer.api_key}}`",
    "`responses: {201: {key: issued.api_key}}`",
)  # fmt: skip

LIST_HAS_NO_ROW = _code(
    "NF0512", Severity.ERROR, "a condition reads the row of an endpoint that has none",
    "A list has no one row that could be judged. Which rows a caller sees is said under `rows`. What the path leads "
    "through is one row, whatever the list holds: of `GET /projects/{project.id}/tasks` it is `task.project`, and "
    "nothing else of `task` can be read.",
    "`GET /orders: {key: \"order.customer == caller.customer\"}`",
    "`GET /orders: key`, and `rows: {order: {key: \"order.customer == caller.customer\"}}`; or `GET "
    "/customers/{customer.id}/orders: {key: \"order.customer == caller.customer\"}`",
)  # fmt: skip

NOT_A_TOKEN = _code(
    "NF0513", Severity.ERROR, "a credential is looked up in a field that is no token",
    "`matches` names a field with `secret: token`, which is stored as a digest and found by it.",
    "`matches: customer.email`",
    "`matches: customer.api_key`, where `api_key` is `{type: string, secret: token, on create: token()}`",
)  # fmt: skip

SAME_PARAMETER = _code(
    "NF0514", Severity.ERROR, "one parameter has two meanings",
    "Filters, the sort parameter, the parameters of pages and the endpoint's own are all query parameters.",
    "`filters: {limit: …}` where pages have `parameters: {size: limit}`",
    "`filters: {total: …}`",
)  # fmt: skip

PAGE_BOUNDS = _code(
    "NF0515", Severity.ERROR, "the page bounds contradict each other",
    "The default size of a page is at least 1 and at most the largest.",
    "`pages: {default: 200, largest: 100, …}`",
    "`pages: {default: 20, largest: 100, …}`",
)  # fmt: skip

UNREACHABLE_STATE = _code(
    "NF0516", Severity.WARNING, "a state is never reached",
    "No way of transitions leads from the initial state to this one, so no row will ever be in it.",
    "`states: [draft, placed, lost]` and no transition to `lost`",
    "a transition `lose: {from: placed, to: lost}`, or no such state",
)  # fmt: skip

DEAD_END = _code(
    "NF0517", Severity.WARNING, "no transition leaves a state that is not final",
    "A row that comes there stays there. If that is meant, the state is listed under `final`.",
    "`shipped` without a transition from it, and `final: [cancelled]`",
    "`final: [shipped, cancelled]`",
)  # fmt: skip

UNUSED_TRANSITION = _code(
    "NF0518", Severity.WARNING, "nothing takes a transition",
    "No endpoint does it and no `after` makes it happen by itself.",
    "`archive: {from: paid, to: archived}` and no endpoint",
    "`POST /orders/{id}/archive: {does: archive order, …}`",
)  # fmt: skip

UNUSED_CODE = _code(
    "NF0519", Severity.WARNING, "nothing answers with a code",
    "A code is used by its own `when`, by an `otherwise`, or by an endpoint's `errors`.",
    "`codes: {odd: {status: 409, title: Odd}}`",
    "`codes: {odd: {status: 409, title: Odd, when: conflict}}`",
)  # fmt: skip

NEVER_ARISES = _code(
    "NF0537", Severity.WARNING, "a condition never arises",
    "`conflict` is narrowed to a field that is unique by itself, or to a resource: its rows are unique by several "
    "fields together, or refuse to be deleted.",
    "`unique: [[show, seat]]` and `taken: {status: 409, when: conflict ticket.seat}`",
    "`unique: [[show, seat]]` and `taken: {status: 409, when: conflict ticket}`",
)  # fmt: skip

COMPOSITE_TARGET = _code(
    "NF0520", Severity.ERROR, "a reference points at rows without one identifier",
    "A reference is stored, and shown, as its target's identifier, which has to be one field.",
    "`{refers to: favorite}` where `favorite` has `identifier: [user, article]`",
    "`favorite: {identifier: id, unique: [[user, article]], …}`",
)  # fmt: skip

DETAIL_OF_TWO = _code(
    "NF0521", Severity.ERROR, "the detail of an error reads rows of several resources",
    "An error is about one row at most: the one that the endpoint acts on.",
    "`detail: \"order.status + customer.name\"`",
    "`detail: \"order.status + order.customer.name\"`",
)  # fmt: skip

DELETED_ROW = _code(
    "NF0522", Severity.ERROR, "the response to a deletion reads more than the row",
    "The row is gone when the response is made; its own fields are still at hand, and nothing that it refers to.",
    "`DELETE /orders/{id}: {…, responses: {200: {customer: order.customer.name}}}`",
    "`responses: {200: order}`, or `responses: {204: none}`",
)  # fmt: skip

DELETE_CLEARS_REQUIRED = _code(
    "NF0523", Severity.ERROR, "a required reference cannot be cleared",
    "`on delete: clear` takes the value away, and the field is required, or part of what a row is known by.",
    "`required: [project]` and `project: {refers to: project, on delete: clear}`",
    "`on delete: cascade`, `on delete: refuse`, or the field not required",
)  # fmt: skip

NOT_A_BODY = _code(
    "NF0524", Severity.ERROR, "a template cannot be read backwards",
    "Each leaf of a body is the path of a field of the resource, a list of its fields, or a value that has to "
    "be there (`\"'articles'\"`); no field is given twice.",
    "`body: {user: {name: user.name, alias: user.name}}`",
    "`body: {user: [name, email]}`",
)  # fmt: skip

NO_BURST = _code(
    "NF0530", Severity.WARNING, "an algorithm without a burst is given one",
    "`fixed window` and `sliding window` count to `allow` and no further. How many requests may come at once is a "
    "question of `token bucket` and `gcra` alone.",
    "`{of: caller, allow: 600, per: PT1M, algorithm: fixed window, burst: 50}`",
    "`{of: caller, allow: 600, per: PT1M, algorithm: gcra, burst: 50}`",
)  # fmt: skip

HEADER_OF_RATES = _code(
    "NF0531", Severity.ERROR, "a header tells nothing of rates",
    "What a header of rates carries is told by its name: `RateLimit-Policy`, `RateLimit` and `Retry-After`, or a name "
    "of your own that ends in `-Policy`, `-Limit`, `-Remaining` or `-Reset`.",
    "`headers: [X-Quota]`",
    "`headers: [X-Quota-Limit, X-Quota-Remaining]`",
)  # fmt: skip

NOT_A_STREAM = _code(
    "NF0540", Severity.ERROR, "a stream of events and its response do not go together",
    "`stream` is the response of an endpoint that does `stream events`, with the status 200, and of no other: a stream "
    "goes on for as long as the caller listens, so it has no template.",
    "`GET /events: {does: stream events, responses: {200: {events: page.items}}}`",
    "`GET /events: {does: stream events, responses: {200: stream}}`",
)  # fmt: skip

TIMER_WITHOUT_REQUEST = _code(
    "NF0570", Severity.ERROR, "what the service does by itself reads a request",
    "A transition with `after` is taken by the service when it is due. There is no request then and no caller, so its "
    "guard, its `sets`, the `on change` of the resource's fields, its invariants and the payloads of its events read "
    "neither, not through a computed field either. When it is due, or when a row expires, is said by the row alone, "
    "without `now`.",
    "`expire: {from: placed, to: cancelled, after: PT30M, sets: {closed_by: caller.user}}`",
    "`expire: {from: placed, to: cancelled, after: PT30M, sets: {closed_by: \"null\"}}`",
)  # fmt: skip

RECORD_VALUE = _code(
    "NF0571", Severity.ERROR, "a record states a value that its field does not admit",
    "A record is a row like any other: its values meet the schemas of their fields. A computed field, a state, a "
    "number that the service gives (but of the identifier) and a secret cannot be stated.",
    "`records: [{id: free, price: -1}]` where `price` has `minimum: 0`",
    "`records: [{id: free, price: 0}]`",
)  # fmt: skip

RECORD_INCOMPLETE = _code(
    "NF0572", Severity.ERROR, "a record lacks a value that its row has to have",
    "A record is found again by its identifier, which it therefore states. What is required it states too, unless "
    "`on create` gives it without a caller.",
    "`records: [{name: Free}]` where the identifier is `id`",
    "`records: [{id: free, name: Free}]`",
)  # fmt: skip

RECORD_TWICE = _code(
    "NF0573", Severity.ERROR, "two records cannot both be there",
    "No two rows have the same identifier, or the same value of a unique field.",
    "`records: [{id: free}, {id: free}]`",
    "`records: [{id: free}, {id: paid}]`",
)  # fmt: skip

RECORD_REFERENCE = _code(
    "NF0574", Severity.ERROR, "a record refers to no record",
    "What a record refers to has to be there before it, so it is a record as well; records that refer to each other in "
    "a circle have no first.",
    "`records: [{id: 1, plan: free}]` where `plan` has no record `free`",
    "`plan: {…, records: [{id: free}]}` besides",
)  # fmt: skip

SAYS_NOTHING = _code(
    "NF0535", Severity.ERROR, "a key says nothing where it stands",
    "Not every key says something of everything that an endpoint can do, or of every kind of field. Where it does not, "
    "it would be dropped in silence: a `where` that hides nothing, a guard that nobody asks.",
    "`POST /orders: {does: create order, where: order.total > 0}`",
    "`POST /orders: {does: create order, when: order.total > 0, otherwise: empty_order}`",
)  # fmt: skip

GIVEN_OTHERWISE = _code(
    "NF0526", Severity.ERROR, "`sets` gives a field that is not to be set",
    "States move by transitions alone; computed fields and serial numbers have their values from elsewhere; what is "
    "`immutable` is given once.",
    "`PATCH /orders/{id}: {does: update order, sets: {status: \"'paid'\"}}`",
    "`POST /orders/{id}/pay: {does: pay order}`",
)  # fmt: skip

NOT_AN_IDENTIFIER = _code(
    "NF0536", Severity.ERROR, "a row cannot be known by this field",
    "An identifier is stored with its row, stands in paths and is shown wherever the row is referred to: it is text, a "
    "number, a truth value or a time, and neither computed nor a secret. Where it is a reference, the row that it "
    "refers to is known by such a value, and not by the first one again.",
    "`identifier: key` and `key: {type: string, secret: token, on create: token()}`",
    "`identifier: id`, with `id: {type: string, format: uuid, on create: uuid()}` besides",
)  # fmt: skip

STATE_OF_NOTHING = _code(
    "NF0527", Severity.ERROR, "parts 2 and 3 do not agree on the field of a state",
    "The field that shows a row's state is marked `state: true` in part 2 and named as `field` in part 3; no other "
    "field is either.",
    "`status: {type: string}` and `order: {field: status, …}`",
    "`status: {state: true}` and `order: {field: status, …}`",
)  # fmt: skip

HEADER_OF_HTTP = _code(
    "NF0528", Severity.ERROR, "a header is not a contract's to give",
    "Some headers say how a message is framed, when it was sent and what it contains. HTTP and the stated media type "
    "give them; a second value would make the message unreadable.",
    "`headers: {Content-Length: string(order.total)}`",
    "`headers: {X-Total: string(order.total)}`",
)  # fmt: skip

SAME_BUT_FOR_CASE = _code(
    "NF0529", Severity.ERROR, "two names differ in case alone",
    "A database does not tell `total` from `Total`, so that they cannot both be fields of a resource; nor can two "
    "resources be called so.",
    "`fields: {total: {type: integer}, Total: {type: integer}}`",
    "`fields: {total: {type: integer}, grand_total: {type: integer}}`",
)  # fmt: skip

SECOND_SERIAL = _code(
    "NF0532", Severity.ERROR, "a resource has two fields made by `serial()`",
    "A row has one number that the service gives.",
    "`fields: {id: {type: integer, on create: serial()}, number: {type: integer, on create: serial()}}`",
    "`fields: {id: {type: string, format: uuid, on create: uuid()}, number: {type: integer, on create: serial()}}`",
)  # fmt: skip

TYPE_IN_ITSELF = _code(
    "NF0533", Severity.ERROR, "a shared type contains itself",
    "A value of such a type has no greatest depth, and this version of the language does not check one.",
    "`types: {branch: {fields: {branches: {type: array, items: {$ref: \"#/types/branch\"}}}}}`",
    "a resource of branches, each with a reference to the one that it is part of",
)  # fmt: skip

VALUE_TOO_LARGE = _code(
    "NF0685", Severity.ERROR, "a value has too much in it",
    "A shared type is checked at every place where a value holds one, and a failure points at that place. Types that "
    "each refer twice to the one before double these places with every type. A value has at most 10,000 schemas, with "
    "every type that it refers to in its place, and 64 types within each other. A view shows at most 1,000 values, "
    "with every view that it shows in its place, and views show each other at most 16 deep.",
    "`types: {t0: …, t1: {fields: {a: {$ref: \"#/types/t0\"}, b: {$ref: \"#/types/t0\"}}}, …, t16: …}`",
    "a resource in place of a type, and references between rows: `a: {refers to: t0}`",
)  # fmt: skip

FINAL_IS_LEFT = _code(
    "NF0534", Severity.WARNING, "a final state is left by a transition",
    "A state is `final` if nothing leaves it.",
    "`final: [placed]` and `ship: {from: placed, to: shipped}`",
    "`final: [shipped]`",
)  # fmt: skip

NOT_AN_ALGORITHM = _code(
    "NF0560", Severity.ERROR, "a signature algorithm cannot be taken",
    "`algorithms` lists what a token may be signed with, by the names of RFC 7518. `none` signs nothing, and HMAC "
    "(`HS256` and its like) needs a secret that the issuer shares with the service, which no configuration that "
    "anybody can read holds.",
    "`{type: http, scheme: bearer, issuer: operator.issuer, keys: operator.keys, audience: shop, algorithms: [none]}`",
    "`algorithms: [RS256, ES256]`",
)  # fmt: skip

ISSUER_TWICE = _code(
    "NF0561", Severity.ERROR, "a scheme says in two ways whose its credentials are",
    "A credential is looked up (`matches`), issued by the service (`issued to`), or signed by somebody else. Of the "
    "last either `openIdConnectUrl` leads to the issuer's name and keys, or `issuer` and `keys` state them.",
    "`{type: openIdConnect, openIdConnectUrl: operator.issuer, keys: operator.keys, audience: orders}`",
    "`{type: openIdConnect, openIdConnectUrl: operator.issuer, audience: orders}`",
)  # fmt: skip

WITHOUT_VALUE = _code(
    "NF0525", Severity.ERROR, "a filter does not read its value",
    "A filter is a condition on the row and on `value`, what the parameter gives. One that does not read it would "
    "narrow the list in the same way whatever is asked for.",
    "`filters: {expired: \"link.expires < now\"}`, so that `?expired=false` lists what has expired",
    "`filters: {expired: \"(link.expires < now) == value\"}`, or `where: \"link.expires < now\"`",
)  # fmt: skip

SEVERAL_VALUES = _code(
    "NF0575", Severity.ERROR, "a filter does not read as many values as it is given",
    "A parameter gives one value, unless the filter says how several are `written`. A condition that reads a list "
    "needs several, and one that reads a single value takes no more.",
    "`filters: {status: \"order.status in value\"}`",
    "`filters: {status: {is: \"order.status in value\", written: comma separated}}`",
)  # fmt: skip

SIGNED_WITHOUT = _code(
    "NF0562", Severity.ERROR, "tokens cannot be verified",
    "A token that somebody else signs is verified by its issuer, its audience, an algorithm and a key: there is no "
    "service without one of these that could tell a good token from a bad one.",
    "`{type: openIdConnect, openIdConnectUrl: operator.issuer, audience: none}`",
    "`{type: openIdConnect, openIdConnectUrl: operator.issuer, audience: orders}`",
)  # fmt: skip

GIVEN_VALUE = _code(
    "NF0538", Severity.ERROR, "the contract gives a value that its field does not admit",
    "What is stored is as its schema says, also what `on create`, `on change` and `sets` give. Of a constant that is "
    "known before anything is served: it meets the schema of its field, and a field that is required is not given "
    "`null`.",
    "`score: {type: integer, maximum: 5, on create: \"9\"}`",
    "`score: {type: integer, maximum: 5, on create: \"3\"}`",
)  # fmt: skip

DETAIL_OF_ANOTHER = _code(
    "NF0539", Severity.ERROR, "the detail of an error reads a row that is never at hand",
    "An error is about the row that its endpoint acts on. Where a code is answered for other resources alone, or for "
    "what is known before any row is, its detail could never be made, and would be left out.",
    "`no_order: {status: 404, when: missing order, detail: customer.name}`",
    "`no_customer: {status: 404, when: gone customer, detail: customer.name}`",
)  # fmt: skip

OFFERED_TO_NOBODY = _code(
    "NF0545", Severity.WARNING, "orders are offered, and no parameter chooses among them",
    "`offered` lists the orders that a caller may ask for with `parameter`. Without it the list has its default order.",
    "`sorts: {default: [-created_at], offered: [created_at, -created_at]}`",
    "`sorts: {parameter: sort, default: [-created_at], offered: [created_at, -created_at]}`",
)  # fmt: skip

NO_SUCH_SCOPE = _code(
    "NF0563", Severity.ERROR, "a condition asks for a scope that no scheme has",
    "`caller.scopes` are those scopes of a token that its scheme lists under `scopes`. No token can give another one, "
    "and a condition that asks for it never holds.",
    "`scopes: [orders.read]` and `POST /orders: {app: \"'orders.write' in caller.scopes\"}`",
    "`scopes: [orders.read, orders.write]`",
)  # fmt: skip

SCOPES_TWICE = _code(
    "NF0564", Severity.ERROR, "`caller.scopes` is given twice",
    "A scheme with `scopes` gives them as `caller.scopes`. What it adds to the caller has another name.",
    "`{type: oauth2, …, scopes: [read], caller: {scopes: claims.groups}}`",
    "`{type: oauth2, …, scopes: [read], caller: {groups: claims.groups}}`",
)  # fmt: skip

CERTIFICATE_FIELD = _code(
    "NF0565", Severity.ERROR, "a certificate is looked up in a field that cannot hold it",
    "What `credential` takes from a client's certificate is a text, which `matches` looks up in a stored text that is "
    "unique: else nobody could say whose the certificate is. It is no secret, since whoever sees a connection may "
    "see it; what makes it good is the key that only its owner has.",
    "`{type: mutualTLS, credential: claims.subject, matches: partner.name}` where `name` is not unique",
    "`name: {type: string, unique: true}`",
)  # fmt: skip

NOT_FOUND_BY = _code(
    "NF0566", Severity.ERROR, "a credential does not say whose it is",
    "HTTP's Basic scheme sends a user-id and a password (RFC 7617). `matches` names the field that the user-id is: one "
    "that is unique and no secret. The password is held to the field of the same resource that is `secret: password`. "
    "Credentials that the service makes itself (`issued to`) are of the types `http` and `apiKey`.",
    "`{type: http, scheme: basic, realm: Shop, matches: user.password}`",
    "`{type: http, scheme: basic, realm: Shop, matches: user.email}` where `email` is `unique: true`",
)  # fmt: skip

SIGN_IN_BODY = _code(
    "NF0567", Severity.ERROR, "a sign in does not say who signs in",
    "`sign in R` finds one row by the body and the path, and checks the password in the body. So the body has one "
    "field that is `secret: password`; and what else it names, with what the path names, is unique.",
    "`{does: sign in user, body: [name, password]}` where several users may have one name",
    "`{does: sign in user, body: [email, password]}` where `email` is `unique: true`",
)  # fmt: skip

ISSUES_FOR_NOBODY = _code(
    "NF0568", Severity.ERROR, "a credential is issued to nobody",
    "`issues` makes a credential of a scheme that has `issued to: R`, for the row of R that the request creates, "
    "changes or signs in to.",
    "`GET /users/{id}: {does: read user, issues: token}`",
    "`POST /sessions: {does: sign in user, body: [email, password], issues: token}`",
)  # fmt: skip

NEVER_ISSUED = _code(
    "NF0569", Severity.WARNING, "nothing issues the credentials of a scheme",
    "The service makes the credentials of a scheme that has `issued to`, where an endpoint `issues` one. Without such "
    "an endpoint nobody ever has one.",
    "`schemes: {token: {type: http, scheme: bearer, issued to: user, lasts: P30D}}` and no endpoint that issues it",
    "`POST /sessions: {does: sign in user, body: [email, password], issues: token}`",
)  # fmt: skip

TOLD_BY_EDITS = _code(
    "NF0588", Severity.WARNING, "a JSON Patch tells what no response shows",
    "The edits of a JSON Patch (RFC 6902) read what they change: `test` says whether a field has a value, and `copy` "
    "puts it into another. So who may patch a row learns every field that the body names, whether a response shows it "
    "or not. A merge patch changes the same fields and reads none.",
    "`body: [text, rank], patch: json-patch, responses: {200: {text: note.text}}`",
    "`patch: merge`, or a response that shows `note.rank`",
)  # fmt: skip

BOTH_ABSENT = _code(
    "NF0589", Severity.WARNING, "a rule holds where neither side has a value",
    "Null is equal to null. A row rule or permission that compares what the caller has with what the row has lets a "
    "caller who has none in to every row that has none.",
    '`rows: {note: {key: "note.team == caller.user.team"}}`, where both may be without a team',
    '`rows: {note: {key: "has(note.team) && note.team == caller.user.team"}}`',
)  # fmt: skip

NEVER_TOLD = _code(
    "NF0576", Severity.WARNING, "a credential is issued, and told to nobody",
    "Of a credential that the service makes only a digest is kept: what its response does not tell, as "
    "`caller.credential`, nobody ever knows.",
    "`POST /sessions: {does: sign in user, body: [email, password], issues: token, responses: {200: user}}`",
    "`responses: {200: {token: caller.credential}}`",
)  # fmt: skip

CREDENTIAL_KEPT = _code(
    "NF0577", Severity.ERROR, "a credential would be kept as it is",
    "Whoever reads a credential has it. So the service keeps only digests, and `caller.credential` may be shown to who "
    "sends it or is given it: in a response. In a value that is stored or an event it would be there for others.",
    "`key: {type: string, on create: caller.credential}`",
    "`key: {type: string, secret: token, on create: token()}`",
)  # fmt: skip

NOT_MADE_OF_ROWS = _code(
    "NF0579", Severity.ERROR, "a value cannot be made of rows",
    "What is given on create or on change and reads other rows is made by the statement that writes the row. A secret "
    "is hashed before there is a statement; and some functions are known to requests alone, so that what is made with "
    "them cannot be made of what only the database knows.",
    '`sets: {title: line.product.name}` beside `slug: {type: string, on change: slug(line.title)}`',
    "`slug: {type: string, on change: line.product.slug}`",
)  # fmt: skip

CHOSEN_BY = _code(
    "NF0586", Severity.ERROR, "a case cannot be chosen by this",
    "The case of a request is chosen before any statement: by one member of the body, `request.body.NAME`, or by a "
    "text that reads neither a body nor a row: a parameter, a header, what a scheme adds to the caller. Every case "
    "then takes a body that has members.",
    "`cases: {by: order.kind, …}`",
    "`cases: {by: request.body.kind, …}`, or `cases: {by: caller.role, …}`",
)  # fmt: skip

NOT_ANOTHER_ROW = _code(
    "NF0583", Severity.ERROR, "an effect may delete the row acted on",
    "What `then` lists changes other rows. One that deletes what the row acted on falls with (`on delete: cascade`) "
    "would take that row too, after it was written.",
    "`PATCH /lines/{id}: {does: update line, then: [{delete: order, row: line.order}]}` where lines fall with orders",
    "`DELETE /orders/{id}: {does: delete order}`",
)  # fmt: skip

EFFECT_ON_NO_ROW = _code(
    "NF0584", Severity.ERROR, "an effect does not say upon which row",
    "An effect updates, deletes or moves the row that `row` names, or all rows of which `where` holds; a row that it "
    "creates is a new one (or one for `each` item), and of a resource without an identifier there is only one.",
    "`then: [{update: customer, sets: {active: \"true\"}}]`",
    "`then: [{update: customer, row: order.customer, sets: {active: \"true\"}}]`, "
    "`then: [{delete: line, where: line.order == order}]`",
)  # fmt: skip

EACH_OF_NO_ARRAY = _code(
    "NF0541", Severity.ERROR, "rows are made for each item of what has none",
    "`each` of an effect is an array that is known before any statement: of the body, of a parameter, or a field of "
    "the row acted on. What is read from the database (rows that refer back) is none, and what its items are is said "
    "by its schema (`items`).",
    "`{create: line, each: order.customer.lines, sets: {…}}`",
    "`{create: line, each: request.body.lines, sets: {product: each.product}}`",
)  # fmt: skip

NOT_SET = _code(
    "NF0585", Severity.ERROR, "an effect sets what it cannot set",
    "A computed field is never stored, a number is the service's to give, a state moves by transitions, and a secret "
    "is told to whoever gave it or is given it, which an effect does to nobody.",
    "`then: [{update: lamp, row: switch.lamp, sets: {state: \"'on'\"}}]`",
    "`then: [{take: light lamp, row: switch.lamp}]`",
)  # fmt: skip

EFFECT_IN_A_CIRCLE = _code(
    "NF0587", Severity.ERROR, "effects lead back to where they began",
    "A transition whose effects take another transition, whose effects take the first one again, would have no end.",
    "`light: {…, then: [{take: press switch, row: lamp.switch}]}` beside "
    "`press: {…, then: [{take: light lamp, row: switch.lamp}]}`",
    "only one of the two",
)  # fmt: skip

TOO_MANY_EFFECTS = _code(
    "NF0686", Severity.ERROR, "a transition has too many effects",
    "All that a transition causes is written in one transaction, whatever else waits for it. Transitions that each "
    "take another one twice double what is written with every transition. A transition has at most 100 effects, with "
    "those of the transitions that it takes.",
    "`go1: {…, then: [{take: go0 r0, row: r1.a}, {take: go0 r0, row: r1.b}]}`, and so on to `go9`",
    "one effect with `where` for all rows of a resource, or endpoints that callers take one after another",
)  # fmt: skip

NOT_IN_FORCE = _code(
    "NF0601", Severity.NOTE, "a stated fact is not in force in this build",
    "The contract states it and it has been checked; this build of ninefold does not do it yet. What that means "
    "for a caller is said at the label: nothing is pretended. A request that asks for it is answered 501.",
    "to rely on it",
    "to read the list that `serve` prints at start-up",
)  # fmt: skip

LOSES = _code(
    "NF0602", Severity.ERROR, "a change cannot be undone without loss",
    "All versions are served from one set of rows. What an older version shows is made of the stored row (`is`), and "
    "what its clients give has to become a stored value: by `stored`, where the older version shows another one. "
    "Without it the value that a client gives would be lost.",
    '`- {change: order.price, schema: {type: number}, is: "double(order.price)"}` where a body names `price`',
    '`- {change: order.price, schema: {type: number}, is: "double(order.price)", stored: "int(value)"}`, '
    "or `endpoint: {body: […]}` without it",
)  # fmt: skip

TWO_RECEIVERS = _code(
    "NF0594", Severity.ERROR, "events go to rows of the contract, and others subscribe",
    "With `to` a contract keeps its receivers itself, as rows of a resource that it declares. The subscriptions that "
    "the language has itself are then told of nothing: one that could be made would be a promise that nobody keeps.",
    "`webhooks: {to: hook, …}` and `POST /subscriptions: {does: subscribe, …}`",
    "`webhooks: {to: hook, …}` and `POST /hooks: {does: create hook, …}`",
)  # fmt: skip

NOT_A_SUBJECT = _code(
    "NF0595", Severity.ERROR, "a kind of event cannot be the subject of a message",
    "A broker is sent each event under its kind. There a subject is words with dots between them, without spaces and "
    "without `*` and `>`, which stand for any words where somebody listens.",
    "`order placed: {upon: place order, payload: order}` and `delivery: {broker: operator.broker}`",
    "`order.placed: {upon: place order, payload: order}`",
)  # fmt: skip

ENDS_NOTHING = _code(
    "NF0596", Severity.ERROR, "nobody's credential would end",
    "`ends` ends credentials that were issued to the row acted on: the one that the request presents, all others, or "
    "all. So the callers of `ends: presented` all come by a scheme with `issued to` that resource. `sign out R` whose "
    "path names no row, and that has no `row`, is about the caller's own row: then each caller is a row of R.",
    "`POST /logout: {does: sign out user, ends: presented}` where `staff`, a scheme of signed tokens, may call",
    "`POST /logout: {does: sign out user, ends: presented}` where `token`, `issued to: user`, alone may call",
)  # fmt: skip

PINNED_TO_NOTHING = _code(
    "NF0597", Severity.WARNING, "the version of a request may be none that there is",
    "Where `default` is an expression, what it gives names the version of a request that names none. A value that is "
    "no version makes the request `unknown version`: a field that gives it lists the versions as its `enum`.",
    '`default: caller.account.version` and `version: {type: string}`',
    '`version: {type: string, enum: ["2026-01-01", "2025-03-01"]}`',
)  # fmt: skip

NOT_AMONG_SEVERAL = _code(
    "NF0608", Severity.ERROR, "a verb does not stand among several",
    "Several operations of one endpoint are done one after another with one row. The first one finds or makes the row "
    "and takes what the request gives: `create`, `ensure`, `update`, `replace`, `sign in` or a transition. Each after "
    "it is a transition. What reads, deletes or acts on no row stands alone.",
    "`does: [place order, update order]`, or `does: [place order, read order]`",
    "`does: [update order, place order]`, and `responses: {200: order}`",
)  # fmt: skip

ROWS_OF_SEVERAL = _code(
    "NF0609", Severity.ERROR, "several operations act on different rows",
    "All operations of one endpoint act on the same row, which the first one finds or makes. Which row of another "
    "resource would be meant, and what it would be given, nothing would say; an effect says it.",
    "`does: [create order, create entry]`",
    "`does: create order` and `then: [{create: entry, sets: {order: order, text: \"'created'\"}}]`",
)  # fmt: skip

NOT_TAKEN_AFTER = _code(
    "NF0610", Severity.ERROR, "a transition can never follow what comes before it",
    "Of several operations each sees the row as the one before it has left it. A transition that does not leave the "
    "state in which the row is then refuses every request.",
    "`does: [place order, pay order]` where `pay: {from: draft, to: paid}` and `place: {from: draft, to: placed}`",
    "`pay: {from: placed, to: paid}`",
)  # fmt: skip

NOT_IN_A_FORM = _code(
    "NF0620", Severity.ERROR, "a form cannot give this",
    "A form (`application/x-www-form-urlencoded`) has members, each with a text, and none within another. A member is "
    "a text, a number or a truth value, or, where it is repeated, a list of these. What has members of its own, and "
    "the edits of a JSON Patch, are sent as JSON.",
    "`requests: {media type: application/x-www-form-urlencoded}` beside `body: {address: {street: street}}`",
    "`body: [street]`, or `requests: {media type: application/json}`",
)  # fmt: skip

NO_SUCH_MEMBER = _code(
    "NF0611", Severity.ERROR, "a projection names what is not shown",
    "A request chooses among the members of what the response shows of a row: those of the view or the template, or "
    "the fields of the whole row, by the names that callers know.",
    "`responses: {200: brief(order)}` and `projection: {parameter: fields, offered: [id, total]}`, where the view "
    "`brief` shows no `total`",
    "`responses: {200: order}` and `projection: {parameter: fields, offered: [id, total]}`",
)  # fmt: skip

NOT_ONE_ROW = _code(
    "NF0612", Severity.ERROR, "it cannot be told what a request chooses from",
    "`projection` and `expand` are about the object that shows the row which is read, or each row that is listed. A "
    "response that shows it by several objects, or by none, does not say which is meant.",
    '`responses: {200: {first: brief(order), second: order}}` with `projection: {parameter: fields, offered: [id]}`',
    "`responses: {200: {data: order}}` with `projection: {parameter: fields, offered: [id]}`",
)  # fmt: skip

NOT_EXPANDED = _code(
    "NF0613", Severity.ERROR, "`expand` offers what leads to no rows",
    "What `expand` lists by name is a reference of the resource, or rows that refer back to it: each is shown as a "
    "whole row. What else is to be shown on request says so: a view, or a template.",
    "`expand: {parameter: expand, offered: [total]}`",
    "`expand: {parameter: expand, offered: [customer]}`, or `offered: {buyer: \"brief(order.customer)\"}`",
)  # fmt: skip

TWO_MEANINGS = _code(
    "NF0614", Severity.ERROR, "`event` would have two meanings",
    "In `when` of webhooks `event` is what has happened, and a row that may be told of it goes by the name of its "
    "resource. So the receivers are no resource of the contract that is called `event` itself.",
    "`webhooks: {to: event, when: …}`",
    "`webhooks: {to: hook, when: \"event.kind == hook.kind\", …}`",
)  # fmt: skip

NOT_GRANTED = _code(
    "NF0621", Severity.ERROR, "a token is granted to nobody",
    "`grant token R` is the token endpoint of OAuth 2.0's client credentials (RFC 6749, section 4.4), for the clients "
    "that are rows of R. Its body names two fields: what only one client has, a text, as `client_id`, and its secret, "
    "a `secret: password` or `secret: token`, as `client_secret`. `issues` names the scheme whose tokens are granted.",
    "`POST /token: {does: grant token client, body: [name], responses: …}`",
    "`POST /token: {does: grant token client, body: {client_id: client.id, client_secret: client.secret}, issues: app, "
    "responses: …}`",
)  # fmt: skip

WAS_MADE_OF_OTHERS = _code(
    "NF0598", Severity.ERROR, "an invariant reads what was made of other rows",
    "An invariant that reads other rows is held by the writes of those, too. `before.R` is the row as it was before "
    "its own write: what a computed field was made of other rows before these were written, an invariant cannot ask.",
    '`invariants: [{when: "order.total >= before.order.total"}]` where `total` is computed of the lines',
    "a field that is stored with the order, and set with it",
)  # fmt: skip

OF_ALL_ROWS = _code(
    "NF0622", Severity.ERROR, "only one row has this",
    "`delete all R`, `update all R` and a transition of all rows change every row that the path, `where` and `filters` "
    "leave. What is of one row has no meaning there: `row`, entity tags, credentials, edits of a row as it is, and "
    "values that no two rows have.",
    "`DELETE /todos: {does: delete all todo, row: caller.todo, responses: {204: none}}`",
    '`DELETE /todos: {does: delete all todo, where: "todo.owner == caller.user", responses: {204: none}}`',
)  # fmt: skip

CALLED_WITH = _code(
    "NF0623", Severity.ERROR, "a function is called with something else than it takes",
    "`with` gives each value that a function takes, by its name, and no other. A function is called before anything is "
    "done, so it is called with what the request gives, with its caller, `now` and values of the operator: rows are "
    "not read yet.",
    "`calls: {quote: {takes: {weight: {type: number}}, …}}` and `with: {wieght: request.body.weight}`",
    "`with: {weight: request.body.weight}`",
)  # fmt: skip

GROWS = _code(
    "NF0630", Severity.NOTE, "a list costs the more, the more rows there are",
    "A page of a list costs the same among a thousand rows and among ten million where an index finds its rows in "
    "their order. An index serves an order over stored fields, and what compares one of them with one value: the path, "
    "`where`, a row rule or a filter that is `==`, and of these one filter at a time, in the order that holds where "
    "none is asked for. Nothing else is found by it: `contains` and `startsWith`, `||`, `in`, `exists`, computed "
    "fields and fields of other rows are judged row by row, `page.total` counts, an offset counts what it passes over, "
    "and a list that is given whole is as long as it is. Such a list is served all the same, and holds nobody up: what "
    "takes long is read beside the others, until the time-out of the contract ends it.",
    '`filters: {q: "note.text.contains(value)"}`, or `responses: {200: {data: page.items, total: page.total}}`',
    '`filters: {status: "note.status == value"}` and `responses: {200: {data: page.items}}`, in pages by a cursor',
)  # fmt: skip

KIND_NOT_TOLD = _code(
    "NF0629", Severity.WARNING, "webhooks do not say which kind of event they are about",
    "Without an envelope the payload is sent as it is (fixed meaning 38). Where a receiver gets several kinds and no "
    "member of their payloads tells them apart, it cannot know what has happened. An envelope carries the kind; a "
    "member that has another constant in each payload does as well. Where it is meant so, `envelope: none` says it.",
    "`delivery: {webhooks: {…}}` beside the kinds `order.placed` and `order.paid`, whose payload is `order`",
    "`delivery: {webhooks: {…}, envelope: {format: cloudevents 1.0, source: \"'/orders'\"}}`",
)  # fmt: skip

NEVER_SENT = _code(
    "NF0640", Severity.ERROR, "no request can give a parameter",
    "What stands in a path, in a query or in a header is text. It may be meant as a number, a truth value or a time; "
    "in a query it may come several times, and be meant as a list of these; a list in a header has one item. There is "
    "no text that is an object, a list of lists or of objects, or `null`, and none keeps a schema that contradicts "
    "itself: every request that gives such a parameter would be refused.",
    "`query: {meta: {type: object}}`, `query: {n: {type: integer, minimum: 5, maximum: 3}}`",
    "`query: {meta: {type: string}}`, `query: {n: {type: integer, minimum: 3, maximum: 5}}`",
)  # fmt: skip

LARGE_BODIES = _code(
    "NF0642", Severity.NOTE, "bodies may be so large that they hold up other requests",
    "A body is looked at beside the other requests, which go on meanwhile; but decoding it is one piece of work, and "
    "so is holding it to its schema. They take some 5 to 30 milliseconds of each MiB in which nothing else is done. "
    "Where no size is stated, a body may have 1 MiB.",
    "`sizes: {body: 50 MiB}`",
    "`sizes: {body: 1 MiB}`",
)  # fmt: skip

CODES: tuple[Code, ...] = (
    NEVER_SENT, LARGE_BODIES,
    KIND_NOT_TOLD, GROWS,
    CALLED_WITH,
    OF_ALL_ROWS,
    WAS_MADE_OF_OTHERS,
    TWO_MEANINGS,
    NO_SUCH_MEMBER, NOT_ONE_ROW, NOT_EXPANDED, NOT_IN_A_FORM, NOT_GRANTED,
    NOT_AMONG_SEVERAL, ROWS_OF_SEVERAL, NOT_TAKEN_AFTER,
    PINNED_TO_NOTHING,
    ENDS_NOTHING,
    TWO_RECEIVERS, NOT_A_SUBJECT, COMPUTED_CYCLE, NOT_THE_CLIENTS, NEVER_GIVEN, PATH_NAME, NO_ROW, PATH_OF_CREATE,
    NOT_A_SORT_KEY, SEVERAL_RESPONSES, STATUS_OF_ITS_OWN, NO_SUCH_VIEW, NOT_SHOWABLE, LIST_HAS_NO_ROW, NOT_A_TOKEN,
    SAME_PARAMETER, PAGE_BOUNDS, UNREACHABLE_STATE, DEAD_END, UNUSED_TRANSITION, UNUSED_CODE, NEVER_ARISES,
    COMPOSITE_TARGET, DETAIL_OF_TWO, DELETED_ROW, DELETE_CLEARS_REQUIRED, NOT_A_BODY, NO_BURST, HEADER_OF_RATES,
    NOT_A_STREAM, TIMER_WITHOUT_REQUEST, RECORD_VALUE, RECORD_INCOMPLETE, RECORD_TWICE, RECORD_REFERENCE,
    SEVERAL_VALUES, NOT_AN_ALGORITHM, ISSUER_TWICE, SIGNED_WITHOUT, WITHOUT_VALUE, SAYS_NOTHING, GIVEN_OTHERWISE,
    STATE_OF_NOTHING, HEADER_OF_HTTP, SAME_BUT_FOR_CASE, SECOND_SERIAL, TYPE_IN_ITSELF, FINAL_IS_LEFT,
    NOT_AN_IDENTIFIER, GIVEN_VALUE, DETAIL_OF_ANOTHER, OFFERED_TO_NOBODY, NO_SUCH_END, NEEDS_WHAT_IS_NONE,
    VALUE_TOO_LARGE,
    ANY_ORIGIN_WITH_CREDENTIALS, NO_SUCH_SCOPE, SCOPES_TWICE, CERTIFICATE_FIELD, TOLD_BY_EDITS, BOTH_ABSENT, ONE_ROW,
    NOT_FOUND_BY, SIGN_IN_BODY, ISSUES_FOR_NOBODY, NEVER_ISSUED, NEVER_TOLD, CREDENTIAL_KEPT, NOT_MADE_OF_ROWS,
    TOO_MANY_EFFECTS,
    NOT_ANOTHER_ROW, EFFECT_ON_NO_ROW, EACH_OF_NO_ARRAY, NOT_SET, EFFECT_IN_A_CIRCLE, CHOSEN_BY, LOSES,
    NOT_IN_FORCE, )  # fmt: skip
