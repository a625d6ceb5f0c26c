"""A call on an unknown object may lead only to the one class with all the attributes read from it."""

from __future__ import annotations

import pytest
from unit.resolution.resolving import resolve_tree

from pkg.model import RelationType

MODELS = """
class Account:
    def __init__(self):
        self.owner = None

    def pay_out(self):
        pass

    @property
    def balance(self):
        return 1


class Wallet:
    currency = "EUR"

    def pay_out(self):
        pass


class Safe(Account):
    def pay_out(self):
        pass
"""
RULE = "only class with these attributes"


def find_guesses(code: str, models: str = MODELS) -> set[str]:
    """Return the callees of code found by a guess, without the name of the module."""
    calls = resolve_tree({"models.py": models, "use.py": code}).pairs(RelationType.CALLS)
    found = {end.removeprefix("models.") for (_, end), edge in calls.items() if edge.rule == RULE}
    assert all(edge.confidence == "likely" for edge in calls.values() if edge.rule == RULE)
    return found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        pytest.param("x.pay_out()", set(), id="two classes have it"),
        pytest.param("x.pay_out(); x.currency", {"Wallet.pay_out"}, id="another attribute tells them apart"),
        pytest.param(
            "x.pay_out(); x.owner = 1", {"Account.pay_out", "Safe.pay_out"}, id="one that is assigned to self"
        ),
        pytest.param("x.pay_out(); x.owner; x.currency", set(), id="no class has all"),
        pytest.param("x.balance", {"Account.balance"}, id="a property"),
        pytest.param("y = x.pay_out(); x.balance", {"Account.balance", "Account.pay_out", "Safe.pay_out"}, id="both"),
        pytest.param("x.pay_out(); y.currency", set(), id="of another name"),
        pytest.param("x.item.pay_out(); x.item.currency", {"Wallet.pay_out"}, id="an attribute of a name"),
        pytest.param("x.get(); x.balance", {"Account.balance"}, id="builtin objects have the name too"),
    ],
)
def test_the_one_class_that_fits_is_guessed(body: str, found: set[str]) -> None:
    """A class and its subclasses count as one; methods of the subclasses may run as well."""
    code = "def use(x, y):\n" + "".join(f"    {each.strip()}\n" for each in body.split(";"))
    models = MODELS + "\n    def get(self):\n        pass\n"
    assert find_guesses(code, models if ".get" in body else MODELS) == found


def test_what_is_known_is_not_guessed() -> None:
    assert not find_guesses("from models import Wallet\n\n\ndef use(x: Wallet):\n    x.pay_out()\n    x.currency\n")
    assert not find_guesses("import os\n\n\ndef use():\n    os.pay_out()\n    os.currency\n")


USE = "def use(x):\n    x.pay_out()\n    x.currency\n    x.owner\n\n\ndef other(x):\n    return x.balance\n"
BOTH = "\n\nclass Both(Account, Wallet):\n    {}\n"
