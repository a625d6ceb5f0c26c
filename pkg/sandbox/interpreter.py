"""Name the Python that runs in the sandbox: the running one, or another with packages of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from pkg.errors import PathError
from pkg.sandbox.launch import find_libraries, find_packages

ASKED = """
import json, os, site, sys, sysconfig
base = {"base": sys.base_prefix, "platbase": sys.base_exec_prefix}
libraries = {sysconfig.get_path(name, vars=base) for name in ("stdlib", "platstdlib")}
packages = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
print(json.dumps([sorted({*libraries, os.path.join(sys.base_prefix, "lib")}), sorted(packages)]))
"""
ASK_SECONDS = 30.0  # an interpreter that has not started by then is none


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python with its own library and the packages that are installed for it."""

    path: str
    libraries: tuple[str, ...]
    packages: tuple[str, ...]


def find_interpreter(path: str | None = None) -> Interpreter:
    """Ask an interpreter where its library and packages lie; without a path it is the running one.

    A PathError says that there is no such program, or that it is no Python.
    """
    if path is None:
        return Interpreter(sys.executable, tuple(find_libraries()), tuple(find_packages()))
    try:
        done = subprocess.run(
            [path, "-I", "-c", ASKED], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=ASK_SECONDS
        )
        libraries, packages = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        raise PathError(
            f"{path} is no Python that can be run; expected an interpreter such as .venv/bin/python"
        ) from None
    return Interpreter(os.path.abspath(path), tuple(libraries), tuple(packages))
