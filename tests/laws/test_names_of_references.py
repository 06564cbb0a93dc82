"""What a reference is called makes no difference, and be it as the resource that has it: `folder.folder`. A name in a
path may begin with either (`{folder.id}`), and the field is meant where there is one."""

from __future__ import annotations

import re
from typing import Final

import pytest
from tests.parts import contract

from ninefold.pipeline import compile_document
from ninefold.tools import gaps
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.render import to_text
from ninefold.tools.propose.propose import propose

RESOURCES: Final = """
folder:
  primary key: id
  fields: {id: {type: string}, up: {references: folder, inverse: subs}, name: {type: string}, n: {type: integer}}
  unique: [[up, name]]"""

SUBS: Final = "/folders/{up.id}/subs"

PUT: Final = "responses: {created: {201: folder}, replaced: {200: folder}}"
READ: Final = "GET /folders/{up.id}/subs/{name}: {does: read folder, responses: {200: folder}}"

ENDPOINTS: Final = (
    ("POST", SUBS, "does: create folder, body: [name], responses: {201: folder}"),
    ("POST", SUBS, "does: create folder, body: [id, name]"),
    ("PUT", SUBS + "/{name}", f"does: put folder, body: [id, n], {PUT}"),
    ("DELETE", SUBS + "/{name}", "does: delete folder, responses: {deleted: {204: none}, absent: {204: none}}"),
    ("PATCH", SUBS + "/{name}", "does: update folder, patch: merge, body: [n, up, name], responses: {200: folder}"),
    ("GET", SUBS, "does: list folder, sort: [id], pages: none, responses: {200: page.items}"),
    ("GET", "/folders/{up.up.id}/below", "does: list folder, sort: [id], pages: none, responses: {200: page.items}"),
)  # fmt: skip


def _told(reference: str, method: str, path: str, said: str) -> str:
    text = re.sub(r"\bup\b", reference, contract(RESOURCES, f"{method} {path}: {{{said}}}\n{READ}"))
    loaded = compile_document("folders.md", text.encode())
    own = getattr(loaded.contract.endpoints.endpoints, "value", ())
    told = [f"{each.code.id} {each.message} {each.help}" for each in loaded.diagnostics]
    told += [str(gaps.to_json(loaded.contract, loaded.open_questions))]
    told += [to_text(explain_endpoint(loaded, each)) for each in own]
    told += [propose(loaded).text]
    return re.sub(r"\s+", " ", re.sub(r"\bup\b", "folder", "\n".join(told)))


@pytest.mark.parametrize(("method", "path", "said"), ENDPOINTS)
def test_a_reference_is_told_alike_where_it_is_called_as_its_resource(method: str, path: str, said: str) -> None:
    assert _told("folder", method, path, said) == _told("up", method, path, said)
