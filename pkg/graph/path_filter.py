"""Decide which files and rows pass by their paths: globs of which the last that matches decides, and tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache

from pkg.model import NodeFilter

TEST_PATH = r"(?:^|/)(?:tests?|testing)/|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest)\.py[iw]?$"
"""Where tests stand by the habits of pytest and unittest; a regular expression that Java reads as Python does."""

_TEST = re.compile(TEST_PATH)
_END = r"(?![\s\S])"  # of a text, for Python and Java alike
_ALL, _NONE = r"[\s\S]*", r"(?!)"
_GROUP_BEGIN, _GROUP_END = re.compile(r"\(\?=\(\?P<g\d+>|\(\?>"), re.compile(r"\)\)\(\?P=g\d+\)")


@lru_cache(maxsize=10_000)
def is_test(path: str) -> bool:
    """Tell whether a file holds tests."""
    return _TEST.search(path) is not None


def make_path_pattern(where: NodeFilter) -> str:
    """Write the paths that pass a filter as one regular expression, which a whole path has to match.

    Python and Java read it alike. Globs count in their order, as lines of a .gitignore do: the last one that matches
    decides, and a glob behind `!` takes out what it matches. Where the first one takes out, all else passes.
    """
    pattern = _join_globs(where.paths) if where.paths else _ALL
    if where.tests is None:
        return pattern
    look = "=" if where.tests else "!"
    return rf"(?{look}[\s\S]*?(?:{TEST_PATH}))(?:{pattern})"


def _join_globs(globs: Sequence[str]) -> str:
    pattern = _ALL if globs[0].startswith("!") else _NONE
    for glob in globs:
        written = _translate_glob(glob.removeprefix("!"))
        pattern = f"(?!{written}{_END})(?:{pattern})" if glob.startswith("!") else f"(?:{written}|{pattern})"
    return pattern


def _translate_glob(glob: str) -> str:
    """Write a glob without the end of the text, and without groups that the other language lacks."""
    pattern = translate(glob)
    for end in (r"\Z", r"\z"):
        pattern = pattern.removesuffix(end)
    return _GROUP_END.sub(")", _GROUP_BEGIN.sub("(?:", pattern))
