"""The table of rules of docs/resolution.md has the figures of the result file."""

from __future__ import annotations

import json

from rules_table import PAGE, RESULT, render_table, split_page


def test_the_table_is_that_of_the_result_file() -> None:
    _, table, _ = split_page(PAGE.read_text(encoding="utf-8"))
    assert table == render_table(json.loads(RESULT.read_text(encoding="utf-8"))["rules"])


def test_a_rule_has_the_shares_of_both_sets_of_packages() -> None:
    rules = {"argument": {"likely": {"overall": {"judged": 1234, "seen": 0.5}, "held_out": {"judged": 2, "seen": 1.0}}}}
    assert render_table(rules).splitlines()[2] == "| `argument` | firm |  | 0.50 of 1,234; 1.00 of 2 |  |"
