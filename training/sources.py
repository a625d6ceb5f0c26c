"""The training packages: fetched, checked and mined, each into one file of the work folder."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from mining import Mined, mine_file, read_wheel
from packages import Package, fetch_package

LIST = Path(__file__).with_name("packages.json")
_OPTIONS = (
    "--only-binary=:all:",
    "--python-version=3.13",
    "--ignore-requires-python",
    "--platform=manylinux_2_28_x86_64",
    "--platform=manylinux_2_27_x86_64",
    "--platform=manylinux_2_24_x86_64",
    "--platform=manylinux2014_x86_64",
    "--platform=manylinux1_x86_64",
)  # the same files on every machine


@dataclass(frozen=True, slots=True)
class TrainingPackage:
    """A pinned release, and the licence that permits training on its code."""

    package: Package
    licence: str

    @property
    def name(self) -> str:
        """Return the name of the package."""
        return self.package.name


def list_packages() -> list[TrainingPackage]:
    """Read the pinned list."""
    rows = json.loads(LIST.read_text("utf-8"))
    return [
        TrainingPackage(Package(row["name"], row["version"], row["sha256"], _OPTIONS), row["licence"]) for row in rows
    ]


def mine_package(chosen: TrainingPackage, cache: Path, work: Path) -> Path:
    """Mine a package unless the work folder has it; return the file of its functions, one per line."""
    package = chosen.package
    target = work / f"{package.name}-{package.version}.jsonl.gz"
    if not target.exists():
        unfinished = target.with_suffix(".tmp")
        with gzip.open(unfinished, "wt", compresslevel=1, encoding="utf-8") as file:
            for path, text in read_wheel(fetch_package(package, cache)):
                file.writelines(json.dumps(asdict(each)) + "\n" for each in mine_file(path, text))
        unfinished.rename(target)
    return target


def read_mined(file: Path) -> Iterator[Mined]:
    """Read the mined functions of a package."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield Mined(**json.loads(line))
