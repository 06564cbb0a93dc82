"""Where a row is read that was made: the `Location` of a creation, in each version (RFC 9110, 10.2.2)."""

from __future__ import annotations

from ninefold.contract.survey import Survey, actions
from ninefold.language.actions import Action
from ninefold.language.endpoints import Endpoint
from ninefold.language.fact import is_open, value_of
from ninefold.language.resources import Field, Resource
from ninefold.language.routes import Literal, PathName, PathValue, Segment
from ninefold.language.verbs import kind_of


def location_of(survey: Survey, endpoint: Endpoint, action: Action) -> str | None:
    """Where the row is read that was made, as an expression in YAML; None: nowhere that could be told from the row, or
    that is true in each version."""
    own = survey.graph.resources.get(action.subject or "")
    if kind_of(action.verb).answer != "the new row" or action.all or own is None or not is_open(endpoint.headers):
        return None
    found = value_of(survey.contract.versioning.location)
    in_path, moved = found is not None and found.text == "path", _moved(survey)
    if in_path and endpoint.key in moved:
        return None
    for other in survey.endpoints:
        read = next(iter(actions(other)), None)
        if other.method == "GET" and read is not None and read.subject == own.name and kind_of(read.verb).reads_one:
            path = None if other.key in moved else _path(survey, own, other, endpoint if in_path else None)
            if path is not None:
                return path
    return None


def _moved(survey: Survey) -> set[str]:
    """The endpoints that an older version has at another path, or has not."""
    changes = (
        change
        for each in value_of(survey.contract.versioning.versions) or ()
        for change in value_of(each.changes) or ()
    )
    return {name.text for change in changes for name in (change.rename, change.remove) if name is not None}


def _path(survey: Survey, own: Resource, endpoint: Endpoint, seen_from: Endpoint | None) -> str | None:
    """`seen_from`: by a relative reference (RFC 3986, 4.2), which keeps what stands in front of the path of that
    endpoint, such as the version."""
    base = value_of(survey.contract.endpoints.base)
    text, parts = "" if base is None else base.rstrip("/"), list[str]()
    segments = endpoint.segments
    if seen_from is not None:
        shared = [_written(each) for each in seen_from.segments[:-1]]
        segments = segments[len(shared) :]
        if [_written(each) for each in endpoint.segments[: len(shared)]] != shared or not _begins(segments):
            return None
        text = ""
    for number, segment in enumerate(segments):
        match segment:
            case Literal(text=literal):
                text += literal if number == 0 and seen_from is not None else f"/{literal}"
            case PathName() if (value := _value(survey, own, survey.led(own.name, segment))) is not None:
                parts += [f"'{text}/'", value]
                text = f":{segment.after}" if segment.after else ""
            case _:
                return None
    parts += [f"'{text}'"] if text else []
    return '"' + " + ".join(parts) + '"' if len(parts) > 1 and not {"\\", '"'} & set("".join(parts)) else None


def _written(segment: Segment) -> str:
    match segment:
        case Literal(text=text):
            return text
        case PathName(names=names, after=after):
            return f"{{{'.'.join(names)}}}:{after}"
        case PathValue(name=name, after=after):
            return f"{{{name}}}:{after}"


def _begins(segments: tuple[Segment, ...]) -> bool:
    """Whether a reference may begin so: behind what has a colon, a scheme would end (RFC 3986, 4.2)."""
    return bool(segments) and isinstance(segments[0], Literal) and ":" not in segments[0].text


def _value(survey: Survey, own: Resource, names: tuple[str, ...]) -> str | None:
    """A name in braces as a text that is read of the row: a field, or one of the row to which a reference leads."""
    field, at = _field(survey, own.name, names[0]), own.name
    for name in names[1:]:
        target = None if field is None else value_of(field.references)
        at += f".{names[names.index(name) - 1]}"
        field = None if target is None else _field(survey, target.text, name)
    if field is None or field.references is not None:
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
