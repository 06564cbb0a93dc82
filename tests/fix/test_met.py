"""Each key, verb, condition and word that is gone is met by an error at its place, which names what it is now."""

from __future__ import annotations

from tests.contracts import ROOT
from tests.fix.test_former import WORDS_THERE, document

from ninefold.language.former import ACTIONS, CONDITIONS_AT, KEYS, action, condition, stays
from ninefold.language.successors import PAGE
from ninefold.language.table import key_named
from ninefold.pipeline import compile_document

CASES = ROOT / "tests" / "cases"
NOTE = '"resources": {"note": {"fields": {"a": {"type": "string"}}}}, "states": none'

CALLED = """{"resources": {"resource": {"primary key": none, "fields": {"a": {"type": "string"}}}}, "states": none,
"endpoints": {"GET /notes": {"does": "read resource", "responses": {"200": "resource"}}}, """
SCHEME = '"schemes": {"caller": {"type": "http", "scheme": "bearer", "issued to": "resource", "lasts": "P1D"}}'


def helps(text: str) -> list[str]:
    name = "contract.md" if text.startswith("#") else "contract.yaml"
    loaded = compile_document(name, text.encode())
    return [help for each in loaded.diagnostics for help in each.help]


def test_each_key_that_is_gone_is_met() -> None:
    offenders = []
    for part, path in KEYS:
        under, _, last = path.rpartition(".")
        above = (part, under)
        if stays((part, path)) or (above in KEYS and not stays(above)) or _is_not_there(part, under):
            continue  # in force still; or what it stands under is told of in its place, or not in force yet
        word = last.lower() if last.isupper() else last
        if f"`{word}` is now {KEYS[part, path]}" not in helps(document((part, path))[1]):
            offenders.append(f"{part} {path}")
    assert offenders == []


def _is_not_there(part: int, under: str) -> bool:
    """Whether a mapping is nothing that the table has."""
    segments = [each for each in under.split(".") if each]
    paths = (".".join(segments[: n + 1]) for n in range(len(segments)) if not segments[n].isupper())
    return any(key_named(part, *path.rpartition(".")[::2]) is None and (part, path) not in KEYS for path in paths)


def test_each_word_that_is_gone_is_met() -> None:
    offenders = []
    for at, old, new in WORDS_THERE:
        if (at in ACTIONS and action(old) == old) or (at in CONDITIONS_AT and condition(old) == old):
            continue
        if _is_not_there(at[0], at[1]):
            continue
        if (word := old.removesuffix(" note")) in ("subscribe", "unsubscribe", "stream events"):
            old, new = word, new.removesuffix(" note")
        text = document(at, value=old)[1]
        if at in ACTIONS:  # which is judged where resources and their transitions are known
            notes = '{"resources": {"note": {"fields": {"a": {"type": "string"}}}}, '
            text = text.replace("{", notes if at[0] == 3 else notes + '"states": none, ', 1)
            text = text.replace('"states": {', '"states": {"note": none, ')
        if at[0] == 5 and not at[1].startswith("schemes"):  # so are the names of schemes, and conditions of rows
            text = text.replace("{", CALLED, 1).replace('"authentication": {', f'"authentication": {{{SCHEME}, ')
            text = text.replace('"none"', "none")
        if not any(each.startswith(f"`{old}` is now `{new}`") for each in helps(text)):
            offenders.append(f"{at[0]} {at[1]}: {old}")
    assert offenders == []


def test_each_name_that_is_gone_is_met() -> None:
    text = (CASES / "readers-that-sign-in" / "contract.md").read_text(encoding="utf-8")
    token = "key: caller.credential"
    assert token in text and "`issued.token` is now `caller.credential`" in helps(
        text.replace(token, "key: issued.token")
    )
    text = (CASES / "pages-that-tell-where-they-are" / "contract.md").read_text(encoding="utf-8")
    for old, new in PAGE.items():
        assert f"`{old}` is now `{new}`" in helps(text.replace("string(page.items.size())", f"string({old})")), old
