"""Look for what shuts people out of a page: the rules of axe-core, which lies beside with its licence."""

from __future__ import annotations

from pathlib import Path

from chromium import Page

AXE = Path(__file__).parent / "vendor" / "axe.min.js"
_RUN = """axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations
    .filter((each) => ['serious', 'critical'].includes(each.impact))
    .map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(' ')).slice(0, 5).join(', ')}`))"""


def find_faults(page: Page) -> list[str]:
    """List the serious and critical faults of what a page shows, each with where it is."""
    page.run(f"{AXE.read_text(encoding='utf-8')}\n;undefined")
    found: list[str] = page.run(_RUN)
    return found
