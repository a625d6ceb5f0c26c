"""Make the helper texts of facts: their code as code, and their prose as comments (P-12).

A prompt for a program shows helpers as Python, so that prose between them would not parse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pkg.extract.fences import PROMPT, dedent
from pkg.generation.prompt_templates.prompt_template import HelperText
from pkg.generation.prompt_templates.template_lines import comment
from pkg.model import Hit

_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})([\w+-]*)")
_PYTHON = ("", "python", "python3", "py")


def show_fact(hit: Hit) -> HelperText:
    """Return a fact below its keys."""
    place = f"{hit.path}:{hit.start_line}-{hit.end_line} {hit.qualname}"
    is_code = hit.kind == "code" and not PROMPT.search(hit.content.encode("utf-8", "replace"))
    lines = _align(hit.pruned_content) if is_code else list(_list_lines(hit.pruned_content))
    return HelperText(place, "\n".join((comment(hit.qualname, "# "), *lines)))


def _align(code: str) -> list[str]:
    """Return code without the indentation of its later lines, whose first line has lost its own."""
    first, *others = code.encode("utf-8", "replace").split(b"\n")
    return [first.decode(), *(line.decode() for line in dedent(others))]


def _list_lines(text: str) -> Iterator[str]:
    """Yield prose as comments, and the lines in fences of Python as they are."""
    fence, is_python = "", False
    for line in text.splitlines():
        found = _FENCE.match(line)
        if found and not fence:
            fence, is_python = line.strip()[:3], found[1].lower() in _PYTHON
        elif fence and line.strip().startswith(fence):
            fence = ""
        elif fence and is_python:
            yield line
        elif line.strip():
            yield comment(line.strip(), "# ")
