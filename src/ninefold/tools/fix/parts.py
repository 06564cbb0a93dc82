"""The parts but the endpoints, in the second words; each function takes the facts of its part."""

from __future__ import annotations

import re
from typing import Final

from ninefold.diagnostics.source import Span
from ninefold.language import former
from ninefold.language.cases import ALL_OTHERS
from ninefold.language.successors import scalars_of
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Sequence
from ninefold.syntax.scalars import quoted
from ninefold.tools.fix import expressions, words
from ninefold.tools.fix.endpoints import endpoint, sizes
from ninefold.tools.fix.layout import key_of
from ninefold.tools.fix.rewriting import Rewriting, entries_of, text_of

_READS_CALLER: Final = re.compile(r"(?<![\w.])caller\b")


def resources(fix: Rewriting, facts: Mapping) -> None:
    for entry in facts.entries:
        if entry.name == "types":
            for type_ in entries_of(entry):
                shared_type(fix, type_)
        elif entry.name != "terms" and isinstance(entry.value, Mapping):
            resource(fix, entry.name, entry.value)


def shared_type(fix: Rewriting, entry: Entry) -> None:
    if isinstance(entry.value, Mapping) and (fields := entry.value.get("fields")):
        fix.layout.rename(fields, "properties")
        fix.layout.add_before(entry.value, fields, "type", "object")


def resource(fix: Rewriting, name: str, mapping: Mapping) -> None:
    fix.rename(mapping, "resource")
    for each in entries_of(mapping.get("fields")):
        if isinstance(each.value, Mapping):
            field_of(fix, each.value)
    fix.check(mapping, "refused", f"invariant {name}")
    if (records := mapping.get("records")) is not None and isinstance(records.value, Mapping):
        rows = fix.layout.items([each.value for each in records.value.entries])
        fix.layout.write(mapping, records, rows)
    expires = mapping.get("expires")
    if expires is not None and isinstance(expires.value, Mapping) and (at := expires.value.get("at")):
        fix.layout.write(mapping, expires, fix.layout.scalar(at.value))


def field_of(fix: Rewriting, mapping: Mapping) -> None:
    fix.rename(mapping, "field")
    fix.words(mapping.get("on delete"), former.word(2, "RESOURCE.fields.FIELD.on delete"))
    on_change(fix, mapping)
    computed = mapping.get("computed")
    if computed is not None and isinstance(computed.value, Scalar) and _READS_CALLER.search(computed.value.text):
        fix.leave(computed, "a field has one value, whoever asks: what reads `caller` is a member of a view")


def on_change(fix: Rewriting, mapping: Mapping) -> None:
    """`on create` that is given `again on` a change of fields."""
    again, value = mapping.get("again on"), mapping.get("on create")
    if again is not None and value is not None:
        items = again.value.items if isinstance(again.value, Sequence) else (again.value,)
        fields = " or ".join(each.text for each in items if isinstance(each, Scalar))
        fix.layout.merge(mapping, [value, again], "on change", {fields: value.value})


def states(fix: Rewriting, facts: Mapping) -> None:
    for entry in facts.entries:
        if not isinstance(entry.value, Mapping):
            continue
        for key in ("field", "final"):
            if dropped := entry.value.get(key):
                fix.layout.drop(entry.value, dropped)
        for transition in entries_of(entry.value.get("transitions")):
            if isinstance(transition.value, Mapping):
                fix.effects(transition.value, entry.name)
                fix.check(transition.value, f"cannot_{transition.name}", f"guard {entry.name}")


def authentication(fix: Rewriting, facts: Mapping) -> None:
    for scheme in entries_of(facts.get("schemes")):
        if isinstance(scheme.value, Mapping):
            discovered(fix, scheme.value)
            fix.rename(scheme.value, "scheme")
            if flows := scheme.value.get("flows"):
                fix.layout.drop(scheme.value, flows)
            fix.words(scheme.value.get("matches"), former.word(5, "schemes.SCHEME.matches"))
    rows = facts.get("rows")
    if rows is not None and isinstance(rows.value, Scalar):
        fix.words(rows, former.word(5, "rows"))
    for resource in entries_of(rows):
        if isinstance(resource.value, Scalar):
            fix.words(resource, former.word(5, "rows.RESOURCE"))
        for caller in entries_of(resource):
            fix.words(caller, former.word(5, "rows.RESOURCE.CALLER"))
    fix.words(facts.get("unseen rows"), words.condition)
    for line in entries_of(facts.get("permissions")):
        permission(fix, line)


def permission(fix: Rewriting, line: Entry) -> None:
    fix.words(line, lambda text: anyone(text, fix.schemes))
    for caller in entries_of(line):
        fix.words(caller, former.word(5, "permissions.ENDPOINT.CALLER"))


def discovered(fix: Rewriting, mapping: Mapping) -> None:
    """Whose keys the configuration of the issuer says is of the type `openIdConnect`, and a bearer token."""
    type_, scheme, url = (mapping.get(key) for key in ("type", "scheme", "openIdConnectUrl"))
    if url is None or type_ is None or text_of(mapping, "type") in (None, "openIdConnect"):
        return
    if text_of(mapping, "type") == "oauth2" or (text_of(mapping, "scheme") or "").lower() == "bearer":
        fix.words(type_, lambda _: "openIdConnect")
        if scheme is not None:
            fix.layout.drop(mapping, scheme)
    else:
        fix.leave(url, "keys are discovered of the type `openIdConnect` alone: state `keys` and `algorithms`")


def anyone(text: str, schemes: tuple[str, ...]) -> str:
    """Whoever comes: with a credential of a scheme, where there are schemes, or without one."""
    now = former.word(5, "permissions.ENDPOINT")(text)
    return now if now == text or not schemes else f"[{', '.join((*schemes, now))}]"


def events(fix: Rewriting, facts: Mapping) -> None:
    for each in entries_of(facts.get("kinds")):
        if isinstance(each.value, Mapping):
            kind(fix, each.value)
    delivery, log = facts.get("delivery"), facts.get("log")
    kept: str | None = None
    if log is not None and isinstance(log.value, Mapping) and (lasts := log.value.get("lasts")):
        kept = fix.layout.scalar(lasts.value)
    if delivery is not None and isinstance(delivery.value, Mapping):
        kept = delivery_of(fix, delivery.value) or kept
    if log is not None:
        fix.layout.drop(facts, log)
    if kept is not None and facts.entries:
        fix.layout.add(facts, delivery or facts.entries[-1], "kept", "all" if kept == "none" else kept)


def kind(fix: Rewriting, mapping: Mapping) -> None:
    fix.rename(mapping, "kind")
    fix.words(mapping.get("upon"), words.cause)


def delivery_of(fix: Rewriting, mapping: Mapping) -> str | None:
    """How long the log is kept, where the stream says it."""
    kept = None
    webhooks, stream = mapping.get("webhooks"), mapping.get("stream")
    if webhooks is not None and isinstance(webhooks.value, Mapping):
        fix.rename(webhooks.value, "webhooks")
        if webhooks.value.get("to") is None and webhooks.value.entries:
            fix.layout.add_before(webhooks.value, webhooks.value.entries[0], "to", "subscription")
    if stream is not None and isinstance(stream.value, Mapping):
        if (lasts := stream.value.get("kept")) is not None:
            kept = fix.layout.scalar(lasts.value)
        format_ = text_of(stream.value, "format")
        if format_ is not None or kept is not None:
            fix.layout.write(mapping, stream, format_ or "not shown")
    for key in ("order", "broker"):
        if dropped := mapping.get(key):
            fix.layout.drop(mapping, dropped)
            if key == "broker":
                fix.leave(dropped, "the broker is an option of `ninefold serve` now: `--broker`")
    return kept


def errors(fix: Rewriting, facts: Mapping) -> None:
    fix.rename(facts, "errors")
    for part in (facts.get("shape"), facts.get("error shape")):
        for node in scalars_of(part.value) if part is not None else ():
            if part is facts.get("shape") and node.text == "error.fields":
                fix.layout.replace(node.span, quoted(expressions.FIELDS))
            else:
                fix.say(node, expressions.renamed(node.text))
    for code in entries_of(facts.get("codes")):
        if isinstance(code.value, Mapping):
            code_of(fix, code.value)
    for message in entries_of(facts.get("messages")):
        if message.name in words.RULES:
            fix.layout.rename(message, words.RULES[message.name])
    if (precedence := facts.get("precedence")) is not None:
        order(fix, precedence)


def order(fix: Rewriting, precedence: Entry) -> None:
    """Conditions in their order, each once: of those that are one now, the first counts."""
    value, said, end = precedence.value, set[str](), 0
    for item in value.items if isinstance(value, Sequence) else (value,):
        name = words.condition(item.text) if isinstance(item, Scalar) else ""
        if isinstance(item, Scalar) and name != item.text:
            fix.layout.replace(Span(end, item.span.end) if name in said else item.span, "" if name in said else name)
        said.add(name)
        end = item.span.end


def code_of(fix: Rewriting, mapping: Mapping) -> None:
    fix.rename(mapping, "code")
    fix.words(mapping.get("when"), words.condition)
    checked(fix, mapping)


def checked(fix: Rewriting, mapping: Mapping) -> None:
    """What refuses by a check names its code there: no code is for all of them any more."""
    when = mapping.get("when")
    items = when.value.items if when is not None and isinstance(when.value, Sequence) else (when.value,) if when else ()
    kept = [each for each in items if not (isinstance(each, Scalar) and words.is_check(each.text))]
    if when is None or len(kept) == len(items):
        return
    if kept:
        fix.layout.write(mapping, when, fix.layout.items(kept) if len(kept) > 1 else fix.layout.scalar(kept[0]))
    else:
        fix.layout.drop(mapping, when)


def limits(fix: Rewriting, facts: Mapping) -> None:
    for rate in entries_of(facts.get("rates")):
        if isinstance(rate.value, Mapping):
            fix.words(rate.value.get("algorithm"), former.word(8, "rates.RATE.algorithm"))
    if headers := facts.get("headers"):
        fix.layout.rename(headers, "rate headers")
    for old, inner, new in (
        ("sizes", "body", "body size"),
        ("time-outs", "request", "timeout"),
        ("idempotency keys", "kept", "idempotency keys kept"),
    ):
        entry = facts.get(old)
        if entry is None:
            continue
        if isinstance(entry.value, Mapping) and (value := entry.value.get(inner)):
            proposed = entry.value.proposed or value.value.proposed
            fix.layout.merge(facts, [entry], new, fix.layout.scalar(value.value), proposed)
        elif isinstance(entry.value, Scalar):
            fix.layout.rename(entry, new)
    if (pages := facts.get("pages")) is not None and isinstance(pages.value, Mapping):
        sizes(fix, pages.value)


def versioning(fix: Rewriting, facts: Mapping) -> None:
    scheme = facts.get("scheme")
    if scheme is not None and isinstance(scheme.value, Mapping) and len(scheme.value.entries) == 1:
        where = scheme.value.entries[0]
        name = fix.layout.scalar(where.value)
        fix.layout.merge(facts, [scheme], "in", where.name)
        fix.layout.add(facts, scheme, "name", name)
    elif scheme is not None:
        fix.layout.rename(scheme, "in")
    fix.words(facts.get("compatible"), former.word(9, "compatible"))
    for version in entries_of(facts.get("versions")):
        changes = version.value.get("changes") if isinstance(version.value, Mapping) else None
        for change in changes.value.items if changes is not None and isinstance(changes.value, Sequence) else ():
            if isinstance(change, Mapping):
                change_of(fix, change)


_FILTER: Final = re.compile(r"^([A-Z]+ /.*)\.filters\.")
"""How a change names a filter of an endpoint."""


def was(fix: Rewriting, key: str, value: Node) -> None:
    """What something was in an older version is said in the words of its own part."""
    if isinstance(value, Mapping):
        match key:
            case "endpoint":
                endpoint(fix, value)
            case "kind":
                kind(fix, value)
            case "code":
                code_of(fix, value)
            case "schema":
                field_of(fix, value)


def change_of(fix: Rewriting, mapping: Mapping) -> None:
    for key in ("rename", "remove", "change"):
        if (named := mapping.get(key)) is not None and isinstance(named.value, Scalar):
            fix.words(named, lambda text: _FILTER.sub(r"\1.query.", text))
    permitted(fix, mapping)
    for key in ("schema", "endpoint", "view", "kind", "code"):
        if entry := mapping.get(key):
            was(fix, key, entry.value)
            fix.become(mapping, entry, "was")
        elif entry := mapping.get(former.STAYS + key):
            was(fix, key, entry.value)


def permitted(fix: Rewriting, mapping: Mapping) -> None:
    """Who may call an endpoint that only older versions have is a line of part 5. Where the change did not say it, in
    the words of then, `all others` held."""
    own, key, lines = mapping.get("permissions"), text_of(mapping, "add"), fix.permissions
    said = own if own is not None or lines is None else lines.get(ALL_OTHERS)
    if key is None or said is None or (own is None and mapping.get("endpoint") is None):
        return
    if lines is None or key in fix.endpoints or lines.get(key) is not None:
        if own is not None:
            fix.leave(own, "who may call an endpoint of an older version is a line of part 5 now")
        return
    if own is not None:
        permission(fix, own)
    text = fix.layout.copy(said.value)
    if own is not None:
        fix.layout.drop(mapping, own)
    tag = "!proposed " if said.value.proposed else ""
    fix.layout.add(lines, lines.entries[-1], key_of(key) if fix.layout.in_flow(lines) else key, tag + text)
