"""Imports resolve to the files that Python would import."""

from __future__ import annotations

import pytest

from pkg.model import Import, Span
from pkg.resolution.module_map import NOTHING, Found, ModuleMap

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


SERVICES = [
    "alpha/app/__init__.py",
    "alpha/app/db.py",
    "alpha/main.py",
    "beta/app/__init__.py",
    "beta/app/db.py",
    "beta/src/core/__init__.py",
    "beta/tests/unit/test_db.py",
    "examples/core.py",
    "examples/yaml.py",
    "tests/test_all.py",
    "tools/vendor/core/__init__.py",
    "vendor/lone/__init__.py",
]
ALPHA, BETA = "alpha/app/db.py", "beta/app/db.py"


@pytest.mark.parametrize(
    ("importer", "name", "modules"),
    [
        ("beta/tests/unit/test_db.py", "app.db", [BETA]),  # the nearest
        ("alpha/main.py", "app.db", [ALPHA]),
        ("alpha/app/db.py", "app.db", [ALPHA]),  # its own package
        ("tests/test_all.py", "app.db", [ALPHA, BETA]),  # none is nearer
        ("tests/test_all.py", "alpha.app.db", [ALPHA]),  # a namespace package
        ("beta/tests/unit/test_db.py", "core", ["beta/src/core/__init__.py"]),
        ("tests/test_all.py", "lone", ["vendor/lone/__init__.py"]),  # nothing else has the name
    ],
)
def test_the_nearest_root_has_a_name(importer: str, name: str, modules: list[str]) -> None:
    found = ModuleMap(SERVICES).find_absolute(importer, name)
    assert (found.modules, found.may_be_library) == (modules, False)


def test_a_package_decides_though_another_root_has_the_rest() -> None:
    files = [*SERVICES, "alpha/app/cache.py"]
    assert not ModuleMap(files).find_absolute("beta/tests/unit/test_db.py", "app.cache")


def test_a_script_that_lies_aside_may_be_a_library() -> None:
    found = ModuleMap(SERVICES).find_absolute("alpha/app/db.py", "yaml")
    assert (found.modules, found.may_be_library) == (["examples/yaml.py"], True)


PORTIONS = [
    "core/google/cloud/core/__init__.py",
    "storage/google/cloud/storage/blob.py",
    "redis/conf/start.py",
    "run.py",
]


@pytest.mark.parametrize(
    ("record", "module"),
    [
        (make_import("google.cloud", "core"), "core/google/cloud/core/__init__.py"),
        (make_import("google.cloud.core", alias="core"), "core/google/cloud/core/__init__.py"),
        (make_import("google.cloud.storage.blob", alias="blob"), "storage/google/cloud/storage/blob.py"),
        (make_import("redis", "Redis"), None),  # a folder that has not what is imported: a library
        (make_import("logging", "handlers"), None),
    ],
)
def test_a_namespace_package_lies_in_several_folders(record: Import, module: str | None) -> None:
    files = ModuleMap([*PORTIONS, "logging/level.py"])
    assert files.find_bound("storage/google/cloud/storage/blob.py", record).module == module


def test_a_folder_that_no_import_can_name_is_no_package() -> None:
    files = ModuleMap(["my-shop/__init__.py", "my-shop/shop/__init__.py", "my-shop/shop/cart.py"])
    assert files.find_absolute("my-shop/shop/cart.py", "shop.cart").module == "my-shop/shop/cart.py"


HALF = ["shop/__init__.py", "shop/app/__init__.py", "shop/app/celery.py", "shop/main.py", "shop/celery.py"]


@pytest.mark.parametrize(
    ("importer", "name", "modules"),
    [
        ("shop/main.py", "app", ["shop/app/__init__.py"]),  # run as a script
        ("shop/celery.py", "celery", []),  # never itself
        ("shop/app/celery.py", "json", []),
    ],
)
def test_the_outermost_package_is_a_root_that_is_not_sure(importer: str, name: str, modules: list[str]) -> None:
    found = ModuleMap(HALF).find_absolute(importer, name)
    assert (found.modules, found.may_be_library) == (modules, True)


def test_whether_a_file_means_itself_depends_on_no_file_that_was_asked_before() -> None:
    files, record = ModuleMap(HALF), make_import("celery", "Celery")
    found = [files.find_import(importer, record).module for importer in ("shop/main.py", "shop/celery.py") * 2]
    assert found == ["shop/celery.py", None] * 2


SHOP = ["__init__.py", "cart.py", "tax/__init__.py", "tax/rates.py"]


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("shop", "__init__.py"),
        ("shop.tax.rates", "tax/rates.py"),
        ("shop.missing", None),
    ],
)
def test_the_root_may_be_the_folder_of_a_package(name: str, module: str | None) -> None:
    files = ModuleMap(SHOP, "shop")
    assert files.find_absolute("tax/rates.py", name).module == module
    assert files.find_root("tax/rates.py") == ""


@pytest.mark.parametrize(
    ("record", "found"),
    [
        (make_import("big.shop.tax"), Found(folder="big")),  # a package above, of which no more is known
        (make_import("big.shop", "cart"), Found("cart.py")),
        (make_import("big", "shop"), Found("__init__.py", "big/shop")),
        (make_import("big", "other"), NOTHING),
        (make_import("", "shop", level=3), Found("__init__.py", "big/shop")),
        (make_import("other", "name", level=3), NOTHING),
    ],
)
def test_packages_above_the_root_have_names(record: Import, found: Found) -> None:
    assert ModuleMap(SHOP, "big.shop").find_bound("tax/rates.py", record) == found


@pytest.mark.parametrize("package", ["", "shop"])
def test_a_file_is_opened_as_an_import_finds_it(package: str) -> None:
    files = ModuleMap(SHOP, package)
    assert files.step(files.open("tax/__init__.py"), "rates").module == "tax/rates.py"
    assert not files.step(files.open("tax/rates.py"), "rates")
