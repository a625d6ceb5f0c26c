"""Requirements of pyproject.toml on Python and packages, which README and doctor repeat."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

import pkg
from pkg.doctor import examine

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TESTED = re.findall(r"Python :: (3\.\d+)", " ".join(PROJECT["classifiers"]))


def list_requirements() -> list[Requirement]:
    groups = [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    requirements = [Requirement(text) for group in groups for text in group]
    return [each for each in requirements if each.name != PROJECT["name"]]


def test_every_requirement_excludes_untested_major_versions() -> None:
    open_ended = [str(each) for each in list_requirements() if each.specifier.contains("9999")]
    assert open_ended == []


@pytest.mark.parametrize("version", [*TESTED, "3.14", "3.99"])
def test_no_newer_python_is_refused(version: str) -> None:
    assert SpecifierSet(PROJECT["requires-python"]).contains(version)


def test_the_readme_names_the_pythons_that_are_tested() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"tested with {TESTED[0]} to {TESTED[-1]}" in readme


def test_the_doctor_takes_a_newer_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("pkg.doctor.sys", SimpleNamespace(version_info=(3, 99, 0), platform=sys.platform))
    (python,) = (finding for finding in examine(f"sqlite:///{tmp_path / 'graph.db'}") if finding.name == "python")
    assert (python.state, python.detail) == ("ok", "3.99.0")


def test_every_module_is_imported_without_a_warning() -> None:
    names = [module.name for module in pkgutil.walk_packages(pkg.__path__, "pkg.")]
    assert len(names) > 200
    # Modules that need an extra name it: a class of a framework, a task of Inspect.
    code = f"""
import importlib
from contextlib import suppress
from pkg.errors import MissingExtraError
for name in {names}:
    with suppress(MissingExtraError):
        importlib.import_module(name)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
