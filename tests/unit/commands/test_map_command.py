"""Output of `pkg map`, and the page of `pkg deps --html`."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from odd_shop import ODD_SHOP
from trees import write_tree

from pkg.api import build_graph
from pkg.cli import main


@pytest.fixture(name="store")
def build_shop(tmp_path: Path) -> str:
    write_tree(tmp_path / "shop", ODD_SHOP)
    address = f"sqlite:///{tmp_path}/graph.db"
    build_graph(tmp_path / "shop", store=address)
    return address


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def test_a_map_has_a_line_for_each_folder_and_import(store: str) -> None:
    lines = [json.loads(line) for line in run("map", "--store", store, "--json").stdout.splitlines()]
    folders = {line["path"]: line for line in lines if line["type"] == "folder"}
    assert set(folders) == {"shop", "shop/reports", "tests"}
    assert [(line["start"], line["end"]) for line in lines if line["type"] == "import"] == [
        ("shop/reports", "shop"), ("tests", "shop"),
    ]  # fmt: skip
    assert (lines[-1]["type"], lines[-1]["folder_cycles"], lines[-1]["file_cycles"]) == ("coverage", 0, 1)


def test_files_are_listed_on_request(store: str) -> None:
    lines = [json.loads(line) for line in run("map", "shop", "--files", "--store", store, "--json").stdout.splitlines()]
    cyclic = {line["path"] for line in lines if line["type"] == "file" and line["cycle"]}
    assert cyclic == {"shop/orders.py", "shop/prices.py"}
    assert all(line["between"] in ("files", "folders") for line in lines if line["type"] == "import")


def test_a_person_sees_a_table_with_cycles_marked(store: str) -> None:
    from rich.console import Console

    from pkg.api import open_graph
    from pkg.commands.map import view_map

    with open_graph(store) as graph:
        found = graph.map()
    console = Console(width=160, record=True, file=StringIO())
    console.print(*view_map(found, with_files=True))
    shown = console.export_text()
    row = next(line for line in shown.splitlines() if line.startswith("shop/orders.py"))
    assert "shop/prices.py*" in row
    assert "1 of files" in shown


def test_a_row_is_one_line_where_the_output_is_no_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    folder = "a_folder_with_a_long_name/" * 5
    tree = write_tree(tmp_path / "deep", {f"{folder}a.py": "import os\n", "b.py": "import os\n"})
    address = f"sqlite:///{tmp_path}/deep.db"
    build_graph(tree, store=address)
    assert f"{folder[:-1]} " in run("map", "--store", address, "--no-json").stdout


@pytest.mark.parametrize("command", [("map",), ("deps", "add_tax"), ("deps", "add_tax", "--impact")])
def test_a_page_is_written_and_named(store: str, tmp_path: Path, command: tuple[str, ...]) -> None:
    page = tmp_path / "page.html"
    ran = run(*command, "--store", store, "--html", str(page), "--json")
    assert ran.exit_code == 0
    assert json.loads(ran.stdout) == {"type": "file", "path": str(page)}
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    "options", [("--cycles",), ("add_tax", "--unused"), ("add_tax", "--format", "dot"), ("--path", "odd", "add_tax")]
)
def test_a_page_of_anything_else_is_refused(store: str, tmp_path: Path, options: tuple[str, ...]) -> None:
    ran = run("deps", *options, "--store", store, "--html", str(tmp_path / "page.html"))
    assert ran.exit_code == 2
    assert "--html writes the page around a name" in ran.stderr
    assert not (tmp_path / "page.html").exists()


def test_a_missing_folder_is_a_failure(store: str, tmp_path: Path) -> None:
    ran = run("map", "--store", store, "--html", str(tmp_path / "nowhere" / "page.html"))
    assert (ran.exit_code, "No such file" in ran.stderr) == (1, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--limit", "3"), "does not use --limit"),
        (("--depth", "2", "--direction", "in"), "does not use --depth, --direction"),
        (("--relation", "calls"), "does not use --relation"),
        (("--doubtful",), "does not use --doubtful"),
        (("--fail",), "--fail needs --cycles"),
        (("--known", __file__), "--known lists cycles"),
    ],
)
def test_an_option_that_a_page_does_not_use_is_refused(
    store: str, tmp_path: Path, options: tuple[str, ...], said: str
) -> None:
    ran = run("deps", "add_tax", *options, "--store", store, "--html", str(tmp_path / "page.html"))
    assert ran.exit_code == 2
    assert said in ran.stderr
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("command", [("map",), ("deps", "Order.total"), ("deps", "Order.total", "--impact")])
def test_a_page_of_changed_files_is_marked_as_stale(store: str, tmp_path: Path, command: tuple[str, ...]) -> None:
    asked = (*command, "--store", store, "--html", str(tmp_path / "page.html"))
    assert "stale" not in run(*asked).stderr
    changed = tmp_path / "shop" / "shop" / "orders.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "\nX = 1\n", encoding="utf-8")
    ran = run(*asked)
    assert ran.exit_code == 0
    assert "stale: since shop was built, shop/orders.py changed" in ran.stderr
