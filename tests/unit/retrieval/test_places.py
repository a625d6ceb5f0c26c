from __future__ import annotations

import pytest

from pkg.graph.path_filter import is_test
from pkg.retrieval.features import is_foreign


@pytest.mark.parametrize("path", ["tests/a.py", "pack/test/a.py", "test_a.py", "pack/a_test.py", "pack/conftest.py"])
def test_files_of_tests_are_recognised_by_folder_or_name(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize("path", ["pack/attest.py", "contest/a.py", "pack/latest.py", "testimony.py"])
def test_other_names_with_these_letters_are_not_tests(path: str) -> None:
    assert not is_test(path)


@pytest.mark.parametrize(
    "path", ["api/user_pb2.py", "api/user_pb2_grpc.py", "pack/_generated/a.py", "pack/parsetab.py"]
)
def test_generated_files_are_known(path: str) -> None:
    assert is_foreign(path)


@pytest.mark.parametrize("path", ["pack/generate.py", "pack/generator/a.py", "pack/table.py", "pack/regenerated.py"])
def test_a_generator_is_not_generated(path: str) -> None:
    assert not is_foreign(path)


@pytest.mark.parametrize("path", ["pip/_vendor/a.py", "vendor/a.py", "astropy/extern/a.py", "third_party/b/a.py"])
def test_vendored_code_is_recognised_by_its_folder(path: str) -> None:
    assert is_foreign(path)


def test_a_vendor_of_goods_is_not_vendored() -> None:
    assert not is_foreign("shop/vendor.py")
