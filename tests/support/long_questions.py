"""An issue about a small shop, for tests of long questions."""

from __future__ import annotations

FILES = {
    "shop/cart.py": """\
class Cart:
    def add_item(self, item):
        \"\"\"Put something into the cart.\"\"\"
        if item.price:
            self.items.append(item)
        return item

    def total(self):
        for item in self.items:
            yield item.price
""",
    "shop/prices.py": "def round_price(price):\n    while price > 100:\n        price -= 1\n    return price\n",
    "shop/[odd].py": "def odd_name(value):\n    return value\n",
    "tests/test_cart.py": "def test_add_item():\n    cart = Cart()\n    assert cart.add_item(1)\n",
    "lang/words.py": "def translate(text):\n    return text.lower()\n",
}
ISSUE = """\
Adding an item to the cart loses its price
When the same item is added twice, the price in the cart is gone and the total is wrong, with every test that I tried.

```python
cart = Cart()
cart.add_item(item)
```

Traceback (most recent call last):
  File "/srv/env/site-packages/shop/prices.py", line 2, in round_price
ValueError: price
"""
