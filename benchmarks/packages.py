"""Fetch the packages that the benchmarks build graphs of, pinned by version and hash."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

# The same files on every machine, whatever Python and platform run the benchmark.
_WHEEL = (
    "--only-binary=:all:",
    "--python-version=3.11",
    "--platform=manylinux_2_28_x86_64",
    "--platform=manylinux2014_x86_64",
)
_SDIST = ("--no-binary=spyder",)  # the wheel lacks files that questions about its repository ask for


@dataclass(frozen=True, slots=True)
class Package:
    """One release and the file of it that is meant."""

    name: str
    version: str
    sha256: str
    options: tuple[str, ...] = _WHEEL


DJANGO = Package("django", "5.2.8", "37e687f7bd73ddf043e2b6b97cfe02fcbb11f2dbb3adccc6a2b18c6daa054d7f")
SPYDER = Package("spyder", "6.0.0a4", "c0e08db67e86db8eb97fe7ae789af15a4138a952ddbaeb70eaec30a67a61ae9d", _SDIST)
NETWORKX = Package("networkx", "3.5", "0030d386a9a06dee3565298b4a734b68589749a544acbb6c412dc9e2489ec6ec")
PANDAS = Package("pandas", "2.3.3", "b98560e98cb334799c0b07ca7967ac361a47326e9b4e5a7dfb5ab2b1c9d35a1b")
SCIKIT_LEARN = Package("scikit-learn", "1.7.2", "89877e19a80c7b11a2891a27c21c4894fb18e2c2e077815bcade10d34287b20d")
SYMPY = Package("sympy", "1.14.0", "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5")


def fetch_package(package: Package, cache: Path) -> Path:
    """Download a package with pip unless the cache has it; a file of another hash ends the benchmark."""
    folder = cache / f"{package.name}-{package.version}"
    if not folder.is_dir() or not any(folder.iterdir()):
        pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download", "--no-deps")
        subprocess.run(
            (*pip, "--dest", str(folder), *package.options, f"{package.name}=={package.version}"), check=True
        )
    path = next(folder.iterdir())
    check_hash(path, package.sha256)
    return path


def check_hash(path: Path, sha256: str) -> None:
    """End the benchmark when a file is not the pinned one: its figures would be of other data."""
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as fault:
        sys.exit(f"cannot read {path} ({fault.strerror}); check --data and --cache")
    if found != sha256:
        sys.exit(f"{path} has sha256 {found}, expected {sha256}; remove it, or restore the pinned version")


def unpack_package(package: Package, cache: Path, folder: Path) -> Path:
    """Unpack a package into a new folder and give it."""
    path = fetch_package(package, cache)
    tree = folder / package.name
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            wheel.extractall(tree)
    else:
        with tarfile.open(path) as sdist:
            sdist.extractall(tree, filter="data")
    return tree
