"""`pkg impact`: results by file, listed tests, and refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from git_trees import make_repository
from trees import open_graph_at, write_tree

from pkg.cli import main
from pkg.indexing.build import build

FILES = {
    "shop/prices.py": "def load():\n    return {}\n\n\ndef find_price(item):\n    return load()[item]\n",
    "shop/start.py": "from shop.prices import find_price\n\n\ndef main():\n    find_price(1)\n\n\nmain()\n",
    "tests/test_prices.py": "from shop.prices import find_price\n\n\ndef test_price():\n    assert find_price(1)\n",
}
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    top = tmp_path / "code"
    make_repository(top, FILES)
    write_tree(top, {"shop/prices.py": FILES["shop/prices.py"].replace("return {}", "return {1: 1}")})
    store = open_graph_at(tmp_path / "graph.db")
    build(str(top), store)
    store.close()

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, ["impact", *words, "--store", f"sqlite:///{tmp_path / 'graph.db'}"])

    return invoke


def test_a_diff_is_shown_by_file_with_separate_tests(run: Run) -> None:
    shown = run("--diff", "HEAD", "--format", "tree").stdout
    assert "└── shop/prices.py  load  changed" in shown
    assert "├── shop/prices.py (1)\n│   └── 1  shop/prices.py:5  find_price  calls load at 6" in shown
    assert shown.index("may break\n") < shown.index("tests that reach it\n└── tests/test_prices.py (")
    assert "2  tests/test_prices.py:4  test_price  calls find_price at 5" in shown


def test_json_lines_have_targets_changes_and_affected_code(run: Run) -> None:
    lines = [json.loads(line) for line in run("--diff", "HEAD").stdout.splitlines()]
    assert [line["type"] for line in lines[:2]] == ["target", "change"]
    assert {"path": "shop/prices.py", "qualname": "load", "how": "changed"}.items() <= lines[1].items()
    assert {line["qualname"] for line in lines if line["type"] == "affected"} >= {"find_price", "main", "test_price"}
    assert (lines[-1]["type"], lines[-1]["same_name"], lines[-1]["reasons"]) == ("coverage", 0, [])


def test_the_tests_are_written_as_arguments_of_pytest(run: Run) -> None:
    assert run("load", "--tests").stdout == "tests/test_prices.py::test_price\n"
    result = run("shop/start.py", "--tests")
    assert (result.stdout, result.stderr, result.exit_code) == ("", "pkg: no test reaches it\n", 0)


def test_without_known_tests_calls_that_may_be_in_tests_are_listed(run: Run, tmp_path: Path) -> None:
    more = {
        "shop/till.py": "def settle():\n    return 1\n\n\ndef close():\n    settle()\n\n\ndef count():\n    return 2\n",
        "tests/test_till.py": (
            "import queue\n\n\ndef test_settle(till):\n    till.settle()\n\n\n"
            "def test_count():\n    queue.Queue().get().count()\n"
        ),
    }
    write_tree(tmp_path / "code", more)
    settled = run("settle", "--tests", "--fresh").stderr
    assert "no test reaches it\npkg: 1 call of settle could not be resolved, so more may break\n" in settled
    counted = run("shop/till.py::count", "--tests").stderr
    assert "1 that could not be resolved, first at tests/test_till.py:9" in counted


def test_only_links_of_the_given_kinds_are_followed(run: Run) -> None:
    lines = [json.loads(line) for line in run("find_price", "--relation", "imports,inherits").stdout.splitlines()]
    assert {line["relation"] for line in lines if line["type"] == "affected"} == {"RESOLVES_TO"}


def test_entry_points_of_frameworks_are_listed_on_request(run: Run, tmp_path: Path) -> None:
    assert "entries reached" not in run("find_price", "--format", "tree").stdout
    route = "from shop.prices import find_price\n\n\n@app.get('/price')\ndef show_price():\n    return find_price(1)\n"
    write_tree(tmp_path / "code", {"shop/views.py": route})
    shown = run("load", "--entries", "--fresh", "--format", "tree").stdout
    assert "entries reached\n└── shop/views.py:4  GET /price  show_price  certain\n" in shown
    (entry,) = [json.loads(line) for line in run("load", "--entries").stdout.splitlines() if '"entry"' in line]
    assert (entry["by"], entry["qualname"], entry["confidence"]) == ("GET /price", "show_price", "certain")


def test_the_counts_are_shown_on_request(run: Run) -> None:
    words = "load", "--format", "tree"
    assert "call sites into affected code" not in run(*words).stdout
    assert run(*words, "--explain").stdout.startswith(run(*words).stdout)
    assert "call sites into affected code" in run(*words, "--explain").stdout


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 2, "no name was given; expected a function, class, constant or file"),
        (["--diff", ""], 2, "the revision to compare with is empty"),
        (["load", "--staged"], 2, "give one of them"),
        (["load", "--relation", "likes"], 2, "unknown kind 'likes'; expected calls, imports"),
        (["load", "--tests", "--json"], 2, "--tests writes names for pytest"),
        (["--diff", "nowhere"], 1, "has no revision 'nowhere'"),
        (["--staged"], 1, "no Python file differs between HEAD and what is staged"),
        (["nowhere"], 1, "no function, class, constant or file 'nowhere'"),
    ],
)
def test_failures_are_reported_with_their_exit_code(run: Run, words: list[str], code: int, told: str) -> None:
    result = run(*words)
    assert (result.exit_code, told in result.stderr) == (code, True), result.output
