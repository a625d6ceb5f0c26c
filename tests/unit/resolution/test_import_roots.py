"""Calls through imports are as certain as the import root."""

from __future__ import annotations

from unit.resolution.resolving import resolve_tree

from pkg.model import RelationType

SERVICES = {
    "alpha/app/__init__.py": "",
    "alpha/app/db.py": "def connect(): return 'alpha'\n\n\nclass Table:\n    def save(self): pass\n",
    "beta/app/__init__.py": "",
    "beta/app/db.py": "def connect(): return 'beta'\n\n\nclass Table:\n    def save(self): pass\n",
}
TEST = "from app.db import connect\n\n\ndef test():\n    connect()\n"


def list_calls(files: dict[str, str], caller: str, package: str = "") -> dict[str, str | None]:
    found = resolve_tree(files, package).pairs(RelationType.CALLS)
    return {end: edge.confidence for (start, end), edge in found.items() if start == caller}


def test_a_call_of_the_nearest_service_is_certain() -> None:
    found = list_calls({**SERVICES, "beta/tests/test_db.py": TEST}, "beta.tests.test_db.test")
    assert found == {"beta.app.db.connect": "certain"}


def test_a_call_of_one_of_two_services_is_not_certain() -> None:
    found = list_calls({**SERVICES, "tests/test_db.py": TEST}, "tests.test_db.test")
    assert found == {"alpha.app.db.connect": "likely", "beta.app.db.connect": "likely"}


def test_an_import_of_one_of_two_services_leads_to_both() -> None:
    files = {**SERVICES, "tests/test_db.py": "import app.db as db\n\n\ndef test():\n    db.connect()\n"}
    found = resolve_tree(files).pairs(RelationType.RESOLVES_TO)
    ends = {end: edge.confidence for (start, end), edge in found.items() if start == "tests.test_db.db"}
    assert ends == {"alpha.app.db": "likely", "beta.app.db": "likely"}


def test_a_star_import_of_one_of_two_services_is_not_certain() -> None:
    files = {**SERVICES, "tests/test_db.py": TEST.replace("connect\n", "*\n", 1)}
    found = list_calls(files, "tests.test_db.test")
    assert found == {"alpha.app.db.connect": "likely", "beta.app.db.connect": "likely"}


def test_a_base_in_one_of_two_services_is_not_certain() -> None:
    files = {**SERVICES, "tests/own.py": "from app.db import Table\n\n\nclass Own(Table):\n    pass\n"}
    found = resolve_tree(files).pairs(RelationType.INHERITS)
    ends = {end: edge.confidence for (start, end), edge in found.items() if start == "tests.own.Own"}
    assert ends == {"alpha.app.db.Table": "likely", "beta.app.db.Table": "likely"}


def test_a_script_that_lies_aside_is_not_certain_and_a_library_has_what_it_lacks() -> None:
    script = "from yaml import load, dump\n\n\ndef run():\n    load()\n    dump()\n"
    files = {"app/run.py": script, "examples/yaml.py": "def load(): pass\n"}
    assert list_calls(files, "app.run.run") == {"examples.yaml.load": "likely"}
    imports = resolve_tree(files).pairs(RelationType.RESOLVES_TO)
    assert imports["app.run.dump", "library:yaml"].confidence == "certain"


def test_modules_beside_a_script_in_a_package_are_likely() -> None:
    files = {
        "app/__init__.py": "",
        "app/main.py": "from routers import users\n\n\ndef run():\n    users.get()\n",
        "app/routers/__init__.py": "",
        "app/routers/users.py": "def get(): pass\n",
    }
    assert list_calls(files, "app.main.run") == {"app.routers.users.get": "likely"}


PACKAGE = {
    "__init__.py": "from shop.cart import add\n",
    "cart.py": "import shop.tax.rates\n\n\ndef add():\n    return shop.tax.rates.rate()\n",
    "tax/__init__.py": "",
    "tax/rates.py": "from shop import add\n\n\ndef rate():\n    return add()\n",
}


def test_a_package_calls_itself_by_its_own_name() -> None:
    found = resolve_tree(PACKAGE, "shop").pairs(RelationType.CALLS)
    ends = {pair: edge.confidence for pair, edge in found.items()}
    assert ends == {("cart.add", "tax.rates.rate"): "certain", ("tax.rates.rate", "cart.add"): "certain"}


INNER = """import big.shop.tax
from big.core import log


def add():
    log()
    big.core.log()
    big.shop.tax.rate()
"""


def test_what_lies_above_a_package_and_was_not_given_is_a_library() -> None:
    resolved = resolve_tree({"__init__.py": "", "cart.py": INNER, "tax.py": "def rate(): pass\n"}, "big.shop")
    assert resolved.pairs(RelationType.CALLS).keys() == {("cart.add", "tax.rate")}
    assert resolved.unbound() == []
    assert resolved.pairs(RelationType.RESOLVES_TO)["cart.log", "library:big"].confidence == "certain"


def test_a_folder_inside_a_package_is_no_root_for_other_packages() -> None:
    files = {
        "checker/__init__.py": "",
        "checker/stubs/typing_more.pyi": "def cast(): ...\n",
        "checker/use.py": "from typing_more import cast\n\n\ndef run():\n    cast()\n",
        "app/__init__.py": "",
        "app/main.py": "from typing_more import cast\n\n\ndef run():\n    cast()\n",
    }
    assert list_calls(files, "app.main.run") == {}
    assert list_calls(files, "checker.use.run") == {"checker.stubs.typing_more.cast": "likely"}
