from __future__ import annotations

import pytest

from pkg.retrieval.long.tracebacks import LONGEST_LINE, MAX_FRAMES, StackFrame, read_frames

PYTHON = """\
Traceback (most recent call last):
  File "/srv/ann/app.py", line 3, in <module>
    run()
  File "/usr/lib/python3/site-packages/shop/cart.py", line 12, in add_item
    raise ValueError
ValueError
"""
IPYTHON = """\
File ~/env/lib/python3.9/site-packages/shop/cart.py:12, in Cart.add_item(self, item)
     11 def add_item(self, item):
---> 12     raise ValueError
"""
OLD_IPYTHON = """\
~/env/site-packages/shop/cart.py in add_item(self, item)
     11     def add_item(self, item):
---> 12         raise ValueError
"""
PYTEST = """\
tests/test_cart.py:5: in test_add
    cart.add_item(1)
shop/cart.py:12: ValueError
"""


@pytest.mark.parametrize(
    ("text", "frames"),
    [
        (
            PYTHON,
            [
                StackFrame("/srv/ann/app.py", 3, None),
                StackFrame("/usr/lib/python3/site-packages/shop/cart.py", 12, "add_item"),
            ],
        ),
        (IPYTHON, [StackFrame("~/env/lib/python3.9/site-packages/shop/cart.py", 12, "Cart.add_item")]),
        (OLD_IPYTHON, [StackFrame("~/env/site-packages/shop/cart.py", 12, "add_item")]),
        (PYTEST, [StackFrame("tests/test_cart.py", 5, "test_add"), StackFrame("shop/cart.py", 12, None)]),
        (r'File "C:\app\shop\cart.py", line 7, in add', [StackFrame("C:/app/shop/cart.py", 7, "add")]),
        ("the file cart.py is read in line 12", []),
    ],
)
def test_frames_are_read_as_python_ipython_and_pytest_write_them(text: str, frames: list[StackFrame]) -> None:
    assert read_frames(text) == frames


def test_a_place_counts_once_however_deep_the_recursion() -> None:
    assert len(read_frames(PYTHON * 50)) == 2


def test_a_trace_on_one_line_has_all_of_its_frames() -> None:
    assert read_frames(" ".join(PYTHON.split())) == read_frames(PYTHON)


def test_no_more_frames_are_read_than_anybody_follows() -> None:
    assert len(read_frames("\n".join(f'File "a.py", line {n}, in f' for n in range(5 * MAX_FRAMES)))) == MAX_FRAMES


def test_a_line_of_data_is_not_a_frame() -> None:
    assert not read_frames(f'File "{"x" * LONGEST_LINE}.py", line 1, in f')
