"""A source that is resolved by parts: links, updates, and failures that cost one part."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from part_trees import LOW, MIDDLE, TOP, TREE
from trees import FEW_EXAMPLES, export_lines, open_graph_at, write_tree

from pkg.indexing import part_links, part_solving
from pkg.indexing.build import build
from pkg.indexing.part_solving import PartJob, SolvedPart, solve_job
from pkg.model import Label, RelationType
from pkg.resolution import solved_parts, source_parts
from pkg.resolution.machine import Machine
from pkg.units import UnitText


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split every folder."""
    monkeypatch.setattr(source_parts, "MOST_FILES", 1)


def build_calls(folder: Path, files: dict[str, str]) -> set[tuple[str, str, str | None]]:
    """Return the calls of a tree: caller, callee and confidence."""
    write_tree(folder / "repo", files)
    with closing(open_graph_at(folder / "graph.db")) as store:
        report = build(str(folder / "repo"), store, source="repo")
        assert report.errors == ()
        assert store.check() == []
        names = {each.id: each.qualname or each.path for each in store.nodes([*Label])}
        found = store.edges([RelationType.CALLS])
        return {(names[each.start] or "", names[each.end] or "", each.confidence) for each in found}


def test_a_part_is_resolved_with_what_it_imports(tmp_path: Path) -> None:
    found = build_calls(tmp_path, TREE)
    assert {
        ("start", "Base.run", "certain"),
        ("start", "Base.__init__", "certain"),
        ("start", "make", "certain"),
        ("start", "call", "certain"),
        ("Work.step", "Base.__len__", "likely"),
        ("main", "start", "certain"),
        ("main", "Size.count", "certain"),
        ("start", "Work.step", "certain"),
        ("script.py", "main", "certain"),
    } <= found


def test_links_of_a_package_are_those_of_a_source_without_its_importers(tmp_path: Path) -> None:
    alone, whole = build_calls(tmp_path / "alone", LOW), build_calls(tmp_path / "whole", TREE)
    inside = {name for start, end, _ in alone for name in (start, end)}
    assert {each for each in whole if {each[0], each[1]} <= inside and each[0] != "Work.step"} == alone


STATES = st.lists(
    st.fixed_dictionaries(
        {
            "low/base.py": st.sampled_from((LOW["low/base.py"], "class Base:\n    def run(self): return 1\n", None)),
            "low/tools.py": st.sampled_from(
                (LOW["low/tools.py"], "# moved\n" + LOW["low/tools.py"], "def same(v): pass\n")
            ),
            "middle/work.py": st.sampled_from((MIDDLE["middle/work.py"], "def start(): pass\n", None)),
            "middle/more.py": st.sampled_from((None, "from low.base import Size\n\nSize().count()\n")),
            "top/main.py": st.sampled_from(
                (TOP["top/main.py"], "def main(): pass\n", "import low\n\nlow.call(print)\n")
            ),
            "low/up.py": st.sampled_from((None, None, "from middle.work import start\n\nstart()\n")),
            "next/__init__.py": st.sampled_from((None, "")),
        }
    ),
    min_size=2,
    max_size=4,
)


@FEW_EXAMPLES
@given(states=STATES)
def test_a_source_after_edits_equals_a_fresh_build(
    tmp_path_factory: pytest.TempPathFactory, states: list[dict[str, str | None]]
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    with closing(open_graph_at(folder / "graph.db")) as store:
        for state in states:
            shutil.rmtree(folder / "repo", ignore_errors=True)
            write_tree(folder / "repo", {path: text for path, text in (TREE | state).items() if text is not None})
            build(str(folder / "repo"), store)
            assert store.check() == []
        with closing(open_graph_at(folder / "fresh.db")) as fresh:
            build(str(folder / "repo"), fresh)
            assert export_lines(store) == export_lines(fresh)


def test_an_edit_solves_its_part_and_those_that_see_another_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved: list[str] = []

    def note(folder: str, source: str, package: str, job: PartJob) -> SolvedPart:
        solved.append(job.paths[0])
        return solve_job(folder, source, package, job)

    monkeypatch.setattr(part_links, "solve_job", note)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:

        def edit(path: str, text: str) -> list[str]:
            solved.clear()
            write_tree(tmp_path / "repo", {path: text})
            build(str(tmp_path / "repo"), store)
            return sorted(solved)

        write_tree(tmp_path / "repo", TREE)
        assert edit("more.py", "") == ["low/__init__.py", "middle/__init__.py", "more.py", "top/__init__.py"]
        assert edit("top/main.py", "# moved\n" + TREE["top/main.py"]) == []
        assert edit("low/tools.py", LOW["low/tools.py"] + "\n\nlen([])\n") == ["low/__init__.py"]
        assert edit("low/tools.py", "def same(value):\n    return 1\n") == [
            "low/__init__.py", "middle/__init__.py", "more.py", "top/__init__.py",
        ]  # fmt: skip


def test_a_part_gains_its_first_importer(tmp_path: Path) -> None:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        for files in (LOW | {"other/__init__.py": ""}, MIDDLE):
            write_tree(tmp_path / "repo", files)
            build(str(tmp_path / "repo"), store)
        with closing(open_graph_at(tmp_path / "fresh.db")) as fresh:
            build(str(tmp_path / "repo"), fresh)
            assert export_lines(store) == export_lines(fresh)


def test_a_fault_in_a_rule_names_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call = Machine._call_attribute

    def fail(machine: Machine, *rest: Any) -> Any:
        if machine.code.qualname == "finish":
            raise KeyError("made to fail")
        return call(machine, *rest)

    monkeypatch.setattr(Machine, "_call_attribute", fail)
    write_tree(tmp_path / "repo", TREE)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        errors = build(str(tmp_path / "repo"), store).errors
    line = TREE["middle/work.py"].splitlines().index("    work.step().count()") + 1
    assert {(each.path, each.line) for each in errors} == {("middle/work.py", line)}


def test_a_part_that_cannot_be_solved_costs_its_own_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solve = solved_parts.solve_part

    def fail(units: Mapping[str, UnitText], *rest: Any) -> solved_parts.Solution:
        if "middle/work.py" in units and "top/main.py" not in units:
            raise RuntimeError("made to fail")
        return solve(units, *rest)

    monkeypatch.setattr(part_solving, "solve_part", fail)
    write_tree(tmp_path / "repo", TREE)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        report = build(str(tmp_path / "repo"), store)
        assert [(each.stage, each.path) for each in report.errors] == [("resolve", "middle/__init__.py")]
        assert store.check() == []
        files = {each.start for each in store.edges([RelationType.CALLS])}
        assert files
        monkeypatch.setattr(part_solving, "solve_part", solve)
        write_tree(tmp_path / "repo", {"more.py": ""})
        assert build(str(tmp_path / "repo"), store).errors == ()
        with closing(open_graph_at(tmp_path / "fresh.db")) as fresh:
            build(str(tmp_path / "repo"), fresh)
            assert export_lines(store) == export_lines(fresh)


@pytest.mark.parametrize("limits", [(1, 100), (100, 1)])
def test_a_source_that_passes_the_limit_is_resolved_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: tuple[int, int]
) -> None:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        for limit, text in zip(limits, ("", "import low\n\nlow.make()\n"), strict=True):
            monkeypatch.setattr(source_parts, "MOST_FILES", limit)
            write_tree(tmp_path / "repo", TREE | {"more.py": text})
            build(str(tmp_path / "repo"), store)
        with closing(open_graph_at(tmp_path / "fresh.db")) as fresh:
            build(str(tmp_path / "repo"), fresh)
            assert export_lines(store) == export_lines(fresh)
        write_tree(tmp_path / "repo", {"more.py": "# moved\nimport low\n\nlow.make()\n"})
        build(str(tmp_path / "repo"), store)
        assert store.check() == []


def test_imports_that_are_not_followed_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_parts, "MOST_MERGED", 1)
    files = {
        "one/__init__.py": "", "one/a.py": "from two.b import step\n\n\ndef run(): return step()\n",
        "one/c.py": "import two.b\n\ntwo.b.step()\n",
        "two/__init__.py": "", "two/b.py": "def step(): from one.a import run; return run()\n",
    }  # fmt: skip
    write_tree(tmp_path / "repo", files)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        report = build(str(tmp_path / "repo"), store, source="repo")
        assert [each.path for each in report.skipped] == ["two/"]
        assert "imports of one/ in 1 file are not followed" in report.skipped[0].reason
        assert [each.path for each in store.stats().skipped] == ["two/"]
        calls = store.edges([RelationType.CALLS])
        names = {each.id: each.qualname or each.path for each in store.nodes([*Label])}
        assert {(names[each.start], names[each.end]) for each in calls} == {("run", "step"), ("one/c.py", "step")}


def test_a_large_package_is_resolved_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_parts, "MOST_MERGED", 2)
    files = {f"big/{path.replace('low/', 'low/core/')}": text for path, text in (LOW | MIDDLE).items()} | {
        "big/__init__.py": "", "big/low/__init__.py": "", "big/middle/work.py": """from big.low.core import Base


class Work(Base):
    def step(self):
        return len(self)


def start():
    Work().run()
""",
    }  # fmt: skip
    write_tree(tmp_path / "repo", files)
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        report = build(str(tmp_path / "repo"), store, source="repo")
        assert [str(each) for each in report.skipped] == [
            "big/: calls of its imported folders into those that import them are not followed: the package has 7 files"
            " and is resolved in parts"
        ]
        names = {each.id: each.qualname or each.path for each in store.nodes([*Label])}
        calls = {(names[each.start], names[each.end]) for each in store.edges([RelationType.CALLS])}
        assert {("start", "Base.run"), ("Base.run", "Base.step"), ("Work.step", "Base.__len__")} <= calls
        assert ("Base.run", "Work.step") not in calls
        write_tree(tmp_path / "repo", {"big/low/core/tools.py": "def call(): return 1\n"})
        build(str(tmp_path / "repo"), store, source="repo")
        with closing(open_graph_at(tmp_path / "fresh.db")) as fresh:
            build(str(tmp_path / "repo"), fresh, source="repo")
            assert export_lines(store) == export_lines(fresh)
