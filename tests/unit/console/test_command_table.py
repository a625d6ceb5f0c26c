"""Each command is listed once, under one heading, and imported when it is used."""

from __future__ import annotations

import subprocess
import sys
from pkgutil import iter_modules

import click
import pytest
from click.testing import CliRunner

import pkg.commands
import pkg.lab.commands
from pkg.cli import main
from pkg.console.command_table import SECTIONS


def test_every_module_of_commands_is_under_exactly_one_heading() -> None:
    listed = [name for section in SECTIONS.values() for name in section.summaries]
    modules = [each.name for package in (pkg.commands, pkg.lab.commands) for each in iter_modules(package.__path__)]
    parts = ("data_", "eval_", "report_")  # modules of subcommands, and shared ones
    assert sorted(listed) == sorted(name for name in modules if not name.startswith(parts))


def test_help_lists_every_heading_with_its_commands_in_order() -> None:
    lines = CliRunner().invoke(main, ["--help"]).output.splitlines()
    for heading, section in SECTIONS.items():
        start = lines.index(f"{heading}:") + 1
        names = [line.split()[0] for line in lines[start : start + len(section.summaries)]]
        assert names == list(section.summaries)


def test_every_summary_fits_on_a_line_of_80_characters() -> None:
    lines = CliRunner().invoke(main, ["--help"], terminal_width=80).output.splitlines()
    assert [line for line in lines[1:] if line.endswith("...")] == []


def test_every_module_holds_a_command_of_its_name_and_summary() -> None:
    for section in SECTIONS.values():
        for name, summary in section.summaries.items():
            command = main.commands[name]
            assert (command.name, command.get_short_help_str(300)) == (name, summary)


def test_help_and_completion_import_no_command() -> None:
    code = "import sys, pkg.cli; pkg.cli.main(['--help'], standalone_mode=False);"
    code += "pkg.cli.main.shell_complete(click.Context(pkg.cli.main), 'b');"
    code += "print([name for name in sys.modules if name.startswith(('pkg.commands', 'pkg.lab'))])"
    done = subprocess.run([sys.executable, "-c", f"import click; {code}"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_completion_lists_commands_with_their_summaries() -> None:
    items = main.shell_complete(click.Context(main), "di")
    assert [(each.value, str(each.help)[:15]) for each in items] == [("diff", "Compare the cod")]


@pytest.mark.parametrize("words", [["--help"], ["deps", "--help"]])
def test_help_and_a_command_of_the_product_import_nothing_of_the_laboratory(words: list[str]) -> None:
    code = f"import sys, pkg.cli; pkg.cli.main({words}, standalone_mode=False);"
    code += "print([name for name in sys.modules if name.startswith('pkg.lab')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_wrong_name_is_answered_with_a_command_of_the_laboratory_too() -> None:
    assert "bench" in CliRunner().invoke(main, ["bensh"]).stderr
