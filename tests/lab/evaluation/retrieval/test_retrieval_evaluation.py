from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pkg.cli import main

CODE = {
    "shop/prices.py": '''
def add_tax(price, rate):
    """Add the value added tax to a price."""
    if rate < 0:
        raise ValueError(rate)
    return price * (1 + rate)


def round_price(price):
    """Round a price to whole cents."""
    return round(price, 2)
''',
    "shop/files.py": '''
class Ledger:
    """A file of bookings."""

    def read_bookings(self, path):
        """Read all bookings from a file."""
        with open(path) as file:
            return file.read().splitlines()
''',
    "copies/prices.py": '''
def round_price(price):
    """Round a price to whole cents."""
    return round(price, 2)
''',
}
QUERIES = {"q1": "add tax to a price", "q2": "read bookings from a file", "q3": "round a price to cents"}
GOLD = {
    "q1": "shop/prices.py::add_tax",
    "q2": "shop/files.py::Ledger.read_bookings",
    "q3": "copies/prices.py::round_price",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PKG_STORE", f"sqlite:///{tmp_path / 'graph.db'}")
    for name, text in CODE.items():
        (tmp_path / "code" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "code" / name).write_text(text, encoding="utf-8")
    write_qrels(tmp_path, GOLD)
    lines = [json.dumps({"_id": name, "text": text}) for name, text in QUERIES.items()]
    (tmp_path / "queries.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def write_qrels(place: Path, gold: dict[str, str]) -> None:
    text = "query-id\tcorpus-id\tscore\n" + "".join(f"{query}\t{answer}\t1\n" for query, answer in gold.items())
    (place / "qrels.tsv").write_text(text, encoding="utf-8")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def evaluate(*arguments: str) -> Result:
    return run("eval", "retrieval", "--queries", "queries.jsonl", "--qrels", "qrels.tsv", *arguments)


def read_lines(result: Result) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    *rows, total = (json.loads(line) for line in result.stdout.splitlines())
    return rows, total


def test_every_mode_is_asked_by_every_ranking_that_it_has(place: Path) -> None:
    assert run("build", "code").exit_code == 0
    rows, total = read_lines(evaluate())
    asked = {(row["mode"], row["ranking"]) for row in rows}
    everywhere = {(mode, name) for mode in ("function", "block", "file") for name in ("bm25", "dense", "rrf", "linear")}
    assert asked == everywhere | {("function", "lexical")}
    assert (total["questions"], total["gold"], total["gold_missing"]) == (3, 3, {"function": 0, "block": 0, "file": 0})


def test_right_answers_are_found_also_where_a_copy_stands_for_them(place: Path) -> None:
    assert run("build", "code").exit_code == 0
    rows, _ = read_lines(evaluate("--mode", "function", "--ranking", "linear"))
    assert [(row["without"], row["mrr@10"], row["recall@1"], row["empty"]) for row in rows if not row["without"]] == [
        ("", 1.0, 1.0, 0)
    ]


def test_what_changes_no_order_is_told_once_and_has_no_row(place: Path) -> None:
    assert run("build", "code").exit_code == 0
    rows, total = read_lines(evaluate("--ranking", "linear"))
    told = {note.partition(" changes nothing")[0] + note.rpartition(" ")[2] for note in total["notes"]}
    flags = {"--no-declarationsfunction", "--no-declarationsblock", "--blocks innerblock", "--blocks bodyblock"}
    assert flags == {row["without"] + row["mode"] for row in rows if row["without"]} | (told & flags)


def test_answers_that_are_not_in_the_graph_are_counted_and_count_as_missed(place: Path) -> None:
    assert run("build", "code").exit_code == 0
    write_qrels(place, GOLD | {"q3": "gone.py::round_price"})
    (row,), total = read_lines(evaluate("--mode", "function", "--ranking", "rrf"))
    assert (total["gold_missing"], total["first_missing"]) == ({"function": 1}, {"function": "gone.py::round_price"})
    assert row["recall@100"] == pytest.approx(2 / 3, abs=1e-4)


def test_rows_of_a_corpus_are_known_by_their_ids(place: Path) -> None:
    rows = [{"_id": f"d{number}", "text": text} for number, text in enumerate(CODE.values())]
    (place / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert run("build", "rows.jsonl").exit_code == 0
    write_qrels(place, {"q1": "d0", "q2": "d1"})
    found, total = read_lines(evaluate("--ranking", "linear"))
    assert {row["mode"] for row in found} == {"function", "block"}
    assert all(row["mrr@10"] == 1.0 for row in found if row["mode"] == "function")
    assert total["left_out"]["questions without a right answer"] == 1


def test_a_limit_asks_the_first_questions_and_tells_of_the_others(place: Path) -> None:
    assert run("build", "code").exit_code == 0
    _, total = read_lines(evaluate("--limit", "2", "--ranking", "dense", "--mode", "function"))
    assert (total["questions"], total["left_out"]["questions beyond the limit"]) == (2, 1)


def test_a_person_sees_a_table_of_each_mode_that_fits_a_terminal(place: Path) -> None:
    assert run("build", "code").exit_code == 0
    shown = evaluate("--no-json").stdout
    assert all(f"mode {mode}" in shown for mode in ("function", "block", "file"))
    assert "NDCG@10" in shown
    assert all(len(line) <= 80 for line in shown.splitlines() if line.startswith(("linear", "bm25", "ranking")))


@pytest.mark.parametrize(
    ("gold", "arguments", "message"),
    [
        pytest.param({"q1": "nowhere.py::f"}, (), "none of the 1 right answers is a function of", id="other code"),
        pytest.param(GOLD, ("--source", "other"), "no source 'other'", id="an unknown source"),
    ],
)
def test_a_graph_of_something_else_is_refused(
    place: Path, gold: dict[str, str], arguments: tuple[str, ...], message: str
) -> None:
    assert run("build", "code").exit_code == 0
    write_qrels(place, gold)
    result = evaluate(*arguments)
    assert result.exit_code in (1, 2)
    assert message in result.stderr


def test_a_graph_without_the_nodes_of_a_mode_says_so(place: Path) -> None:
    (place / "only.py").write_text("LIMIT = 3\n", encoding="utf-8")
    assert run("build", "only.py").exit_code == 0
    result = evaluate()
    assert (result.exit_code, result.stderr.startswith("pkg: no functions in ")) == (1, True)


def test_no_graph_at_all_says_how_to_build_one(place: Path) -> None:
    result = evaluate()
    assert (result.exit_code, "pkg build" in result.stderr) == (1, True)
