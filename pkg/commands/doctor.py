"""`pkg doctor`: check the environment, the store and the optional tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from pkg.console.options import json_option, store_options
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import make_table
from pkg.doctor import examine

if TYPE_CHECKING:
    from rich.table import Table

    from pkg.model import Finding


@click.command(epilog="Example:  pkg doctor")
@store_options
@json_option
def doctor(store: str, as_json: bool) -> None:
    """Check the environment, the store and the optional tools.

    Exits with code 1 if a required part is broken; missing optional tools are listed with the command that installs
    them.
    """
    findings = examine(store, choose_ask())
    emit(as_json, map(asdict, findings), lambda: [view_findings(findings), describe_findings(findings)])
    if any(finding.state == "broken" for finding in findings):
        raise SystemExit(1)


def describe_findings(findings: Sequence[Finding]) -> str:
    """Return whether PKG works, in one line."""
    broken = [each.name for each in findings if each.state == "broken"]
    if broken:
        return f"broken: {', '.join(broken)}; the last column has what to do"
    return "PKG works; what is missing is optional"


def view_findings(findings: Sequence[Finding]) -> Table:
    """Render the doctor's findings with the commands that fix them."""
    colours = {"ok": "green", "missing": "yellow", "broken": "red"}
    rows = [(each.name, style_words(each.state, colours[each.state]), each.detail, each.advice) for each in findings]
    return make_table(("what", "state", "found", "to do"), rows)
