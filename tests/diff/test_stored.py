"""An older version that a newer contract keeps does what it did, also where its fields are stored under other names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.contracts import DIRECTORIES, compiled
from tests.parts import contract, in_two_versions

from ninefold.diagnostics.diagnostic import has_errors
from ninefold.diff.compare import diff
from ninefold.diff.meaning import meaning
from ninefold.language.fact import value_of
from ninefold.pipeline import Loaded, compile_document

VERSIONS: Final = """versioning:
  in: header
  name: Api-Version
  default: "2"
  versions:
    "2": {{}}
    "1": {{changes: [{{rename: {0}.{1}, to: {2}}}]}}
"""
NONE: Final = re.compile(r"(?m)^versioning: none\n?")

OTHERWISE: Final = {
    "parameters-that-are-not-shown-and-read w.n": "a parameter has the same name, and is called otherwise with it",
    "values-that-are-read-as-their-schema-says leg.trip": "a resource has the same name",
    "values-that-are-read-as-their-schema-says leg.to": "a member of a shared type has the same name",
    "written-after-a-podcast-host show.account": "a resource has the same name",
    "written-after-a-podcast-host play.episode": "a resource has the same name",
    "written-after-a-podcast-host account.api_key": "it is shown as `issued.api_key`, which no version calls otherwise",
}
"""Fields whose new name, put wherever the old one is written, changes something else besides, and what."""


def renamed(path: Path) -> Iterator[tuple[str, str, str, Loaded]]:
    """A contract with another name for each field of one resource alone, wherever it is written, and a version that
    calls it as before."""
    text = path.read_text(encoding="utf-8")
    resources = value_of(compiled(path).contract.resources.resources) or ()
    fields = [(resource.name, field.name) for resource in resources for field in value_of(resource.fields) or ()]
    for resource, field in fields:
        in_path = rf"(?m)^ *(GET|POST|PUT|PATCH|DELETE) [^:\n]*\b{field}\b"
        if [name for _, name in fields].count(field) > 1 or re.search(in_path, text):
            continue
        other = f"zz_{field}"
        written = re.sub(rf"(?<![\w'$.-]){field}(?![\w'-])|(?<=\.){field}(?![\w'-])", other, text)
        loaded = compile_document(path.name, NONE.sub(VERSIONS.format(resource, other, field), written).encode())
        if loaded.plan is not None and not has_errors(loaded.diagnostics):
            yield resource, field, other, loaded


def test_a_version_that_keeps_a_name_does_what_it_did() -> None:
    met, differ = 0, set()
    paths = [each / "contract.yaml" for each in DIRECTORIES if (each / "contract.yaml").exists()]
    for path in (each for each in paths if NONE.search(each.read_text("utf-8"))):
        before = compiled(path).plan
        for resource, field, other, loaded in renamed(path) if before is not None else ():
            assert before is not None and loaded.plan is not None
            met += 1
            was, now = meaning(before).routes, meaning(loaded.plan).routes
            called = {(resource, other): field}
            if not all(was[None, key].says_the_same(now["1", key], called) for _, key in was):
                differ.add(f"{path.parent.name} {resource}.{field}")
    assert differ == {*OTHERWISE} and met > 4 * len(differ)


NOTES: Final = """note:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    title: {type: string, minLength: 1}
    more:  {type: string}
    key:   {type: string}
  required: [title, more]
tag:
  primary key: id
  fields:
    id:    {type: integer, on create: serial()}
    title: {type: string}
    name:  {type: string}
"""
ENDPOINTS: Final = """POST /notes: {does: create note, body: [title, more], responses: {201: note}}
GET /notes: {does: list note, sort: [id], responses: {200: "page.items.map(n, {'title': n.title, 'more': n.more})"}}
GET /tags: {does: list tag, sort: [name, id], responses: {200: "page.items"}}
"""

NOTED: Final = contract(NOTES, ENDPOINTS, states="note: none\ntag: none")
FIRST: Final = in_two_versions(NOTED, default='"1"').partition('  "2"')[0] + '  "1": {}\ncompatible: none\n```\n'
_OF_NOTES: Final = re.compile(r"title(?=: \{type: string, m|, more|, id|\]\n  )|(?<=n\.)title")
RENAMED: Final = in_two_versions(_OF_NOTES.sub("label", NOTED), "{rename: note.label, to: title}")


@pytest.mark.parametrize(
    ("new", "kept"),
    [
        (RENAMED, "1"),
        (RENAMED.replace("more:  {type: string}", "more:  {type: string, maxLength: 3}"), None),  # it is given with it
        (RENAMED.replace("n.more", "n.key"), "1"),  # where no caller sees another name of the field
        (RENAMED.replace("to: title}", "to: titel}"), None),
    ],
)
def test_what_is_kept_is_told_of_the_change(new: str, kept: str | None) -> None:
    old, now = compile_document("old.md", FIRST.encode()), compile_document("new.md", new.encode())
    assert old.plan is not None and now.plan is not None, (old.diagnostics, now.diagnostics)
    (finding,) = (each for each in diff(old, now).findings if each.said.startswith("`note > fields > title`"))
    assert finding.kept == kept


PING: Final = "GET /ping: {does: compute, responses: {200: {ok: true}}}\n"
NAMED: Final = contract(
    """note:
  primary key: id
  fields: {id: {type: integer, on create: serial()}, name: {type: string, minLength: 1}}
  required: [name]
""",
    f"POST /notes: {{does: create note, body: [name], responses: {{201: note}}}}\n{PING}",
)


def _in_versions(text: str, default: str, *versions: str) -> Loaded:
    below = '  "0": {changes: [{rename: note.name, to: label}]}\n'
    said = in_two_versions(text, default=f'"{default}"').partition('  "2"')[0]
    loaded = compile_document(
        f"{len(versions)}.md", f"{said}{''.join(versions)}{below}compatible: none\n```\n".encode()
    )
    assert loaded.plan is not None and not has_errors(loaded.diagnostics), loaded.diagnostics
    return loaded


def test_a_version_on_top_is_one_finding_beside_what_has_another_name() -> None:
    titled = NAMED.replace("name: {type", "title: {type").replace("[name]", "[title]")
    old = _in_versions(NAMED, "1", '  "1": {}\n')
    new = _in_versions(titled, "1", '  "2": {}\n', '  "1": {changes: [{rename: note.title, to: name}]}\n')
    found = {each.said: each for each in diff(old, new).findings}
    assert set(found) == {"`note > fields > name` is called `title`", "`versions > 2` is new"}
    renamed = found["`note > fields > name` is called `title`"]
    assert renamed.kept == "1" and renamed.uses == 4
    assert all(each.older == () for each in found.values())


@pytest.mark.parametrize("name", ["name", "member", "call", "str", "list"])
def test_what_a_form_is_called_is_no_name_of_a_field(name: str) -> None:
    old, new = (NAMED.replace("name: {type", f"{each}: {{type").replace("[name]", f"[{each}]") for each in (name, "zz"))
    [finding] = diff(compile_document("old.md", old.encode()), compile_document("new.md", new.encode())).findings
    assert finding.uses == 4


INVERSE: Final = contract(
    """a:
  primary key: id
  fields: {id: {type: integer, on create: serial()}}
b:
  primary key: id
  fields: {id: {type: integer, on create: serial()}, a: {references: a, inverse: bs, on delete: restrict}}
  required: [a]
  check: {that: "b.a.bs.size() < 5", else: full}
""",
    "POST /as: {does: create a, body: none, responses: {201: a}}\n"
    "POST /bs: {does: create b, body: [a], responses: {201: b}}\n"
    "GET /as/{id}: {does: read a, responses: {200: SHOWN}}\n",
    codes="full: {status: 409}",
)


@pytest.mark.parametrize(
    ("shown", "then", "verdict"),
    [
        ("a", "a", "words"),
        ("{count: a.bs.size()}", "{count: a.bees.size()}", "words"),
        ("\"{'bs': a.bs.size()}\"", "\"{'bees': a.bees.size()}\"", "breaking"),
    ],
)
def test_another_name_for_the_rows_that_refer_to_one_is_words_unless_it_is_shown(
    shown: str, then: str, verdict: str
) -> None:
    old, new = INVERSE.replace("SHOWN", shown), INVERSE.replace("SHOWN", then)
    new = new.replace("inverse: bs", "inverse: bees").replace("b.a.bs.", "b.a.bees.")
    [finding] = diff(compile_document("old.md", old.encode()), compile_document("new.md", new.encode())).findings
    assert (finding.verdict, finding.uses > 0) == (verdict, True)
