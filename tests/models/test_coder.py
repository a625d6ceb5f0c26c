"""A real small coder in this process continues texts, fills holes and answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pkg.cli import main
from pkg.errors import ContextLengthError
from pkg.models.text_model import Decoding, Message, TextModel

pytestmark = pytest.mark.model

HEAD = "def add(a, b):\n"


def test_a_text_is_continued_up_to_a_stop_string(coder: TextModel) -> None:
    told: list[str] = []
    written = coder.complete(f"{HEAD}    return", Decoding(max_tokens=20, stop=("\n",)), told.append)
    assert (written.text, written.finish) == (" a + b", "stop")
    assert "".join(told) == written.text
    assert written.usage.prompt_tokens == coder.count_tokens(f"{HEAD}    return")
    assert 3 <= written.usage.completion_tokens <= 5


def test_a_hole_is_filled(coder: TextModel) -> None:
    written = coder.fill(HEAD + "    return ", "\n\nassert add(2, 3) == 5\n", Decoding(max_tokens=20, stop=("\n",)))
    assert coder.can_fill
    assert written.text.strip() == "a + b"


def test_a_prefilled_answer_is_continued(coder: TextModel) -> None:
    asked = (Message("user", "Write a function add of two numbers."), Message("assistant", f"{HEAD}    return"))
    told: list[str] = []
    written = coder.chat(asked, Decoding(max_tokens=12, stop=("\n",)), told.append)
    assert coder.can_prime
    assert written.text == "".join(told) == " a + b"
    assert len(told) > 2


def test_an_answer_without_room_reports_it(coder: TextModel) -> None:
    written = coder.chat([Message("user", "Count from 1 to 1000.")], Decoding(max_tokens=5))
    assert (written.finish, written.usage.completion_tokens) == ("length", 5)


def test_a_prompt_longer_than_the_window_is_refused(coder: TextModel) -> None:
    assert coder.window == 4096
    with pytest.raises(ContextLengthError, match="window of 4096 tokens; a prompt of 5001 and an answer of up to 5"):
        coder.complete("word " * 5000, Decoding(max_tokens=5))


def test_the_same_seed_gives_the_same_answer(coder: TextModel) -> None:
    asked = [Message("user", "Tell me a word.")]
    one, two, other = (coder.chat(asked, Decoding(max_tokens=6, temperature=1.5, seed=seed)).text for seed in (7, 7, 8))
    assert one == two != other


def test_a_model_is_tried(coder_file: Path) -> None:
    """`pkg models try` loads a model of its own, answers a task and counts the tokens of both."""
    done = CliRunner().invoke(main, ["models", "try", f"gguf:{coder_file}"])
    assert done.exit_code == 0, done.output
    line = json.loads(done.stdout)
    assert "def " in line["text"]
    assert (line["fill"], 20 < line["completion_tokens"] <= 80, line["prompt_tokens"] > 15) == (True, True, True)
    assert line["seconds"] > 0
