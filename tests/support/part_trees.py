"""Packages that import one another in one direction, and so are parts of a source."""

from __future__ import annotations

LOW = {
    "low/__init__.py": "from .base import *\nfrom .tools import call\n",
    "low/base.py": """class Base:
    registry = {}

    def __init__(self):
        self.size = Size()

    def run(self):
        return self.step()

    def step(self):
        return Size()

    def __len__(self):
        return self.size.count()


class Size:
    def count(self):
        return 1


def make():
    return {"size": Size()}
""",
    "low/tools.py": "def call(function, *values):\n    return function(*values)\n\n\ndef same(v):\n    return v\n",
}
MIDDLE = {
    "middle/__init__.py": "",
    "middle/work.py": """from low import Base, make
from low.tools import call, same


class Work(Base):
    def step(self):
        return len(self)


def start():
    work = Work()
    work.run()
    work.size.count()
    make()["size"].count()
    same(work).step()
    return call(finish, work)


def finish(work):
    work.step().count()
""",
}
TOP = {
    "top/__init__.py": "",
    "top/main.py": "from middle.work import Work, start\n\n\ndef main():\n    start()\n    Work().size.count()\n",
    "script.py": "from top.main import main\n\nmain()\n",
}
TREE = LOW | MIDDLE | TOP
