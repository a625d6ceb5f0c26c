"""`pkg models`: list the text models on this machine, and try one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from pkg.console.options import json_option
from pkg.console.progress import say
from pkg.console.settings import find_model
from pkg.console.streams import emit, style_words
from pkg.console.tables import make_table
from pkg.models.found_models import FoundModel, find_models, find_served
from pkg.models.text_model import Decoding, Message
from pkg.quoting.hidden_characters import spell_line

if TYPE_CHECKING:
    from rich.console import RenderableType

TASK = "Write a Python function that returns the largest of three numbers. Answer with the code alone."
TOKENS = 80  # of the answer: enough for a speed
WAYS = (
    "no model was found in the folders of llama.cpp, LM Studio, Ollama and Hugging Face; three ways to get one:",
    "  a file: fetch a GGUF file of a code model with a browser, then --model gguf:FILE",
    "  Ollama: ollama pull qwen2.5-coder:7b, then --model qwen2.5-coder:7b",
    "  a service: --model openai:NAME@URL, with its key in OPENAI_API_KEY",
)


@click.group("models", invoke_without_command=True, epilog="Example:  pkg models   or   pkg models try coder")
@click.option("--servers", is_flag=True, help="Ask also the servers on the usual ports of this machine.")
@json_option
@click.pass_context
def models(ctx: click.Context, servers: bool, as_json: bool) -> None:
    """List the text models on this machine, or try one.

    Listed are the models in the folders of llama.cpp, LM Studio, Ollama and Hugging Face, each with the short name that
    --model takes. Nothing is downloaded, and without --servers nothing is contacted.
    """
    if ctx.invoked_subcommand is not None:
        return
    found = find_models() + (find_served() if servers else [])
    emit(as_json, [each.to_json() for each in found], lambda: _view(found))


@models.command("try", epilog="Example:  pkg models try qwen2.5-coder:7b")
@click.argument("model", callback=find_model)
@json_option
def try_model(model: str, as_json: bool) -> None:
    """Measure MODEL with a request for one short function.

    MODEL is a name as for --model. Shown are the time to load it, its tokens a second, its window and its answer. A
    service is sent one question without any of your code.
    """
    from pkg.models.registry import open_model

    say(f"loading {model}")
    start = perf_counter()
    with closing(open_model(model)) as opened:
        loading = perf_counter() - start
        answer = opened.chat([Message("user", TASK)], Decoding(max_tokens=TOKENS))
        writing = perf_counter() - start - loading
        line = {
            "type": "trial", "name": opened.name, "window": opened.window, "parameters": opened.parameters,
            "fill": opened.can_fill, "loading_seconds": round(loading, 2), "seconds": round(writing, 2),
            "prompt_tokens": answer.usage.prompt_tokens, "completion_tokens": answer.usage.completion_tokens,
            "text": answer.text,
        }  # fmt: skip
    emit(as_json, [line], lambda: _view_trial(line))


def _view_trial(line: dict[str, Any]) -> Iterator[RenderableType]:
    speed = line["completion_tokens"] / line["seconds"] if line["seconds"] else 0.0
    yield style_words(line["text"].strip())
    yield ""
    window = f"a window of {line['window']:,} tokens" if line["window"] else "an unknown window"
    fill = "fills holes, as pkg enhance needs" if line["fill"] else "fills no holes: pkg enhance asks it in words"
    yield style_words(
        spell_line(
            f"{line['name']}: opened in {line['loading_seconds']:.1f} s, {speed:.1f} tokens a second; {window}; {fill}"
        ),
        "dim",
    )


def _view(found: list[FoundModel]) -> Iterator[RenderableType]:
    if not found:
        yield from map(style_words, WAYS)
        return
    columns = ("--model", "place", "size", "window", "chat", "fills holes")
    rows = [
        (each.short, each.place, _size(each.size), f"{each.window:,}" if each.window else "",
         _word(each.can_chat), _word(each.can_fill))
        for each in found if not each.problem
    ]  # fmt: skip
    if rows:
        yield make_table(columns, rows, right=columns[2:4])
    for each in found:
        if each.problem:
            yield style_words(f"left out: {each.problem}", "dim")
    yield style_words("next: pkg models try NAME", "dim")


def _size(size: int | None) -> str:
    return "" if size is None else f"{size / 1e9:.1f} GB"


def _word(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"
