"""An answer is judged without its driver code, and ranks below equal code without any."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from pkg.rerank.candidates import Ranking, RerankOptions
from pkg.rerank.reranker import Reranker
from pkg.rerank.statement_dependencies import find_driver

QUERY = "Write a function area(w, h) that gives the area of a rectangle. area(2, 3) == 6 and area(4, 5) == 20."
UNSHOWN = "Write a function to give the area of a rectangle."
WRONG = "def area(w, h):\n    return w + h + 1"  # holds for the first example alone
GOOD = "def area(w, h):\n    return w * h"

FAILING = [
    "w = int(input('w? '))\nh = int(input())\nprint(area(w, h))",
    "import sys\nw, h = map(int, sys.stdin.readline().split())\nprint(area(w, h))",
    "import sys\nprint(area(int(sys.argv[1]), int(sys.argv[2])))",
    "assert area(1, 1) == 2",
    "assert area(2, 2) == 4\nassert area(2, 3) == 5, 'wrong'",
    "import sys\nsys.exit(0)",
    "from sys import exit\nexit(area(1, 1))",
    "quit()",
    "raise SystemExit(area(1, 2))",
    "raise NotImplementedError('more to come')",
    "while True:\n    print(area(int(input()), 2))",
    "while True:\n    try:\n        print(area(int(input()), 2))\n    except EOFError:\n        continue",
    "n = 0\nwhile n >= 0:\n    n += 1",
    "import unittest\nclass TestArea(unittest.TestCase):\n    def test_it(self):\n"
    "        self.assertEqual(area(1, 1), 2)\nunittest.main()",
    "import nothing_of_that_name as lib\n@lib.mark('w', [1, 2])\ndef test_area(w):\n    assert area(w, 1) == w",
    "def test_area():\n    assert area(1, 1) == 3\n\ntest_area()",
    "def main():\n    print(area(*map(int, input().split())))\n\nmain()",
    "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('w', type=int)\n"
    "args = parser.parse_args()\nprint(area(args.w, 1))",
    "from http.server import HTTPServer, BaseHTTPRequestHandler\n"
    "HTTPServer(('', 8000), BaseHTTPRequestHandler).serve_forever()",
    "from flask import Flask\napp = Flask(__name__)\n\n@app.route('/')\ndef index():\n    return str(area(1, 2))\n"
    "app.run()",
    "from nothing_of_that_name import *\nrun(area)",
    "from area import area\nassert area(1, 1) == 1",
    "area = area(2, 3)\nprint(area)",
    "print(area(2, 3))\ndel area",
    "with open('sizes.txt') as file:\n    for line in file:\n        print(area(*map(int, line.split())))",
    "result = area('a', 'b')\nprint(result)",
    "print(area(1))",
    "print(undefined_name)",
    "del area.cache",
    "w = int(input()); h = 2; print(area(w, h))",
    "if area(1, 1) != 2:\n    raise ValueError('no')",
    "import time\ntime.sleep(1000)",
]
HARMLESS = ["print(area(2, 3))", "for each in range(3):\n    print(area(each, 2))", "assert area(1, 1) == 1"]


@pytest.fixture(scope="module")
def reranker() -> Iterator[Reranker]:
    with Reranker(RerankOptions(cpu_seconds=0.4)) as opened:
        yield opened


def rank(reranker: Reranker, *candidates: str, query: str = QUERY) -> Ranking:
    return reranker.rerank(query, candidates)


@pytest.mark.parametrize("driver", FAILING)
def test_an_answer_whose_definitions_run_is_not_dropped_for_its_driver(reranker: Reranker, driver: str) -> None:
    ranking = rank(reranker, WRONG, f"{GOOD}\n\n{driver}\n")
    assert ranking.chosen == 1
    assert ranking.candidates[1].dropped is None
    assert "judged without its driver code" in ranking.candidates[1].reason
    assert ranking.code == GOOD


@pytest.mark.parametrize("driver", [FAILING[0], FAILING[3], *HARMLESS])
@pytest.mark.parametrize("query", [QUERY, UNSHOWN])
def test_an_equal_answer_without_driver_code_ranks_above(reranker: Reranker, driver: str, query: str) -> None:
    assert rank(reranker, f"{GOOD}\n\n{driver}\n", GOOD, query=query).chosen == 1
    assert rank(reranker, GOOD, f"{GOOD}\n\n{driver}\n", query=query).chosen == 0


@pytest.mark.parametrize("driver", HARMLESS)
def test_the_reason_names_the_driver_code(reranker: Reranker, driver: str) -> None:
    ranking = rank(reranker, f"{GOOD}\n\n{driver}\n", WRONG)
    assert ranking.chosen == 0
    assert f"(line 4: {driver.splitlines()[0]})" in ranking.candidates[0].reason


def test_a_driver_does_not_help_a_wrong_answer(reranker: Reranker) -> None:
    assert rank(reranker, f"{WRONG}\n\nprint(area(2, 3))", f"{GOOD}\n\ninput()").chosen == 1


def test_a_fenced_driver_after_a_fenced_answer(reranker: Reranker) -> None:
    text = f"```python\n{GOOD}\n```\nTry it:\n```python\nprint(area(int(input()), 2))\n```"
    assert rank(reranker, WRONG, text).chosen == 1
    assert rank(reranker, WRONG, f"```python\n{GOOD}\n\nprint(area(int(input()), 2))\n```").chosen == 1


def test_a_class_is_judged_without_the_lines_that_use_it(reranker: Reranker) -> None:
    stack = (
        "class Stack:\n    def __init__(self):\n        self.items = []\n\n    def push(self, item):\n"
        "        self.items.append(item)\n\n    def pop(self):\n        return self.items.pop({})"
    )
    query = "Write a class Stack.\n\ns = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2\n"
    driver = "s = Stack()\ns.push(3)\nassert s.pop() == 4\nwhile s.items:\n    input()"
    assert rank(reranker, stack.format(0), f"{stack.format('')}\n\n{driver}", query=query).chosen == 1


def test_a_continuation_of_the_query_may_have_driver_code(reranker: Reranker) -> None:
    query = 'def area(w, h):\n    """Give the area.\n\n    >>> area(2, 3)\n    6\n    """\n'
    text = "    return w * h\n\nprint(area(int(input()), 3))"
    assert rank(reranker, "    return w + h", text, query=query).chosen == 1


def test_code_that_exits_before_its_definitions_defines_nothing(reranker: Reranker) -> None:
    for end in ("raise SystemExit(0)", "import sys\nsys.exit()", "exit()"):
        ranking = rank(reranker, f"{end}\n{GOOD}", WRONG)
        assert (ranking.chosen, ranking.candidates[0].dropped) == (1, "smoke")


def test_a_missing_module_is_not_driver_code(reranker: Reranker) -> None:
    ranking = rank(reranker, f"import nothing_of_that_name\n{GOOD}\n\nprint(area(1, 2))", WRONG)
    assert (ranking.chosen, ranking.candidates[0].dropped) == (1, "smoke")


def test_a_required_program_keeps_its_lines(reranker: Reranker) -> None:
    query = "Write a script that reads two numbers from standard input and prints their product."
    script = "def read():\n    return int(input())\n\nprint(read() * read())"
    ranking = rank(reranker, script, "def read():\n    return 6 * nothing\n\nprint(read())", query=query)
    assert (ranking.chosen, ranking.code, ranking.fallback) == (0, script, False)


def test_the_paper_takes_an_answer_with_all_of_its_lines(reranker: Reranker) -> None:
    from pkg.rerank.candidates import paper_options

    ranking = Reranker(paper_options(cpu_seconds=0.4), reranker.sandbox).rerank(QUERY, [f"{GOOD}\ninput()", WRONG])
    assert [each.dropped for each in ranking.candidates] == ["smoke", None]


def test_a_builtin_that_driver_code_rebinds_keeps_its_meaning_in_definitions(
    reranker: Reranker,
) -> None:
    code = "def area(w, h):\n    return sum([h] * w)"
    ranking = rank(reranker, WRONG, f"{code}\n\nsum = area(2, 3)\nprint(sum)")
    assert (ranking.chosen, ranking.code) == (1, code)


KEPT = [
    "MOD = 7\ndef area(w, h):\n    return w * h % MOD",
    "from functools import lru_cache\n\n@lru_cache\ndef area(w, h):\n    return w * h",
    "import math as m, os\ndef area(w, h):\n    return m.prod((w, h))",
    "table = {}\nfor each in range(9):\n    table[each] = each\ndef area(w, h):\n    return table[w] * h",
    "names = []\nnames.append('a')\ndef area(w, h):\n    return len(names) * w * h",
    "ready = []\ndef fill():\n    global ready\n    ready = [1]\nfill()\ndef area(w, h):\n    return ready[0] * w * h",
    "table = {}\ndef fill():\n    table[1] = 1\nfill()\ndef area(w, h):\n    return table[1] * w * h",
    "try:\n    from math import prod\nexcept ImportError:\n    prod = None\ndef area(w, h):\n    return prod((w, h))",
    "def area(w, h):\n    return w * h\narea.calls = 0",
    "import sys\nsys.setrecursionlimit(10 ** 5)\ndef area(w, h):\n    return w * h",
    "class Shape:\n    pass\nclass Area(Shape):\n    pass\ndef area(w, h):\n    return Area and w * h",
    "area = lambda w, h: w * h",
    "def mul(w, h):\n    return w * h\narea = mul",
]


@pytest.mark.parametrize("code", KEPT)
def test_what_the_definitions_stand_on_is_kept(code: str) -> None:
    driven = f"{code}\n\nprint(area(1, 2))\nassert False\n"
    driver = find_driver(driven, ast.parse(driven), "area")
    assert driver is not None
    assert ast.dump(ast.parse(driver.code_without)) == ast.dump(ast.parse(code))
    assert find_driver(code, ast.parse(code), "area") is None


def test_code_without_a_definition_has_no_driver() -> None:
    code = "n = int(input())\nprint(3 * n)"
    assert find_driver(code, ast.parse(code), None) is None
