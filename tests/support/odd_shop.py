"""A small repository whose names and texts try to inject markup into a page."""

from __future__ import annotations

ODD_FILE = "shop/<img src=x onerror=document.title='broken'>.py"
ODD_TEXT = "</script><script>document.title = 'broken'</script><!-- & \u2028 \u202e"

ODD_SHOP = {
    "shop/__init__.py": "",
    "shop/prices.py": (
        '"""Prices and their taxes."""\n\nfrom shop import orders\n\nTAX_RATE = 0.2\n\n\n'
        'def find_price(item):\n    """Find the price of an item."""\n    return add_tax(item.price)\n\n\n'
        f'def add_tax(amount):\n    """Add the tax to an amount. {ODD_TEXT}"""\n'
        "    if amount < 0:\n        raise ValueError(amount)\n    unknown.call(amount)\n"
        "    return amount * (1 + TAX_RATE)\n"
    ),
    "shop/orders.py": (
        "from shop.prices import find_price\n\n\n"
        'class Order:\n    """An order of a customer."""\n\n'
        '    def total(self, items):\n        """Add up the prices of all items."""\n'
        "        return sum(find_price(item) for item in items)\n\n"
        "    def pay(self):\n        return self.total([])\n\n\n"
        'class GiftOrder(Order):\n    """An order that is wrapped."""\n\n    def total(self, items):\n'
        "        return super().total(items) + 1\n"
    ),
    "shop/reports/__init__.py": "",
    "shop/reports/daily.py": "from shop.orders import Order\n\n\ndef report():\n    return Order().pay()\n",
    ODD_FILE: "from shop.prices import add_tax\n\n\ndef odd():\n    return add_tax(1)\n",
    "tests/test_prices.py": (
        "from shop.prices import find_price\n\n\ndef test_price():\n    assert find_price(None) == 1\n"
    ),
}
