"""Fetch the jars of a Neo4j server by Maven, once, into .neo4j/<version>/lib or below PKG_TEST_NEO4J_CACHE.

The versions and artifacts are pinned in maven/pom.xml. A folder is complete when it carries the hash of that
file: it is filled under another name and renamed, and a lock makes other processes wait instead of fetching as well.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pkg.errors import StoreError

POM = Path(__file__).parent / "maven" / "pom.xml"
# Read on import: the tests hide every PKG_* variable from what they run.
CACHE = Path(os.environ.get("PKG_TEST_NEO4J_CACHE") or Path(__file__).parents[2] / ".neo4j").absolute()
STAMP = "pom.sha256"
PATIENCE = 900  # seconds: about 150 MB for one version


def fetch_jars(version: str, cache: Path = CACHE) -> list[Path]:
    """Give the jars of a version in the order of their names, fetched if they are not there."""
    folder = cache / version
    if not is_complete(folder):
        cache.mkdir(parents=True, exist_ok=True)
        with hold_lock(cache / f"{version}.lock"):
            if not is_complete(folder):
                replace_folder(version, folder)
    return sorted((folder / "lib").glob("*.jar"))


def is_complete(folder: Path) -> bool:
    """Tell whether a folder was filled, to its end, from the pom as it is now."""
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == hash_pom()


def hash_pom() -> str:
    """Hash the file that pins the artifacts."""
    return hashlib.sha256(POM.read_bytes()).hexdigest()


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process at the latest."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def replace_folder(version: str, folder: Path) -> None:
    """Put a freshly fetched folder in the place of what is there."""
    with TemporaryDirectory(dir=folder.parent, prefix=f".{version}-") as scratch:
        fresh = Path(scratch, "fresh")
        run_maven(version, fresh / "lib")
        (fresh / STAMP).write_text(hash_pom(), encoding="utf-8")
        if folder.exists():
            folder.rename(Path(scratch, "old"))
        fresh.rename(folder)


def run_maven(version: str, target: Path) -> None:
    """Copy the jars of a version and all that they depend on into a folder."""
    maven = shutil.which("mvn")
    if maven is None:
        raise StoreError(
            f"no 'mvn' on PATH, expected Maven 3 to fetch Neo4j {version};"
            " install it (Debian: maven) or set PKG_TEST_NEO4J_URI to a running server"
        )
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={target}"]
    command = [maven, "--batch-mode", "--quiet", "--file", str(POM), "--activate-profiles", version, *goal]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=PATIENCE)
    if done.returncode or not any(target.glob("neo4j-server-*.jar")):
        raise StoreError(
            f"Maven ended with {done.returncode} and no server for Neo4j {version}, expected its jars in {target};"
            f" check the network and run: {' '.join(command)}\n{done.stdout[-2000:]}"
        )
