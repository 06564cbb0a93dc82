"""Patterns that are compiled when they are asked find what those of `re` find, and those of libraries do."""

from __future__ import annotations

import re
import subprocess
import sys
import threading

from ninefold.diagnostics import regex

WRITTEN = r"""
# A heading with *emphasis*, `code`, <b>HTML</b> and &amp; &copy; &#35; \*not\*

Paragraph <https://shop.example/a?b=c> and <ann@shop.example>, [a link](</a b> "title"), ![image](x.png)
with a hard break\
and ~~nothing~~ else.

<div class="x">

- one
  1. two

      code

</div>

> quoted
~~~yaml
a: 1
~~~

Setext
======

| a | b |
|---|---|
| 1 | 2 |

***

[reference]: https://shop.example/%7Ea (title)

<!-- a comment -->
"""

READ = "{a: 1, b: 0x1F, c: 1.5e3, d: 2026-11-29, e: 2026-11-29T00:50:00Z, f: yes, g: 1:30, h: ~, i: 'x\u00e9', j: 0o7}"

RENDERS = f"""
import html, sys
IMPORTS
for options in ("commonmark", "default", "gfm-like"):
    try:
        print(MarkdownIt(options).render({WRITTEN!r}))
    except ModuleNotFoundError as error:  # of what finds links in plain text
        print(error)
print(yaml.load({READ!r}, yaml.SafeLoader), yaml.load({READ!r}, yaml.CSafeLoader), yaml.safe_dump({READ!r}))
try:
    yaml.load("a: \\x07", yaml.SafeLoader)
except yaml.YAMLError as error:
    print(error)
print(type(yaml.reader.Reader.NON_PRINTABLE).__name__, file=sys.stderr)
"""


def rendered(imports: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", RENDERS.replace("IMPORTS", imports)]
    return subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")


def test_libraries_read_and_render_what_they_do_otherwise() -> None:
    usual = rendered("import yaml; from markdown_it import MarkdownIt")
    ours = rendered("from ninefold.syntax.libraries import MarkdownIt, yaml")
    assert "<em>emphasis</em>" in usual.stdout and "datetime" in usual.stdout
    assert ours.stdout == usual.stdout
    assert (usual.stderr.strip(), ours.stderr.strip()) == ("Pattern", "_Pattern")


def test_only_the_thread_that_imports_is_concerned_and_only_meanwhile() -> None:
    found = list[object]()
    with regex.when_asked():
        own = re.compile("a+", re.IGNORECASE)
        other = threading.Thread(target=lambda: found.append(re.compile("a+b")))
        other.start()
        other.join()
        assert own.fullmatch("aA") is not None, "it can be asked while it is imported"
        assert re.compile(re.compile("b")) is not None
    assert not isinstance(own, re.Pattern)
    assert all(isinstance(each, re.Pattern) for each in (*found, re.compile("a+c")))
    assert own.findall("bAab") == ["Aa"] and own.flags & re.IGNORECASE
