"""Find an installed Java for a version of Neo4j: JAVA_HOME first, then the newest JDK that fits."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

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
        """Name the program that starts it."""
        return self.home / "bin" / "java"


def parse_major(text: str) -> int | None:
    """Read the major version from a release file or from the output of java -version; Java 1.8 counts as 8."""
    found = VERSION.search(text)
    return int(found[1]) if found else None


def supported_range(version: str) -> tuple[int, int]:
    """Give the oldest and the newest Java that a version of Neo4j runs on."""
    return SUPPORTED.get(int(version.partition(".")[0]), (OLDEST, NEWEST))


def find_java(version: str) -> Java:
    """Find a Java on this machine for a version of Neo4j."""
    preferred = os.environ.get("JAVA_HOME")
    return choose_java(version, map(read_java, list_homes(os.environ)), Path(preferred) if preferred else None)


def choose_java(version: str, javas: Iterable[Java | None], preferred: Path | None = None) -> Java:
    """Choose the preferred Java when it fits, else the newest that fits; ties go to the one listed first."""
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
    """List the folders that may hold a Java: JAVA_HOME, the one on PATH, then the usual places."""
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path:
        yield Path(on_path).resolve().parents[1]
    for folder in FOLDERS:
        for home in sorted(folder.iterdir()) if folder.is_dir() else ():
            yield home / "Contents" / "Home" if (home / "Contents").is_dir() else home


def read_java(home: Path) -> Java | None:
    """Tell the version of the Java in a folder by its release file, or by asking it; None where there is none."""
    release, executable = home / "release", home / "bin" / "java"
    if not os.access(executable, os.X_OK):
        return None
    major = parse_major(release.read_text(encoding="utf-8", errors="replace")) if release.is_file() else None
    if major is None:
        told = subprocess.run([executable, "-version"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        major = parse_major(told.stdout)
    return Java(home, major) if major else None
