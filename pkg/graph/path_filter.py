"""Filter files and rows by path: globs, of which the last that matches decides, and test files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache

from pkg.model import NodeFilter

TEST_PATH = r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest)\.py[iw]?$"
"""Paths of tests by the conventions of pytest and unittest; a regular expression for Python and Java."""

_TEST = re.compile(TEST_PATH)
_EXAMPLE = re.compile(
    r"(?:^|/)(?:docs?|documentation|doc_src|examples?|demos?|samples?|tutorials?|benchmarks?|asv_bench)/"
)
_END = r"(?![\s\S])"  # end of a text in Python and Java
_ALL, _NONE = r"[\s\S]*", r"(?!)"
_GROUP_BEGIN, _GROUP_END = re.compile(r"\(\?=\(\?P<g\d+>|\(\?>"), re.compile(r"\)\)\(\?P=g\d+\)")


@lru_cache(maxsize=10_000)
def is_test(path: str) -> bool:
    """Return whether a path is that of a test file."""
    return _TEST.search(path) is not None


@lru_cache(maxsize=10_000)
def is_example(path: str) -> bool:
    """Return whether a file is an example, part of documentation or a benchmark."""
    return _EXAMPLE.search(path) is not None


def is_product(path: str) -> bool:
    """Return whether a file is none of tests, examples, documentation and benchmarks."""
    return not (is_test(path) or is_example(path))


def make_path_pattern(where: NodeFilter) -> str:
    """Return one regular expression, for Python and Java, that a whole path matches if it passes a filter.

    Globs count in their order, as lines of a .gitignore do: the last one that matches decides, and a glob after `!`
    excludes. Where the first glob excludes, all other paths pass.
    """
    pattern = _join_globs(where.paths) if where.paths else _ALL
    if where.tests is None:
        return pattern
    operator = "=" if where.tests else "!"
    return rf"(?{operator}[\s\S]*?(?:{TEST_PATH}))(?:{pattern})"


def _join_globs(globs: Sequence[str]) -> str:
    pattern = _ALL if globs[0].startswith("!") else _NONE
    for glob in globs:
        matched = _translate_glob(glob.removeprefix("!"))
        pattern = f"(?!{matched}{_END})(?:{pattern})" if glob.startswith("!") else f"(?:{matched}|{pattern})"
    return pattern


def _translate_glob(glob: str) -> str:
    """Translate a glob to a regular expression without an end anchor and without groups that Java lacks."""
    pattern = translate(glob)
    for end in (r"\Z", r"\z"):
        pattern = pattern.removesuffix(end)
    return _GROUP_END.sub(")", _GROUP_BEGIN.sub("(?:", pattern))
