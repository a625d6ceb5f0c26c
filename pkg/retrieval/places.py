"""Tell by its path what a file is for: tests, generated code, code of others that is kept along."""

from __future__ import annotations

import re
from functools import lru_cache

_TEST = re.compile(r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest)\.py[iw]?$")
_GENERATED = re.compile(r"_pb2(?:_grpc)?\.py$|(?:^|/)_?generated/|_generated\.py$|(?:^|/)(?:lex|yacc|parse)tab\.py$")
_VENDORED = re.compile(r"(?:^|/)_?(?:vendor|vendored|third_party|thirdparty|extern)/")


@lru_cache(maxsize=10_000)
def is_test(path: str) -> bool:
    """Tell whether a file holds tests."""
    return _TEST.search(path) is not None


@lru_cache(maxsize=10_000)
def is_foreign(path: str) -> bool:
    """Tell whether a file was written by a program, or is a copy of another project's."""
    return _GENERATED.search(path) is not None or _VENDORED.search(path) is not None
