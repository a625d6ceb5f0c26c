"""An undefined name is answered by an import whose attributes agree with its use."""

from __future__ import annotations

import ast

import pytest

from pkg.generation.known_imports import find_import


@pytest.mark.parametrize(
    ("code", "name", "expected"),
    [
        ("math.sqrt(2)", "math", "import math"),
        ("datetime.now()", "datetime", "from datetime import datetime"),
        ("datetime.datetime.now()", "datetime", "import datetime"),
        ("datetime(2020, 1, 1)", "datetime", "from datetime import datetime"),
        ("x: Iterable[int]", "Iterable", "from collections.abc import Iterable"),
        ("x: Optional[int]", "Optional", "from typing import Optional"),
        ("deque()", "deque", "from collections import deque"),
        ("time.unheard_of()", "time", None),
        ("math(2)", "math", None),
        ("add(1, 2)", "add", None),
        ("string + 'a'", "string", None),
        ("np.array([])", "np", "import numpy as np"),
        ("np + 1", "np", None),
        ("click.echo('a')", "click", "import click"),
        ("uninstalled.echo('a')", "uninstalled", None),
    ],
)
def test_an_import_fits_the_use_of_a_name(code: str, name: str, expected: str | None) -> None:
    assert find_import(name, ast.parse(code)) == expected


@pytest.mark.parametrize(
    ("code", "name", "nearby", "expected"),
    [
        ("n.array([])", "n", "import numpy as n", "import numpy as n"),
        ("pi * 2", "pi", "from math import pi", "from math import pi"),
        ("time()", "time", "import time", None),
        ("time()", "time", "from time import time", "from time import time"),
        ("math.sqrt(2)", "math", "from cmath import sqrt as math", "import math"),
        ("rows.read()", "rows", "from . import rows", None),
        ("rows.read()", "rows", "import uninstalled as rows", None),
        ("rows.read()", "rows", "rows = 1", None),
    ],
)
def test_an_import_nearby_counts_if_its_module_is_installed(code: str, name: str, nearby: str, expected: str) -> None:
    assert find_import(name, ast.parse(code), [nearby]) == expected
