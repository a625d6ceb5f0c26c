"""Imports lead to the files that Python would take, from where they stand."""

from __future__ import annotations

import pytest

from pkg.model import Import, Span
from pkg.resolve.modules import ModuleMap

FILES = [
    "app.py",
    "pack/__init__.py",
    "pack/core.py",
    "pack/core/__init__.py",
    "pack/core/deep.py",
    "pack/typed.pyi",
    "pack/json.py",
    "space/inner/tool.py",
    "src/lib_a/__init__.py",
    "src/lib_a/part.py",
    "tests/helpers.py",
    "tests/test_app.py",
    "json.py",
]


@pytest.mark.parametrize(
    ("importer", "name", "path"),
    [
        ("app.py", "pack", "pack/__init__.py"),
        ("app.py", "pack.core", "pack/core/__init__.py"),  # a package wins over a module
        ("app.py", "pack.core.deep", "pack/core/deep.py"),
        ("app.py", "pack.typed", "pack/typed.pyi"),
        ("app.py", "space.inner.tool", "space/inner/tool.py"),
        ("app.py", "lib_a.part", "src/lib_a/part.py"),  # a root of its own
        ("src/lib_a/part.py", "lib_a", "src/lib_a/__init__.py"),
        ("tests/test_app.py", "helpers", "tests/helpers.py"),  # beside the script
        ("tests/test_app.py", "app", "app.py"),
        ("app.py", "json", "json.py"),  # a local module shadows the standard library
        ("pack/core/deep.py", "json", "json.py"),  # absolute: not the one in its package
        ("app.py", "numpy", None),
        ("app.py", "pack.missing", None),
    ],
)
def test_absolute_names_lead_to_files(importer: str, name: str, path: str | None) -> None:
    assert ModuleMap(FILES).find_absolute(importer, name).module == path


def test_the_standard_library_is_not_shadowed_from_another_root() -> None:
    files = ["app.py", "tools/logging.py", "tools/other.py"]
    assert not ModuleMap(files).find_absolute("app.py", "logging")
    assert ModuleMap(files).find_absolute("tools/other.py", "logging").module == "tools/logging.py"


@pytest.mark.parametrize(
    ("importer", "level", "name", "path"),
    [
        ("pack/core/deep.py", 1, "", "pack/core/__init__.py"),
        ("pack/core/deep.py", 2, "", "pack/__init__.py"),
        ("pack/core/deep.py", 2, "json", "pack/json.py"),
        ("pack/__init__.py", 1, "core.deep", "pack/core/deep.py"),
        ("space/inner/tool.py", 1, "tool", "space/inner/tool.py"),
        ("app.py", 2, "pack", None),  # beyond the top
        ("pack/json.py", 9, "", None),
    ],
)
def test_relative_names_lead_to_files(importer: str, level: int, name: str, path: str | None) -> None:
    assert ModuleMap(FILES).find_relative(importer, level, name).module == path


def test_a_folder_without_init_is_a_namespace_package() -> None:
    found = ModuleMap(FILES).find_absolute("app.py", "space.inner")
    assert (found.module, found.folder) == (None, "space/inner")


def make_import(module: str, name: str | None = None, alias: str | None = None, level: int = 0) -> Import:
    return Import(module=module, name=name, alias=alias, level=level, span=Span(0, 0, 1, 1))


@pytest.mark.parametrize(
    ("record", "path"),
    [
        (make_import("pack.core.deep"), "pack/__init__.py"),  # binds the top-level name
        (make_import("pack.core.deep", alias="deep"), "pack/core/deep.py"),
        (make_import("pack", "json"), "pack/json.py"),
        (make_import("pack", "no_module"), None),
    ],
)
def test_an_import_binds_its_name_to_a_module(record: Import, path: str | None) -> None:
    assert ModuleMap(FILES).find_bound("app.py", record).module == path


def test_the_repository_is_the_first_root() -> None:
    pass
