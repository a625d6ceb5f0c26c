"""Each command is listed once, under one heading; those of the laboratory are imported when they are looked up."""

from __future__ import annotations

import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from pkg.cli import main
from pkg.console.command_table import HEADINGS, PLACES, CommandTable


def test_every_command_is_under_exactly_one_heading() -> None:
    listed = [name for names in HEADINGS.values() for name in names]
    assert sorted(listed) == sorted(main.commands)


def test_help_lists_every_heading_with_its_commands_in_order() -> None:
    lines = CliRunner().invoke(main, ["--help"]).output.splitlines()
    shown = {
        heading: [line.split()[0] for line in lines[start : start + len(names)]]
        for heading, names in HEADINGS.items()
        for start in [lines.index(f"{heading}:") + 1]
    }
    assert shown == {heading: list(names) for heading, names in HEADINGS.items()}


def test_every_place_holds_a_command_of_its_name_and_summary() -> None:
    for name, place in PLACES.items():
        command = main.commands[name]
        assert (command.name, command.get_short_help_str(200)) == (name, place.summary)


@pytest.mark.parametrize("words", [["--help"], ["deps", "--help"]])
def test_help_and_a_command_of_the_product_import_nothing_of_the_laboratory(words: list[str]) -> None:
    code = f"import sys, pkg.cli; pkg.cli.main({words}, standalone_mode=False);"
    code += "print([name for name in sys.modules if name.startswith('pkg.lab')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_wrong_name_is_answered_with_a_command_of_the_laboratory_too() -> None:
    assert "bench" in CliRunner().invoke(main, ["bensh"]).stderr


def test_a_table_takes_and_forgets_commands() -> None:
    table = CommandTable()
    table["own"] = click.Command("own")
    assert set(table) == {"own", *PLACES}
    del table["own"]
    assert set(table) == set(PLACES)
    assert len(table) == len(PLACES)
