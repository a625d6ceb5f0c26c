"""Write the page as one file that opens from disk: scripts, colours and the answers that it shows stand in it.

A repository may hold any text. Answers stand in an element that no browser runs, with every sign escaped that could
end it; the page lets nothing run but its own scripts, which are named by their hash.
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
"""The scripts of the page, each behind those that it imports."""

Lines = Sequence[Mapping[str, Any]]
_SIGNS = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&"}
_LINK = '<link rel="stylesheet" href="page/page.css" id="__________cytoscape_stylesheet">'
_APP = '<script type="module" src="page/page.js"></script>'
_IMPORT = re.compile(r"^import \{[^}]*\} from '[^']*';\n", re.MULTILINE)


def name_question(operation: str, arguments: Mapping[str, Any]) -> str:
    """Name a question as answers.js does."""
    return json.dumps([operation, dict(sorted(arguments.items()))], separators=(",", ":"), ensure_ascii=False)


def render_page(answers: Mapping[str, Lines], start: str) -> str:
    """Write the page with the answers that it shows, by the names of their questions, and the view to start with."""
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
            _APP: f'<script type="application/json" id="answers">{escape_json(held).translate(_SIGNS)}</script>\n'
            f"<script>{library}</script>\n"
            f'<script type="module">{app}</script>',
        },
    )


def write_page(path: Path, text: str) -> Path:
    """Write a page, and give where; a PathError says why it cannot be."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as fault:
        raise refuse_file(path, fault) from fault
    return path


def _replace(text: str, parts: Mapping[str, str]) -> str:
    """Replace each part where it stands; what is put in is not looked at again."""
    pattern = "|".join(map(re.escape, parts))
    return re.sub(pattern, lambda found: parts[found[0]], text)


def join_modules() -> str:
    """Put all modules into one: none has a name twice, so what they import is there.

    Fourteen requests, each known only when the one before is answered, would take longer than all the rest.
    """
    texts = (_read(f"{name}.js") for name in MODULES)
    return "\n".join(_IMPORT.sub("", text) for text in texts)


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read(name: str) -> str:
    return (SITE / name).read_text(encoding="utf-8")
