"""Build the sdist and from it the wheel, check the contents, and install and use it in an empty environment."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SIZE_LIMIT = 138_000_000  # bytes of PKG with its dependencies, including 8 MB of weights
NOT_SOURCE = shutil.ignore_patterns(".*", "dist", "*.egg-info", "__pycache__")
INSTALLER = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence.pth", "wheel")

TINY_REPOSITORY = {
    "dates.py": "def parse_date(text):\n    year, month, day = text.split('-')\n    return year\n",
    "mail.py": "def send_mail(server, message):\n    for attempt in range(3):\n        server.send(message)\n",
}
QUESTION = "send a mail message to a server"
ANSWER = "mail.py"


class Distributions(NamedTuple):
    """The files of a release."""

    sdist: Path
    wheel: Path


def run(command: list[str | Path], where: Path, settings: dict[str, str] | None = None) -> str:
    """Run a command and return its output; a failure ends the check."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PKG_", "PYTHON"))}
    environment = inherited | (settings or {})
    done = subprocess.run(command, cwd=where, env=environment, stdin=DEVNULL, stdout=PIPE, text=True)
    if done.returncode:
        called = " ".join(map(str, command))
        sys.exit(f"wheel check: exit code {done.returncode}, expected 0, from: {called}\n{done.stdout}")
    return done.stdout


def build_distributions(scratch: Path) -> Distributions:
    """Build the sdist from a copy of the sources without files of earlier builds, and the wheel from the sdist."""
    sources = shutil.copytree(ROOT, scratch / "sources", symlinks=True, ignore=NOT_SOURCE)
    built = scratch / "dist"
    uv = Path(sys.executable).with_name("uv")
    options = ["--quiet", "--offline", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(built)]
    run([uv, "build", *options, sources], scratch)
    return Distributions(next(built.glob("*.tar.gz")), next(built.glob("*.whl")))


def check_content(wheel: Path) -> None:
    """Compare the wheel with the package folder: all its files and the metadata, nothing else."""
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = (path for path in (ROOT / "pkg").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    expected = {path.relative_to(ROOT).as_posix() for path in files}
    if names != expected:
        missing, foreign = sorted(expected - names), sorted(names - expected)
        sys.exit(f"wheel check: {wheel.name} lacks {missing} and should not hold {foreign}; see pyproject.toml")


def install(wheel: Path, scratch: Path) -> Path:
    """Install the wheel with pinned dependencies in an empty environment; return the environment's folder."""
    environment = scratch / "environment"
    venv.create(environment, with_pip=True)
    pins = ROOT / "requirements" / "run.txt"
    run([environment / "bin" / "python", "-m", "pip", "--quiet", "install", "--constraint", pins, wheel], scratch)
    return environment


def measure(environment: Path) -> int:
    """Return the total bytes of an environment's packages, without the installer."""
    packages = next(environment.glob("lib/python*/site-packages"))
    ours = (entry for entry in packages.iterdir() if not entry.name.startswith(INSTALLER))
    files = (file for entry in ours for file in (entry.rglob("*") if entry.is_dir() else (entry,)))
    return sum(file.stat().st_size for file in files if file.is_file())


def check_size(environment: Path) -> None:
    """Print the size of an installation, and fail if it exceeds the limit."""
    size = measure(environment)
    print(f"wheel check: installed size {size / 1e6:.1f} MB (limit {SIZE_LIMIT / 1e6:.0f} MB)")
    if size > SIZE_LIMIT:
        sys.exit("wheel check: too large; move what is heavy to an extra in pyproject.toml")


def check_use(environment: Path, scratch: Path) -> None:
    """Build a graph of a tiny repository with the installed command and query it."""
    repository = scratch / "repository"
    repository.mkdir()
    for name, text in TINY_REPOSITORY.items():
        (repository / name).write_text(text, encoding="utf-8")
    pkg = environment / "bin" / "pkg"
    settings = {"PKG_STORE": f"sqlite:///{scratch / 'graph.db'}", "XDG_DATA_HOME": str(scratch / "data")}
    print("wheel check:", run([pkg, "--version"], scratch, settings).strip())
    run([pkg, "build", repository], scratch, settings)
    first = json.loads(run([pkg, "query", QUESTION, "--json"], scratch, settings).splitlines()[0])
    if first.get("path") != ANSWER:
        sys.exit(f"wheel check: '{QUESTION}' was answered by {first.get('path')}, expected {ANSWER}")


def check_distributions(scratch: Path) -> Distributions:
    """Build both distributions and run every check on them; a failed check ends the process."""
    built = build_distributions(scratch)
    check_content(built.wheel)
    environment = install(built.wheel, scratch)
    check_size(environment)
    check_use(environment, scratch)
    print(f"wheel check: {built.wheel.name}, built from {built.sdist.name}, works in an empty environment")
    return built


def main() -> None:
    """Run every check in a temporary folder; copy the distributions to the folder named by --out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the distributions are kept")
    out: Path | None = parser.parse_args().out
    with tempfile.TemporaryDirectory(prefix="pkg-wheel-") as folder:
        built = check_distributions(Path(folder).resolve())
        if out:
            keep(built, out)


def keep(built: Distributions, out: Path) -> None:
    """Copy the distributions into a folder, which is cleared first."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in built:
        shutil.copy2(path, out)


if __name__ == "__main__":
    main()
