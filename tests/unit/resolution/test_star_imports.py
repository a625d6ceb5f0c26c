"""Star imports take a name from the module that defines it, through any others in between."""

from __future__ import annotations

from unit.resolution.solving import solve_tree

from pkg.resolution.value_sets import Function


def test_a_star_import_of_a_module_that_takes_the_name_from_the_importer_does_not_hide_it() -> None:
    machine = solve_tree({
        "kit/__init__.py": "from kit.misc import *\nfrom kit.find import *\n",
        "kit/misc.py": "def groups(): pass\n",
        "kit/find.py": "from kit import groups\ndef find(): groups()\n",
        "main.py": "import kit\nkit.groups()\n",
    })  # fmt: skip
    (value,) = machine.member_of("kit/__init__.py", "groups")
    assert isinstance(value, Function)
    assert value.code.qualname == "groups"
