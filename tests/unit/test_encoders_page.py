"""The page on encoders has the figures of the result file, and names every encoder."""

from __future__ import annotations

import json
import re

from pages import ROOT

from pkg.encode.registry import DEFAULT_ENCODER, KINDS

PAGE = (ROOT / "docs" / "encoders.md").read_text(encoding="utf-8")
RESULT = json.loads((ROOT / "benchmarks" / "results" / "encoders.json").read_text(encoding="utf-8"))["encoders"]


def read_row(name: str) -> list[str]:
    """Return the cells of the row of an encoder in the table of costs."""
    (row,) = re.findall(rf"^\| `{re.escape(name)}` \| ([\d,]+ \|.*) \|$", PAGE, re.MULTILINE)
    return str(row).split(" | ")


def test_the_costs_are_the_measured_ones() -> None:
    assert DEFAULT_ENCODER in RESULT
    for name, figures in RESULT.items():
        assert read_row(name) == [
            f"{round(figures['functions_per_cpu_second']):,}",
            f"{figures['start_cpu_seconds']:.{2 if figures['start_cpu_seconds'] < 0.1 else 1}f}",
            f"{round(figures['memory_mb']):,} MB",
            str(figures.get("too_long", 0)),
        ]


def test_every_encoder_is_described() -> None:
    for kind in KINDS.values():
        assert f"`{kind.syntax.replace('[', '').replace(']', '')}`" in PAGE or f"`{kind.syntax}`" in PAGE
        assert not kind.extra or f"'.[{kind.extra}]'" in PAGE
