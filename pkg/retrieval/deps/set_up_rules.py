"""Functions that test runners run before or after tests, by their names: a table of rules, and the place to add one.

A test depends on them without a call in any text. Fixtures are identified by their decorators instead.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

CONFTEST = "conftest.py"
Home = Literal["class", "module"]
Reach = Literal["class", "functions", "file", "around"]
"""The tests of its class and of subclasses that do not override it; the functions of its file; all tests of its file;
those of its file or, in a conftest.py or plugin, of all files that see it."""


class SetUp(NamedTuple):
    """A function that a runner runs with tests."""

    pattern: str  # of its name
    home: Home  # where it is defined
    reach: Reach


SET_UPS = (
    # unittest, Django, pytest, nose, hypothesis
    SetUp(
        r"setUp|tearDown|asyncSetUp|asyncTearDown|setUpClass|tearDownClass|setUpTestData"
        r"|(?:setup|teardown)(?:_method|_class|_example)?",
        "class",
        "class",
    ),
    SetUp(r"setUpModule|tearDownModule|load_tests|(?:setup|teardown)(?:_module)?", "module", "file"),
    SetUp(r"(?:setup|teardown)_function", "module", "functions"),
    # hooks of pytest
    SetUp(r"pytest_generate_tests", "class", "class"),
    SetUp(r"pytest_\w+", "module", "around"),
)
RUN_BY_NAME = "|".join(each.pattern for each in SET_UPS if "pytest_" not in each.pattern)
"""Names of all set-up functions except hooks, as one pattern."""
_RULES = [(re.compile(each.pattern), each) for each in SET_UPS]


def find_set_up(name: str, home: Home) -> SetUp | None:
    """Return the rule for a function of a name in a class or module; None if no runner runs it."""
    return next((rule for pattern, rule in _RULES if rule.home == home and pattern.fullmatch(name)), None)


@lru_cache(maxsize=10_000)  # files, each examined once for each of its definitions
def is_collected(path: str) -> bool:
    """Return whether a file holds tests that pytest runs when given the file."""
    stem = PurePosixPath(path).stem
    return stem.startswith("test_") or stem.endswith("_test") or stem == "tests"


def is_conftest(path: str) -> bool:
    """Return whether pytest reads a file for all tests below its folder."""
    return path.rpartition("/")[2] == CONFTEST
