"""Find the Python that runs in the sandbox: the running one, or another with its own packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from pkg.errors import PathError
from pkg.sandbox.launch import find_libraries, find_packages

QUERY_SCRIPT = """
import json, os, site, sys, sysconfig
base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
libraries = {sysconfig.get_path(name, vars=base) for name in ("stdlib", "platstdlib")}
packages = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
print(json.dumps([sorted({*libraries, os.path.join(sys.base_prefix, "lib")}), sorted(packages)]))
"""
QUERY_SECONDS = 30.0  # timeout to start the interpreter


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python interpreter with the folders of its library and its installed packages."""

    path: str
    libraries: tuple[str, ...]
    packages: tuple[str, ...]


def find_interpreter(path: str | None = None) -> Interpreter:
    """Return an interpreter with its folders, by default the running one.

    Raises a PathError if the path is not a working Python interpreter.
    """
    if path is None:
        return Interpreter(sys.executable, tuple(find_libraries()), tuple(find_packages()))
    try:
        done = subprocess.run(
            [path, "-I", "-c", QUERY_SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=QUERY_SECONDS
        )
        libraries, packages = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        raise PathError(
            f"{path} is not a Python that can be run; expected an interpreter such as .venv/bin/python"
        ) from None
    return Interpreter(os.path.abspath(path), tuple(libraries), tuple(packages))
