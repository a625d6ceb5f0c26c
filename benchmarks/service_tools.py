"""Measure the cost and value of the tools of `pkg mcp` to an agent: tokens, seconds, and right places in answers.

    python benchmarks/service_tools.py [--cache FOLDER] [--tokenizer MODEL.gguf]

Twenty plain questions about two packages, ten each, whose right functions were written down beforehand. Each is one
call of explore; a right place is in an answer with its code, with its head only, or named without either. Each right
function is also passed to show and callers. A client of the official package starts the command as an agent does.
Tokens are those of the model's own tokenizer if its file is given, otherwise the project's estimate.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import TextContent
from measure import ROOT, Figures, compare, make_parser, open_folder, run_pkg, summarise, write_result
from model_tokenizer import read_token_counter
from packages import FLASK, HTTPX
from plain_questions import read_plain_questions
from question_sets import Question

from pkg.retrieval.token_count import count_tokens

PACKAGES = (HTTPX, FLASK)
ASKED = 10  # questions about each package
MOST_BEFORE, MOST_TYPICAL = 900, 1500  # tokens before the first question, and of a typical answer
KINDS = ("code", "head", "named", "missing")
Count = Callable[[str], int]


@dataclass(slots=True)
class Asked:
    """Cost and results of the questions about the packages."""

    answers: dict[str, list[str]] = field(default_factory=lambda: {"explore": [], "show": [], "callers": []})
    seconds: dict[str, list[float]] = field(default_factory=lambda: {"explore": [], "show": [], "callers": []})
    found: list[Figures] = field(default_factory=list)
    before: str = ""  # instructions and tools, as sent
    first: list[float] = field(default_factory=list)  # seconds from the start to the list of tools, and to an answer


async def ask_package(store: str, questions: Sequence[Question], asked: Asked) -> None:
    """Start the command for a graph, and ask all questions about it."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "pkg.cli", "mcp", "--store", store],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    begun = time.perf_counter()
    async with Client(stdio_client(command)) as client:
        listed = await client.list_tools()
        asked.first.append(time.perf_counter() - begun)
        tools = [each.model_dump(mode="json", by_alias=True, exclude_none=True) for each in listed.tools]
        asked.before = f"{client.instructions}\n{json.dumps(tools)}"
        for number, question in enumerate(questions):
            text = await ask_tool(client, asked, "explore", "explore", text=question.text)
            if not number:
                asked.first.append(time.perf_counter() - begun)
            asked.found.append({"question": question.text, "right": judge(text, question.gold)})
            place = question.gold[0]
            await ask_tool(client, asked, "show", "show", name=place)
            await ask_tool(client, asked, "callers", "deps", question="callers", name=place)


async def ask_tool(client: Client, asked: Asked, kind: str, tool: str, **arguments: str) -> str:
    """Call a tool, record the answer and the time, and return the text; an error in the answer ends the benchmark."""
    begun = time.perf_counter()
    result = await client.call_tool(tool, arguments)
    asked.seconds[kind].append(time.perf_counter() - begun)
    (content,) = result.content
    if result.is_error or not isinstance(content, TextContent):
        sys.exit(f"{tool} {arguments}: {content}")
    asked.answers[kind].append(content.text)
    return content.text


def judge(text: str, gold: Iterable[str]) -> str:
    """Return how an answer shows the best of the right functions: code, head, named or missing."""
    best = "missing"
    for path, _, qualname in (each.partition("::") for each in gold):
        piece = re.search(
            rf"^{re.escape(path)}:\d+-\d+  {re.escape(qualname)}\b.*\n((?:.+\n|\n(?!\S+:\d))*)", text, re.M
        )
        if piece is not None:
            shown = piece[1].rstrip().count("\n") + 1
            best = "code" if shown > 2 or best == "code" else "head"
        elif best == "missing" and re.search(rf"\b{re.escape(qualname)}\b", text):
            best = "named"
    return best


def describe(asked: Asked, count: Count) -> Figures:
    """Sum up the tokens."""
    return {
        "before_the_first_question": compare(count(asked.before), MOST_BEFORE),
        "tokens": {
            kind: summarise([count(text) for text in texts], MOST_TYPICAL) for kind, texts in asked.answers.items()
        },
    }


def main() -> None:
    """Build the graphs, ask, and write the figures."""
    parser = make_parser(__doc__)
    parser.add_argument("--tokenizer", type=Path, help="GGUF file whose tokenizer counts; else the project's estimate")
    options = parser.parse_args()
    count = count_tokens if options.tokenizer is None else read_token_counter(options.tokenizer)
    asked = Asked()
    with open_folder(options.cache) as (cache, work):
        sets = {each.name: each for each in read_plain_questions(cache)}
        for package in PACKAGES:
            store = f"sqlite:///{work / package.name}.db"
            run_pkg(["build", str(sets[package.name].code), "--store", store], work)
            asyncio.run(ask_package(store, sets[package.name].questions[:ASKED], asked))
    write_result(
        "service_tools",
        {
            "packages": {each.name: each.version for each in PACKAGES},
            "tokenizer": "estimate" if options.tokenizer is None else options.tokenizer.stem,
            **describe(asked, count),
            "by_the_estimate": describe(asked, count_tokens),
            "seconds": {kind: summarise(values) for kind, values in asked.seconds.items()},
            "right_places": {kind: sum(each["right"] == kind for each in asked.found) for kind in KINDS},
            "first_answer_seconds": {
                "tools": summarise(asked.first[::2]),
                "answer": summarise(asked.first[1::2]),
            },
            "questions": asked.found,
        },
    )


if __name__ == "__main__":
    main()
