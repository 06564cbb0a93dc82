"""Part 5: who may call an endpoint, how they are known, and which rows they see."""

from __future__ import annotations

from collections.abc import Iterable

from ninefold.contract.survey import actions
from ninefold.language.authentication import ALL, ANYONE, Admission, Condition, Every, RowRule, Scheme
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import Fact, Name, Shown, StatedNone, value_of
from ninefold.language.verbs import kind_of
from ninefold.tools.explain.explanation import Item
from ninefold.tools.explain.grounds import Grounds
from ninefold.tools.explain.told import each_of, told


def callers(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """The permission line that holds for an endpoint, whom it admits, and how each of these is known."""
    line = g.survey.permission(endpoint)
    if line is None or line.admits is None:
        return []
    own = line.endpoint.text == endpoint.key
    title = "the endpoint has a permission line of its own" if own else "the line `all others` holds for it"
    stated = value_of(line.admits)
    admitted = _admissions(g, stated or (), False)
    if stated is None:
        admitted = g.fact("who may call", line.admits)
    items = [g.item(title, line.endpoint.span, admitted, meanings=("credentials",))]
    named = {each.who.text for each in g.survey.admitted(endpoint)}
    items += [scheme(g, each) for each in g.survey.schemes if each.name in named]
    if named == {ANYONE}:
        items.append(g.item("no credential is read", line.endpoint.span, meanings=("credentials",)))
    if named and ANYONE not in named:
        told_of = {each.who.text for each in stated or ()}
        for each in g.survey.schemes:
            if each.name not in told_of:
                items.append(
                    g.item(f"a caller known by `{each.name}` is refused", each.span, meanings=("credentials",))
                )
    return items


def _admissions(g: Grounds, stated: tuple[Admission, ...], rows: bool) -> list[Item]:
    """Each kind of caller that a line names. One that may not call by itself may where anyone may."""
    by_anyone = any(each.who.text == ANYONE and not isinstance(each.condition, StatedNone) for each in stated)
    never = "sees no row" if rows else "counts as one without a credential" if by_anyone else "is refused"
    return [_admission(g, each, rows, never) for each in stated]


def _admission(g: Grounds, own: Admission, rows: bool, never: str) -> Item:
    """One kind of caller, who may call or, for `rows`, who sees rows, and on which condition; `never`: what is so of
    one whose condition is `false`."""
    if isinstance(own.condition, StatedNone) and not own.condition.proposed:
        return g.item(f"{_who(own.who.text)} {never}", own.condition.span)
    who = _who(own.who.text) + (" sees" if rows else "")
    tell = _rows_in_words if rows else _callers_in_words
    return g.together(who, own.who.span, g.fact("condition", own.condition, tell, whole=True))


def _who(name: str) -> str:
    return "anyone" if name == ANYONE else f"a caller known by `{name}`"


def _callers_in_words(condition: Condition) -> str:
    return "every such caller" if isinstance(condition, Every) else f"only where `{condition.text}`"


def _rows_in_words(condition: Condition) -> str:
    return "every row" if isinstance(condition, Every) else f"the rows where `{condition.text}`"


def scheme(g: Grounds, own: Scheme) -> Item:
    facts = told(
        g,
        own,
        matches=lambda fact: g.fact("matches", fact, _named if own.is_basic else _matched, whole=True),
        caller=lambda fact: each_of(
            g, "caller", fact, lambda each: g.item(f"`caller.{each.name}` is `{each.value.text}`", each.span)
        ),
    )
    return g.together(f"the scheme `{own.name}`", own.span, facts, _meanings(own))


def _meanings(own: Scheme) -> tuple[str, ...]:
    if own.is_basic:
        return ("passwords",)
    if own.is_certificate:
        return ("certificates",)
    if isinstance(own.issued_to, Shown):
        return ("issued credentials", "granted scopes") if own.scopes is not None else ("issued credentials",)
    if not own.is_signed:
        return ()
    return ("signed tokens",) if own.scopes is None else ("signed tokens", "scopes")


def _named(name: Name) -> str:
    return f"`caller.{name.text.partition('.')[0]}` is the row of that password whose `{name.text}` the user-id is"


def _matched(name: Name) -> str:
    if name.text == ALL:
        return "every certificate of an authority that the operator trusts"
    return f"`caller.{name.text.partition('.')[0]}` is the row whose `{name.text}` the credential is"


def rows(g: Grounds, endpoint: Endpoint) -> list[Item]:
    """Which rows the callers of an endpoint see: of the resource that it acts on first, then of those that it
    shows or finds besides."""
    facts = g.contract.authentication
    stated = value_of(facts.rows)
    reach = g.survey.reach.get(endpoint.key)
    kept = told(g, g.contract.events, "kept") if reach is not None and g.survey.graph.log in reach.sees else []
    if stated is None or isinstance(stated, Every):
        return g.fact("rows", facts.rows, lambda _: "every caller sees every row", whole=True) + kept
    first = g.acted_on(endpoint)
    seen = sorted(reach.sees if reach else (), key=lambda name: (name != first, name))
    items = [_seen(g, name, g.survey.admitted(endpoint)) for name in seen]
    items += kept
    if items:
        items += told(g, facts, "unseen_rows")
    if first is not None and first not in seen:
        verb = next((action.verb for action in actions(endpoint)), "")
        deed = kind_of(verb).word if kind_of(verb).row in ("found", "caller's") else "makes"
        words = f"the `{first}` that a request {deed} is shown in its response"
        items.append(g.item(words, meanings=("row rules",)))
    return items


def _seen(g: Grounds, resource: str, admitted: Iterable[Admission]) -> Item:
    rule = _rule(g, resource)
    if rule is None:
        return g.item(
            f"which rows of `{resource}` are seen is not shown: no line of `rows` names it", meanings=("row rules",)
        )
    lines = {each.who.text: each for each in value_of(rule.admits) or ()}
    callers: list[Item] = [] if lines else g.fact("who sees which", rule.admits)
    for name in dict.fromkeys(admission.who.text for admission in admitted):
        if name in lines:
            callers += _admissions(g, (lines[name],), True)
        elif lines:
            callers.append(
                g.item(f"which rows {_who(name)} sees is not shown: the line does not name it", rule.resource.span)
            )
    return g.item(f"of `{resource}`", rule.resource.span, callers, meanings=("row rules",))


def _rule(g: Grounds, resource: str) -> RowRule | None:
    stated = value_of(g.contract.authentication.rows)
    if stated is None or isinstance(stated, Every):
        return None
    return next((each for each in stated if each.resource.text == resource), None)


def part(g: Grounds) -> list[Item]:
    """The whole part."""
    facts = g.contract.authentication
    items = [scheme(g, each) for each in value_of(facts.schemes) or ()] or g.fact("schemes", facts.schemes)
    stated = value_of(facts.rows)
    if stated is None or isinstance(stated, Every):
        items += g.fact("rows", facts.rows, lambda _: "every caller sees every row", whole=True)
    else:
        items += [_line(g, f"rows of `{rule.resource.text}`", rule.resource, rule.admits, True) for rule in stated]
    items += told(g, facts, "unseen_rows")
    lines = value_of(facts.permissions)
    if lines is None:
        return items + g.fact("permissions", facts.permissions)
    shown = ((line.endpoint, line.admits) for line in lines if line.admits is not None)
    return items + [_line(g, endpoint.text, endpoint, admits, False) for endpoint, admits in shown]


def _line(g: Grounds, head: str, name: Name, admits: Fact[tuple[Admission, ...]], rows: bool) -> Item:
    callers = _admissions(g, value_of(admits) or (), rows) or g.fact("who", admits)
    return g.together(head, name.span, callers)
