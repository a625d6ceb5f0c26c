"""The documentation covers the command line, its links are valid, and the named code exists."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import cache
from itertools import pairwise
from pathlib import Path

import click
import pytest
from pages import read_blocks

from pkg.cli import main
from pkg.config import SETTINGS
from pkg.console.command_table import SECTIONS
from pkg.graph.opening import open_store
from pkg.indexing.build import build

ROOT = Path(__file__).resolve().parents[2]
COMMANDS_PAGE = ROOT / "docs" / "commands.md"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE_PAGES = ("docs/contributing.md", "docs/extending.md")
PATH = re.compile(r"`((?:pkg|tests|benchmarks|training|docs|checks|examples|\.ci)/[^`\s]*)`")
CODE_NAME = re.compile(r"`([a-z_]+(?:\.[A-Za-z_]\w*)+)`")  # module.function, module.Class.method
FILE_NAME = re.compile(r"\.(?:py|md|toml|txt|json)$")
RELATIVE_LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)")
ANCHORED_LINK = re.compile(r"\]\(((?:[\w./-]+\.md)?)#([\w-]+)\)")
FENCE = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)


def walk_commands(group: click.Group, prefix: str = "pkg") -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from walk_commands(command, f"{prefix} {name}")
        elif not command.hidden:
            yield f"{prefix} {name}", command


def walk_options(command: click.Command) -> Iterator[str]:
    for option in command.params:
        if isinstance(option, click.Option) and not option.hidden:
            yield from (flag for flag in (*option.opts, *option.secondary_opts) if flag.startswith("--"))


def mentions(text: str, words: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(words)}(?![\w-])", text) is not None


def read_reference() -> str:
    return "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "README.md", COMMANDS_PAGE))


def test_every_command_is_documented() -> None:
    reference = read_reference()
    assert [name for name, _ in walk_commands(main) if not mentions(reference, name)] == []


def test_the_table_of_tasks_has_the_headings_of_the_help_and_their_commands() -> None:
    table = read_page("docs/index.md").partition("## Which command when")[2].partition("\n## ")[0]
    headings = re.findall(r"^\| \*\*(.+)\*\* \| \|$", table, re.MULTILINE)
    assert headings == list(SECTIONS)
    for heading, section in SECTIONS.items():
        rows = table.partition(f"**{heading}**")[2].partition("**")[0]
        assert [name for name in section.summaries if f"`pkg {name}" not in rows] == []


def test_every_option_is_documented() -> None:
    reference = read_reference()
    options = [("pkg", flag) for flag in walk_options(main)]
    options += [(name, flag) for name, command in walk_commands(main) for flag in walk_options(command)]
    assert [f"{name} {flag}" for name, flag in options if not mentions(reference, flag)] == []


def test_the_help_of_every_command_shows_an_example_of_it() -> None:
    without = [
        name
        for name, command in walk_commands(main)
        if not mentions(f"{command.help or ''}\n{command.epilog or ''}", name)
    ]
    assert without == []


def test_every_option_has_a_help_text() -> None:
    silent = [
        f"{name} {option.opts[-1]}"
        for name, command in walk_commands(main)
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def test_relative_links_lead_to_files_that_exist() -> None:
    links = [(page, link) for page in PAGES for link in RELATIVE_LINK.findall(page.read_text(encoding="utf-8"))]
    assert [f"{page.relative_to(ROOT)}: {link}" for page, link in links if not (page.parent / link).exists()] == []


def list_anchors(page: Path) -> set[str]:
    """Return the anchors that a view of the repository gives to the headings of a page."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    shown = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", each) for each in headings]
    return {*re.findall(r'<a id="([\w-]+)">', text)} | {
        re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in shown
    }


def test_links_to_headings_lead_to_headings_that_exist() -> None:
    links = [(page, *link) for page in PAGES for link in ANCHORED_LINK.findall(page.read_text(encoding="utf-8"))]
    assert len(links) > 100
    broken = [
        f"{page.relative_to(ROOT)}: {file}#{anchor}"
        for page, file, anchor in links
        if anchor not in list_anchors((page.parent / file) if file else page)
    ]
    assert broken == []


def count_cells(row: str) -> int:
    return len(re.findall(r"(?<!\\)\|", row.strip())) - 1


def test_every_row_of_a_table_has_the_cells_of_its_head() -> None:
    torn, rows = [], 0
    for page in PAGES:
        lines = ["", *FENCE.sub("", page.read_text(encoding="utf-8")).splitlines()]
        for above, line in pairwise(lines):
            rows += line.startswith("|")
            if not line.startswith("|") or above.startswith("<!--"):
                continue
            # A row below a row has as many cells; a first row comes after an empty line, or it is text.
            if count_cells(line) != count_cells(above) if above.startswith("|") else above:
                torn.append(f"{page.relative_to(ROOT)}: {line[:80]}")
    assert rows > 1000
    assert torn == []


def test_every_setting_is_listed_with_its_variable_and_its_flag() -> None:
    rows = re.findall(
        r"^\| `(\w+)` \| `(\w+)` \| `(--[\w-]+)`", COMMANDS_PAGE.read_text(encoding="utf-8"), re.MULTILINE
    )
    known = [(name, f"PKG_{name.upper()}", f"--{name.replace('_', '-')}") for name in SETTINGS]
    assert sorted(rows) == sorted(known)


def read_page(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@cache
def find_modules() -> dict[str, list[ast.Module]]:
    """Return the modules of pkg by their file name without its suffix, which several may have."""
    modules: dict[str, list[ast.Module]] = defaultdict(list)
    for path in sorted((ROOT / "pkg").rglob("*.py")):
        modules[path.stem].append(ast.parse(path.read_bytes()))
    return modules


def defines(body: Sequence[ast.stmt], names: Sequence[str]) -> bool:
    """Return whether the last of some names is defined in the scope of those before it."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == names[0]:
            return len(names) == 1 or defines(statement.body, names[1:])
        targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
        if len(names) == 1 and any(isinstance(each, ast.Name) and each.id == names[0] for each in targets):
            return True
    return False


@pytest.mark.parametrize("page", CODE_PAGES)
def test_every_path_on_a_page_about_the_code_exists(page: str) -> None:
    paths = [path for path in PATH.findall(read_page(page)) if not re.search(r"/[A-Z]+\.", path)]  # NAME is yours
    assert len(paths) > 15
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_function_that_the_page_for_contributors_names_exists() -> None:
    names = [
        name.split(".") for name in CODE_NAME.findall(read_page("docs/contributing.md")) if not FILE_NAME.search(name)
    ]
    assert len(names) > 40
    missing = [
        ".".join((module, *parts))
        for module, *parts in names
        if not any(defines(tree.body, parts) for tree in find_modules().get(module, []))
    ]
    assert missing == []


def test_the_layers_on_the_page_are_those_of_the_contract() -> None:
    contract, *_ = re.findall(r"^layers = \[(.*?)^\]", read_page("pyproject.toml"), re.MULTILINE | re.DOTALL)
    layers = [layer.split(" | ") for layer in re.findall(r'"(.+)"', contract)]
    table = read_page("docs/contributing.md").partition("| layer |")[2].partition("\n\n")[0]
    assert [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.splitlines()[2:]] == layers


def test_each_line_of_the_threat_model_names_existing_tests() -> None:
    table = read_page("docs/security.md").partition("| who owns |")[2].partition("\n\n")[0].splitlines()[2:]
    files = {path.stem: path for path in (ROOT / "tests").rglob("test_*.py")}
    named = [re.findall(r"`(test_\w+)\.(test_\w+)`", row) for row in table]
    assert len(table) >= 12
    assert all(named)
    missing = [
        f"{module}.{test}"
        for module, test in (each for row in named for each in row)
        if module not in files or f"def {test}(" not in files[module].read_text(encoding="utf-8")
    ]
    assert missing == []


def test_the_make_targets_on_the_page_exist() -> None:
    targets = set(re.findall(r"`make ([a-z-]+)", read_page("docs/contributing.md")))
    assert {"test", "lint"} <= targets
    assert targets <= set(re.findall(r"^([a-z-]+):", read_page("Makefile"), re.MULTILINE))


def test_the_call_on_the_page_becomes_the_edge_that_it_shows(tmp_path: Path) -> None:
    (code,) = read_blocks("docs/contributing.md", "python")
    (shown,) = re.findall(r"^ *(\{\"type\":\"relation\".*\})$", read_page("docs/contributing.md"), re.MULTILINE)
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "dates.py").write_text(code, encoding="utf-8")
    with closing(open_store(f"sqlite:///{tmp_path / 'graph.db'}", create=True)) as store:
        build(str(tmp_path / "shop"), store)
        lines = list(store.export())
    assert [line for line in lines if line.get("name") == "CALLS"] == [json.loads(shown)]
    assert {line["name"] for line in lines if line.get("label") == "Call"} == {"text.split"}
