"""docs/language.md and docs/reference: made from the tables as they are, their examples are right, and every meaning
stands where it is looked for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from tests.architecture.ratchets import trees

from ninefold.diagnostics.diagnostic import Severity
from ninefold.language.authentication import Authentication
from ninefold.language.conditions import CONDITIONS
from ninefold.language.declaration import Declared, members
from ninefold.language.endpoints import Endpoints
from ninefold.language.errors import Errors
from ninefold.language.events import Events
from ninefold.language.limits import Limits
from ninefold.language.meanings import meaning_named, meanings
from ninefold.language.resources import Resources
from ninefold.language.states import Machine
from ninefold.language.verbs import VERBS
from ninefold.language.versioning import Versioning
from ninefold.pipeline import compile_document
from ninefold.tools.documents import GENERATED, PAGES, assemble
from ninefold.tools.reference import anchor, as_text, asked_for, entries, entry_at, entry_of, names, on, on_page

ROOT = Path(__file__).parents[2]
TEXTS = {page: (ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES}
PARTS = (Resources, Machine, Endpoints, Authentication, Events, Errors, Limits, Versioning)
LANGUAGE = TEXTS["language.md"]
LINKING = sorted({*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "decisions").glob("0056-*.md")})


@pytest.mark.parametrize("page", PAGES)
def test_the_page_is_not_stale(page: str) -> None:
    assert assemble(TEXTS[page]) == TEXTS[page], "stale: run `python -m ninefold.docs`"


def test_every_stretch_is_on_a_page_once() -> None:
    found = [name for text in TEXTS.values() for name in re.findall(r"<!-- generated: ([a-z0-9 ]+) -->", text)]
    assert sorted(found) == sorted(GENERATED)


def test_an_unknown_stretch_is_an_error() -> None:
    with pytest.raises(KeyError):
        assemble("<!-- generated: nonsense -->\n<!-- end -->")


def test_what_is_cited_is_there() -> None:
    cited = [each.meanings for each in CONDITIONS] + [each.meanings for each in VERBS.values()]
    for told in [*cited, *(each.meanings for each in declared(PARTS))]:
        assert all(meaning_named(name) for name in told)
    for name, where in _named_in_sources():
        assert name in meanings(), f"{where} names the meaning `{name}`, which is none"


def _named_in_sources() -> Iterator[tuple[str, str]]:
    """Each name of a meaning that the sources write down, and where: `meanings=("…",)`, `Fixed("…")`."""
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            is_named = isinstance(node.func, ast.Name) and node.func.id in ("Fixed", "meaning_named")
            told = [*(node.args if is_named else ()), *(each.value for each in node.keywords if each.arg == "meanings")]
            for each in (found for part in told for found in ast.walk(part)):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.value, f"{path}:{each.lineno}"


def declared(records: Iterable[type]) -> Iterator[Declared]:
    for record in records:
        for each in members(record):
            yield each
            if each.holding is not None:
                yield from declared([each.holding.record])


def test_every_meaning_stands_at_keys_and_verbs_that_there_are() -> None:
    for meaning in meanings().values():
        for place in meaning.places:
            assert entry_at(place)


def test_few_meanings_hold_everywhere() -> None:
    assert len([each for each in meanings().values() if each.is_global]) <= 20


def test_the_language_is_read_in_forty_minutes() -> None:
    """About 200 words a minute, tables and their lines and all."""
    words = len(LANGUAGE.split())
    assert words <= 8000, f"docs/language.md has {words} words: what of it is told on a page of docs/reference?"


def test_the_line_of_a_key_is_the_beginning_of_what_the_reference_says() -> None:
    for each in entries():
        if each.key is not None:
            sentence = each.line if each.line in each.says else each.line.rpartition(" (")[0]
            assert sentence and each.says.startswith(sentence) and each.says in each.paragraphs[1]


def test_every_meaning_is_told_in_full_where_it_is_linked_to() -> None:
    for meaning in meanings().values():
        entry = entry_of(meaning)
        sections = re.split(r"^#+ (.+)$", TEXTS[entry.page], flags=re.MULTILINE)
        told = [text for heading, text in zip(sections[1::2], sections[2::2], strict=True) if heading == entry.heading]
        assert len(told) == 1 and meaning.text in told[0]


@pytest.mark.parametrize("page", PAGES)
def test_what_explain_prints_is_what_the_page_says(page: str) -> None:
    for each in on(page):
        heading, *told = as_text(each)
        begin, *said = (text for text in on_page(each).split("\n\n") if "**: at [" not in text)
        assert (heading, begin) == (f"{each.heading.replace(chr(96), '')}: docs/{each.link}", f"### {each.heading}")
        assert told[: len(each.paragraphs)] == [bare(text) for text in said[: len(each.paragraphs)]]
        assert set(map(bare, said)) <= set(told), "what stands here in full is printed, word by word"


def bare(text: str) -> str:
    """Without the marks around words: code keeps its own."""
    return re.sub(r"(`[^`]*`)|\*+|\[([^\]]+)\]\([^)]+\)", r"\1\2", text)


def test_all_that_is_named_is_found() -> None:
    assert all(asked_for(name) for name in names())
    assert len({each.link for each in entries()}) == len(entries()), "no two have the same heading on a page"


def test_no_meaning_of_the_old_numbers_was_lost() -> None:
    """Decision 0056 says under which name each of the 79 stands now."""
    (decision,) = (ROOT / "decisions").glob("0056-*.md")
    rows = re.findall(r"^\| (\d+) \| [^|]+ \| \[?([^|\]]+?)(?:\]\([^|]+\))? \|$", decision.read_text(), re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 80))
    names = {name for _, name in rows}
    assert {name for name in names if not name.startswith("gone")} <= set(meanings())


@pytest.mark.parametrize("path", LINKING, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    anchors: dict[Path, set[str]] = {}
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, place = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        if place and target.suffix == ".md":
            headings = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert place in anchors.setdefault(target, {anchor(heading) for heading in headings}), link


@pytest.mark.parametrize(
    ("name", "fence"), [("example.md", r"^````markdown\n(.*?)^````$"), ("example.yaml", r"^```yaml\n(purpose.*?)^```$")]
)
def test_the_example_of_each_form_is_right(name: str, fence: str) -> None:
    found = re.search(fence, LANGUAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    loaded = compile_document(name, found[1].encode())
    assert [d.message for d in loaded.diagnostics if d.code.severity is not Severity.NOTE] == []
    assert [part.prose for part in loaded.document.parts[1:]].count(()) >= 7, "it is read as it is meant"
