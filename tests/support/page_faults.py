"""Find accessibility faults of a page by the rules of axe-core, which is included with its licence."""

from __future__ import annotations

from pathlib import Path

from chromium import Page

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
_RUN = """axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations
    .filter((each) => ['serious', 'critical'].includes(each.impact))
    .map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(' ')).slice(0, 5).join(', ')}`))"""


def find_faults(page: Page) -> list[str]:
    """Return the serious and critical faults of the displayed page, each with its place."""
    page.run(f"{AXE.read_text(encoding='utf-8')}\n;undefined")
    found: list[str] = page.run(_RUN)
    return found
