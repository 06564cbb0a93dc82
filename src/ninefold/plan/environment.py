"""The roots that a plan's expressions read, and where the server takes their values from.

Names with a dollar sign cannot be written in a contract: they are between planner and server.

| root       | value                                                                                   |
|------------|-----------------------------------------------------------------------------------------|
| `now`      | the time of the request, one value per request                                          |
| `caller`   | `R`: the row that the credential belongs to (as loaded), and what the scheme adds        |
| `issued`   | secrets just made, by field                                                             |
| `operator` | what the operator gives, by name                                                        |
| `page`     | `next`, `total` of a list (its items are rows of the statement)                         |
| `error`    | part 7: code, title, status, detail, fields, messages                                   |
| `R`        | in a value given on create or on change: the row as it is being made, field by field    |
| `$path`    | path values by the name in braces, as written                                           |
| `$body`    | decoded body values by field; a field that was not given is not there                   |
| `$new`     | the values that a write stores, by field                                                |
| `$given`   | of `ensure`: true, by field, for what the body gives                                     |
| `$filter`  | filter values by parameter                                                              |
| `$chosen`  | the switches of what the request chooses of the response (`ninefold.plan.chosen`)       |
| `$list`    | `limit` (one more than the page holds), `offset`, and `k0`, `k1` … the keys of a cursor   |
| `$if`      | `match`: the revisions of If-Match, a JSON array of texts; `there`: true if it came     |
| `$write`   | `revision`: the revision that this write gives; `was`: that of the row as it was read    |
| `$credential` | of the one presented: `digest` (SHA-256), or `user` and the `hash` of its password    |
| `$issued`  | of a credential just made: `digest`, when it `expires`, and its `scopes`                |
| `result`   | what the function that was called gives, by its name                                     |
| `granted`  | what comes with it: `expires_in`, in seconds, `scope` and `scopes`                      |
| `$asked`   | of `grant token`: the `scopes` that are asked for; null: all                            |
| `$verified` | `hash`: that of the password in the body, once it was found to be right                |
| `$row`     | the identifier of the row written, by field, for the select that reads it back            |
| `$several` | of a write of several rows: `wanted`, what is known of each before, and `written`, the keys   |
|            | of those that were written; JSON arrays of arrays of stored forms                        |
| `this`     | in what follows: the row that the operation acts on                                      |
| `each`     | in what follows: the item that a row is made of                                          |
| `before`   | `R`: the row acted on as it was, field by field; a computed one that is shown, as `shown F` |
| `$affected` | keys as they were before a write, of rows whose invariants are asked again after it      |
| `$log`     | `position`: in the event log, the last one seen, or the one that was just given; then    |
|            | `lane`, `due`, `version` of the deliveries, and the `subscription` that alone is meant   |
| `event`    | where deliveries go to rows of the contract's own: what has just happened               |
| `$due`     | of a sweep: `until`, the last time of entering that is due; `beyond`, the last that is not   |
|            | asked for; `skip`, how many rows to leave; `most`, how many are wanted                  |
| `$signing` | `key`: from which the secrets of subscriptions are made                                  |
| `$requested` | true, by field, for what the body gives fields of the row that the request is about       |
| `$refused` | `body`, `parameters`: true of what the request gives there and is refused for           |
| `$judge`   | `values`: whether the values of the body are all there (`$new`); `read`: whether it was  |
|            | read at all; `wrong F`: whether the value of the field F is not what was meant           |

A bind whose expression cannot be evaluated (the caller has no such member, the body did not give the field) is
NULL, which no condition holds for.
"""

from __future__ import annotations

PATH = "$path"
BODY = "$body"
NEW = "$new"
GIVEN = "$given"
FILTER = "$filter"
CHOSEN = "$chosen"
RESULT = "result"
LIST = "$list"
IF = "$if"
WRITE = "$write"
CREDENTIAL = "$credential"
ISSUED = "$issued"
ASKED = "$asked"
VERIFIED = "$verified"
ROW = "$row"
JUDGE = "$judge"
DUE = "$due"
LOG = "$log"
AFFECTED = "$affected"
SEVERAL = "$several"
REFUSED = "$refused"
REQUESTED = "$requested"
THIS = "this"
EACH = "each"
SIGNING = "$signing"

REVISION_COLUMN = "$revision"
"""The hidden column from which entity tags are made: random, and new at every write."""

ENTERED_COLUMN = "$entered"
"""The hidden column of a resource with states: when a row entered the state that it is in."""
