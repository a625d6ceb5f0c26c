"""Build folders of ever more packages, and report what a file costs in each stage.

    python benchmarks/growth.py [--cache FOLDER] [--sizes 1000,3000,10000] [--alone]

Packages are added in a fixed order until a folder has the number of files. Each build is a process of one worker. A
folder of more than 3,000 files is resolved by parts. `others` is the number of cores kept busy by other work: CPU
seconds of a busy machine are higher, so the sizes are compared with each other. Ratios are to the smallest size. With
--alone each package is built by itself too: the ratio of a folder to its packages is what its size costs, and the rest
of its ratio to the smallest folder is what its packages cost.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measure import Figures, make_parser, open_folder, read_line, read_options, run_pkg, write_result
from packages import GROWING, unpack_package

STAGES = ("extract", "encode", "store", "names", "resolve")
RATIO = 1.3  # largest cost of a file, compared with the smallest size
MEMORY = 1500  # megabytes


def fill(cache: Path, folder: Path, files: int) -> list[str]:
    """Unpack packages until there are enough files; return their names."""
    names: list[str] = []
    count = 0
    for package in GROWING:
        tree = unpack_package(package, cache, folder)
        count += sum(1 for _ in tree.rglob("*.py"))
        names.append(f"{package.name} {package.version}")
        if count >= files:
            return names
    sys.exit(f"the packages have {count} files, expected {files}; ask for fewer with --sizes")


def measure_size(cache: Path, work: Path, files: int) -> Figures:
    """Build a folder of some files."""
    tree = work / f"tree-{files}"
    names = fill(cache, tree, files)
    return {"packages": names} | measure_build(tree, work)


def measure_build(tree: Path, work: Path) -> Figures:
    """Build a folder."""
    store = f"sqlite:///{work}/{tree.name}.db"
    run = run_pkg(["build", str(tree), "--store", store, "--jobs", "1", "--no-text", "--json"], work)
    report = read_line(run)
    count = report["written"]
    stages = {stage: round(1000 * report["stages"][stage] / count, 2) for stage in STAGES}
    return {
        "files": count,
        "local_errors": len(report["errors"]),
        "cpu_milliseconds_a_file": {**stages, "all": round(1000 * run.cpu / count, 2)},
        "memory_mb": round(run.memory),
        "others": round(run.others, 1),
    }


def measure_alone(cache: Path, work: Path, sizes: Figures) -> Figures:
    """Build each package of the sizes by itself; compare each size with the sum of its packages."""
    last = max(sizes.values(), key=lambda found: len(found["packages"]))
    alone: Figures = {}
    for package in GROWING[: len(last["packages"])]:
        tree = unpack_package(package, cache, work / "alone")
        alone[f"{package.name} {package.version}"] = measure_build(tree, work)
    ratios = {}
    for size, found in sizes.items():
        of_parts = [alone[name] for name in found["packages"]]
        cost = {
            stage: sum(part["files"] * part["cpu_milliseconds_a_file"][stage] for part in of_parts)
            for stage in found["cpu_milliseconds_a_file"]
        }
        ratios[size] = {
            stage: round(found["files"] * value / cost[stage], 2)
            for stage, value in found["cpu_milliseconds_a_file"].items()
        }
    return {"alone": alone, "together_to_alone": ratios}


def list_figures(sizes: Figures) -> Figures:
    """Return the figures of some sizes, with the ratios to the first one."""
    first = next(iter(sizes.values()))
    ratios = {
        size: {
            stage: round(value / first["cpu_milliseconds_a_file"][stage], 2)
            for stage, value in found["cpu_milliseconds_a_file"].items()
        }
        for size, found in sizes.items()
    }
    return {"sizes": sizes, "ratios": ratios, "targets": {"ratio": RATIO, "memory_mb": MEMORY}}


def main() -> None:
    """Measure all sizes and write the result."""
    parser = make_parser(__doc__)
    parser.add_argument("--sizes", default="1000,3000,10000", help="numbers of files")
    parser.add_argument("--alone", action="store_true", help="also build each package by itself")
    options = read_options(parser)
    sizes: Figures = {}
    with open_folder(options.cache) as (cache, work):
        for size in map(int, options.sizes.split(",")):
            sizes[str(size)] = measure_size(cache, work, size)
            write_result("growth", list_figures(sizes))  # the next size may take an hour
        if options.alone:
            write_result("growth_alone", list_figures(sizes) | measure_alone(cache, work, sizes))


if __name__ == "__main__":
    main()
