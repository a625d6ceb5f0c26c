"""The checks of a clean checkout: sections wait for those they need, failures are named, slow tests too."""

from __future__ import annotations

import subprocess
from pathlib import Path
from threading import Event

import pytest
from ci_sections import (
    OWN_SERVERS,
    Outcome,
    Section,
    TimedTest,
    list_sections,
    read_report,
    render_summary,
    run_all,
)

ROOT = Path(__file__).resolve().parents[3]
FIRST, SECOND = Section("first", ("true",)), Section("second", ("true",), after=("first",))
THIRD = Section("third", ("true",), after=("second",))


def test_a_section_starts_after_those_that_it_needs() -> None:
    started: list[str] = []

    def run(section: Section) -> Outcome:
        started.append(section.name)
        return Outcome(section, 0)

    outcomes = run_all([THIRD, SECOND, FIRST], run)
    assert started == ["first", "second", "third"]
    assert [each.status for each in outcomes] == [0, 0, 0]


def test_two_sections_that_share_nothing_run_beside_each_other() -> None:
    met = {"left": Event(), "right": Event()}

    def run(section: Section) -> Outcome:
        met[section.name].set()
        return Outcome(section, 0 if all(event.wait(60) for event in met.values()) else 1)

    outcomes = run_all([Section("left", ()), Section("right", ())], run, lanes=2)
    assert [each.status for each in outcomes] == [0, 0]


def test_what_needs_a_failed_section_is_left_out_and_the_rest_runs() -> None:
    other = Section("other", ("true",))
    outcomes = run_all([FIRST, SECOND, THIRD, other], lambda each: Outcome(each, 2 if each is FIRST else 0), lanes=1)
    found = {each.section.name: (each.status, each.note) for each in outcomes}
    assert found == {
        "first": (2, ""),
        "second": (None, "not run: first did not pass"),
        "third": (None, "not run: second did not pass"),
        "other": (0, ""),
    }


def test_every_section_needs_only_sections_that_there_are(tmp_path: Path) -> None:
    sections = list_sections(tmp_path, "python3", tmp_path)
    names = {each.name for each in sections}
    assert [each.name for each in sections if not names.issuperset(each.after)] == []
    assert {"Python 3.10", "Python 3.13", "Python 3.14"} == {each.name for each in sections if each.missing}


def test_every_file_with_tests_of_servers_of_their_own_is_there() -> None:
    assert [path for path in OWN_SERVERS if not (ROOT / path).is_file()] == []


def test_every_make_target_of_a_section_is_in_the_makefile(tmp_path: Path) -> None:
    wanted = {each.command[1] for each in list_sections(tmp_path, "python3", tmp_path) if each.command[0] == "make"}
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [target for target in wanted if f"\n{target}:" not in makefile] == []


def test_the_summary_counts_tests_and_names_the_slowest(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite tests="3" failures="1" errors="0" skipped="1">'
        '<testcase file="a.py" name="test_a" time="1.5"/><testcase file="a.py" name="test_b" time="0.5"/>'
        '<testcase file="b.py" name="test_c" time="2"/></testsuite></testsuites>'
    )
    note, tests = read_report("first", report)
    assert note == "1 passed, 1 failed, 1 skipped"
    assert tests[0] == TimedTest("first", "a.py::test_a", 1.5)
    lines = render_summary([Outcome(FIRST, 1, 12.4, 20.6, note, tests)], 13).splitlines()
    assert lines[2].split(maxsplit=5) == [
        "12",
        "s",
        "21",
        "CPU-s",
        "first",
        "FAILED (1)  1 passed, 1 failed, 1 skipped",
    ]
    assert [line.split()[-1] for line in lines if "::" in line] == ["b.py::test_c", "a.py::test_a", "a.py::test_b"]


@pytest.mark.parametrize("script", [".ci/run", "checks/install_system_packages.sh", "checks/with_docker.sh"])
def test_scripts_are_valid_and_executable(script: str) -> None:
    assert (ROOT / script).stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", ROOT / script], check=False).returncode == 0
