"""The fixed meanings of the language: the same in every service, because no contract could say them in two ways."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Meaning:
    """One row of the table; `text` is Markdown."""

    number: int
    about: str
    text: str


_TABLE: tuple[tuple[str, str], ...] = (
    (
        "Views and templates",
        "A view or template is JSON (RFC 8259, UTF-8), members in written order. A resource's name as a response is "
        "all its fields that are not `secret`, in written order; a reference is shown as its target's identifier "
        "unless a view is applied. Applied like a view, the name shows a row so (`item(line.item)`), unless a view or "
        "a function is called that.",
    ),
    (
        "No value",
        'There is one "no value". It is shown as `null` where the schema admits null, else left out, in templates '
        "too; an object of which all is left out is `{}`. On create an absent field takes its `on create` or has no "
        "value (then `required` decides); in a merge patch absent keeps, "
        '`null` clears a nullable field and is `invalid` for another; `[]` and `""` are values.',
    ),
    (
        "Times, numbers, lengths",
        "Times are RFC 3339, UTC, six digits; `now` is one value per request. `integer` is 64-bit, `number` a double; "
        "what lies outside is `invalid`. There is one zero: `-0.0` is read, kept, compared and shown as `0.0`. Text is "
        "compared and ordered by code point, as it came: `Z` stands before `a`, `A` is not `a`, and an `é` of two code "
        "points is not that of one; so it is in expressions, filters, sorts, `unique`, and what says which row it is. "
        "Lengths count code points; `format` is asserted; nulls are distinct in "
        "`unique`. A unique value that is made at random is made again where it is taken, at most 32 times, and is "
        "`conflict` then.",
    ),
    (
        "Who gives a value",
        "`on create` gives the value when the body does not; a body that names the field may still leave it out. "
        "`on change` acts on create too. A field that no `body` names, clients cannot set. An identifier without "
        "`on create` is the client's. Where it is `immutable`, or a number that `serial()` gives, a body by which the "
        "row changes may name it, and repeats what the path says of it, or breaks the rule `immutable`. A state field "
        "moves by transitions alone. What gives a value reads the row as it becomes: what the body gives, and else "
        "what the row has. What is stored is as its field says, whatever way it takes: what the body gives is "
        "held to the "
        "field's type and schema as it is read, and what the contract gives (`on create`, `on change`, `sets`, "
        "effects, "
        "records, what is made of what a function gave) before it is written. Where that cannot be made, or is not as "
        "the field says, the request is `invalid` if the expression reads anything of it: at the one member or "
        "parameter that it reads, by itself or through a field that the request gives (or, of a whole row, leaves "
        "out), else at the whole body. Otherwise the write is refused as by an invariant without a code, and the error "
        "names the field. No value is no error (docs/expressions.md says which is which). Constants are held to their "
        "field's schema before anything is served. A field that has to have a value and is given none makes "
        "the request `invalid`, and is named in the error where a body may give it.",
    ),
    (
        "Pages and filters",
        "A page size outside 1…largest, a page's number below 1, and a cursor that the service did not make, are "
        "`invalid`, never clamped; behind the last page there are no rows. "
        "Ties are ordered by identifier, nulls last. A filter's `value` has the type that its expression gives it; "
        "text that is not of that type, or a parameter repeated where one is meant, is `invalid`. Where several values "
        "are `comma separated`, each text between commas is one, an empty one too.",
    ),
    (
        "Paths",
        "A path value that is not of the field's type is `missing`. Path names are resolved from the left; the first "
        "row not found is `missing`. A literal segment beats a name, whatever the method: one that the literal path "
        "does not have is not allowed there. While R's identifier is a gap, a path name that is no field belongs to "
        "that gap. On create and ensure, path names set the references that they go through.",
    ),
    (
        "Merge patches",
        "`patch: merge` reads RFC 7396, sent as `application/merge-patch+json` or as the stated request media type. "
        "The schema is asked of what an object has become by it.",
    ),
    (
        "Credentials",
        "No credential or a bad one is `unauthenticated`; where `anyone` may call besides, a bad one is. A good one "
        "that the endpoint does not admit is `forbidden`, or counts as none where `anyone` may call. An endpoint for "
        "`anyone` alone reads no credential, good or bad: nobody is its caller. Rates of `caller` count the address "
        "there, idempotency keys are those of callers without a credential, a `default` version that reads `caller` "
        "sees none where this is so in every version that has the path, and expressions do not read `caller` (but "
        "`caller.credential`, where the endpoint issues one). What a client that is to be granted a token says of "
        "itself is no credential here. Schemes are tried in written order. A bad one is `unauthenticated S` "
        "of the first scheme S that looks where it came, of those that the endpoint admits before others.",
    ),
    (
        "Conditions and errors in expressions",
        "A condition or boolean `computed` holds only when it is *true*: what CEL calls an error (null in `<`, "
        "division by zero, overflow) is not true, and stays so under `!`, `exists` and `all`, in SQL as in Python. "
        "A condition that reads `caller.x` does not hold for a caller without x.",
    ),
    (
        "Before and after",
        "Guards see the row as it was (on create, as it would be: reading a number that `serial()` is still to give "
        "is an error); invariants, responses and events see it as it has become; `before.R` is as it was. An "
        "invariant is asked of what has become: of a write that is refused for anything else, none is. One that reads "
        "other rows is asked of its own row as well when a write changes what it reads of those, or which they are: "
        "the write is refused if it fails. A transition that is due has happened, at the time it was due.",
    ),
    (
        "Precedence",
        "`precedence` lists conditions, and means the order of the closed list (below), changed no more than this list "
        "demands: again and again the first condition of the closed list is taken before which nothing listed is still "
        "due. A narrowed condition that is not listed stands directly before its wider one (`invalid user.email` "
        "before `invalid user`, and that before `invalid`), and so does a parameter whose `otherwise` names a code. A "
        "code stands where its condition does, one of a guard or an invariant at `guard` or `invariant`; of these the "
        "first counts, as they are written. 501 (blocked, or not in force) precedes every condition but no such path "
        "and method not allowed. All failing rules of all fields are reported, in the contract's order, whatever finds "
        "them. Beside a field that is `invalid`, what the others give is still judged: whether a value is taken, and "
        "whether a row that is referred to is there. What may read any field (permissions, guards, invariants) is "
        "judged once all of them are valid, and every row that they refer to is there, and what reads a part of the "
        "request (its body; its parameters, headers and path values) once nothing there is refused: what is refused is "
        "not evaluated further.",
    ),
    (
        "Bare statuses",
        "A condition without a code is answered with its bare status and an empty body: the table below.",
    ),
    (
        "U+0000",
        "No type has text that contains U+0000: it is `invalid`, by the rule `range` (what cannot be stored, numbers "
        "that are out of range as well), where a body, a query or a header gives it, and in a path `missing`, as what "
        "is not of the field's type is. Of a segment that the contract writes out it is another one: `no such path`, "
        "and so is a path that is no UTF-8.",
    ),
    ("Digits of a second", "Timestamps keep six digits of a second; further digits are cut off."),
    (
        "Members given twice",
        "Of members of a JSON object that a body gives twice, the last counts (RFC 8259, section 4, leaves it open).",
    ),
    (
        "References given by clients",
        "A reference to a row that does not exist, or that the caller may not see, is `invalid` at that field by the "
        "rule `refers to`: the same answer for both.",
    ),
    (
        "What row rules narrow",
        "A value is the same for everyone who may see it. All rows are read by `computed`, guards, invariants, "
        "permissions, row rules, `on create`, `on change`, `sets`, `granted`, `after`, `expires`, effects with their "
        "`row` and `where`, and `when` and `payload` of events. The rows that the caller may see, and that are not "
        "gone, are read by what is shown to it, and by what says which rows it is shown: responses, views, headers, "
        "details of errors, an endpoint's `where` and `row`, filters, sorts and `expand`. A computed field that is "
        "read there keeps its value, which is made of all rows; nothing is read through a row that the caller may not "
        "see. Which events a caller is told of is narrowed by the row rules of their rows. A row that a request has "
        "just created, or that it has just signed in to, is always shown in the response.",
    ),
    (
        "Bodies of `none`",
        "`body: none` where unknown members are refused: a body that is sent must be an object without members. "
        "Where they are ignored, it is not read.",
    ),
    (
        "Content that no fact asks for",
        "GET and DELETE ignore a body unless one is stated, and so do verbs that take no values. An empty body where "
        "one is stated is `malformed`; content without Content-Type is `unsupported media type`.",
    ),
    (
        "Entity tags",
        "An ETag is opaque and changes with every write of its row, also of what is not shown. Where GET shows more "
        "than the row (other rows, the caller, the time), rows of a list, or no row, it changes as well with all that "
        "this caller is shown. `If-Match` on a write is about what GET shows at that path: the write is `stale` "
        "unless this caller would be given that tag still. `If-Match` and `If-None-Match` act only where `validators: "
        "etag` is stated.",
    ),
    ("Ties", "Where a list's order leaves rows equal, identifiers decide, ascending."),
    ("Names", "The names of resources and fields are CEL identifiers."),
    (
        "No endpoint, no rule of one",
        "The conditions `no such path` and `method not allowed` leave no endpoint: only conditions of every request "
        "can precede them.",
    ),
    (
        "Cascades",
        "A deletion that cascades is one deletion: what refers to a row that it reaches is asked the same question, "
        "and one `refuse` anywhere refuses all of it.",
    ),
    (
        "What rates count",
        "A rate counts every request to its endpoints, whatever becomes of it, but those that a rate refuses; a "
        "request that one of several rates refuses is counted by none. What is answered 501 or reaches no endpoint "
        "is not counted. `caller` is the row to which the credential belongs, or whom a signed token is about, told "
        "apart by scheme; where no credential was accepted it is the address. `address` is the whole address of the "
        "client. A request for which an expression has no value is not counted by it. Counts begin anew when the "
        "service does.",
    ),
    (
        "How rates count",
        "`fixed window`: `allow` in a window of length `per`, which begins with the first request that finds none "
        "open. `sliding window`: `allow` in any stretch of length `per` (where `allow` is above 1024, times are told "
        "apart to a 1024th part of `per`, taking back late and never early). `token bucket` and `gcra`: `burst` at "
        "once, and then one more each `per / allow`; they differ in nothing that a caller sees. `burst: none` is one "
        "at a time.",
    ),
    (
        "What headers of rates carry",
        "They are sent with every response to a request that a rate counts or refuses. `RateLimit-Policy` and "
        "`RateLimit` are those of draft-ietf-httpapi-ratelimit-headers, an item for each rate, named after it: `q` "
        "is `allow`, `w` is `per` where that is whole seconds, `r` how many requests would be taken now, `t` the "
        "seconds until it is as if there had been none. Of other names the ending says what they carry: `-Policy` "
        "the same as `RateLimit-Policy`; `-Limit`, `-Remaining` and `-Reset` are `q`, `r` and `t` of the rate that "
        "is the nearest to its end. `Retry-After` (seconds) is sent with `rate limited`, and with `unavailable`, "
        "then as 1.",
    ),
    (
        "Idempotency keys",
        'A key is a String of RFC 9651, or visible ASCII without its quotes: `"abc"` and `abc` are one. One that '
        "is empty, longer than 255 characters or neither of these is `invalid`; so is a request without one where it "
        "is `required`. It belongs to the endpoint and to the caller; callers without a credential share theirs. The "
        "request is the same if path, query and body are, byte for byte; another one with the key is `idempotency "
        "mismatch`, and one that comes while the first is not answered `idempotency in progress`. Only a success is "
        "kept, in the transaction of what it did, and given again as it was; a refused request leaves its key free. "
        "After `kept` the key means nothing; `kept: none` keeps none, and nothing is done once.",
    ),
    (
        "Too much to do",
        "A service that has more requests on their way than it takes answers `unavailable` before all else. A body "
        "of which nothing comes for half a minute is answered 408 (RFC 9110, section 15.5.9).",
    ),
    (
        "Transitions that the service takes",
        "`after` counts from when the row entered `from`; a transition enters its `to` also where the row was there "
        "already, and the time counts anew. What falls due is taken in the order in which it does, each as of that "
        "time: it is the `now` of guard, `sets` and `on change`. Where its guard, an invariant, a unique value that is "
        "taken or one that cannot be made or stored keeps a row, it waits: it is asked again after every write and, "
        "where its guard reads `now`, as time passes, and is taken as of then. Nothing of such a transition reads "
        "`caller` or `request`.",
    ),
    (
        "Rows that are gone",
        "A row in a state of `gone` answers `gone` to whoever could see it, also where a path only leads through it; "
        "a transition that leaves that state acts on it. It is in no list, total or view; a reference to it shows its "
        "identifier still, and a new one is `invalid`. Its credential is no credential. It keeps its unique values, "
        "and what refers to it. Row rules, `computed`, permissions, guards and invariants read it like any other.",
    ),
    (
        "Records",
        "A record is a row like any other. At every start, before anything is served, those that are absent are added "
        "and those whose stated values differ are given them again, as a write that nobody asked for: `on create`, "
        "`on change` and invariants take part. What a record does not state is left alone, and so is a row that is no "
        "record any more. One that `serial()` identifies states its number: the row that has it is the record, whoever "
        "made it, and what the service gives comes after it.",
    ),
    (
        "What events arise upon",
        "An event arises upon the action that its kind names, whoever takes it: an endpoint, a timer, the operator. A "
        "transition is no `update`, and a row that a deletion cascades to is part of that deletion: neither gives the "
        "other's events. An action that is refused gives none. The payload is the contract's own word, and reads all "
        "rows; of a deleted row it shows what it was.",
    ),
    (
        "Who is told of an event",
        "Streams and deliveries tell a caller of an event only if it may see the row, by its row rule: as the event "
        "found it and, if the row is still there, as it is now. Whoever subscribed counts as the caller of what is "
        "delivered, and is told of nothing more when its own row is gone.",
    ),
    (
        "Streams",
        "A stream is sent with `Cache-Control: no-store`. It tells what the same request would be told that came now: "
        "at each batch its caller counts as it is then (credential, row, permission, row rules), and where that "
        "request would be `unauthenticated` or `forbidden`, nothing more is told and the stream ends. While an issuer "
        "cannot be asked for the keys of a token, it waits. The `id` of an event is its place in the log, sealed as a "
        "cursor is: it tells nothing, is the same as often as its caller is told of the event at the endpoint, "
        "whichever credential it has then, and is good for no other. A stream without one begins with what comes "
        "next; the header that `resume` names gives the last one seen, and 0 stands before all. What the service did "
        "not give to this caller here, or behind which something is no longer kept, is `invalid`: nothing is skipped "
        "without a word. The event's name is its kind; a line with a colon alone, every 15 seconds, means nothing. "
        "More streams of one caller than are taken (without a credential, of one address) are `unavailable`.",
    ),
    (
        "Subscriptions",
        "`subscription` is a resource like any other: `id` (a UUID), `url` (`http` or `https`, without a user's name, "
        "at most 2,048 characters) and `kinds` (at least one of the contract's, none twice); `subscribe` creates one, "
        "`unsubscribe` deletes it with what was still to be delivered. A new subscription is told of what comes after "
        "it. `issued.secret` (`whsec_` and base64) signs.",
    ),
    (
        "Deliveries",
        "At least once, with the same `webhook-id` each time. A status of 200 to 299 within 15 seconds is success; "
        "anything else is a failure, a redirect too. `attempts` counts the first one; where there are fewer waits than "
        "further attempts, the last counts again. 410 ends all deliveries to the subscription. 429, 502, 503 and 504 "
        "put all of them off for as long as `Retry-After` says (at most a day), and at least for the wait that is due. "
        "What has had all its attempts is given up, and does not hold up what comes after it. Nothing is delivered to "
        "addresses that are not of the public internet, unless the operator allows it.",
    ),
    (
        "Envelopes",
        "CloudEvents 1.0.2 in structured mode (`application/cloudevents+json`; in a stream, the `data` of an event): "
        "`id` a UUID, `type` the kind, `subject` the row's identifier (several values with `/` between them), `time` "
        "that of the cause, `data` the payload. Without an envelope the payload is sent as it is.",
    ),
    (
        "Tokens that somebody else signs",
        "A JSON Web Token (RFC 7519) is good that one key of its issuer verifies, by an algorithm that is stated, or "
        "published by the issuer and asymmetric; whose `iss` is the issuer to the letter and whose `aud` is, or has, "
        "the audience; that has an end (`exp`) and is not past it, and whose `nbf` and `iat`, where it has them, have "
        "come. Clocks may differ by 60 seconds. A token names its key (`kid`) unless there is one alone; one with "
        "`crit` is not good. It is about its `iss` and `sub`, or without `sub` about nobody but its bearer. "
        "`openIdConnectUrl` is the issuer, or the URL of its configuration; `keys` a key set, or the URL of one. They "
        "are fetched when a token first needs them, and again when they are old or do not have its key; an issuer of "
        "which they cannot be had makes the request `unavailable`.",
    ),
    (
        "Rows within rows",
        "Several rows that are shown in one (a view applied to `all(R)`, to rows that refer back, or to what is made "
        "of them; `x.map(y, {…})`) are a JSON array, and each looks as it does alone. They are in the order of their "
        "identifiers, or in that of `sortBy`. Those that the caller may not see, or that are gone, are not among "
        "them; an item that shows nothing is left out, and so is an array of which a part is an error. They are given "
        "whole: a page bounds the rows of a list, and not what is shown within each.",
    ),
    (
        "Rows that may be there already",
        "`ensure` and `remove` know the row that is meant by the first of the identifier, the unique fields and the "
        "`unique` lists, in written order, of which all values are at hand: those that the path names, those that `on "
        "create` makes of the caller, and of `ensure` those that the body or `sets` give; one that the path names a "
        "field of comes before the others. `remove` may say which row by `row` or `where` instead. A value of the "
        "path that would be stored keeps its field's schema, or is `invalid`. `ensure` creates the row as `create` "
        "does, or finds it and leaves it as it is: permissions and guards are asked of the row where it is there, "
        "else of the row as it would be. Where it is there, what the body gives and `sets` states (but for what is "
        "new each time) has to be what it has, or the request is `different`; a member that the body leaves out is no "
        "value, unless the contract makes one. Objects are the same whatever the order of their members; a secret is "
        "compared with nothing. A row that is there and that the caller may not see is what `unseen rows` says of "
        "`ensure`; to `remove` it is absent, or `forbidden`. One that is gone answers `gone`. The response of "
        "`remove` shows the row's own fields as they were (where there was none, those that the request names), and "
        "all else as it is afterwards. With `If-Match`, a row that is not there is `stale`. An event arises only "
        "where something was created or removed.",
    ),
    (
        "Scopes of tokens",
        "`caller.scopes` are those scopes of a signed token that its scheme lists under `scopes`, in the token's "
        "order: the names in `scope`, with spaces between them (RFC 8693, section 4.2), or without that the names in "
        "`scp`, as a text or an array. A condition asks for one by `'orders.write' in caller.scopes`. Where it does "
        "so by itself or joined by `&&`, and the token lacks it, the answer to `forbidden` says so, if its status is "
        '403: `WWW-Authenticate: Bearer error="insufficient_scope"` with the `scope` that is needed (RFC 6750, '
        "section 3.1).",
    ),
    (
        "Certificates of clients",
        "A scheme of the type `mutualTLS` takes the certificate that a client presents for its connection (RFC 8446, "
        "section 4.4), if it is of an authority that the operator trusts, of this time, and for clients; one that is "
        "not ends the handshake, before HTTP. A client may come without one. `claims` are what it says: `subject` and "
        "`issuer` as RFC 4514 writes names, `common_name` where the subject has one alone, `serial` in hexadecimal "
        "digits, `san_dns`, `san_email`, `san_uri` and `san_ip`, an array each (RFC 5280, section 4.2.1.6), and "
        "`fingerprint`, the SHA-256 of the certificate in base64url (RFC 8705, section 3.1). `matches` names the field "
        "that holds what `credential` takes from them, to the letter; with `matches: any` every certificate is good. "
        "It is about its `issuer` and `subject`, and no longer good when it has ended, on a connection that is open "
        "too.",
    ),
    (
        "What a row says is due",
        "Where `after` is an expression over the row, a date-time is when the transition is due, though not before the "
        "row entered `from`; a duration counts from then. `expires` deletes a row at its time as a deletion that "
        "nobody asked for: events of it arise, and what refuses a deletion keeps the row, which is asked again after "
        "every write. Without a value nothing is due. What is due has happened, whoever looks.",
    ),
    (
        "Credentials that the service issues",
        "`issues` makes a credential for the row that the request has created, changed or signed in to: 256 random "
        "bits, URL-safe. It is told once, as `caller.credential` and as `issued.SCHEME` (a token field of that name "
        "comes before it); kept is its SHA-256 digest, from the same transaction on. It is good until `lasts` has "
        "passed (`lasts: none`: without an end) and as long as its row is there and not gone; then it is a bad one. "
        "Other credentials leave it alone, but whoever writes a password ends all that was issued to that row, except "
        "for the one that the request presents. `caller.credential` is the one issued by the request, else the one "
        "presented; a password and a certificate are read by nobody, and callers by these have none.",
    ),
    (
        "Passwords",
        "A `secret: password` is kept as an Argon2id hash (RFC 9106). `sign in R` finds one row by all else that the "
        "body names, and by the path; it requires everything that the body names. A name that nobody has and a wrong "
        "password are both `sign in refused`, after the same work, and so is a row that is gone; row rules hide none "
        "from who knows its password. Permissions, guards and details read the row only once its password was right. "
        "The row changes only where the endpoint has `sets`; then `on change` and invariants take part. HTTP's Basic "
        "scheme (RFC 7617, in UTF-8) finds the row by the user-id, `normalise`d as its field is. Where more passwords "
        "wait to be verified than are taken, of all or of one address, the answer is `unavailable`.",
    ),
    (
        "Challenges",
        "An answer with the status 401 says how to be known (RFC 9110, section 11.6.1): a `WWW-Authenticate` for each "
        "scheme that the endpoint admits, or for all where it admits none, with the `realm` where one is stated; of "
        'Basic with `charset="UTF-8"`; of `apiKey`, for which no auth-scheme is registered, with that word. To a '
        'bearer token that is not good it says `error="invalid_token"` (RFC 6750, section 3.1).',
    ),
    (
        "Resources of one row",
        "With `identifier: none` a resource has one row, made when the service first starts: by its record, else by "
        "`on create`. What reads, updates or replaces it, or takes a transition of it, need not say which row.",
    ),
    (
        "JSON patches",
        "`patch: json-patch` reads RFC 6902, sent as `application/json-patch+json` or as the stated request media "
        "type. What is edited is the row as the body would give it: a field without a value is `null` where its "
        "schema admits null, else not there, and so is a secret. The edits are done one after another, all or none. "
        "What they leave as it was is not given; what they remove has no value, or is `invalid` where it is required. "
        "A `test` that finds another value is `different`; an edit of what is not there, or that moves something into "
        "itself, is `conflict`; a body that is no patch, and a row that would not keep its schema, are `invalid`. "
        "What a patch copies, or moves deeper, counts as if it had been sent: a patch "
        "that does so with more than a body may have is `too large`.",
    ),
    (
        "Other origins",
        "`cross origin` tells browsers (CORS, as the Fetch standard has it) with every response, errors too. "
        "`Access-Control-Allow-Origin` is the request's `Origin` where it is one of those stated; of `any` it is `*`, "
        "or, with `credentials`, the request's. A preflight is answered 204, with the methods of the path. "
        "`Access-Control-Max-Age` is `kept` in whole seconds. Where the answer depends on it, `Vary: Origin` is sent. "
        "Nothing is refused because of its origin: what a script may see is the browser's to say.",
    ),
    (
        "What an error tells",
        "`error.code` is the code's name, `error.status` its status; `error.title` and `error.detail` have no value "
        "where the code states none. `error.fields` lists what is wrong with values of the request: `in` (`body`, "
        "`query`, `path` or `header`; `row` of a value that the contract gives and that is made of nothing in the "
        "request), `pointer` (RFC 6901, into the row, into the parameters as one object, or into the body as it came: "
        "a form is the JSON that it stands for, a member that is `required` is where it would stand, and in place of "
        "anything else that did not come the value around it is told of), "
        "`name` (of the nearest member, or `body`), `rule` (the keyword of JSON Schema, or `unknown`, `immutable`, "
        "`unique`, `refers to`, `repeated`, `stored` where nothing can be stored of it, `more`) and `message`, where "
        "`messages` has words for the rule. "
        "`error.messages` has these words by name, each once; of a code with `about` and nothing wrong with a value, "
        "the title under that name. Where the values of several fields are taken together, `fields` names one of them: "
        "the first, as `unique` or `identifier` lists them, that the body gives; where it gives none, but may, the "
        "first that it may give. What a JSON Patch makes that is not right is told at the edit that made it so: in its "
        "`value`, where the value stands there, else at its `path` or `from` (what moves, copies or removes it, or "
        "changes something in it); what no edit is about, at the whole patch. `name` is that of the row's member.",
    ),
    (
        "Versions",
        "An older version is a contract of its own over the same rows, made at start-up of the one above it by its "
        "`changes`, one after another. What a change is of is called by the name that callers of the version above "
        "know; expressions and templates in changes are the document's, and read what is stored. What no change names "
        "is the same in every version: row rules, permissions, guards, invariants, transitions and their timers, "
        "limits and the error shape; a rate counts the requests of all versions together.",
    ),
    (
        "Fields of older versions",
        "A field that was renamed has its older name wherever it goes by its name: in the resource's own name as a "
        "response, in lists of fields, in orders, in errors, as a filter that reads it, and as a member that shows it "
        "alone. One that is removed is in none of these, and its value is kept: writes of the older version leave it, "
        "and a row that is created there has its `on create`. With `is` the older value stands wherever the field is "
        "shown, filtered, ordered by or patched; rules go on reading what is stored. What clients then give is held "
        "to the older schema and becomes what `stored` makes of it; where that has no value, the rule `stored` is "
        "broken. Without `is`, an older schema is asked besides that of the newest: what is stored is held to both.",
    ),
    (
        "Which version is asked for",
        "In the path the version is the segment behind `base`; a path without one is of the `default`. A header or a "
        "query parameter names one version by its exact name; a parameter that is given twice names none that there "
        "is. In a media type, Accept asks for a version and Content-Type says that of the body: `application/json; "
        "v=2`. They have to agree; of several that are accepted the preferred one counts that there is, and what is "
        "answered says its own. Paths, methods and `Allow` are those of the version. A version whose way back is not "
        "shown is answered 501, and so is each below it.",
    ),
    (
        "What versions tell of themselves",
        "Dates are the beginnings of days, UTC. `deprecated` is sent as `Deprecation: @` and seconds (RFC 9745), "
        "`sunset` as `Sunset` (RFC 8594), with every response of the version, also before the date. A version with "
        'either, whose name is in the path or in the query, leads with `Link` and `rel="successor-version"` (RFC '
        "5829) to the same endpoint in the version above, if that has it and is not retired. From the day of `retired` "
        "on, its requests are `retired version`. Where several versions share their addresses, `Vary` names the header "
        "that tells them apart.",
    ),
    (
        "Versions of events, keys and cursors",
        "A stream tells of events as the version of its request has them; a subscription, as "
        "the version in which it was made, as long as the contract states that version, also when it is retired. One "
        "that was made when there were no versions counts as made by a request that names none; where that is nobody's "
        "version, by one for the newest. An event arises once, for all versions: a kind arises upon the same in all. "
        "An idempotency key, a cursor and the `id` that a stream tells belong to the version in which they were given.",
    ),
    (
        "Cases",
        "What a case states stands in the place of what its endpoint states beside the cases; all else holds in each. "
        "The case is chosen before any statement. Where a member of the body chooses it, that member has a text, is "
        "known in every case, and is a field where the case's body names it; a body of no case is `invalid` at that "
        "member (`required`, `type` or `enum`), and nothing else is said of it. Where the request or its caller "
        "chooses it, a request of no case is `forbidden`, and its body is not read; one whose parameters are invalid, "
        "or whose caller is not admitted, is of none yet. `otherwise` is the case of a request that is of no other.",
    ),
    (
        "Webhooks to rows of the contract's own",
        "With `to` an event goes to each row of that resource of which `when` holds when it arises; rows in a state "
        "of `gone` are told nothing. `when` reads the row and `event`: `id`, `kind`, `time`, `resource`, `row` (its "
        "identifier as the `subject` of CloudEvents has it) and `payload`, all as the version has them in which the "
        "row was created. It is the contract's own word, and reads every row: row rules, which are about callers, "
        "take no part. `url` and `secret` are read at each attempt. A secret that begins with `whsec_` is the base64"
        " behind that (Standard Webhooks 1.0), any other the text itself in UTF-8; without one, or without an "
        "address of http or https, the attempt fails. A receiver that answers 410 is not told what waits for it; the"
        " next event goes to it again, since the row may say another address then. Whatever else is said of webhooks"
        " holds.",
    ),
    (
        "Brokers",
        "`broker` is NATS with JetStream, at the address that the operator gives. Each event is a message whose "
        "subject is its kind, as the newest version has both; its content is what webhooks are sent, with "
        "`Content-Type`. All are sent one after another in the order of their commits, from the first start with the"
        " broker on, each until the broker says that it keeps it: at least once, with the event's id as "
        "`Nats-Msg-Id`. What the broker keeps, and for how long, is the operator's to say, and so is who may read "
        "it: row rules take no part. While nothing there keeps a subject, or the broker cannot be reached, events "
        "wait in the log.",
    ),
    (
        "Values made of other rows",
        "What is given on create or on change may read other rows (`line.product.price`, `all(R)`, rows that refer "
        "back), and a field that is made so: it is worked out in the statement that writes the row, from what is "
        "stored then, and unique fields, references, guards and invariants judge what came of it. What a condition "
        "reads of it is that value. A required value that comes out as none is `invalid`.",
    ),
    (
        "Effects",
        "What `then` lists is done in the transaction of its operation, after the row acted on was written and before "
        "invariants, responses and events see anything: one after another, those of the transition first, then those "
        "of the endpoint. Each changes one row, or several, as an endpoint would that everybody may call: "
        "values are given on create and on change, guards of transitions, unique fields, references and invariants "
        "hold, events arise, and further effects follow. `row` and `sets` read the row acted on as it has become (of "
        "a deletion: as it was) and, under its own name, the row that changes as it was before; they read all rows. "
        "Where `row` has no value, or names a row that is not there, nothing happens; a row that is gone is `gone`. "
        "The events of effects come before those of what they follow from, in the order in which the effects are done: "
        "one after another, of `each` by item, of rows by identifier. "
        "What refuses an effect refuses the whole, and nothing of it was done; of a row that the caller does not see, "
        "the error tells nothing. Where nothing was to be done (`ensure` finds the row), no effect is.",
    ),
    (
        "Credentials that end",
        "`ends` ends credentials that the service has issued to the row acted on: `presented` the one that the request "
        "presents, `others` all but that one, `all` each of them, also those of other schemes. From that transaction "
        "on they are bad ones; a request that had begun is answered, a stream ends. A credential that the same request "
        "`issues` is made after that. `sign out R` does nothing else. Where neither path nor `row` says which row, it "
        "is the one that the credential of the request belongs to, and row rules take no part; whoever repeats the "
        "request is `unauthenticated`.",
    ),
    (
        "The log of events",
        "`event` is the log as a resource, which endpoints `read` and `list`, and `all(event)` reads; a resource of "
        "the contract's own that is called so comes before it. Its fields are `position`, by which it is identified "
        "(from 1, in the order of commits), `id`, `kind`, `time`, `resource`, `row` and `payload`, as `when` of "
        "webhooks reads them, in the version of the request; what arose of a kind that the version does not have is "
        "not there. `position` counts the events of everybody: whoever is shown two of them can tell how many there "
        "were between. `payload` is what it was when the event arose. A caller is shown what `rows` says of `event`, "
        "and of that the events whose row it sees: as it was when the event arose, and, where the row is still there, "
        "as it is now. An event can be read from the commit of its cause until `log.lasts` has passed since its "
        "`time`; then it is not there any more. Nobody writes the log, and no event in it changes.",
    ),
    (
        "A version that an expression gives",
        "Where `default` is an expression, the caller of a request that names no version is recognised first, whatever "
        "the request asks for: it is whose credential the first scheme accepts, in written order. Without a good one "
        "`caller` has no members. `request.headers.NAME` is that field as it came, a text. What the expression gives "
        "is the exact name of a version; another name, and no value, is `unknown version`. Then the request goes on as "
        "one that names this version. `Vary` names the headers that credentials come in, where the expression reads "
        "`caller`, and those that it reads itself. `OPTIONS`, which browsers send without a credential, tells what any "
        "version allows. A subscription that was made when there were no versions is then told in the newest.",
    ),
    (
        "What a request chooses",
        "`projection` and `expand` are about the members of one object: the one that shows the row which is read, or "
        "each row that is listed, as the resource's name, a view or a template shows it. Members come in the order of "
        "the response, whatever order they are named in. What is shown on request stands in the place of the member "
        "of its name, or behind the others, in the order in which it is offered; a row that the caller does not see, "
        "or that is gone, is shown as views through references show it: not at all. What a projection leaves out is "
        "not expanded. A name that is not offered, an empty one, or one given twice is `invalid`. Where neither "
        "parameter is given, all members are shown and nothing is expanded; cursors and totals are the same whatever "
        "is chosen. A response of which something was chosen has an entity tag of its own, for `If-None-Match` and "
        "`If-Match` at the same address; `If-Match` of a write is about what GET shows where nothing is chosen.",
    ),
    (
        "Several operations",
        "A list of operations is done in one transaction, one after another, with one row. The first finds or makes "
        "it, and what the endpoint states (`body`, `sets`, guards, who may call, which rows are seen) is about that "
        "one alone; each after it is a transition. Its guard, `sets` and effects see the row as the one before has "
        "left it, and so do the events of each, which arise in this order; the effects of the endpoint come last. "
        "Invariants and the response see the row as it is at the end. What refuses one refuses the whole, and "
        "nothing of it was done; where more than one would be refused, the earlier one counts, whatever the "
        "precedence of conditions. `If-Match`, idempotency keys and the entity tag are of the whole. Where `ensure` "
        "finds the row, nothing follows.",
    ),
    (
        "Forms",
        "Where the media type of requests is `application/x-www-form-urlencoded`, a body is read as the query of a "
        "URL is (WHATWG URL, section 5): names and values in UTF-8, `+` is a space, and a body of no bytes has no "
        "members. What is no UTF-8 is `malformed`. A member of a field that is an integer, a number or a truth value "
        "is written as JSON writes it; every other is the text, also where it is empty: a form cannot give `null`, "
        "nor an array without items. A member that is repeated is an array, in order; one that is given once is an "
        "array of one where the field is an array; one that is repeated where one value is meant is `invalid` "
        "(`repeated`). In all else a form is what the same JSON would be. What is inside of a value is closed as "
        "part 4 says of all requests, also where an endpoint says something else of its own members.",
    ),
    (
        "Scopes of issued credentials",
        "Where a scheme lists `scopes` and the service issues its credentials, `granted` says what the row may have, "
        "by the contract's own authority: an array of texts, read when the credential is made, in that transaction. "
        "Of these the credential has those that the scheme lists, in its order, or, by `grant token`, those of them "
        "that are asked for; without a value, and with `granted: none`, it has none. They are kept with it, and are "
        "`caller.scopes` of the requests that present it, as long as the scheme lists them; that a caller lacks one "
        "is told as of signed tokens. A credential that was made before its scheme listed scopes has none. In the "
        "response that makes one, `granted.scopes` are its scopes, `granted.scope` the same as one text with spaces "
        "between them (no value where there is none), and `granted.expires_in` is `lasts` in whole seconds (no value "
        "with `lasts: none`).",
    ),
    (
        "Tokens by grant",
        "`grant token R` reads a request of RFC 6749, section 4.4.2: `grant_type`, which has to be "
        "`client_credentials`, and `scope`, texts with single spaces between them; without it the client is granted "
        "all that it may have. The client is named as in section 2.3.1: by HTTP's Basic scheme, each of the two "
        "parts written as in a form, or by `client_id` and `client_secret` in the body; a Basic credential is then "
        "the client's, and that of no scheme. A parameter without a value counts as left out. A secret that comes in "
        "both ways, and an identifier that comes in two, is `invalid` (`repeated`). A client that nobody is, a wrong "
        "secret, and no client at all are `sign in refused`, after the same work and whatever the rules of the "
        "fields say; so is a row that is gone, and row rules hide none. Another `grant_type` is `invalid "
        "grant_type`, a scope that the row may not have `invalid scope` (`enum`); where a contract has no code for "
        "these, `invalid` is what they are. Permissions and guards read the row only once its secret was right. An "
        "answer with the status 401 tells of `Basic`, with the `realm` of the scheme that is issued. Passwords are "
        "held as `sign in` holds them. Under an idempotency key, who the client says it is belongs to what makes the "
        "request the same.",
    ),
    (
        "Effects on several rows",
        "With `where` an effect is of all rows of which it holds when its turn comes, in the order of their "
        "identifiers; rows that are gone are not among them, and never is the row acted on. They change together: "
        "each is judged as it is before any of them changes, by its guards, references and unique fields; then all are "
        "written. With `each` a row is created for each item of the array, in its order. What refuses one row refuses "
        "the whole: of rows that are there, the first that is refused is told of; of new ones, all, each at the place "
        "of its item where the body gives it. What an item of the body gives a field (`quantity: each.quantity`) is "
        "held to the field's schema, `required` included, before anything is written; `product: each.product` may be "
        "the identifier of a row that is there and that the caller sees. Two new rows that would have the same values "
        "in unique fields are `conflict`. Without an array, or without rows, nothing happens; an array that "
        "cannot be made, "
        "by one of its items too, refuses the whole as a value that cannot be made does. Where an effect is of "
        "the resource acted on, its name is the row that changes, and `this` is the row acted on. A `token` of a row "
        "that an effect creates alone is `issued.NAME` in the response; one of the row acted on comes before it.",
    ),
    (
        "What a body gives beside fields",
        "A shared type that is a body (`$ref`) may have members that are no fields of the resource acted on; of "
        "`compute` all are such. They are held to the type's schemas, read as `request.body.NAME`, and stored nowhere; "
        "one that is left out has no value. What is evaluated once the body is read may read them: `row`, `where`, "
        "`sets`, guards, effects and responses of that endpoint; permissions, rates, row rules and what is given on "
        "create may not. A JSON Patch has no such members.",
    ),
    (
        "Values in paths",
        "What `path` declares is a value of the request, `request.path.NAME`, wherever expressions read the request; "
        "it names no row by itself. A text that is not of its type, or not as its schema says, is `missing`; where "
        "`otherwise` names a code, it is `invalid` with that code, as of a parameter.",
    ),
    (
        "The row as it was",
        "`before.R` is the row acted on as it was before the operation: its fields, computed ones too, and by itself "
        "the whole row. What it refers to is read as it is now, under the caller's row rules where it is shown. It is "
        "known to the responses and headers of `update`, `replace` and transitions, to events of R and their `when`, "
        "to effects on other resources, and to the invariants of R. Of several operations on one row it is that row "
        "before the first. A row that is created was nothing: `has(before.R)` does not hold, and what is read of it "
        "has no value, so that an invariant of changes alone begins with `!has(before.R) ||`. A row that is deleted is "
        "as it was, what is computed of it as well, and so, where an invariant is asked since another row was written, "
        "is its own.",
    ),
    (
        "What a path leads through",
        "`{project.id}` of tasks leads through one project, which is there, or the request is `missing`. A list reads "
        "it as `task.project` in permissions, guards and beside its rows, in statements of their own: so what they "
        "say holds of an empty list too, and of every page. A permission of `create` that reads no more than that is "
        "judged whatever the body is. `forbidden` and the code of a guard take their places in the order as "
        "everywhere.",
    ),
    (
        "Operations on all rows",
        "`delete all R`, `update all R` and a transition of `all R` are of the rows that a list with the same path, "
        "`where` and filters would show the caller, gone ones not among them (but where the transition begins there), "
        "in the order of identifiers and in one transaction. What says which rows leaves rows out; what judges a row "
        "refuses the whole: its permission, guards, the states from which the transition leads, references and unique "
        "fields are asked of each, as all are before any of them changes, and the first row that is refused is told "
        "of; invariants are asked of what all have become. What is wrong with the request itself is told before any "
        "row is looked at. Values are made for each row; those of the body are the same for all. Events arise and "
        "effects are done for each row. "
        "Without rows all is well, as of an empty list. In the response `page.items` are the rows as they have become, "
        "or, deleted, as they were, in that order, and `page.total` is how many they are.",
    ),
    (
        "Functions that are called",
        "`call F` calls a function of the operator's before the operation and outside of every transaction, once all "
        "that the request says has been read, its caller is admitted, and rows refuse it for nothing that they hold "
        "already. It is called with what `with` says, by name, as JSON has it; there, and only there, `request.body` "
        "has what the body gives to fields too. A value is held to the schema that `takes` has for it: one that is not "
        "so is `invalid` at its place where `with` is that place of the request alone (`request.body.weight`), and "
        "else `internal`. What the function gives is held to `gives`, and is `result.F` in `sets`, effects, responses "
        "and headers; guards and permissions do not know it. A function may refuse with a code that it `refuses` with, "
        "as a guard does. Whatever else it raises or gives is `internal`, and is in the operator's log alone. Under an "
        "idempotency key a request that was answered well is answered so again, and nothing is called; one that was "
        "refused, or was cut off before its answer was kept, may call again. An endpoint whose function is not given "
        "answers 501.",
    ),
    (
        "What is shown where a condition is true",
        "`c ? a : b` is a template where a or b is one: an object, an array of objects, a view applied, a row or "
        "`page.items` by its name, or such a choice; the other may be anything that can be shown. It is a where the "
        "condition is true, and else b: where it is false, has no value or is an error. `null` shows nothing, as a "
        "row that is not there: the member is left out, and so is an item of an array that is written out or of rows "
        "within rows; a whole body and a row of the page are `null`. So is a value that there is not, whatever the "
        "schema of its field. Of values alone, and of the items of an array that the request gives, `c ? a : b` is an "
        "expression like any other, and has no value where the condition is an error.",
    ),
    (
        "How much of a request is read and told",
        "A body may have the bytes that part 8 states as `sizes.body`, else 1 MiB; what is larger is `too large`, "
        "and so is what a merge patch or a JSON Patch would make larger than that, or deeper than 128 levels. What "
        "is wrong with a request is told up to 100 failures, then one more entry of `error.fields` by the rule "
        "`more`: there are others. A value that is larger than `maxLength`, `maxItems` or `maxProperties` admit is "
        "told to be so, and what else may be wrong with it, or in it, is not looked for. Where the path to a value "
        "has more than 256 characters, the value around it is told of instead. The macros of one expression look at up "
        "to 40,000 items of values, and what a function is given for an item counts by its items, its members, or 16 "
        "characters each; a request for which an expression would look at more is `too large`. Rows are not counted. "
        "A value, or a row, that would be longer than the database takes (SQLite's thousand million bytes) is `too "
        "large`, too, and a timer waits.",
    ),
    (
        "Unknown members",
        "`unknown members` holds at every depth. Named is what JSON Schema counts as evaluated for "
        "`unevaluatedProperties`: what `properties`, `patternProperties` and `additionalProperties` say of a "
        "value, also in a schema that it has to keep besides (`allOf`, `$ref`, `then`, `else`, "
        "`dependentSchemas`), and in one of `anyOf`, `oneOf` and `if` that it keeps. An object of which no schema "
        "states `properties` or `patternProperties` is free: all its members are named. `refused`: a member that "
        "is not named is `invalid` by the rule `unknown`. `ignored`: a value is held to its schema as it came; "
        "then it is as if what is not named had not come, and what is left is held to the schema as well.",
    ),
)

MEANINGS: tuple[Meaning, ...] = tuple(
    Meaning(number, about, text) for number, (about, text) in enumerate(_TABLE, start=1)
)
"""The table. Numbers never change: a new meaning goes to the end."""

NOT_IN_FORCE = 501
"""The status of what is blocked by a gap, or is stated and not in force: it is no condition, and has no code."""
