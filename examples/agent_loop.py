"""Run a text model that answers questions about code with the tools of `pkg mcp`, as an agent does.

    python examples/agent_loop.py --model gguf:coder.gguf --store sqlite:///graph.db "where is the retry decided?"
    python examples/agent_loop.py --model gguf:coder.gguf --store sqlite:///graph.db --questions questions.jsonl

The first message lists the tools, and the model requests one by a line of JSON; the official client of the Model
Context Protocol calls it, and the answer is the next message. Each line of FILE is {"text": QUESTION, "gold": [PLACE]};
gold is optional: places, path::qualname, one of which the answer should name. Prints a JSON line for each question and
a summary.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, Tool

import pkg
from pkg.models.registry import open_model
from pkg.models.text_model import Decoding, Message, TextModel, Usage

MOST_CALLS = 4  # of tools for one question
TOOL_BUDGET = 700  # tokens of a tool's answer: several of them must fit into the window of a small model
ANSWER_TOKENS = 250
FIRST_WORDS, NEXT_WORDS, LAST_WORDS = '{"tool": "', '{"', '{"answer": "'
"""Beginnings of the model's messages, if it supports prefixes: a small model would rather answer from memory than use
a tool, and then rather use another tool than answer."""
_PLACE = re.compile(r"[\w./-]+\.py:\d+")

RULES = """\
{instructions}

Tools:
{tools}

You answer questions about the code that the tools know; you have not read it yourself.
To call a tool, write one line of JSON and nothing else:
{{"tool": "explore", "arguments": {{"text": "THE QUESTION"}}}}
When a tool has shown what answers the question, write one line of JSON and nothing else:
{{"answer": "WHAT THE CODE DOES, IN A SENTENCE", "places": ["PATH.py:LINE"]}}"""

OpenClient = Callable[[], AbstractAsyncContextManager[Client]]


@dataclass(slots=True)
class Outcome:
    """Result of one question."""

    question: str
    answer: str = ""
    places: list[str] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    """Places in the answers of tools."""
    is_right: bool | None = None
    """True if a right place was named, None if none is known."""
    usage: Usage = field(default_factory=Usage)

    @property
    def unseen(self) -> list[str]:
        """Return the places of the answer that no tool has shown."""
        return [place for place in self.places if place not in self.seen]


def read_json(text: str) -> dict[str, Any] | None:
    """Parse the first JSON object in a model's message; None without one."""
    decoder = json.JSONDecoder()
    for match in re.finditer(r"\{", text):
        try:
            found, _ = decoder.raw_decode(text, match.start())
        except ValueError:
            continue
        return found if isinstance(found, dict) else None
    return None


def list_tools(tools: Iterable[Tool]) -> str:
    """Describe the tools for a prompt."""
    return "\n".join(
        f"- {each.name}({', '.join(_list_arguments(each.input_schema))}): {each.description}" for each in tools
    )


def _list_arguments(schema: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments of a tool, with a mark for optional ones."""
    for name in schema.get("properties", {}):
        yield name if name in schema.get("required", ()) else f"{name}?"


async def answer_question(client: Client, model: TextModel, question: str) -> Outcome:
    """Run the model with tools until it answers or reaches the limit."""
    tools = (await client.list_tools()).tools
    rules = RULES.format(instructions=client.instructions, tools=list_tools(tools))
    messages = [Message("system", rules), Message("user", f"Question: {question}")]
    outcome = Outcome(question)
    next_words = FIRST_WORDS
    for _ in range(MOST_CALLS + 1):
        start = next_words * model.can_prime
        begun = [*messages, *([Message("assistant", start)] if start else [])]
        written = await asyncio.to_thread(model.chat, begun, Decoding(max_tokens=ANSWER_TOKENS))
        outcome.usage += written.usage
        text = start + written.text
        asked = read_json(text)
        if asked is None or "tool" not in asked:
            outcome.answer = str((asked or {}).get("answer", written.text)).strip()
            outcome.places = list_places(text)
            return outcome
        said = await call_tool(client, str(asked["tool"]), asked.get("arguments"))
        call = f"{asked['tool']} {json.dumps(asked.get('arguments'))}"
        is_over = call in outcome.calls or len(outcome.calls) + 1 == MOST_CALLS
        next_words = LAST_WORDS if is_over else NEXT_WORDS if outcome.seen or list_places(said) else FIRST_WORDS
        outcome.calls.append(call)
        outcome.seen += list_places(said)
        hint = "Answer now" if is_over else "Answer if that is enough, else call another tool"
        messages += [Message("assistant", text), Message("user", f"{said}\n\n{hint}, by one line of JSON: {question}")]
    outcome.answer = "no answer after so many calls"
    return outcome


async def call_tool(client: Client, name: str, arguments: object) -> str:
    """Call a tool, and return its answer or its error, which the model may correct."""
    given = dict(arguments) if isinstance(arguments, Mapping) else {}
    if name in ("explore", "show", "deps"):
        given.setdefault("budget", TOOL_BUDGET)
    try:
        result = await client.call_tool(name, given)
    except MCPError as fault:
        return str(fault)
    return "\n".join(each.text for each in result.content if isinstance(each, TextContent))


def list_places(text: str) -> list[str]:
    """Return the places in a text; of a range of lines the first."""
    return list(dict.fromkeys(_PLACE.findall(text)))


def judge(outcome: Outcome, gold: Sequence[str], store: str) -> bool | None:
    """Return whether the answer names a right function, or a place inside one; None if none is known."""
    if not gold:
        return None
    with pkg.open_graph(store) as graph:
        for name in gold:
            for each in graph.show(name, limit=1).definitions:
                inside = (f"{each.path}:{line}" for line in range(each.start_line, each.end_line + 1))
                if each.qualname in outcome.answer or set(outcome.places) & set(inside):
                    return True
    return False


async def ask_all(
    open_client: OpenClient, model: TextModel, questions: Sequence[Mapping[str, Any]], store: str
) -> list[Outcome]:
    """Run one question after another over one connection, and print a line for each."""
    outcomes = []
    async with open_client() as client:
        for each in questions:
            outcome = await answer_question(client, model, each["text"])
            outcome.is_right = judge(outcome, each.get("gold", ()), store)
            outcomes.append(outcome)
            print(json.dumps({"type": "answer", **asdict(outcome), "unseen": outcome.unseen}, ensure_ascii=False))
            sys.stdout.flush()
    return outcomes


def sum_up(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Count the total cost, and the questions answered with places, with seen ones, and correctly."""
    usage = sum((each.usage for each in outcomes), Usage())
    return {
        "type": "summary",
        "questions": len(outcomes),
        "with_tools": sum(bool(each.calls) for each in outcomes),
        "with_places": sum(bool(each.places) for each in outcomes),
        "with_seen_places": sum(bool(each.places) and not each.unseen for each in outcomes),
        "right": sum(bool(each.is_right) for each in outcomes),
        "judged": sum(each.is_right is not None for each in outcomes),
        "calls": sum(len(each.calls) for each in outcomes),
        **asdict(usage),
    }


def read_questions(path: Path) -> Iterator[dict[str, Any]]:
    """Read the questions of a file of JSON lines."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def start_server(store: str) -> OpenClient:
    """Return a function that starts the server for a graph, for each use."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "pkg.cli", "mcp", "--store", store], env=dict(os.environ)
    )
    return lambda: Client(stdio_client(command))


def main() -> None:
    """Run the questions of the command line or of a file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("question", nargs="*")
    parser.add_argument("--model", required=True, help="such as gguf:coder.gguf")
    parser.add_argument("--store", required=True, help="address of the graph")
    parser.add_argument("--questions", type=Path, help="file of JSON lines")
    parser.add_argument("--limit", type=int, default=10, help="questions that are asked at most")
    options = parser.parse_args()
    questions = [{"text": each} for each in options.question]
    questions += read_questions(options.questions) if options.questions else []
    model = open_model(options.model)
    try:
        outcomes = asyncio.run(ask_all(start_server(options.store), model, questions[: options.limit], options.store))
    finally:
        model.close()
    print(json.dumps(sum_up(outcomes)))


if __name__ == "__main__":
    try:
        main()
    except pkg.PkgError as fault:
        sys.exit(str(fault))
