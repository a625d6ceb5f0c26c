"""Write requirements/*.txt: exact versions that install on every Python given, such as those that PKG is tested with.

The first Python leads: others get the same versions where possible, so that the type checker reads the same stubs.
A Python newer than all of them gets the versions of the newest.
Example: python checks/lock_versions.py python3.11 python3.10 python3.12 python3.13
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PROJECT = "programming-knowledge-graph"
BUILD_BACKEND = "setuptools>=77"  # as in [build-system]; an editable install then needs no further download
INSTALLER = "uv>=0.9,<1"  # fills an environment from its cache in seconds
PIP_REPORT = ("pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-")

Versions = dict[str, str]  # distribution -> version
Locks = dict[str, Versions]  # Python version, such as 3.10 -> what it installs


def resolve(python: str, requirements: list[str], preferred: Versions) -> Versions:
    """Return what one interpreter's pip would install; nothing if it cannot install the preferred versions."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.writelines(f"{name}=={version}\n" for name, version in preferred.items())
        constraints.flush()
        command = [python, "-m", *PIP_REPORT, "--constraint", constraints.name, *requirements]
        complaints = subprocess.DEVNULL if preferred else None  # a preference may fail
        done = subprocess.run(command, cwd=ROOT, check=not preferred, stdout=subprocess.PIPE, stderr=complaints)
    if done.returncode:
        return {}
    found = {item["metadata"]["name"]: item["metadata"]["version"] for item in json.loads(done.stdout)["install"]}
    return {name.lower().replace("_", "-"): version for name, version in found.items() if name != PROJECT}


def resolve_everywhere(pythons: dict[str, str], *requirements: str) -> Locks:
    """Resolve for the first Python, then for the others: with the versions of the first, or freely if those fail."""
    leader, *others = pythons
    locks = {leader: resolve(pythons[leader], list(requirements), {})}
    for version in others:
        python = pythons[version]
        locks[version] = resolve(python, list(requirements), locks[leader]) or resolve(python, list(requirements), {})
    return dict(sorted(locks.items(), key=lambda lock: split_version(lock[0])))


def split_version(python: str) -> list[int]:
    """Return a Python version as comparable numbers: 3.9 sorts before 3.10."""
    return [int(part) for part in python.split(".")]


def parse_version(python: str) -> str:
    """Return the version that an interpreter reports, such as 3.10."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([python, "-c", code], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def subtract(locks: Locks, known: Locks) -> Locks:
    """Remove what another lock already pins."""
    return {
        python: {name: version for name, version in lock.items() if name not in known[python]}
        for python, lock in locks.items()
    }


def render(locks: Locks) -> list[str]:
    """Render one line for each version of each distribution, with a marker where the Pythons differ."""
    lines, newest = [], max(locks, key=split_version)
    for name in sorted({name for lock in locks.values() for name in lock}):
        wanted = {python: lock.get(name) for python, lock in locks.items()}
        for version in dict.fromkeys(version for version in wanted.values() if version):
            pythons = [python for python, pinned in wanted.items() if pinned == version]
            marker = " or ".join(
                f"python_version {'>=' if python == newest else '=='} '{python}'" for python in pythons
            )
            lines.append(f"{name}=={version}" + ("" if len(pythons) == len(locks) else f" ; {marker}"))
    return lines


def write(name: str, lines: list[str]) -> None:
    """Write a file of pins with a header that states the command."""
    header = "# Made by checks/lock_versions.py; change pyproject.toml and run it again."
    (ROOT / "requirements" / name).write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


def main(interpreters: list[str]) -> None:
    """Lock the requirements to build, run, develop and measure PKG, and those of the site and of other tests."""
    pythons = {parse_version(python): python for python in interpreters}
    run = resolve_everywhere(pythons, ".")
    write("build.txt", render(resolve_everywhere(pythons, BUILD_BACKEND, INSTALLER)))
    write("run.txt", render(run))
    dev = resolve_everywhere(pythons, ".[dev]")
    write("dev.txt", ["-r run.txt", *render(subtract(dev, run))])
    bench = resolve_everywhere(pythons, ".[dev,neo4j]")
    write("bench.txt", ["-r dev.txt", *render(subtract(bench, dev))])
    servers = resolve_everywhere(pythons, ".[dev,cluster,docker,graphrag]")
    write("servers.txt", ["-r dev.txt", *render(subtract(servers, dev))])
    buckets = resolve_everywhere(pythons, ".[buckets]")  # its date library is older than that of the tools
    write("buckets.txt", ["-r run.txt", *render(subtract(buckets, run))])
    models = resolve_everywhere(pythons, ".[dev,models]")
    write("models.txt", ["-r dev.txt", *render(subtract(models, dev))])
    integrations = resolve_everywhere(pythons, ".[dev,integrations]")
    write("integrations.txt", ["-r dev.txt", *render(subtract(integrations, dev))])
    newer = {
        version: python for version, python in pythons.items() if split_version(version) >= [3, 11]
    }  # as TRL and zensical need
    site = resolve_everywhere(newer, ".[dev,site]")
    write("site.txt", ["-r dev.txt", *render(subtract(site, dev))])
    tuning = resolve_everywhere(newer, ".[dev,train]")
    write("tuning.txt", ["-r dev.txt", *render(subtract(tuning, dev))])


if __name__ == "__main__":
    main(sys.argv[1:] or [sys.executable])
