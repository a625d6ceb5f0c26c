from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from linked import make_linked_store
from trees import open_graph_at, write_rows

from pkg.graph.store import GraphStore
from pkg.indexing.build import build
from pkg.retrieval.needed_imports import ModuleImports

IMPORTS = """\
from __future__ import annotations
import os.path, re as regex
from ..pack import (
    Thing, Other as Another,
)
from stars import *

try:
    import fast as json
except ImportError:
    import json


def elsewhere():
    import csv

    if csv:
        import zlib
    return csv, zlib


class Holder:
    import shelve


"""


def list_needed(store: GraphStore, name: str, corpora: set[str] | None = None) -> tuple[str, ...]:
    (node,) = store.find_name(name)
    imports = ModuleImports(store, corpora or set())
    imports.read([node])
    return imports.list_needed(node)


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("def go(x):\n    return os.sep + regex.escape(x)", ("import os.path", "import re as regex")),
        ("def go(x: Thing):\n    return Another", ("from ..pack import Thing", "from ..pack import Other as Another")),
        ("@Thing\ndef go():\n    pass", ("from ..pack import Thing",)),
        ("def go(os):\n    Thing = 1\n    return os.sep, Thing, go.regex", ()),
        ("def go():\n    return [json for regex in json]", ("import fast as json", "import json")),
        ("def go():\n    return csv, zlib, shelve, stars, annotations", ("from __future__ import annotations",)),
        ("def go():\n    print >>x, regex, x.Thing", ("import re as regex",)),
        ("async def go():\n    def inner():\n        return regex\n    return inner", ("import re as regex",)),
    ],
)
def test_a_text_needs_the_imports_of_its_module_that_it_uses(
    tmp_path: Path, code: str, needed: tuple[str, ...]
) -> None:
    with closing(make_linked_store(tmp_path / "graph.db", {"a/b/c.py": f"{IMPORTS}{code}\n"})) as store:
        assert list_needed(store, "go") == needed


def test_texts_of_one_module_have_their_own_imports(tmp_path: Path) -> None:
    code = "def go():\n    return regex, json\n\n\ndef come():\n    return Thing\n\n\ndef stay():\n    return 1\n"
    with closing(make_linked_store(tmp_path / "graph.db", {"a.py": IMPORTS + code})) as store:
        nodes = store.find_names(["go", "come", "stay"])
        imports = ModuleImports(store, set())
        imports.read(nodes)
        found = {node.name: imports.list_needed(node) for node in nodes}
    go = ("import re as regex", "import fast as json", "import json")
    assert found == {"go": go, "come": ("from ..pack import Thing",), "stay": ()}


def test_a_decorated_method_needs_imports_too(tmp_path: Path) -> None:
    code = "class A:\n    @Thing\n    def go(self):\n        return regex\n"
    with closing(make_linked_store(tmp_path / "graph.db", {"a.py": IMPORTS + code})) as store:
        assert list_needed(store, "go") == ("import re as regex", "from ..pack import Thing")


def test_a_row_has_imports_as_a_file_has(tmp_path: Path) -> None:
    with closing(open_graph_at(tmp_path / "graph.db")) as store:
        build(str(write_rows(tmp_path / "rows.jsonl", "import os\n\ndef go():\n    return os.sep\n")), store)
        assert list_needed(store, "go", {"rows"}) == ("import os",)


def test_a_module_without_imports_needs_none(tmp_path: Path) -> None:
    with closing(make_linked_store(tmp_path / "graph.db", {"a.py": "def go():\n    return os.sep\n"})) as store:
        assert list_needed(store, "go") == ()
