"""Build 70 packages with tests, Python's own tests and random programs: no traceback, every local error listed.

    python benchmarks/crash_sweep.py [--cache FOLDER] [--seconds 30] [--more 0.05] [--programs 2000] [--kept FILE]

Each build is a process with a limit of CPU seconds, plus some for each file; a build that exceeds it is terminated and
named. Counted is what a build itself reports: a traceback on standard error, or a local error in its report. The tests
of Python are built in groups of files, as are the random programs, whose seeds count from 0.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from random import Random
from typing import TypeVar

from measure import ROOT, Figures, make_environment, open_folder, write_result
from packages import SWEPT, Package, fetch_package, unpack_package

sys.path[:0] = [str(ROOT / "tests" / "support")]

from random_programs import write_program  # noqa: E402

Item = TypeVar("Item")

TOGETHER = ("click", "flask", "httpx", "jinja2", "lark", "marshmallow", "networkx", "parso", "pluggy", "pytest")
"""Ten packages that are also built together in one folder."""
KINDS = ("packages", "together", "tests of Python", "random programs")
GROUP = 25  # files built together, of Python's tests and of random programs
MEMORY = 6 << 30  # bytes that a build may take


@dataclass(frozen=True, slots=True)
class Job:
    """One build to run."""

    kind: str
    name: str
    fill: Callable[[Path], None]  # fills a new folder with the code to build


@dataclass(slots=True)
class Swept:
    """Result of one build."""

    kind: str
    name: str
    files: int = 0
    cpu: float = 0.0
    outcome: str = "built"  # or over its limit, traceback, refused
    said: str = ""
    errors: list[dict[str, object]] = field(default_factory=list)


def build(job: Job, work: Path, limit: Callable[[int], int]) -> Swept:
    """Run a job in a process with a limit of CPU seconds."""
    tree = work / "tree"
    job.fill(tree)
    found = Swept(job.kind, job.name, sum(1 for _ in tree.rglob("*.py")))
    seconds, store = limit(found.files), work / "graph.db"

    def set_limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [
        sys.executable,
        "-m",
        "pkg.cli",
        "build",
        str(tree),
        "--store",
        f"sqlite:///{store}",
        "--jobs",
        "1",
        "--json",
    ]
    done = subprocess.run(
        command,
        cwd=work,
        env=make_environment(work),
        capture_output=True,
        text=True,
        preexec_fn=set_limits,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    found.cpu = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)
    if done.returncode < 0:
        found.outcome, found.said = f"over its limit of {seconds} CPU seconds", f"signal {-done.returncode}"
    elif "Traceback (most recent call last)" in done.stderr:
        found.outcome, found.said = "traceback", done.stderr[-2000:]
    elif done.returncode:
        found.outcome, found.said = "refused", done.stderr.strip()[-500:]
    else:
        found.errors = json.loads(done.stdout.splitlines()[-1])["errors"]
    shutil.rmtree(tree)
    for path in work.glob("graph.db*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return found


def list_jobs(chosen: Sequence[Package], cache: Path, programs: int) -> Iterator[Job]:
    """Yield the jobs, each with the function that fills its folder."""
    for package in sorted(chosen, key=lambda each: fetch_package(each, cache).stat().st_size):  # quick builds first
        yield Job("packages", name_package(package), partial(_unpack, [package], cache))
    together = [package for package in chosen if package.name in TOGETHER]
    if len({package.name for package in together}) == len(TOGETHER):
        yield Job("together", "ten packages in one folder", partial(_unpack, together, cache))
    tests = sorted(Path(sysconfig.get_path("stdlib"), "test").rglob("*.py"))
    for number, files in enumerate(group(tests)):
        yield Job("tests of Python", f"tests of Python, group {number}", partial(_copy, files))
    for seeds in group(range(programs)):
        yield Job("random programs", f"random programs {seeds[0]} to {seeds[-1]}", partial(_write, seeds))


def _unpack(packages: Sequence[Package], cache: Path, tree: Path) -> None:
    """Unpack one package, or several beside one another."""
    for package in packages:
        unpack_package(package, cache, tree / package.version if len(packages) > 1 else tree)


def group(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield items in groups, in their order."""
    rest = iter(items)
    while taken := list(islice(rest, GROUP)):
        yield taken


def _copy(files: Sequence[Path], tree: Path) -> None:
    """Copy files into one folder; those of the same name are numbered."""
    tree.mkdir(parents=True)
    for number, path in enumerate(files):
        shutil.copy(path, tree / f"{path.stem}_{number}.py")


def _write(seeds: Sequence[int], tree: Path) -> None:
    """Write random programs that import one another."""
    tree.mkdir(parents=True)
    names = dict(enumerate(("a", "m", "__init__")))
    for place, seed in enumerate(seeds):
        (tree / f"{names.get(place, f'p{seed}')}.py").write_text(write_program(Random(seed)), encoding="utf-8")


def name_package(package: Package) -> str:
    """Return the name and version of a package."""
    return f"{package.name} {package.version}"


def name_exception(error: dict[str, object]) -> str:
    """Return the stage and exception of a local error, without details of the input."""
    return f"{error['stage']}: {error['exception']}"


def sum_up(builds: Sequence[Swept], seconds: int, more: float) -> Figures:
    """Return the table: builds and files by kind, and every failure by name."""
    kinds = dict.fromkeys(each.kind for each in builds)
    errors = [error for each in builds for error in each.errors]
    return {
        "limit": {"cpu_seconds": seconds, "more_for_each_file": more},
        **{
            kind: {
                "builds": sum(each.kind == kind for each in builds),
                "files": sum(each.files for each in builds if each.kind == kind),
                "cpu": round(sum(each.cpu for each in builds if each.kind == kind), 1),
            }
            for kind in kinds
        },
        "tracebacks": {"value": sum(each.outcome == "traceback" for each in builds), "target": 0},
        "local_errors": {"value": len(errors), "target": 0},
        "local_errors_by_exception": dict(Counter(map(name_exception, errors)).most_common()),
        "over_their_limit": [
            {"name": each.name, "files": each.files, "outcome": each.outcome}
            for each in builds
            if each.outcome.startswith("over")
        ],
        "other_outcomes": [asdict(each) for each in builds if each.outcome in ("traceback", "refused")],
        "built": [
            {"name": each.name, "files": each.files, "cpu": each.cpu, "errors": len(each.errors)}
            for each in builds
            if each.kind in ("packages", "together")
        ],
    }


def read_kept(path: Path | None) -> list[Swept]:
    """Read the builds of an earlier run that was interrupted."""
    if path is None or not path.exists():
        return []
    return [Swept(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cache", type=Path, help="folder that keeps downloads; default: one that is removed again")
    parser.add_argument("--seconds", type=int, default=30, help="CPU seconds that each build may take")
    parser.add_argument("--more", type=float, default=0.05, help="CPU seconds more for each Python file")
    parser.add_argument("--programs", type=int, default=2000, help="random programs")
    parser.add_argument("--only", nargs="*", help="names of packages; default: all")
    parser.add_argument("--kinds", nargs="*", help=f"of {', '.join(KINDS)}; default: all")
    parser.add_argument("--kept", type=Path, help="file that keeps each build, so that a run goes on where it stopped")
    options = parser.parse_args()
    chosen = [package for package in SWEPT if not options.only or package.name in options.only]
    found = read_kept(options.kept)
    known = {each.name for each in found}
    with open_folder(options.cache) as (cache, work), suppress(KeyboardInterrupt):  # the builds until then count
        for job in list_jobs(chosen, cache, options.programs):
            if job.name in known or (options.kinds and job.kind not in options.kinds):
                continue
            swept = build(job, work, lambda files: int(options.seconds + options.more * files))
            found.append(swept)
            told = f"{swept.name}: {swept.files} files, {swept.cpu} CPU-s, {swept.outcome}"
            print(f"{told}, {len(swept.errors)} local errors", flush=True)
            if options.kept is not None:
                with options.kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(swept)) + "\n")
    missing = sorted({name_package(package) for package in chosen} - {swept.name for swept in found})
    write_result("crash_sweep", sum_up(found, options.seconds, options.more) | {"not_reached": missing})


if __name__ == "__main__":
    main()
