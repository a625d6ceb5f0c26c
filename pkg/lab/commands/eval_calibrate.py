"""`pkg eval calibrate`: learn when to show code, write the rules, and show their effect on other items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from pkg.console.options import json_option
from pkg.console.settings import decode_option, decode_options
from pkg.console.streams import emit, style_words
from pkg.console.tables import make_table
from pkg.lab.lab_api import calibrate_gate

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.lab.evaluation.code.gate_calibration import Calibration, Effect


COLUMNS = ("column", "shown where", "learned: shown", "fixed", "broken", "held out: shown", "fixed", "broken", "always")


@click.command("calibrate", epilog="Example:  pkg eval calibrate run run-mbpp -o gate.json")
@click.argument("paths", metavar="FOLDER...", nargs=-1, required=True, callback=decode_options)
@click.option(
    "--output", "-o", callback=decode_option, metavar="FILE", help="Output file of the rules, for pkg query --gate."
)
@click.option(
    "--below", type=click.FloatRange(0), metavar="N", help="Restrict the rules to models of fewer parameters."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the training half.")
@json_option
def calibrate(paths: tuple[str, ...], output: str | None, below: float | None, seed: int, as_json: bool) -> None:
    """Learn from runs when to show code to the model.

    A rule is a minimum for one signal of the search; its effect is measured on held-out items. If no rule gains, code
    is never shown.
    """
    from pkg.lab.evaluation.code.gate_calibration import list_rows

    found = calibrate_gate(paths, output, below=below, seed=seed)
    emit(as_json, list_rows(found), lambda: _view(found))


def _view(found: Calibration) -> Iterator[RenderableType]:
    yield style_words(f"{', '.join(found.models)}; {', '.join(found.benchmarks)}", "bold")
    rows = [
        [
            style_words(cell)
            for cell in (
                each.column,
                "never" if each.bounds is None else _say_bounds(each.bounds),
                *_say(each.learned),
                *_say(each.held_out),
                f"+{each.always.fixed} -{each.always.broken}",
            )
        ]
        for each in found.columns
    ]
    yield make_table(COLUMNS, rows, right=COLUMNS[2:])
    for each in found.columns:
        told = [f"{name} +{effect.fixed} -{effect.broken}" for name, effect in each.controls.items() if effect.shown]
        if told:
            yield style_words(f"{each.column}, controls on the items it is shown for: {', '.join(told)}", "dim")
    yield style_words("fixed, broken: beside no code; always: held out, if code were shown for every item", "dim")


def _say(effect: Effect) -> tuple[str, ...]:
    return f"{effect.shown}/{effect.items}", str(effect.fixed), str(effect.broken)


def _say_bounds(bounds: Mapping[str, float]) -> str:
    return " and ".join(f"{name} >= {least:g}" for name, least in bounds.items()) or "always"
