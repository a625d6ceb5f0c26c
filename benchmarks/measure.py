"""Run processes and measure their cost, describe the machine, and write the figures; used by all benchmarks."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, TypeAlias

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
MEGABYTE = 1_000_000
PACKAGES = ("click", "numpy", "pathspec", "pystemmer", "rich", "simsimd", "tree-sitter", "tree-sitter-python")

Figures: TypeAlias = dict[str, Any]  # written to a JSON file unchanged


@dataclass(frozen=True, slots=True)
class Run:
    """Output and cost of one process, including the workers that it waited for."""

    output: str
    cpu: float  # seconds, user and system
    wall: float  # seconds
    memory: float  # megabytes at the peak, of the largest process
    others: float  # cores kept busy by other work meanwhile; 0 if the system does not report it


def run_process(command: Sequence[str], folder: Path, settings: Mapping[str, str] | None = None) -> Run:
    """Run a command in a folder and measure its cost; a command that fails ends the benchmark.

    settings: more variables of its environment.
    The peak that the system reports includes the size of the process that starts the command: a benchmark that reports
    memory must itself stay small, so this module imports nothing heavy.
    """
    with tempfile.TemporaryFile() as output:
        start, busy = time.perf_counter(), read_busy()
        process = subprocess.Popen(
            command, stdout=output, cwd=folder, env=make_environment(folder) | dict(settings or {})
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"exit code {process.returncode} of: {' '.join(command)}; its own message stands above")
        output.seek(0)
        unit = 1 if sys.platform == "darwin" else 1024
        memory, cpu = usage.ru_maxrss * unit / MEGABYTE, usage.ru_utime + usage.ru_stime
        others = max(0.0, read_busy() - busy - cpu) / wall
        return Run(output.read().decode(), cpu, wall, memory, others)


def read_busy() -> float:
    """Return the CPU seconds used by all processes together; 0 if the system does not report them."""
    try:
        user, nice, system = Path("/proc/stat").read_text(encoding="ascii").split()[1:4]
    except OSError:
        return 0.0
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def run_pkg(arguments: Sequence[str], folder: Path, settings: Mapping[str, str] | None = None) -> Run:
    """Run the pkg command of this working tree; settings: more variables of its environment, such as PKG_MODEL."""
    return run_process([sys.executable, "-m", "pkg.cli", *arguments], folder, settings)


def read_line(run: Run) -> dict[str, Any]:
    """Parse the single JSON line that a pkg command wrote."""
    line: dict[str, Any] = json.loads(run.output)
    return line


def make_environment(folder: Path) -> dict[str, str]:
    """Return the environment with JSON output as PKG's only setting; compiled modules are kept in the folder."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PKG_", "PYTHON"))}
    return kept | {"PKG_JSON": "1", "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "pycache")}


def summarise(values: Sequence[float], target: float | None = None) -> Figures:
    """Return the minimum, median and maximum of a figure, and its target."""
    figures: Figures = {
        "min": _round(min(values)),
        "median": _round(statistics.median(values)),
        "max": _round(max(values)),
    }
    return figures if target is None else figures | {"target": target}


def compare(value: float, target: float) -> Figures:
    """Return a figure that does not vary, with its target."""
    return {"value": _round(value), "target": target}


def _round(value: float) -> float:
    return round(value, 4 if value < 1 else 3 if value < 100 else 1)


def keep_figures(path: Path, measure: Callable[[], Figures]) -> Figures:
    """Return the figures in a file, which are measured first if it is missing."""
    if not path.exists():
        path.write_text(json.dumps(measure()), encoding="utf-8")
    figures: Figures = json.loads(path.read_text(encoding="utf-8"))
    return figures


def write_lines(path: Path, rows: list[dict[str, Any]]) -> str:
    """Write JSON lines; return the path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def read_lines(text: str) -> list[dict[str, Any]]:
    """Parse JSON lines."""
    return [json.loads(line) for line in text.splitlines()]


def write_result(name: str, figures: Figures) -> None:
    """Write the figures of a benchmark with a description of the machine, and print those that have a target."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": describe_machine(), **figures}, indent=1) + "\n", encoding="utf-8")
    for line in _render(figures, ""):
        print(line)
    print(f"written: {path.relative_to(ROOT)}")


def _render(figures: Figures, prefix: str) -> Iterator[str]:
    for name, value in figures.items():
        if isinstance(value, dict) and "target" in value:
            yield f"{prefix}{name}: " + ", ".join(f"{key} {number:,}" for key, number in value.items())
        elif isinstance(value, dict):
            yield from _render(value, f"{prefix}{name}.")


def describe_machine() -> Figures:
    """Describe what the figures depend on: processor, cores, Python and the versions of packages."""
    return {
        "processor": _read_processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": {name: _find_version(name) for name in PACKAGES},
    }


def _read_processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "missing"


def make_parser(summary: str | None) -> argparse.ArgumentParser:
    """Build the parser with the options that all benchmarks share."""
    parser = argparse.ArgumentParser(description=(summary or "").splitlines()[0])
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("PKG_DATA"), help="folder of the shared data; or set PKG_DATA"
    )
    parser.add_argument("--cache", type=Path, help="folder that keeps downloads; default: one that is removed again")
    return parser


def read_options(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the options; fail without a data folder."""
    options = parser.parse_args()
    if options.data is None or not options.data.is_dir():
        parser.error(f"no folder of shared data (seen: {options.data}); give --data FOLDER or set PKG_DATA")
    return options


@contextmanager
def open_folder(cache: Path | None) -> Iterator[tuple[Path, Path]]:
    """Yield the folder of downloads and a folder for this run, which is removed afterwards."""
    if cache is not None:
        cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="run-") as work:
        yield (Path(work) if cache is None else cache.resolve()), Path(work).resolve()
