"""Requirements of a Neo4j on this machine: an installed Java, and its jars, which Maven fetches once.

JAVA_HOME is tried first, then the newest JDK that fits. Versions and artifacts are pinned in maven/pom.xml; the jars go
to neo4j/<hash of that file>/<version>/lib in the user's cache folder (downloads.py). A folder is complete if it
contains the hash too: it is filled under another name and renamed, under a lock.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from downloads import DOWNLOADS

from pkg.errors import StoreError

FOLDERS = (Path("/usr/lib/jvm"), Path("/Library/Java/JavaVirtualMachines"))
OLDEST, NEWEST = 21, 99
SUPPORTED = {5: (17, 21)}  # major version of Neo4j -> oldest and newest Java; a later one needs 21 or newer
VERSION = re.compile(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)')  # the release file, or what java -version says


@dataclass(frozen=True, slots=True)
class Java:
    """An installed Java: its folder and its major version."""

    home: Path
    major: int

    @property
    def executable(self) -> Path:
        """Return the path of the Java executable."""
        return self.home / "bin" / "java"


def parse_major(text: str) -> int | None:
    """Parse the major version from a release file or from the output of java -version; Java 1.8 counts as 8."""
    found = VERSION.search(text)
    return int(found[1]) if found else None


def supported_range(version: str) -> tuple[int, int]:
    """Return the oldest and the newest Java that a version of Neo4j supports."""
    return SUPPORTED.get(int(version.partition(".")[0]), (OLDEST, NEWEST))


def find_java(version: str) -> Java:
    """Find a Java on this machine for a version of Neo4j."""
    preferred = os.environ.get("JAVA_HOME")
    return choose_java(version, map(read_java, list_homes(os.environ)), Path(preferred) if preferred else None)


def choose_java(version: str, javas: Iterable[Java | None], preferred: Path | None = None) -> Java:
    """Choose the preferred Java if it fits, otherwise the newest that fits; ties go to the one listed first."""
    oldest, newest = supported_range(version)
    found = [java for java in javas if java]
    fitting = [java for java in found if oldest <= java.major <= newest]
    if not fitting:
        seen = ", ".join(f"{java.major} in {java.home}" for java in found) or "none"
        wanted = f"{oldest} or newer" if newest == NEWEST else f"{oldest} to {newest}"
        raise StoreError(
            f"no Java for Neo4j {version}: found {seen}, expected {wanted};"
            f" install a JDK {oldest} (Debian: openjdk-{oldest}-jre-headless, else Temurin) or set JAVA_HOME"
        )
    return max(fitting, key=lambda java: (java.home == preferred, java.major))


def list_homes(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the folders that may contain a Java: JAVA_HOME, the one on PATH, then the usual places."""
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path:
        yield Path(on_path).resolve().parents[1]
    for folder in FOLDERS:
        for home in sorted(folder.iterdir()) if folder.is_dir() else ():
            yield home / "Contents" / "Home" if (home / "Contents").is_dir() else home


def read_java(home: Path) -> Java | None:
    """Return the Java in a folder, with the version from its release file or its output; None without one."""
    release, executable = home / "release", home / "bin" / "java"
    if not os.access(executable, os.X_OK):
        return None
    major = parse_major(release.read_text(encoding="utf-8", errors="replace")) if release.is_file() else None
    if major is None:
        told = subprocess.run([executable, "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        major = parse_major(told.stdout)
    return Java(home, major) if major else None


POM = Path(__file__).parent / "maven" / "pom.xml"
STAMP = "pom.sha256"
PATIENCE = 900  # seconds: about 150 MB for one version


def hash_pom() -> str:
    """Return the hash of the file that pins the artifacts."""
    return hashlib.sha256(POM.read_bytes()).hexdigest()


CACHE = DOWNLOADS / "neo4j" / hash_pom()[:16]


def fetch_jars(version: str, cache: Path = CACHE) -> list[Path]:
    """Return the jars of a version sorted by name; fetch missing ones."""
    folder = cache / version
    if not is_complete(folder):
        cache.mkdir(parents=True, exist_ok=True)
        with hold_lock(cache / f"{version}.lock"):
            if not is_complete(folder):
                replace_folder(version, folder)
    return sorted((folder / "lib").glob("*.jar"))


def is_complete(folder: Path) -> bool:
    """Return whether a folder was filled completely from the current pom."""
    stamp = folder / STAMP
    return stamp.is_file() and stamp.read_text(encoding="utf-8") == hash_pom()


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    """Hold a lock that is released at the latest when the process ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def replace_folder(version: str, folder: Path) -> None:
    """Replace an existing folder by a freshly fetched one."""
    with TemporaryDirectory(dir=folder.parent, prefix=f".{version}-") as scratch:
        fresh = Path(scratch, "fresh")
        run_maven(version, fresh / "lib")
        (fresh / STAMP).write_text(hash_pom(), encoding="utf-8")
        if folder.exists():
            folder.rename(Path(scratch, "old"))
        fresh.rename(folder)


def run_maven(version: str, target: Path) -> None:
    """Copy the jars of a version and its dependencies into a folder."""
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
