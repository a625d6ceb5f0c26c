"""The package of a source's root, for every kind of input."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from pkg.extract.discovery import discover

FILES = (
    "work/big/__init__.py",
    "work/big/shop/__init__.py",
    "work/big/shop/cart.py",
    "work/big/shop/tests/test_cart.py",
    "work/big/shop/data/deep/run.py",
    "work/my-app/__init__.py",
    "work/my-app/core/__init__.py",
    "work/stubs/__init__.pyi",
    "work/half/gap/pack/__init__.py",
    "work/half/__init__.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        place = tmp_path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x = 1\n")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("work", ""),
        ("work/big", "big"),
        ("work/big/shop", "big.shop"),
        ("work/big/shop/", "big.shop"),
        ("work/big/shop/cart.py", "big.shop"),
        ("work/big/shop/tests", "big.shop.tests"),  # a namespace package in a package
        ("work/big/shop/data/deep", ""),  # too far from the package to tell
        ("work/my-app", ""),  # no import can name it
        ("work/my-app/core", "core"),
        ("work/stubs", "stubs"),
        ("work/half/gap/pack", "pack"),
    ],
)
def test_a_folder_has_its_name_and_those_of_the_packages_above(tree: Path, path: str, package: str) -> None:
    assert discover(str(tree / path)).package == package


@pytest.mark.parametrize(
    ("name", "members", "package"),
    [
        ("shop-1.0.zip", ["__init__.py", "cart.py"], "shop"),  # packed inside of the folder
        ("shop-1.0.zip", ["shop/__init__.py", "shop/cart.py"], ""),
        ("my-shop.zip", ["__init__.py", "cart.py"], ""),
        ("shop-1.0-py3-none-any.whl", ["__init__.py", "shop/__init__.py"], ""),
    ],
)
def test_an_archive_of_what_lies_in_a_package_is_named_by_its_file(
    tmp_path: Path, name: str, members: list[str], package: str
) -> None:
    with zipfile.ZipFile(tmp_path / name, "w") as archive:
        for member in members:
            archive.writestr(member, "x = 1\n")
    assert discover(str(tmp_path / name)).package == package


def test_a_source_distribution_is_no_package_though_an_init_lies_on_its_top(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x = 1\n")
    with tarfile.open(tmp_path / "shop-1.0.tar.gz", "w:gz") as archive:
        for member in ("__init__.py", "PKG-INFO", "shop/__init__.py"):
            archive.add(tmp_path / "file", f"shop-1.0/{member}")
    found = discover(str(tmp_path / "shop-1.0.tar.gz"))
    assert ([entry.path for entry in found.entries], found.package) == (["__init__.py", "shop/__init__.py"], "")


def run_git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=tester", "-c", "user.email=tester@localhost")
    subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, check=True)


@pytest.mark.parametrize(
    ("path", "package"), [("work", ""), ("work/big", "big"), ("work/big/shop", "big.shop"), ("work/my-app", "")]
)
def test_a_revision_has_the_packages_that_it_had(tree: Path, path: str, package: str) -> None:
    run_git(tree, "init", "--quiet")
    run_git(tree, "add", "--all", "--force")
    run_git(tree, "commit", "--quiet", "--message", "state")
    (tree / "work/big/__init__.py").unlink()
    assert discover(f"{tree / path}@HEAD").package == package


def test_packages_end_where_a_repository_does(tree: Path) -> None:
    top = tree / "work/big/shop"
    run_git(top, "init", "--quiet")
    run_git(top, "add", "--all", "--force")
    run_git(top, "commit", "--quiet", "--message", "state")
    assert discover(f"{top}@HEAD").package == "shop"
    assert discover(str(top)).package == "big.shop"
