"""Write the table of rules of docs/resolution.md from the result file of benchmarks/dynamic_edges.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pkg.model import CERTAIN, LIKELY, POSSIBLE
from pkg.resolution.site_outcomes import find_grade

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "resolution.md"
RESULT = ROOT / "benchmarks" / "results" / "dynamic_edges.json"
BEGIN, END = "<!-- rules: begin -->\n", "<!-- rules: end -->\n"
SETS = ("overall", "held_out")


def render_table(rules: dict[str, dict[str, dict[str, dict[str, Any]]]]) -> str:
    """Render a row for each rule: its grade, and the observed share of the judged edges for each confidence."""
    lines = ["| rule | grade | certain | likely | possible |", "|---|---|---|---|---|"]
    for rule, found in sorted(rules.items()):
        cells = (_render_cell(found.get(each, {})) for each in (CERTAIN, LIKELY, POSSIBLE))
        lines.append(f"| `{rule}` | {find_grade(rule).name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _render_cell(found: dict[str, dict[str, Any]]) -> str:
    parts = (f"{found[name]['seen']:.2f} of {found[name]['judged']:,}" if name in found else "-" for name in SETS)
    return "; ".join(parts) if found else ""


def split_page(page: str) -> tuple[str, str, str]:
    """Split the page into the text before the table, the table, and the text after it."""
    before, _, rest = page.partition(BEGIN)
    table, _, after = rest.partition(END)
    return before + BEGIN, table, END + after


def main() -> None:
    """Write the table into the page."""
    before, _, after = split_page(PAGE.read_text(encoding="utf-8"))
    table = render_table(json.loads(RESULT.read_text(encoding="utf-8"))["rules"])
    PAGE.write_text(before + table + after, encoding="utf-8")


if __name__ == "__main__":
    main()
