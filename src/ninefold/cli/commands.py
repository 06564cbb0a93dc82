"""The commands: where they are, what is said of their parameters beside types, and lines that are plainly written.

The command line is read by cyclopts, from the signatures of the commands; loading it takes longer than what most
commands do. What leaves nothing to decide (each option spelt out and known, each value of its type, nothing missing)
is read here from the same signatures; whatever else there is, mistakes and `--help` among it, is left to cyclopts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args, get_origin, get_type_hints

from ninefold.diagnostics.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Command:
    """`module` of `ninefold.cli` has the function, which is called as the command is."""

    module: str
    help: str


COMMANDS: Final = {
    "new": Command("proposals", "Write a blank contract."),
    "check": Command("check", "Say what is wrong with a contract."),
    "gaps": Command("gaps", "Show what a contract leaves open."),
    "propose": Command("proposals", "Propose what conventions say to its open questions."),
    "accept": Command("proposals", "Turn proposals into facts."),
    "fix": Command("fix", "Rewrite an older contract in the words of today."),
    "diff": Command("diff", "Say what a change of a contract does to those who rely on it."),
    "dev": Command("dev", "Serve a contract while it is written."),
    "serve": Command("serve", "Serve a contract."),
    "upgrade": Command("upgrade", "Move the rows of a database to a contract that has changed."),
    "move": Command("move", "Move a database from SQLite to PostgreSQL, or back."),
    "rows": Command("rows", "Look at the rows of a resource."),
    "add": Command("add", "Add rows under the contract's own rules."),
    "events": Command("events", "Look at events, and have them delivered again."),
    "plan": Command("plan", "Show what would be served, statements included."),
    "export": Command("export", "Write what is served as an OpenAPI document."),
    "explain": Command("explain", "Explain an endpoint, a service, or a diagnostic."),
    "permissions": Command("permissions", "Show who may do what."),
    "ablate": Command("ablate", "Take away each fact, and see what is left of the service."),
    "schema": Command("export", "Print a JSON Schema for editors."),
}
"""In the order in which they are listed."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """As `cyclopts.Parameter`, which is made of it where the program says what its commands take."""

    name: str | None = None
    help: str | None = None
    allow_leading_hyphen: bool = False
    negative: tuple[()] | None = None
    show_default: bool | None = None


def option(help: str | None = None, name: str | None = None) -> Parameter:
    """One that is left out where it is not wanted: there is no word for that, and no default to be shown."""
    return Parameter(name, help, negative=(), show_default=False)


File: TypeAlias = Annotated[
    str, Parameter(help="The contract, Markdown or YAML; `-` is standard input.", allow_leading_hyphen=True)
]

Flag: TypeAlias = Annotated[bool, option()]

AcceptProposals: TypeAlias = Annotated[bool, option(help="Take what is proposed (`!proposed`) as a fact.")]

InVersion: TypeAlias = Annotated[str | None, Parameter(name="--version", show_default=False)]
"""Which version of the contract; the newest where none is named."""

Settings: TypeAlias = Annotated[
    Sequence[str],
    option(
        name="--set",
        help="NAME=VALUE: what the contract calls `operator.NAME`; may be repeated. It counts before the secrets file, "
        "and that before the environment, where NINEFOLD_SET_NAME is read. Other users may see a command line: what is "
        "secret belongs into the file.",
    ),
]

Secrets: TypeAlias = Annotated[
    Path | None,
    Parameter(
        help="A file of lines NAME=VALUE, refused if others may read it. Lines that begin with # say nothing.",
        show_default=False,
    ),
]

Functions: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="MODULE or FILE.py, which has the functions that the contract calls, by their names.", show_default=False
    ),
]

Broker: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="The address of a broker that all events are sent to: nats://HOST:PORT or tls://…, or a topic of Kafka, "
        "kafka://HOST:PORT/TOPIC or kafkas://…; @FILE reads it from a file, for one with a password.",
        show_default=False,
    ),
]

Database: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="`sqlite:///PATH` (four slashes for an absolute path) or a path. By default a file in the working "
        "directory, called after the document: `orders.md` is kept in `orders.db`. Of PostgreSQL it is "
        "`postgresql://USER@HOST:PORT/NAME`.",
        show_default=False,
    ),
]

Replica: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="`postgresql://…` of a standby of the database, which is read where nobody needs the newest: callers find "
        "what they have written themselves. All processes that serve a database have the option, or none.",
        show_default=False,
    ),
]

Rates: TypeAlias = Annotated[
    str | None,
    Parameter(
        help="`valkey://HOST:PORT` (`valkeys://` over TLS): where all processes that serve a PostgreSQL count rates, "
        "and not in PostgreSQL; @FILE reads it from a file, for one with a password. All of them have it, or none.",
        show_default=False,
    ),
]

Pooled: TypeAlias = Annotated[
    bool,
    option(
        help="A pooler that gives each transaction another connection (PgBouncer, `pool_mode = transaction`) stands "
        "before the PostgreSQL: nothing is left in its sessions. All processes that serve a database have it, or none."
    ),
]

Listen: TypeAlias = Annotated[
    str, Parameter(help="HOST:PORT of the service. Port 0 is one that is free; which, is printed.")
]

OperatorNames: TypeAlias = Annotated[
    Sequence[str],
    option(
        name="--operator-name",
        help="NAME or NAME:PORT by which the operator's port is asked besides its address; may be repeated.",
    ),
]

Networks: TypeAlias = Annotated[Sequence[str], option()]


@dataclass(frozen=True, slots=True)
class _Declared:
    """A parameter of a command: what one value of it may be, and what is said of it."""

    name: str
    type: Any
    several: bool
    required: bool
    said: Parameter


def plainly(command: Callable[..., Any], tokens: Sequence[str]) -> tuple[list[Any], dict[str, Any]] | None:
    """What the command is called with; None: the tokens are not plain."""
    places, options = _declared(command)
    given, named = list[Any](), dict[str, Any]()
    rest = iter(tokens)
    for token in rest:
        if not token.startswith("-") or token == "-":
            place = places[min(len(given), len(places) - 1)]
            read = _read(place, token)
            if read is None or (len(given) >= len(places) and not place.several):
                return None
            given.append(read)
            continue
        name, equals, text = token.partition("=")
        option = options.get(name)
        if option is None or (option.name in named and not option.several):
            return None
        if option.type is bool:
            read = None if equals else True
        else:
            read = _read(option, text if equals else next(rest, ""))
        if read is None:
            return None
        named[option.name] = [*named.get(option.name, ()), read] if option.several else read
    missing = [each for each in places[len(given) :] if each.required]
    missing += [each for each in options.values() if each.required and each.name not in named]
    return None if missing else (given, named)


def _declared(command: Callable[..., Any]) -> tuple[list[_Declared], dict[str, _Declared]]:
    """The parameters that have a place, and those that have a name, by it."""
    hints = get_type_hints(command, include_extras=True)
    places, options = list[_Declared](), dict[str, _Declared]()
    for name, each in inspect.signature(command).parameters.items():
        hint, said = hints[name], Parameter()
        if get_origin(hint) is Annotated:
            hint, said = get_args(hint)
        several = get_origin(hint) is Sequence or each.kind is each.VAR_POSITIONAL
        if get_origin(hint) is Sequence:
            (hint,) = get_args(hint)
        elif NoneType in get_args(hint):
            hint = next(one for one in get_args(hint) if one is not NoneType)
        required = each.default is each.empty and each.kind is not each.VAR_POSITIONAL
        declared = _Declared(name, hint, several, required, said)
        if each.kind is each.KEYWORD_ONLY:
            options[said.name or "--" + name.replace("_", "-")] = declared
        else:
            places.append(declared)
    return places, options


def _read(declared: _Declared, text: str) -> Any | None:
    """A value; None: it is not plainly one."""
    if not text or (text.startswith("-") and not declared.said.allow_leading_hyphen):
        return None
    if get_origin(declared.type) is Literal:
        return text if text in get_args(declared.type) else None
    if declared.type is int:
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None
    if declared.type is Path:
        return Path(text)
    return text if declared.type is str else None
