"""Render the page as one file that opens from disk, with its scripts, styles and answers inlined.

Answers quote untrusted code. They are in a script element of type JSON, with all characters escaped that could end it;
the content security policy allows only our own scripts, by their hash.
"""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pkg.errors import refuse_file
from pkg.quoting.hidden_characters import escape_json

SITE = Path(__file__).parent / "site"
MODULES = (
    "words", "answers", "highlight", "layout", "drawing", "places", "code", "links", "impact", "around", "symbol",
    "search", "map", "app",
)  # fmt: skip
"""The scripts of the page, each after those that it imports."""

Lines = Sequence[Mapping[str, Any]]
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
_LINK = '<link rel="stylesheet" href="page/page.css" id="__________cytoscape_stylesheet">'
_APP = '<script type="module" src="page/page.js"></script>'
_IMPORT = re.compile(r"^import \{[^}]*\} from '[^']*';\n", re.MULTILINE)


def name_question(operation: str, arguments: Mapping[str, Any]) -> str:
    """Return the key of a question, as answers.js builds it."""
    return json.dumps([operation, dict(sorted(arguments.items()))], separators=(",", ":"), ensure_ascii=False)


def render_page(answers: Mapping[str, Lines], start: str) -> str:
    """Return the page as HTML, with its answers by the key of their question and the view to open first."""
    style, library, app = _read("page.css"), _read("vendor/cytoscape.min.js"), join_modules()
    policy = (
        f"default-src 'none'; script-src {_hash(library)} {_hash(app)}; style-src {_hash(style)};"
        " base-uri 'none'; form-action 'none'"
    )
    held = json.dumps({"start": start, "answers": answers}, ensure_ascii=False, separators=(",", ":"))
    return _replace(
        _read("page.html"),
        {
            _LINK: f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            f'<style id="__________cytoscape_stylesheet">{style}</style>',
            _APP: f'<script type="application/json" id="answers">{escape_json(held).translate(_ESCAPES)}</script>\n'
            f"<script>{library}</script>\n"
            f'<script type="module">{app}</script>',
        },
    )


def write_page(path: Path, text: str) -> Path:
    """Write a page and return its path; raises PathError."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as fault:
        raise refuse_file(path, fault) from fault
    return path


def _replace(text: str, parts: Mapping[str, str]) -> str:
    """Replace all parts in one pass, so that inserted text is not replaced again."""
    pattern = "|".join(map(re.escape, parts))
    return re.sub(pattern, lambda found: parts[found[0]], text)


def join_modules() -> str:
    """Join all modules into one; their names are unique, so imports can be dropped.

    Fourteen requests, each known only after the answer to the last, would take longer than the rest of the page.
    """
    texts = (_read(f"{name}.js") for name in MODULES)
    return "\n".join(_IMPORT.sub("", text) for text in texts)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (SITE / name).read_text(encoding="utf-8")
