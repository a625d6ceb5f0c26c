"""A small repository with code and documents, for questions about it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trees import write_tree

from pkg.api import Graph, build_graph, open_graph

SHOP = {
    "README.md": (
        "# Shop\n\nA shop for the kiosk at the corner.\n\n"
        "## Installation\n\nInstall the package with `pip install shop`; it needs Python 3.10.\n\n"
        "## Licence\n\nThe shop is released under the MIT licence.\n"
    ),
    "CHANGELOG.md": "# Changes\n\n## 2.0\n\nThe price of an item has its tax.\n",
    "shop/__init__.py": "",
    "shop/prices.py": (
        '"""Prices and their taxes."""\n\nimport decimal\n\nTAX_RATE = 0.2\n\n\n'
        'def find_price(item):\n    """Find the price of an item."""\n    return add_tax(item.price)\n\n\n'
        'def add_tax(amount):\n    """Add the tax to an amount."""\n'
        "    return decimal.Decimal(amount) * (1 + TAX_RATE)\n"
    ),
    "shop/orders.py": (
        "import json\n\nfrom shop.prices import find_price\n\n\n"
        'class Order:\n    """An order of a customer."""\n\n'
        '    def total(self, items):\n        """Add up the prices of all items."""\n'
        "        return sum(map(find_price, items)) + find_price(items[0])\n\n"
        "    def dump(self):\n        return json.dumps(self.items)\n\n\n"
        'class GiftOrder(Order):\n    """An order that is wrapped."""\n'
    ),
    "shop/admin/orders.py": "def cancel_order(order):\n    order.is_cancelled = True\n",
    "tests/test_prices.py": (
        "from shop.prices import find_price\n\n\ndef test_price():\n    assert find_price(None) == 1\n"
    ),
}


@contextmanager
def open_shop(folder: Path) -> Iterator[Graph]:
    """Build the graph of the shop in a folder, and open it."""
    store = f"sqlite:///{folder}/graph.db"
    build_graph(write_tree(folder / "repo", SHOP), store=store)
    with open_graph(store) as opened:
        yield opened
