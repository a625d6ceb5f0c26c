from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from scripted_model import Asked, ScriptedModel

from pkg.cli import main
from pkg.errors import InputError, PathError, UsageError
from pkg.lab import evaluate_repository, report_evaluation
from pkg.lab.evaluation.code.code_report import CodeReport, ConditionFigures
from pkg.lab.evaluation.code.evaluation_conditions import MASKED_ONLY, REPOSITORY
from pkg.lab.evaluation.report.code_sections import list_sections
from pkg.lab.evaluation.report.report_format import render_markdown
from pkg.lab.evaluation.repository import project_tests
from pkg.sandbox.protocol import Limits

MODULE = '''"""Prices of a shop."""

import functools

RATE = 20


def add_tax(net):
    """Give a price with tax."""
    tax = net * RATE // 100
    return net + tax


def add_tax_copy(price):
    """Add what the state wants."""
    part = price * RATE // 100
    return price + part


class Container:
    """Whatever holds things."""

    def count(self):
        return len(self.items)


class Basket(Container):
    """Things to buy."""

    def __init__(self):
        self.items = []

    def put(self, net):
        self.items.append(net)
        return self

    @property
    def total(self):
        """Give the sum of all prices with tax."""
        return sum(add_tax(net) for net in self.items)

    def name(self):
        """Give the name."""
        return "basket"

    def describe(self):
        """Say how many things there are."""
        count = len(self.items)
        return f"{count} things"


def never_called(a):
    """Return an unused value."""
    b = a + 1
    return b


def log_only(text):
    """Note a text."""
    lines = [text]
    del lines


def without_docstring(a):
    b = a + 1
    return b


def broken(a):
    """Be wrong."""
    b = a - 1
    return b
'''
TESTS = """import pytest

from shop.prices import Basket, add_tax, add_tax_copy, broken, log_only


@pytest.mark.parametrize("net", [100, 200])
def test_add_tax(net):
    assert add_tax(net) == net * 6 // 5


def test_total():
    assert Basket().put(100).put(50).total == 180


def test_describe(tmp_path):
    (tmp_path / "note").write_text("x")
    assert Basket().put(1).describe() == "1 things"


def test_copy():
    assert add_tax_copy(100) == 120


def test_log():
    try:
        log_only("a")
    except NotImplementedError:
        pass


def test_broken():
    assert broken(1) == 2
"""
TRUE = {
    "def add_tax(net)": "    tax = net * RATE // 100\n    return net + tax\n",
    "def add_tax_copy(price)": "    part = price * RATE // 100\n    return price + part\n",
    "def total(self)": "        return sum(add_tax(net) for net in self.items)\n",
    "def describe(self)": '        count = len(self.items)\n        return f"{count} things"\n',
}
IDS = {
    "shop/prices.py::add_tax",
    "shop/prices.py::add_tax_copy",
    "shop/prices.py::Basket.total",
    "shop/prices.py::Basket.describe",
}


@pytest.fixture(name="project", scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("home") / "project"
    (root / "shop").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\naddopts = "--cov=shop"\n')
    (root / "shop" / "__init__.py").touch()
    (root / "shop" / "prices.py").write_text(MODULE)
    (root / "tests" / "test_prices.py").write_text(TESTS)
    return root


@pytest.fixture(name="items", scope="module")
def shared_items(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the items, which are found once for all tests of this module."""
    return tmp_path_factory.mktemp("items")


def list_files(root: Path) -> dict[str, bytes]:
    return {str(each.relative_to(root)): each.read_bytes() for each in root.rglob("*") if each.is_file()}


def answer(asked: Asked) -> str:
    return next(body for header, body in TRUE.items() if header in asked[-1].content)


def run(project: Path, out: Path, items: Path, model: ScriptedModel, **options: Any) -> CodeReport:
    _, report = evaluate_repository(project, model, out, items=items, jobs=1, **options)
    assert report is not None
    return report


def by_name(report: CodeReport) -> dict[str, ConditionFigures]:
    return {each.column: each for each in report.columns}


def read_contexts(out: Path) -> dict[tuple[str, str], str]:
    rows = [json.loads(line) for line in (out / "contexts.jsonl").read_text().splitlines()]
    return {
        (row["finder"], row["item"].rpartition("::")[2]): "\n".join(code for _, code in row["context"]["helpers"])
        for row in rows
    }


def test_items_are_functions_whose_tests_fail_without_them(project: Path, items: Path, tmp_path: Path) -> None:
    before = list_files(project)
    found, report = evaluate_repository(project, None, tmp_path / "run", items=items, jobs=1)
    assert report is None
    assert {each.function.id for each in found.items} == IDS
    (failing,) = found.failing
    assert "test_broken" in failing
    assert found.left_out == {"no passing test reaches it": 2, "its tests pass without its body": 1}
    assert list_files(project) == before
    tests = {each.function.name: each.tests for each in found.items}
    assert tests["describe"] == ("tests/test_prices.py::test_describe",)
    assert "tests/test_prices.py::test_add_tax[100]" in tests["add_tax"]
    again, _ = evaluate_repository(project, None, tmp_path / "run", items=items, python=sys.executable)
    assert again == found


@dataclass(frozen=True)
class SolvedRun:
    """A run whose model answers with the true bodies: its folder, model and report."""

    out: Path
    model: ScriptedModel
    report: CodeReport


@pytest.fixture(scope="module")
def solved(project: Path, items: Path, tmp_path_factory: pytest.TempPathFactory) -> SolvedRun:
    out, model = tmp_path_factory.mktemp("solved") / "run", ScriptedModel(answer)
    return SolvedRun(out, model, run(project, out, items, model))


def test_true_bodies_solve_every_item_in_every_column(project: Path, items: Path, solved: SolvedRun) -> None:
    report, model = solved.report, solved.model
    figures = by_name(report)
    assert set(figures) == set(REPOSITORY)
    assert {each.solved for each in figures.values()} == {4}
    assert {kind: each[0].items for kind, each in report.kinds.items()} == {"calls the project": 1, "stands alone": 3}
    markdown = render_markdown(list_sections([report]))
    assert "| column: calls the project |" in markdown
    assert "paper" not in markdown
    assert report_evaluation(solved.out) == report
    asked = len(model.asked)
    assert run(project, solved.out, items, model) == report
    assert len(model.asked) == asked


def test_nothing_that_is_shown_gives_the_function_away(solved: SolvedRun) -> None:
    shown = read_contexts(solved.out)
    for (finder, name), code in shown.items():
        assert "def test_" not in code
        if finder != "gold" and name in ("add_tax", "add_tax_copy"):
            assert "RATE // 100" not in code  # neither its own body nor that of its copy
    assert "net * RATE // 100" in shown["gold", "add_tax"]
    assert "def add_tax(net)" in shown["deps", "Basket.total"]
    assert "self.items" not in shown["deps", "Basket.total"]
    assert "attributes of self: items" in shown["deps", "Basket.total"]
    assert "def count(self)" in shown["deps", "Basket.describe"]
    assert "def count(self)" not in shown["deps", "add_tax"]
    assert "RATE = 20" in shown["deps", "add_tax"]


def test_columns_beyond_the_default_ones_are_answered_on_the_same_items(
    project: Path, items: Path, tmp_path: Path
) -> None:
    columns = ["none", *MASKED_ONLY]
    report = run(project, tmp_path / "run", items, ScriptedModel(answer), columns=columns, limit=1)
    figures = by_name(report)
    assert set(figures) == set(columns)
    assert {(each.items, each.solved) for each in figures.values()} == {(1, 1)}
    shown = read_contexts(tmp_path / "run")
    assert {finder for finder, _ in shown} == set(MASKED_ONLY)
    assert not any("for net in self.items" in code for code in shown.values())  # the body of the item


FORGED = """
import json, os, sys
frame = sys._getframe()
while "listener" not in frame.f_locals:
    frame = frame.f_back
ends = {name: ["passed", 0.0, "", ""] for name in frame.f_locals["names"]}
value = json.dumps(json.dumps({"code": 0, "broken": [], "python": "3", "ends": ends}))
body = json.dumps({"kind": "ok", "detail": "", "seconds": 0.0, "value": value}).encode()
os.write(3, len(body).to_bytes(4, "big") + body)
os._exit(0)
"""
HOSTILE = {
    "import os; os._exit(0)": "ended before it reported",
    "import sys; sys.exit(0)": "SystemExit",
    "import pytest; pytest.exit('passed', 0)": "did not pass",
    "import pytest; pytest.skip()": "did not pass",
    f"exec({FORGED!r})": "a test that has to fail was reported as passed",
    "print('4 passed in 0.01s')": "AssertionError",
    "while True: pass": "used more than",
    "import shutil; shutil.rmtree('tests'); shutil.rmtree('/', ignore_errors=True)": "",
    "open('tests/test_prices.py', 'w').write('def test_add_tax(): pass')": "AssertionError",
    "return [0] * 10 ** 12": "MemoryError",
    "return (": "AssertionError",
}


@pytest.mark.parametrize(("body", "detail"), HOSTILE.items(), ids=(body[:30] for body in HOSTILE))
def test_a_hostile_answer_does_not_pass(
    body: str, detail: str, project: Path, items: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate_repository(project, None, tmp_path / "run", items=items, jobs=1)  # with the default limits
    monkeypatch.setattr(project_tests, "RUN_LIMITS", Limits(2.0, 15.0, 1 << 30, processes=64))
    before = list_files(project)
    model = ScriptedModel(lambda asked: f"        {body}\n")
    report = run(project, tmp_path / "run", items, model, columns=["none"], limit=1)
    assert report.columns[0].solved == 0
    (record,) = map(json.loads, (tmp_path / "run" / "records.jsonl").read_text().splitlines())
    assert record["item"] == "shop/prices.py::Basket.total"
    assert detail in record["detail"]
    assert list_files(project) == before


def test_an_answer_that_says_everything_anew_goes_where_the_body_stood(
    project: Path, items: Path, tmp_path: Path
) -> None:
    def write(asked: Asked) -> str:
        if "def add_tax(net)" in asked[-1].content:
            return (
                "```python\nfrom math import floor\n\nPART = RATE\n\ndef helper(x):\n    return floor(x)\n\n"
                "def add_tax(net):\n    return net + helper(net * PART / 100)\n\nprint(add_tax(1))\n```"
            )
        return "```python\nclass Basket:\n    @property\n    def total(self):\n        return 180\n```"

    report = run(project, tmp_path / "run", items, ScriptedModel(write, can_prime=False), columns=["none"])
    records = [json.loads(line) for line in (tmp_path / "run" / "records.jsonl").read_text().splitlines()]
    passed = {each["item"] for each in records if each["passed"]}
    assert passed == {"shop/prices.py::add_tax", "shop/prices.py::Basket.total"}
    assert report.columns[0].errors["NameError"] == 2  # the other answers do not define the function


def test_bad_input_is_told(project: Path, items: Path, tmp_path: Path) -> None:
    def find(path: Path, **options: Any) -> None:
        evaluate_repository(path, None, tmp_path / "out", jobs=1, **options)

    with pytest.raises(PathError, match="no folder"):
        find(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no Python file"):
        find(tmp_path / "empty")
    with pytest.raises(PathError, match="not a Python that can be run"):
        find(project, python=str(tmp_path / "python"))
    with pytest.raises(UsageError, match="no column 'bm25' of masked functions"):
        find(project, columns=["bm25"])
    with pytest.raises(InputError, match="pytest runs no test"):
        find(project, tests=["shop"])
    with pytest.raises(InputError, match=r"no item in project: .*its tests pass without its body"):
        find(project, tests=["tests/test_prices.py::test_log"])
    copy = Path(shutil.copytree(project, tmp_path / "project"))
    (copy / "shop" / "prices.py").write_text("def f(a):\n    b = a\n    return b\n")
    with pytest.raises(InputError, match="has a docstring"):
        find(copy)
    with pytest.raises(UsageError, match="give another folder"):
        find(copy, items=items)


def test_an_interpreter_without_pytest_is_told(project: Path, tmp_path: Path) -> None:
    import venv

    venv.create(tmp_path / "bare", symlinks=True)
    with pytest.raises(InputError, match="no pytest"):
        evaluate_repository(project, None, tmp_path / "out", python=str(tmp_path / "bare" / "bin" / "python"), jobs=1)


def test_the_command_lists_the_items_without_a_model(project: Path, items: Path, tmp_path: Path) -> None:
    words = ["eval", "repository", str(project), "--out", str(tmp_path / "run"), "--items", str(items), "--json"]
    done = CliRunner().invoke(main, words, env={"PKG_MODEL": ""})
    assert done.exit_code == 0, done.output
    (line,) = done.stdout.splitlines()
    assert set(json.loads(line)["items"]) == IDS


def test_an_unknown_part_is_a_usage_error_that_names_the_parts(project: Path, tmp_path: Path) -> None:
    words = ["eval", "repository", str(project), "--out", str(tmp_path / "run"), "--columns", "none,func-pkg:code"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 2
    assert "no column 'func-pkg:code'; expected func-pkg:PART" in done.stderr
    assert "signature, docstring, usage, body" in " ".join(done.stderr.split())
