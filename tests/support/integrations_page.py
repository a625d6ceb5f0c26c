"""The page about frameworks, section by section."""

from __future__ import annotations

import doctest
import re

from pages import ROOT

PAGE = ROOT / "docs" / "integrations.md"


def run_page(*wanted: str) -> int:
    """Run the examples of the page's introduction and of the named sections; return their number."""
    beginning, *sections = re.split(r"^## (?=.)", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    named = {text.partition("\n")[0]: text for text in sections}
    blocks = (
        re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
        for text in (beginning, *(named[name] for name in wanted))
    )
    session = "\n".join(block for found in blocks for block in found)
    said: list[str] = []
    examples = doctest.DocTestParser().get_doctest(session, {}, PAGE.name, str(PAGE), 0)
    failed, tried = doctest.DocTestRunner().run(examples, out=said.append)
    assert failed == 0, "".join(said)
    return tried
