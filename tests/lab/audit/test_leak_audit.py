from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pkg
from pkg.api import open_graph
from pkg.cli import main
from pkg.errors import InputError, PathError, UsageError
from pkg.lab import audit_graph
from pkg.lab.audit.leak_audit import find_leaks, mark_around, read_marks, read_solutions
from pkg.model import Leak

TASKS = '''
def shell_sort(items):
    gap = len(items) // 2
    while gap > 0:
        for i in range(gap, len(items)):
            current = items[i]
            j = i
            while j >= gap and items[j - gap] > current:
                items[j] = items[j - gap]
                j -= gap
            items[j] = current
        gap //= 2
    return items


def greatest_common_divisor(a: int, b: int) -> int:
    """Find it."""
    while b:
        a, b = b, a % b
    return a


def is_even(number):
    return number % 2 == 0


def add(first, second):
    return first + second
'''
CODE = '''
def order(values: list) -> list:
    """Order values by Shell's method."""
    n = len(values)
    gap = n // 2
    while gap > 0:
        for place in range(gap, n):
            held = values[place]
            at = place
            while at >= gap and values[at - gap] > held:
                values[at] = values[at - gap]
                at -= gap
            values[at] = held
        gap //= 2
    return values


class Solution:
    """Solve."""

    def reduce_fractions(self, pairs):
        def gcd(x, y):
            while y:
                x, y = y, x % y
            return x

        found = []
        for above, below in pairs:
            found.append((above // gcd(above, below), below // gcd(above, below)))
        return found

    def count_pairs(self, pairs):
        return len(pairs)


def is_even(word):
    """Return whether a word has an even number of letters."""
    return not len(word) & 1


def add(basket, thing):
    basket.things.append(thing)
    basket.total += thing.price
    return basket


def is_odd(number):
    return number % 2 == 1


def divide(values):
    return order([value / greatest(values) for value in values])
'''


@pytest.fixture(name="store")
def graph(tmp_path: Path) -> str:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "code.py").write_text(CODE)
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(folder, store=address)
    return address


@pytest.fixture(name="tasks")
def solutions(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.py"
    path.write_text(TASKS)
    return path


def run(store: str, tasks: Path) -> list[dict[str, Any]]:
    result = CliRunner().invoke(main, ["audit", "--store", store, "--against", str(tasks)])
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_functions_are_marked_by_code_by_name_and_by_tokens(store: str, tasks: Path) -> None:
    *leaks, counts = run(store, tasks)
    assert {(each["qualname"], each["task"], each["kind"]) for each in leaks} == {
        ("order", "shell_sort", "similar"),
        ("Solution.reduce_fractions.gcd", "greatest_common_divisor", "same_code"),
        ("is_even", "is_even", "same_name"),  # a name of two words; add is only a namesake
    }
    assert next(each["similarity"] for each in leaks if each["kind"] == "same_code") == 1
    assert (counts["tasks"], counts["leaked"], counts["functions"], counts["share"]) == (4, 3, 3, 0.75)
    assert counts["by_source"] == {"code": 3}
    assert counts["by_kind"] == {"same_code": 1, "same_name": 1, "similar": 1}
    assert (counts["compared"], counts["unread"]) == (8, 0)


def test_nodes_that_show_leaked_code_are_marked_and_sibling_methods_are_not(store: str, tasks: Path) -> None:
    run(store, tasks)
    with open_graph(store) as opened:
        marked = {node.qualname: node.label for node in opened.store.get([each for each, _ in opened.store.leaks()])}
    assert "Solution" in marked
    assert "Solution.reduce_fractions" in marked
    assert not marked.keys() & {"Solution.count_pairs", "add", "is_odd", "divide"}


@pytest.mark.parametrize("mode", ["block", "function", "both", "declaration", "file"])
def test_a_query_excludes_marked_nodes_in_every_mode(store: str, tasks: Path, mode: Any) -> None:
    run(store, tasks)
    leaked = {"order", "Solution.reduce_fractions.gcd", "Solution.reduce_fractions", "is_even", "Solution"}
    with open_graph(store) as opened:
        found, cleared = (
            opened.query("order values in place by gaps, reduce", mode=mode, top_k=20, exclude_leaks=left_out)
            for left_out in (False, True)
        )
    names = {hit.qualname for hit in found.hits} | {each.qualname for hit in found.hits for each in hit.functions}
    assert names & leaked
    kept = {hit.qualname for hit in cleared.hits} | {each.qualname for hit in cleared.hits for each in hit.functions}
    assert not kept & leaked
    assert cleared.coverage.notes[-1].startswith("excluded as leaked solutions: 3 functions for tasks.py; ")


def test_leaked_code_is_not_a_helper(store: str, tasks: Path) -> None:
    run(store, tasks)
    with open_graph(store) as opened:
        asked: dict[str, Any] = {"mode": "function", "top_k": 1, "helpers": "all"}
        found = opened.query("divide values by the greatest", **asked)
        cleared = opened.query("divide values by the greatest", **asked, exclude_leaks=True)
    assert [(hit.qualname, [each.qualname for each in hit.helpers]) for hit in found.hits] == [("divide", ["order"])]
    assert [(hit.qualname, hit.helpers) for hit in cleared.hits] == [("divide", ())]


def test_a_long_question_excludes_marked_nodes(store: str, tasks: Path) -> None:
    run(store, tasks)
    text = "The function `order` in code.py is wrong.\n\n" + "It should put values in their places by gaps. " * 30
    with open_graph(store) as opened:
        assert "order" in {hit.qualname for hit in opened.query(text, mode="function", top_k=9).hits}
        cleared = opened.query(text, mode="function", top_k=9, exclude_leaks=True)
    assert "order" not in {hit.qualname for hit in cleared.hits}


def test_a_graph_without_an_audit_cannot_exclude_leaks(store: str) -> None:
    with open_graph(store) as opened, pytest.raises(UsageError, match="pkg audit --against"):
        opened.query("order values", exclude_leaks=True)


def test_an_outdated_audit_is_reported(store: str, tasks: Path, tmp_path: Path) -> None:
    run(store, tasks)
    with open_graph(store) as opened:
        assert [each.benchmark for each in opened.stats().audits] == ["tasks.py"]
        assert opened.stats().outdated_audits == ()
    (tmp_path / "code" / "code.py").write_text(CODE.replace("Order values", "Sort values"))
    pkg.build_graph(tmp_path / "code", store=store)
    with open_graph(store) as opened:
        assert opened.stats().outdated_audits == ("tasks.py",)
        notes = opened.query("order values", exclude_leaks=True).coverage.notes
    assert "the audit against tasks.py is older than the graph; run pkg audit again" in notes
    assert "older than the graph" in CliRunner().invoke(main, ["stats", "--store", store, "--no-json"]).output


def test_marks_are_computed_in_memory_without_a_current_audit(store: str, tasks: Path) -> None:
    found = read_solutions(str(tasks), Path())
    with open_graph(store) as opened:
        before = read_marks(opened.store, found)
        assert (opened.store.generation(), list(opened.store.leaks())) == (1, [])
        audit_graph(opened, [str(tasks)])
        assert read_marks(opened.store, found) == {each: list(leaks) for each, leaks in before.items()}


def test_a_later_audit_replaces_the_marks_of_the_same_file(store: str, tasks: Path) -> None:
    run(store, tasks)
    tasks.write_text(TASKS[TASKS.index("def is_even") :])
    *leaks, _ = run(store, tasks)
    assert [each["qualname"] for each in leaks] == ["is_even"]
    with open_graph(store) as opened:
        assert {leak.task for _, each in opened.store.leaks() for leak in each} == {"is_even"}


def test_rows_have_their_solution_and_their_task_in_usual_fields(tmp_path: Path) -> None:
    rows = [
        {
            "task_id": "T/1",
            "prompt": "def f(a):\n",
            "canonical_solution": "    return g(a)\n",
            "entry_point": "f",
        },
        {"id": 7, "code": "def other():\n    pass\ndef wanted(a, b):\n    return a\n", "entry_point": "wanted"},
        {"solution": "def first(): pass\ndef last(x, y, z): pass"},
        {"solution": "print(1)"},
    ]
    path = tmp_path / "my tasks.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = read_solutions(str(path), Path())
    assert found.name == "my_tasks.jsonl"
    named = [(each.task, each.shape.name, each.shape.arguments) for each in found.solutions]
    assert named == [("T/1", "f", 1), ("7", "wanted", 2), ("3", "last", 3)]
    assert (found.tasks, found.unread) == (4, ("4",))


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.jsonl", '{"text": "no code"}\n', "line 1: no solution \\(fields: text\\); expected one of: canonical_s"),
        ("a.jsonl", "", "holds no solution"),
        ("a.jsonl", "[1]\n", "line 1: expected a JSON object"),
        ("a.py", "x = 1\n", "holds no solution"),
        ("a.py", "def (\n", "not valid Python"),
    ],
)
def test_a_file_without_solutions_is_refused(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=told):
        read_solutions(str(tmp_path / name), Path())


def test_a_missing_file_is_refused_with_the_names_of_benchmarks() -> None:
    with pytest.raises(PathError, match="no file humanevil to audit against; expected it or one of: humaneval, "):
        read_solutions("humanevil", Path())


def test_all_nodes_inside_of_a_function_get_its_marks(store: str, tasks: Path) -> None:
    with open_graph(store) as opened:
        (report,) = find_leaks(opened.store, [read_solutions(str(tasks), Path())])
        marks = mark_around(opened.store, report.functions)
        order = next(each for each in report.functions if each.qualname == "order")
        inside = [node.id for node in opened.store.subtree(order.id)]
    assert inside
    leak = Leak("tasks.py", "shell_sort", "similar", order.leaks[0].similarity)
    assert all(leak in marks[each] for each in inside)
