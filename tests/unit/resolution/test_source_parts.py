"""Split large sources into parts, and order these by their imports."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.extract.python import extract_unit
from pkg.resolution import source_parts
from pkg.resolution.module_map import ModuleMap
from pkg.resolution.source_parts import Folder, order_parts, split_folders


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_parts, "MOST_FILES", 2)
    monkeypatch.setattr(source_parts, "MOST_MERGED", 2)


def test_a_small_source_is_one_part() -> None:
    assert split_folders(["a.py", "b/c.py"]) == dict.fromkeys(["a.py", "b/c.py"], Folder("", None))


def test_a_large_package_is_split_too() -> None:
    paths = ["big/__init__.py", "big/a.py", "big/b/c.py", "setup.py"]
    inside = {"big/b/c.py": Folder("big/b/", "big/")} | dict.fromkeys(paths[:2], Folder("big/", "big/"))
    assert split_folders(paths) == inside | {"setup.py": Folder("", None)}
    assert {each.package for each in split_folders(["__init__.py", *paths], is_package=True).values()} == {""}


def test_a_large_folder_is_split_again() -> None:
    paths = ["src/one/__init__.py", "src/one/a.py", "src/two.py", "src/three/a.py", "src/three/b.py"]
    found = split_folders(paths)
    assert [found[path].path for path in paths] == ["src/one/", "src/one/", "src/", "src/three/", "src/three/"]


def order(files: dict[str, str]) -> list[tuple[tuple[str, ...], tuple[int, ...]]]:
    imports = ((path, extract_unit(text.encode()).imports) for path, text in files.items())
    found = order_parts(split_folders(files), imports, ModuleMap(files))
    return [(each.paths, each.imported) for each in found.parts]


def test_parts_come_after_those_that_they_import() -> None:
    files = {
        "a/__init__.py": "import b.low\n", "b/__init__.py": "", "b/low.py": "from c import x\n",
        "c/__init__.py": "x = 1\n", "d/__init__.py": "",
    }  # fmt: skip
    assert order(files) == [
        (("c/__init__.py",), ()),
        (("b/__init__.py", "b/low.py"), (0,)),
        (("a/__init__.py",), (0, 1)),
        (("d/__init__.py",), ()),
    ]


def test_parts_that_import_one_another_are_one() -> None:
    files = {"a/__init__.py": "import b\n", "b/__init__.py": "import a\n", "c/__init__.py": "import a\n"}
    assert order(files) == [(("a/__init__.py", "b/__init__.py"), ()), (("c/__init__.py",), (0,))]


def test_folders_of_a_split_package_are_gathered() -> None:
    files = {"p/__init__.py": "", "p/a/x.py": "import p\n", "p/b/x.py": "import q\n", "q/__init__.py": "import p.a.x\n"}
    assert order(files) == [
        (("p/__init__.py", "p/a/x.py"), ()),
        (("q/__init__.py",), (0,)),
        (("p/b/x.py",), (0, 1)),
    ]


def test_a_cycle_that_is_too_large_loses_the_imports_of_fewest_files() -> None:
    files = {
        "a/__init__.py": "import b\n", "a/more.py": "import b\n",
        "b/__init__.py": "import c\n",
        "c/__init__.py": "import a\n",
    }  # fmt: skip
    imports = [(path, extract_unit(text.encode()).imports) for path, text in files.items()]
    found = order_parts(split_folders(files), imports, ModuleMap(files))
    assert [each.paths for each in found.parts] == [
        ("c/__init__.py",), ("b/__init__.py",), ("a/__init__.py", "a/more.py"),
    ]  # fmt: skip
    assert found.left_out == {("c/", "a/"): 1}


@given(st.dictionaries(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), st.just(None)), st.booleans())
def test_a_part_of_several_folders_is_never_too_large(pairs: dict[tuple[str, str], None], is_package: bool) -> None:
    files = {
        f"{each}/__init__.py": "".join(f"import {end}\n" for start, end in pairs if start == each) for each in "abcdef"
    }
    imports = [(path, extract_unit(text.encode()).imports) for path, text in files.items()]
    found = order_parts(split_folders(files, is_package), imports, ModuleMap(files))
    assert sorted(path for each in found.parts for path in each.paths) == sorted(files)
    assert all(len(each.paths) <= 2 for each in found.parts)
    assert all(max(each.imported, default=-1) < place for place, each in enumerate(found.parts))
    whole = {path[0]: number for number, each in enumerate(found.parts) for path in each.paths}
    for start, end in pairs:
        is_seen = whole[start] == whole[end] or whole[end] in found.parts[whole[start]].imported
        assert is_seen or (f"{start}/", f"{end}/") in found.left_out
        assert is_package or is_seen != ((f"{start}/", f"{end}/") in found.left_out)
