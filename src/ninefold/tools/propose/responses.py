"""What an endpoint answers, by convention: the status that HTTP has for it, and the row or page that it is about."""

from __future__ import annotations

from ninefold.contract.survey import Survey, actions
from ninefold.language.actions import Action
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import StatedNone, is_open, value_of
from ninefold.language.resources import Field, Resource
from ninefold.language.routes import Literal, PathName
from ninefold.language.verbs import kind_of
from ninefold.tools.propose.facts import CREATED, DELETED, EVENT_STREAM, LISTED, SHOWN, TOKEN, WEBHOOKS, Proposed
from ninefold.tools.propose.paging import reached_by

_SUBSCRIBED = "{201: {id: subscription.id, url: subscription.url, kinds: subscription.kinds, secret: issued.secret}}"
_SIGNED_IN = "{200: {access_token: caller.credential, token_type: \"'Bearer'\"}}"
_GRANTED = (
    "{200: {access_token: caller.credential, token_type: \"'Bearer'\", expires_in: granted.expires_in,"
    " scope: granted.scope}}"
)


def responses(survey: Survey, subject: str) -> tuple[Proposed, ...]:
    """Nothing for what computes or calls: what it gives is the contract's to show."""
    endpoint = survey.by_key[subject]
    first = next(iter(actions(endpoint)), None)
    if first is None or endpoint.call is not None or not is_open(endpoint.responses):
        return ()
    found = _answer(survey, endpoint, first)
    if found is None:
        return ()
    value, source = found
    location = _location(survey, endpoint, first)
    facts = (Proposed(4, (subject, "responses"), value, source),)
    return facts if location is None else (*facts, Proposed(4, (subject, "headers", "Location"), location, source))


def _answer(survey: Survey, endpoint: Endpoint, action: Action) -> tuple[str, str] | None:
    """The responses on one line, and their source."""
    own = survey.graph.resources.get(action.subject or "")
    match action.verb:
        case "subscribe":
            return _SUBSCRIBED, WEBHOOKS
        case "stream events":
            return "{200: stream}", EVENT_STREAM
        case "grant token":
            return _GRANTED, TOKEN
        case "sign in":
            return _SIGNED_IN, TOKEN
        case "unsubscribe":
            return "{204: none}", DELETED
    if own is None or is_open(own.identifier):
        return None  # what is known by nothing has no row to show yet
    answer = kind_of(action.verb).answer
    if answer == "nothing" or action.all:
        return "{204: none}", DELETED
    match answer:
        case "the new row":
            return f"{{201: {_made(own, endpoint)}}}", CREATED
        case "a page":
            cursor = reached_by(survey, endpoint) == "cursor"
            shown = "{items: page.items, next: page.next}" if cursor else "{items: page.items}"
            return f"{{200: {shown}}}", LISTED
        case "the row":
            return f"{{200: {own.name}}}", SHOWN
        case _:
            return None


def _made(resource: Resource, endpoint: Endpoint) -> str:
    """The row, with what its maker has to be told this once: a token that was made for it, a credential issued."""
    fields = value_of(resource.fields) or ()
    tokens = [each for each in fields if _secret(each) == "token" and not is_open(each.on_create)]
    issues = endpoint.issues is not None and not isinstance(endpoint.issues, StatedNone)
    if not tokens and not issues:
        return resource.name
    members = [f"{each.name}: {resource.name}.{each.name}" for each in fields if _secret(each) is None]
    members += [f"{each.name}: issued.{each.name}" for each in tokens]
    members += ["access_token: caller.credential"] if issues else []
    return "{" + ", ".join(members) + "}"


def _secret(field: Field) -> str | None:
    stated = value_of(field.secret)
    return None if stated is None else stated.text


# ── Location ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _location(survey: Survey, endpoint: Endpoint, action: Action) -> str | None:
    """Where the row is read that was made, as an expression in YAML; None: nowhere that could be told from the row."""
    own = survey.graph.resources.get(action.subject or "")
    if action.verb != "create" or action.all or own is None or not is_open(endpoint.headers):
        return None
    for other in survey.endpoints:
        read = next(iter(actions(other)), None)
        if other.method == "GET" and read is not None and (read.verb, read.subject) == ("read", own.name):
            path = _path(survey, own, other)
            if path is not None:
                return path
    return None


def _path(survey: Survey, own: Resource, endpoint: Endpoint) -> str | None:
    base = value_of(survey.contract.endpoints.base)
    text, parts = "" if base is None else base.rstrip("/"), list[str]()
    for segment in endpoint.segments:
        match segment:
            case Literal(text=literal):
                text += f"/{literal}"
            case PathName(names=names) if (value := _value(survey, own, names)) is not None:
                parts += [f"'{text}/'", value]
                text = ""
            case _:
                return None
    parts += [f"'{text}'"] if text else []
    return '"' + " + ".join(parts) + '"' if len(parts) > 1 and not {"\\", '"'} & set("".join(parts)) else None


def _value(survey: Survey, own: Resource, names: tuple[str, ...]) -> str | None:
    """A name in braces as a text that is read of the row: a field, or one of the row to which a reference leads."""
    field, at = _field(survey, own.name, names[0]), own.name
    for name in names[1:]:
        target = None if field is None else value_of(field.refers_to)
        at += f".{names[names.index(name) - 1]}"
        field = None if target is None else _field(survey, target.text, name)
    if field is None or field.refers_to is not None:
        return None
    schema = value_of(field.schema)
    match None if schema is None else schema.json.get("type"):
        case "string":
            return f"{at}.{names[-1]}"
        case "integer":
            return f"string({at}.{names[-1]})"
        case _:
            return None


def _field(survey: Survey, resource: str, name: str) -> Field | None:
    return survey.graph.fields.get(resource, {}).get(name)
