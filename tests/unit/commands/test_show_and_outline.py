from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from rich.console import Console, RenderableType
from trees import SHOP, write_tree

import pkg
from pkg.commands.outline import view_outline
from pkg.commands.show import view_show


@pytest.fixture(name="graph")
def opened(tmp_path: Path) -> Iterator[pkg.Graph]:
    address = f"sqlite:///{tmp_path / 'graph.db'}"
    pkg.build_graph(
        write_tree(tmp_path / "code", SHOP | {"evil.py": "def paint():\n    return '\x1b[31m'\n"}), store=address
    )
    with pkg.open_graph(address) as graph:
        yield graph


def write(parts: Iterable[RenderableType]) -> list[str]:
    file = io.StringIO()
    console = Console(file=file, soft_wrap=True, highlight=False, width=40)
    for part in parts:
        console.print(part)
    return file.getvalue().splitlines()


def test_a_definition_is_shown_with_numbered_lines_and_its_links(graph: pkg.Graph) -> None:
    lines = write(view_show(graph.show("Cart.total")))
    assert lines[0] == "shop/cart.py:14-15  method Cart.total  code"
    assert lines[1].strip() == "class Cart:"
    assert lines[2] == "    14 def total(self):"
    assert any("callees (1)" in line for line in lines)
    assert not any("bound" in line for line in lines)
    explained = write(view_show(graph.show("Cart.total"), explain=True))
    assert explained[: len(lines)] == lines
    assert explained[-1].startswith("call sites of the definitions")


def test_a_stale_definition_is_marked(graph: pkg.Graph, tmp_path: Path) -> None:
    (tmp_path / "code" / "shop" / "cart.py").unlink()
    assert write(view_show(graph.show("Cart.total")))[0].endswith("code  stale")
    assert any(line.endswith("  stale") for line in write(view_outline(graph.outline())))


def test_code_cannot_control_the_terminal(graph: pkg.Graph) -> None:
    text = "\n".join(write(view_show(graph.show("paint"))))
    assert "\\x1b[31m" in text
    assert "\x1b" not in text


def test_an_outline_ends_with_its_tokens_and_the_rest(graph: pkg.Graph) -> None:
    lines = write(view_outline(graph.outline(budget=60)))
    assert lines[-1].startswith(f"{len(graph.outline(budget=60).files)} file")
    assert lines[-1].endswith("left out; see --budget")
    whole = write(view_outline(graph.outline("shop/cart.py", budget=0)))
    assert "  5: class Cart:  Hold items." in whole
    assert "    14: def total(self):" in whole
    assert whole[-1].startswith("1 file, about ")
    assert whole[-1].endswith(" tokens")
