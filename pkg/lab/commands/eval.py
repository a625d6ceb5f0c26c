"""`pkg eval`, a group of commands with a module each."""

from __future__ import annotations

import click

from pkg.lab.commands.eval_calibrate import calibrate
from pkg.lab.commands.eval_code import humaneval, mbpp
from pkg.lab.commands.eval_objectives import objectives
from pkg.lab.commands.eval_preferences import preferences
from pkg.lab.commands.eval_qa import qa
from pkg.lab.commands.eval_report import report
from pkg.lab.commands.eval_repository import repository
from pkg.lab.commands.eval_retrieval import retrieval


@click.group("eval")
def evaluate() -> None:
    """Measure models on benchmarks or on your own questions."""


for _command in (qa, retrieval, humaneval, mbpp, repository, preferences, objectives, calibrate, report):
    evaluate.add_command(_command)
