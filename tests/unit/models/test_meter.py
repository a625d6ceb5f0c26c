"""What texts cost."""

from __future__ import annotations

import pytest
from scripted_model import ScriptedModel

from pkg.errors import UsageError
from pkg.models.batch import Conversation, Hole
from pkg.models.meter import MeteredModel, Price, parse_price, read_price, render_usage
from pkg.models.text_model import Decoding, Message, Usage


def test_everything_that_is_asked_is_added_up() -> None:
    model = MeteredModel(ScriptedModel(["one two"]))
    model.complete("a b c", Decoding())
    model.fill("a", "b", Decoding())
    model.chat([Message("user", "a")], Decoding())
    model.write_batch(["a b", Hole("a", "b"), Conversation((Message("user", "a"),))], Decoding())
    assert (model.usage.requests, model.usage.prompt_tokens, model.usage.completion_tokens) == (6, 11, 12)


def test_a_metered_model_is_the_model_otherwise() -> None:
    inner = ScriptedModel(["x"], can_fill=False)
    model = MeteredModel(inner)
    assert (model.name, model.identity, model.window, model.parallel) == ("scripted", "scripted 1", 4096, 1)
    assert (model.can_fill, model.can_prime, model.count_tokens("a b")) == (False, True, 2)


@pytest.mark.parametrize(("text", "price"), [("0.15/0.60", Price(0.15, 0.6)), ("2", Price(2, 2)), ("0/0", Price(0, 0))])
def test_a_price_is_for_a_million_tokens_read_and_written(text: str, price: Price) -> None:
    assert parse_price(text) == price
    assert read_price({"PKG_PRICE": text}) == price


@pytest.mark.parametrize("text", ["cheap", "1/2/3", "-1", "nan", "1/inf", "/"])
def test_what_is_no_price_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"the price is '{text}'; expected that of a million tokens"):
        parse_price(text)


def test_no_price_is_none() -> None:
    assert read_price({}) is None


def test_a_line_tells_tokens_time_and_money() -> None:
    usage = Usage(3, 1_204_000, 310_000, 12.34)
    line = "openai:m: 3 requests, 1,204,000 tokens read, 310,000 written, 12.3 s"
    assert render_usage(usage, "openai:m") == line
    assert render_usage(usage, "openai:m", Price(0.15, 0.6)) == f"{line}, cost 0.3666"
    assert render_usage(Usage(1), "m").startswith("m: 1 request, 0 tokens")
