"""A method with overrides in subclasses is a likely target, not a certain one."""

from __future__ import annotations

import pytest
from unit.resolution.resolving import resolve_tree

from pkg.model import RelationType

METHODS = """    def run(self):
        {}

    def step(self):
        return 1

    @property
    def size(self):
        return 1
"""
CODE = f"""
class Base:
{METHODS}

class Derived(Base):
    def step(self):
        return 2

    @property
    def size(self):
        return 2


class Alone:
{METHODS}"""


@pytest.mark.parametrize(
    ("body", "name", "derived"),
    [
        ("return self.step()", "step", "likely"),
        ("return self.size", "size", "possible"),
        ("step = self.step\n        return step()", "step", "likely"),
        ('return getattr(self, "step")()', "step", "likely"),
    ],
)
def test_an_overridden_method_is_likely_at_most(body: str, name: str, derived: str) -> None:
    calls = resolve_tree({"m.py": CODE.format(body, body)}).pairs(RelationType.CALLS)
    told = {
        (start, end): edge.confidence
        for (start, end), edge in calls.items()
        if start.endswith(".run") and end.endswith(name)
    }
    assert told == {
        ("m.Base.run", f"m.Base.{name}"): "likely",
        ("m.Base.run", f"m.Derived.{name}"): derived,
        ("m.Alone.run", f"m.Alone.{name}"): "certain",
    }


def test_a_class_that_derived_classes_exchange_may_be_made() -> None:
    code = """
class Plain:
    def __init__(self):
        pass


class Fine:
    def __init__(self):
        pass


class Maker:
    kind = Plain

    def make(self):
        return self.kind()


class FineMaker(Maker):
    kind = Fine
"""
    calls = resolve_tree({"m.py": code}).pairs(RelationType.CALLS)
    assert calls["m.Maker.make", "m.Plain.__init__"].confidence == "likely"
    assert calls["m.Maker.make", "m.Fine.__init__"].confidence == "possible"
