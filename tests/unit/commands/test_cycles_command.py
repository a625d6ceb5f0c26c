"""`pkg deps --cycles --fail` fails on unknown cycles of imports, and names them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from trees import write_tree

from pkg.cli import main

FILES = {
    "shop/cart.py": "from shop.prices import find\n\n\ndef total():\n    return find()\n",
    "shop/prices.py": "from shop.cart import total\n\n\ndef find():\n    return total()\n",
    "shop/conf.py": "def read():\n    return merge()\n\n\ndef merge():\n    return read()\n",
}
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    write_tree(tmp_path / "code", FILES)

    def invoke(*words: str) -> Result:
        built = CliRunner().invoke(main, ["build", str(tmp_path / "code"), "--store", store])
        assert built.exit_code == 0, built.output
        return CliRunner().invoke(main, ["deps", "--cycles", *words, "--store", store])

    return invoke


def test_a_cycle_of_imports_fails_and_is_named(run: Run) -> None:
    result = run("--fail")
    assert result.exit_code == 1
    assert result.stderr == "pkg: cycle of imports: shop/prices.py:1 -> shop/cart.py:1 -> shop/prices.py\n"
    assert [json.loads(line)["type"] for line in result.stdout.splitlines()] == ["cycle", "coverage"]


def test_cycles_of_calls_do_not_fail(run: Run, tmp_path: Path) -> None:
    (tmp_path / "code" / "shop" / "prices.py").write_text("def find():\n    return 1\n", encoding="utf-8")
    result = run("--fail", "--format", "tree")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "0 cycles of imports, 1 of calls" in result.stdout


@pytest.mark.parametrize(
    "text",
    [
        "def find():\n    from shop.cart import total\n    return total()\n",
        "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import shop.cart\n\n\ndef find():\n    return 1\n",
    ],
)
def test_an_import_counts_wherever_it_stands(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "code" / "shop" / "prices.py").write_text(text, encoding="utf-8")
    assert run("--fail").exit_code == 1


def test_a_known_cycle_may_stay_and_shrink_but_not_grow(run: Run, tmp_path: Path) -> None:
    known = tmp_path / "known.jsonl"
    known.write_text(run("--limit", "0", "--json").stdout, encoding="utf-8")
    passed = run("--fail", "--known", str(known), "--format", "tree")
    assert (passed.exit_code, passed.stderr) == (0, "")
    assert "1 known cycles of imports are left out" in passed.stdout
    write_tree(tmp_path / "code", {
        "shop/prices.py": "import shop.tax\n" + FILES["shop/prices.py"], "shop/tax.py": "import shop.cart\n",
    })  # fmt: skip
    grown = run("--fail", "--known", str(known))
    assert (grown.exit_code, "shop/tax.py:1" in grown.stderr) == (1, True)


@pytest.mark.parametrize("text", ["no json\n", "[]\n", '{"type": "cycle"}\n', "{}\n", "[" * 100_000])
def test_an_invalid_list_of_known_cycles_is_reported(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "known.jsonl").write_text(text, encoding="utf-8")
    result = run("--fail", "--known", str(tmp_path / "known.jsonl"))
    assert result.exit_code == 1
    assert "line 1 of" in result.stderr
    assert "write the file again: pkg deps --cycles --limit 0 --json" in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["deps", "Cart", "--fail"], "write: pkg deps --cycles --fail"),
        (["deps", "--cycles", "--known", __file__], "--known lists cycles at which --fail does not fail"),
        (["deps", "--cycles", "--fail", "--known", "nowhere.jsonl"], "does not exist"),
    ],
)
def test_fail_and_known_belong_to_cycles(words: list[str], told: str) -> None:
    result = CliRunner().invoke(main, words)
    assert (result.exit_code, told in result.stderr) == (2, True), result.output
