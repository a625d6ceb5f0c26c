"""Measure builds of single long files of different shapes: peak memory and CPU relative to the bytes of the text.

    python benchmarks/long_files.py

Every figure is of a whole process. The build of one short line is the base; `times_bytes` is the peak above it, divided
by the bytes of the file. Each shape is also built at half its size: CPU above the base that doubles with the size is
linear.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import NamedTuple

from measure import MEGABYTE, Figures, read_line, run_pkg, write_result

LIMIT = 60.0  # times the bytes of a file
SMALL = 0.5  # megabytes; the cost of a shorter file above the base is reported, but says little about its growth


class Shape(NamedTuple):
    """A text that repeats a part, in which {0} is the number of the repetition."""

    before: str
    repeated: str
    times: int
    after: str = ""

    def write(self, share: float) -> str:
        """Return the text, or a share of its repetitions."""
        repeated, times = self.repeated, int(self.times * share)
        parts = map(repeated.format, range(times)) if "{0}" in repeated else [repeated] * times
        return self.before + "".join(parts) + self.after


SHAPES = {
    "160,000 assignments": Shape("", "x = 1\n", 160_000),
    "1,000,000 assignments": Shape("", "x=1\n", 1_000_000),
    "60,000 functions": Shape("", "def f{0}(a):\n    return a\n\n\n", 60_000),
    "a class of 20,000 methods": Shape("class A:\n", "    def f{0}(self):\n        return self.g{0}\n\n", 20_000),
    "a list of 500,000 items": Shape("x = [\n", "    1,\n", 500_000, "]\n"),
    "a list of 500,000 items on one line": Shape("x = [", "1, ", 500_000, "]\n"),
    "a dict of 200,000 entries": Shape("x = {\n", "    'k{0}': {0},\n", 200_000, "}\n"),
    "100,000 imports": Shape("", "import m{0}\n", 100_000),
    "200,000 calls in a function": Shape("def f():\n", "    g(h({0}))\n", 200_000),
    "10,000 brackets in brackets": Shape("x = " + "(" * 10_000 + "1" + ")" * 10_000, "\ny = 1", 1, "\n"),
    "1,000 branches in branches": Shape("", "if x:\n", 1_000, "    pass\n"),
    "50,000 elif branches": Shape("if x == 0:\n    pass\n", "elif x == {0}:\n    y = {0}\n", 50_000),
    "100,000 decorators": Shape("", "@d\n", 100_000, "def f():\n    pass\n"),
    "a string of 4.9 MB": Shape("x = '''", "some words of a text\n", 233_000, "'''\n"),
    "a line of 4.9 MB": Shape("x = 1\n" * 2_000 + "y = '", "some words of a text ", 233_000, "'\n"),
    "a chain of 100,000 calls": Shape("x = 1\n" * 2_000 + "y = a", ".b(c)", 100_000, "\n"),
    "minified": Shape("", "def f{0}(a):return a\nb=f{0}(1);c={{'d':b}}\n", 60_000),
}


def indent_branches(text: str) -> str:
    """Indent each line of nested branches by one more column than the last."""
    return "".join(" " * number + line for number, line in enumerate(text.splitlines(keepends=True)))


def build(text: str) -> Figures:
    """Build the graph of a folder with one file; return the cost and the build's report on the file."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "source").mkdir()
        (folder / "source/long.py").write_text(text, encoding="utf-8")
        address = f"sqlite:///{folder}/graph.db"
        options = ["--max-file-size", str(100 * MEGABYTE), "--store", address, "--jobs", "1", "--json"]
        run = run_pkg(["build", str(folder / "source"), *options], folder)
        report = read_line(run)
        nodes = read_line(run_pkg(["stats", "--store", address, "--json"], folder))["nodes"]
    kept = {label: nodes.get(label, 0) for label in ("Class", "Function", "Import", "Constant", "Block")}
    said = [skip["reason"] for skip in report["skipped"]]
    return {
        "megabytes": len(text.encode()) / MEGABYTE,
        "memory": run.memory,
        "cpu": run.cpu,
        "nodes": kept,
        "said": said,
    }


def measure(shape: Shape, is_nested: bool, base: Figures) -> Figures:
    """Build a shape at full and at half its size."""
    half, whole = (build(indent_branches(text) if is_nested else text) for text in map(shape.write, (0.5, 1.0)))
    cpu = [max(each["cpu"] - base["cpu"], 0.0) for each in (half, whole)]
    return whole | {
        "times_bytes": (whole["memory"] - base["memory"]) / whole["megabytes"],
        "cpu_of_half": half["cpu"],
        "cpu_for_twice": cpu[1] / cpu[0] if cpu[0] > 0.1 else None,
    }


def main() -> None:
    """Measure every shape and write the figures."""
    build("x = 1\n")  # compiles remaining modules
    base = build("x = 1\n")
    shapes = {name: measure(shape, name == "1,000 branches in branches", base) for name, shape in SHAPES.items()}
    over = sorted(name for name, each in shapes.items() if each["megabytes"] >= SMALL and each["times_bytes"] > LIMIT)
    for name, each in shapes.items():
        print(
            f"{name:36} {each['megabytes']:6.2f} MB  {each['memory']:6.0f} MB peak  {each['times_bytes']:7.1f} x bytes"
        )
    write_result("long_files", {"base": base, "limit": LIMIT, "over_limit": over, "shapes": shapes})


if __name__ == "__main__":
    main()
