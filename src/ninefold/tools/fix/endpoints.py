"""Part 4 in the second words: what an endpoint does, whom it answers, and what a request may ask for."""

from __future__ import annotations

import json
import re
from typing import Final

from ninefold.language import former
from ninefold.syntax.nodes import Entry, Mapping, Node, Scalar, Style, is_word
from ninefold.tools.fix import words
from ninefold.tools.fix.layout import key_of
from ninefold.tools.fix.rewriting import Rewriting, action_of, entries_of, text_of

_TEXT: Final = re.compile(r"'([^'\\]*)'")
"""A text of CEL that needs no escapes."""

_COMPUTED: Final = re.compile(r"^[A-Za-z_]\w*[.(]|^now\b")
"""How an expression begins that reads something, or calls."""


def endpoints(fix: Rewriting, facts: Mapping) -> None:
    for entry in facts.entries:
        value = entry.value
        match entry.name:
            case "responses" if isinstance(value, Mapping) and (type_ := value.get("media type")):
                fix.layout.merge(facts, [entry], "produces", fix.layout.scalar(type_.value))
            case "responses" if is_word(value, "not shown"):
                fix.layout.rename(entry, "produces")
            case "cross origin":
                fix.layout.rename(entry, "cors")
                if isinstance(value, Mapping):
                    fix.rename(value, "cors")
                    fix.words(value.get("origins"), former.word(4, "cors.origins"))
                    if value.entries and not value.get("preflight"):
                        fix.layout.add(value, value.entries[-1], "preflight", "204")
            case "calls":
                fix.layout.rename(entry, "functions")
            case _ if isinstance(value, Mapping) and " " in entry.name:
                endpoint(fix, value)


def endpoint(fix: Rewriting, mapping: Mapping) -> None:
    does = mapping.get("does")
    verb, resource = action_of(does)
    for case in entries_of(mapping.get("cases")):
        if case.name == "otherwise":
            fix.layout.rename(case, "all others")
        if isinstance(case.value, Mapping):
            fix.effects(case.value, resource)
            fix.check(case.value, f"no_{case.name}", f"guard {resource}")
            outcomes(fix, case.value, verb)
    fix.words(does, words.action)
    if does is not None and (beside := words.beside(f"{verb} {resource}")) is not None:
        fix.layout.add(mapping, does, *beside)
    fix.effects(mapping, resource)
    fix.check(mapping, f"cannot_{(verb or 'do').replace(' ', '_')}", f"guard {resource}")
    outcomes(fix, mapping, verb)
    fix.row(mapping, resource)
    if (validators := mapping.get("validators")) is not None:
        if isinstance(validators.value, Scalar) and validators.value.text == "etag":
            fix.layout.merge(mapping, [validators], "etag", "true")
        else:
            fix.layout.drop(mapping, validators)
    narrowed(fix, mapping)
    parameters(fix, mapping)
    if (pages := mapping.get("pages")) is not None and isinstance(pages.value, Mapping):
        sizes(fix, pages.value)
    for entry in entries_of(mapping.get("errors")):
        if words.is_check(entry.name):
            fix.leave(entry, "no code speaks for all checks: each names its own, `else` under `check`")
        elif words.condition(entry.name) != entry.name:
            fix.layout.rename(entry, words.condition(entry.name))


def outcomes(fix: Rewriting, mapping: Mapping, verb: str) -> None:
    """One answer to all good ends is told by their names now."""
    responses, names = mapping.get("responses"), words.outcomes(verb)
    if names is not None and responses is not None and isinstance(responses.value, Mapping):
        if all(entry.name.isdigit() for entry in responses.value.entries):
            fix.layout.wrap(responses, names)
        elif (removed := responses.value.get("removed")) is not None:
            fix.layout.rename(removed, "deleted")


def narrowed(fix: Rewriting, mapping: Mapping) -> None:
    """`otherwise` of a parameter as a code of the endpoint's `errors`."""
    told: list[tuple[str, Node]] = []
    for key, name in (
        ("path", words.condition("missing path")),
        ("query", "invalid query"),
        ("request headers", "invalid header"),
    ):
        for parameter in entries_of(mapping.get(key)):
            if isinstance(parameter.value, Mapping) and (otherwise := parameter.value.get("otherwise")):
                told.append((f"{name}.{parameter.name}", otherwise.value))
                fix.layout.drop(parameter.value, otherwise)
    if told:
        appended(fix, mapping, mapping.get("errors"), {name: fix.layout.scalar(code) for name, code in told}, "errors")


def appended(fix: Rewriting, mapping: Mapping, entry: Entry | None, pairs: dict[str, str], key: str = "query") -> None:
    """Entries at the end of the mapping that is an entry's value; where there is none, one of the key is made."""
    if entry is not None and isinstance(entry.value, Mapping) and entry.value.entries:
        for name, value in pairs.items():
            fix.layout.add(entry.value, entry.value.entries[-1], name, value)
    elif entry is not None:
        fix.layout.merge(mapping, [entry], key, pairs)
    else:
        fix.layout.add(mapping, mapping.entries[-1], key, pairs)


def parameters(fix: Rewriting, mapping: Mapping) -> None:
    """`filters`, `sorts`, `projection` and `expand` as parameters under `query`."""
    query, filters = mapping.get("query"), mapping.get("filters")
    for entry in entries_of(filters):
        filtered(fix, entry)
    more: dict[str, str] = {}
    dropped: list[Entry] = []
    if filters is not None and query is not None:
        dropped.append(filters)
        for entry in entries_of(filters):
            narrows(fix, query, entry, more)
    for key, word in (("projection", "selects"), ("expand", "expands")):
        chosen = mapping.get(key)
        if chosen is not None and isinstance(chosen.value, Mapping):
            name = text_of(chosen.value, "parameter") or word
            if query is not None and isinstance(query.value, Mapping) and query.value.get(name):
                fix.leave(chosen, f"the parameter `{name}` stands under `query` already")
                continue
            more[key_of(name)] = choice(fix, chosen.value, word)
            dropped.append(chosen)
        elif chosen is not None and is_word(chosen.value, "none"):
            dropped.append(chosen)
        elif chosen is not None and query is None and filters is None and not fix.names.get(mapping.span):
            fix.become(mapping, chosen, "query")  # which parameter it is is not shown either
        elif chosen is not None:
            fix.leave(
                chosen, f"which members may be chosen is not shown: a parameter under `query` with `{word}` says it"
            )
    if (sort := mapping.get("sort")) is not None:
        in_brackets(fix, sort)
    if (sorts := mapping.get("sorts")) is not None and isinstance(sorts.value, Mapping):
        parameter, offered, default = (sorts.value.get(key) for key in ("parameter", "offered", "default"))
        if (
            parameter is not None
            and offered is not None
            and not is_word(parameter.value, "none")
            and not is_word(offered.value, "none")
        ):
            more[fix.layout.scalar(parameter.value)] = f"{{sorts: {fix.layout.scalar(offered.value)}}}"
        if default := sorts.value.get("default"):
            fix.layout.merge(mapping, [sorts], "sort", listed(fix, default), default.value.proposed)
    elif sorts is not None:
        in_brackets(fix, sorts)
        fix.layout.rename(sorts, "sort")
    if filters is not None and query is None:
        fix.layout.rename(filters, "query")
        query = filters
    if more and query is not None:
        appended(fix, mapping, query, more)
    elif more and dropped:
        fix.layout.merge(mapping, dropped, "query", more)
        return
    elif more and sorts is not None:
        fix.layout.add(mapping, sorts, "query", more)
    for each in dropped:
        fix.layout.drop(mapping, each)


def narrows(fix: Rewriting, query: Entry | None, filter_: Entry, more: dict[str, str]) -> None:
    """A filter beside `query`: where the parameter has its schema there, it is the schema's `where`."""
    stated = query.value.get(filter_.name) if query is not None and isinstance(query.value, Mapping) else None
    text = fix.layout.scalar(filter_.value)
    if stated is None:
        more[fix.layout.key(filter_)] = text
    elif isinstance(stated.value, Mapping) and stated.value.entries:
        last = stated.value.entries[-1]
        inner = filter_.value.entries if isinstance(filter_.value, Mapping) else ()
        for each in inner:
            fix.layout.add(stated.value, last, fix.layout.key(each), fix.layout.scalar(each.value))
        if not inner:
            fix.layout.add(stated.value, last, "where", text)


def filtered(fix: Rewriting, entry: Entry) -> None:
    if isinstance(entry.value, Mapping):
        for each in entry.value.entries:
            if each.name == "is":
                fix.layout.rename(each, "where")
            elif each.name == "default" and isinstance(each.value, Scalar) and _COMPUTED.search(each.value.text):
                fix.leave(each, "a default is a constant: the endpoint's `where` says one that is worked out")
            elif each.name == "default" and isinstance(each.value, Scalar):
                if text := _TEXT.fullmatch(each.value.text):
                    fix.layout.replace(each.value.span, json.dumps(text[1], ensure_ascii=False))
                elif each.value.style is not Style.PLAIN:
                    fix.layout.replace(each.value.span, each.value.text)
            elif each.name == "written":
                fix.layout.rename(each, "explode")
                fix.words(each, _exploded)


def choice(fix: Rewriting, value: Mapping, word: str) -> str:
    """What `projection` or `expand` says, as the parameter that it names."""
    pairs: list[str] = []
    written = any(each.name == "written" for each in value.entries)
    for each in value.entries:
        text = fix.layout.scalar(each.value)
        if each.name == "offered":
            pairs.append(f"{word}: {text}")
        elif each.name == "written":
            pairs.append(f"explode: {_exploded(text)}")
        elif each.name != "parameter":
            pairs.append(f"{each.name}: {text}")
    if not written:
        pairs.append("explode: true")
    return f"{{{', '.join(pairs)}}}"


def exploded(fix: Rewriting, mapping: Mapping) -> None:
    """A parameter of several values was repeated, and said nothing of it."""
    for key in ("query", "request headers"):
        for parameter in entries_of(mapping.get(key)):
            value = parameter.value
            if isinstance(value, Mapping) and text_of(value, "type") == "array" and value.get("explode") is None:
                fix.layout.add(value, value.entries[-1], "explode", "true")


_PLAIN: Final = re.compile(r"-?[\w.]+")


def listed(fix: Rewriting, sort: Entry) -> str:
    """An order as a list, also of one key."""
    text, plain = fix.layout.scalar(sort.value), sort.value.text if isinstance(sort.value, Scalar) else ""
    if not isinstance(sort.value, Scalar) or is_word(sort.value, "none") or sort.value.says("not shown"):
        return text
    return f"[{plain if _PLAIN.fullmatch(plain) else text}]"


def in_brackets(fix: Rewriting, sort: Entry) -> None:
    if isinstance(sort.value, Scalar) and (now := listed(fix, sort)).startswith("["):
        fix.layout.replace(sort.value.span, now)


def sizes(fix: Rewriting, mapping: Mapping) -> None:
    fix.rename(mapping, "pages")
    parameters = mapping.get("parameters")
    if parameters is None:
        return
    if not isinstance(parameters.value, Mapping):
        fix.layout.drop(mapping, parameters)
        return
    flat: dict[str, str] = {}
    for each in parameters.value.entries:
        name = "size" if each.name == "size" else "at"
        flat[name] = fix.layout.scalar(each.value)
        if each.name in ("start", "index"):
            flat["first"] = "0"
        elif each.name == "number":
            flat["first"] = "1"
    fix.layout.splice(mapping, parameters, flat)


def _exploded(text: str) -> str:
    return {"repeated": "true", "comma separated": "false"}.get(text, text)
