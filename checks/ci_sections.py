"""Run all checks of a clean checkout: independent sections in parallel, then report their seconds and CPU seconds.

Each section is one command; its output is printed whole when it ends. A section waits for its prerequisites and is
skipped if one of them failed; the others run to their end. Exits with 1 if a section failed. Run by .ci/run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LANES = 3  # sections at a time: one more than the processors of the smallest machine, because sections often wait
SLOWEST = 30  # tests listed in the summary
LEFT_OUT = "long random searches, the commands of docs/generate.md, one of two versions of Neo4j where others ask both"

# Tests that depend on the version of Python: parsing and running code, tracing calls, processes, signals, terminals,
# and packages whose pins differ by version. All others compute the same result on each.
VERSIONED = (
    "tests/unit/extract tests/unit/sandbox tests/unit/rerank tests/unit/trace tests/unit/commands tests/unit/console"
    " tests/unit/encode tests/unit/vectors tests/unit/test_api.py tests/unit/test_cli.py tests/unit/test_project.py"
    " tests/unit/resolution/test_shapes_are_true.py tests/unit/indexing/test_workers.py tests/e2e/test_interrupt.py"
)

OWN_SERVERS = tuple(
    f"tests/e2e/test_{name}.py" for name in ("bulk_import", "neo4j_servers", "served_neo4j", "server_faults")
)
"""Tests that kill, starve and restart the servers that they start."""


@dataclass(frozen=True, slots=True)
class Section:
    """One command of the checks, with the names of its prerequisites."""

    name: str
    command: tuple[str, ...]
    after: tuple[str, ...] = ()
    is_test: bool = False
    missing: str = ""  # why it cannot run here; it is then named in the summary


@dataclass(frozen=True, slots=True)
class TimedTest:
    """One test item with its seconds: set-up, call and tear-down."""

    section: str
    name: str
    seconds: float


@dataclass(slots=True)
class Outcome:
    """Result of a section: its exit status (None if it did not run), seconds, CPU seconds, counts and tests."""

    section: Section
    status: int | None
    seconds: float = 0.0
    cpu: float = 0.0  # of all processes that ended before the section
    note: str = ""
    tests: list[TimedTest] = field(default_factory=list)


def make(target: str, *variables: str) -> tuple[str, ...]:
    """Return the command of a make target."""
    return ("make", target, *variables)


def list_sections(scratch: Path, python: str, pyenv: Path) -> list[Section]:
    """Return all sections, the longest first among those that can start together."""
    ready = ("install", "system packages")
    fetched = (*ready, "environments")
    return [
        Section("system packages", ("checks/install_system_packages.sh",)),
        Section("install", make("install", f"PYTHON={python}")),
        Section("environments", make("environments"), ("install",)),
        Section("Neo4j's jars", (".venv/bin/python", "checks/fetch_servers.py"), ("install",)),
        Section("lint", make("lint", "LINT_TESTS="), ("install",)),  # its tests are among those of "tests"
        Section("tests", make("test-all", "JOBS=2"), ready, is_test=True),
        *list_servers((*fetched, "Neo4j's jars")),
        Section("models", make("test-models"), fetched, is_test=True),
        *(list_version(version, scratch, pyenv) for version in ("3.10", "3.13", "3.14")),
        Section("frameworks", make("test-integrations"), fetched, is_test=True),
        list_tuning(python),
        Section("Docker", make("test-docker"), fetched, is_test=True),
        Section("Ray", make("test-cluster", "TESTS=tests/e2e/test_ray.py"), fetched, is_test=True),
        Section("buckets", make("test-buckets"), fetched, is_test=True),
        Section("Chromium", make("test-browser"), ready, is_test=True),
        Section("work of resolution", (".venv/bin/python", "benchmarks/resolution_work.py", "--check"), ("install",)),
        Section("site", make("test-site"), ready, missing=name_missing(python, "zensical")),
        Section("wheel", (".venv/bin/python", "checks/check_wheel.py"), ("install",)),
    ]


def list_servers(after: tuple[str, ...]) -> list[Section]:
    """Return the Neo4j sections: tests that start their own servers, and tests that share one of each version."""
    shared = " ".join(["tests", *(f"--ignore={path}" for path in OWN_SERVERS)])
    return [
        Section(name, make("test-servers", "SERVER_JOBS=0", f"TESTS={tests}"), after, is_test=True)
        for name, tests in (("Neo4j, own", " ".join(OWN_SERVERS)), ("Neo4j, shared", shared))
    ]


def list_tuning(python: str) -> Section:
    """Return the section of tuning, which installs an environment of 6 GB the first time."""
    return Section("tuning", make("test-tuning"), ("install",), is_test=True, missing=name_missing(python, "TRL"))


def name_missing(python: str, package: str) -> str:
    """Return why a section cannot run whose package needs Python 3.11; an empty text where it can."""
    is_old = [int(part) for part in read_version(python).split(".")] < [3, 11]
    return f"{package} needs Python 3.11 or newer" if is_old else ""


def list_version(version: str, scratch: Path, pyenv: Path) -> Section:
    """Return the section of another version of Python."""
    python = find_python(version, pyenv)
    variables = (f"VENV={scratch / version}", f"PYTHON={python}", f"TESTS={VERSIONED}", "JOBS=0")
    missing = "" if python else "no interpreter found"
    return Section(f"Python {version}", make("test", *variables), ("install",), is_test=True, missing=missing)


def find_python(version: str, pyenv: Path) -> str | None:
    """Return an interpreter of a version, from PATH or from pyenv's versions."""
    on_path = shutil.which(f"python{version}")
    candidates = [*([on_path] if on_path else []), *sorted(map(str, pyenv.glob(f"versions/{version}.*/bin/python")))]
    return next((each for each in candidates if read_version(each) == version), None)


def read_version(python: str) -> str:
    """Return the version of an interpreter, such as 3.10; an empty text if it does not start."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def run_section(section: Section, scratch: Path) -> Outcome:
    """Run a section to its end and print its output."""
    if section.missing:
        return Outcome(section, 0, note=f"not tested: {section.missing}")
    report, log = scratch / f"{section.name}.xml", scratch / f"{section.name}.log"
    command = list(section.command)
    if section.is_test:
        command.append(f"PYTEST_OPTIONS=-p no:cacheprovider -o junit_family=xunit1 '--junitxml={report}'")
    start = time.monotonic()
    with log.open("w") as output:
        process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    outcome = Outcome(section, process.returncode, time.monotonic() - start, cpu)
    if report.is_file():
        outcome.note, outcome.tests = read_report(section.name, report)
    print(f"\n== {section.name} ({outcome.seconds:.0f} s)\n{log.read_text(errors='replace')}", flush=True)
    return outcome


def read_report(section: str, path: Path) -> tuple[str, list[TimedTest]]:
    """Parse a pytest report into the counts as one line, and the tests."""
    root = ElementTree.parse(path).getroot()
    counts = {"failed": 0, "errors": 0, "skipped": 0, "tests": 0}
    for suite in root.iter("testsuite"):
        for count, attribute in zip(counts, ("failures", "errors", "skipped", "tests"), strict=True):
            counts[count] += int(suite.get(attribute, 0))
    passed = counts["tests"] - counts["failed"] - counts["errors"] - counts["skipped"]
    others = "".join(f", {counts[each]} {each}" for each in ("failed", "errors", "skipped") if counts[each])
    cases = root.iter("testcase")
    tests = [
        TimedTest(section, f"{case.get('file')}::{case.get('name')}", float(case.get("time", 0))) for case in cases
    ]
    return f"{passed} passed{others}", tests


def run_all(sections: Iterable[Section], run: Callable[[Section], Outcome], lanes: int = LANES) -> list[Outcome]:
    """Run sections in order, `lanes` at a time, each after its prerequisites; return outcomes as they finish."""
    waiting, outcomes = list(sections), list[Outcome]()
    running: set[Future[Outcome]] = set()
    with ThreadPoolExecutor(lanes) as pool:
        while waiting or running:
            waiting, left_out = drop_stranded(waiting, outcomes)
            outcomes += left_out
            passed = {each.section.name for each in outcomes if each.status == 0}
            for section in [each for each in waiting if passed.issuperset(each.after)][: lanes - len(running)]:
                waiting.remove(section)
                running.add(pool.submit(run, section))
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            outcomes += [future.result() for future in finished]
    return outcomes


def drop_stranded(waiting: list[Section], outcomes: list[Outcome]) -> tuple[list[Section], list[Outcome]]:
    """Return the sections that can still run, and outcomes of those whose prerequisites did not pass."""
    stranded = {each.section.name for each in outcomes if each.status != 0}
    left_out: list[Outcome] = []
    for section in list(waiting):
        if failed := stranded.intersection(section.after):
            left_out.append(Outcome(section, None, note=f"not run: {', '.join(sorted(failed))} did not pass"))
            stranded.add(section.name)
            waiting.remove(section)
    return waiting, left_out


def render_summary(outcomes: list[Outcome], seconds: float) -> str:
    """Return seconds, CPU seconds and counts by section, and the slowest tests."""
    lines = ["", "== summary"]
    for each in outcomes:
        state = {0: "ok", None: "left out"}.get(each.status, f"FAILED ({each.status})")
        times = f"{each.seconds:6.0f} s {each.cpu:6.0f} CPU-s"
        lines.append(f"{times}  {each.section.name:18}  {state:10}  {each.note}".rstrip())
    total = sum(each.cpu for each in outcomes)
    lines.append(f"{seconds:6.0f} s {total:6.0f} CPU-s  all, {LANES} sections at a time")
    tests = sorted((test for each in outcomes for test in each.tests), key=lambda test: -test.seconds)
    lines += ["", f"the {SLOWEST} slowest of {len(tests)} tests"]
    lines += [f"{test.seconds:6.1f} s  {test.section:16}  {test.name}" for test in tests[:SLOWEST]]
    return "\n".join([*lines, "", f"left to `make test-full`: {LEFT_OUT}"])


def main() -> int:
    """Run all sections and print the summary; return 1 if one failed."""
    python = os.environ.get("PYTHON", "python3")
    if not read_version(python):
        sys.exit(f"no interpreter '{python}'; run: PYTHON=python3.12 .ci/run")
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        outcomes = run_all(list_sections(scratch, python, pyenv), lambda section: run_section(section, scratch))
    print(render_summary(outcomes, time.monotonic() - start), flush=True)
    return 1 if any(each.status != 0 for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
