"""The cost of texts."""

from __future__ import annotations

import pytest

from pkg.errors import UsageError
from pkg.models.text_model import Usage
from pkg.models.usage import Price, parse_price, read_price, render_usage


@pytest.mark.parametrize(("text", "price"), [("0.15/0.60", Price(0.15, 0.6)), ("2", Price(2, 2)), ("0/0", Price(0, 0))])
def test_a_price_is_parsed_for_input_and_output(text: str, price: Price) -> None:
    assert parse_price(text) == price
    assert read_price({"PKG_PRICE": text}) == price


@pytest.mark.parametrize("text", ["cheap", "1/2/3", "-1", "nan", "1/inf", "/"])
def test_an_invalid_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"the price is '{text}'; expected the price of a million tokens"):
        parse_price(text)


def test_no_price_is_none() -> None:
    assert read_price({}) is None


def test_the_line_has_tokens_time_and_cost() -> None:
    usage = Usage(3, 1_204_000, 310_000, 12.34)
    line = "openai:m: 3 requests, 1,204,000 + 310,000 tokens, 12.3 seconds"
    assert render_usage(usage, "openai:m") == line
    assert render_usage(usage, "openai:m", Price(0.15, 0.6)) == f"{line}, 0.3666 at its price"
    assert render_usage(Usage(1), "m").startswith("m: 1 request, 0 + 0 tokens")
