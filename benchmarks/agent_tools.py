"""Compare PKG with agent tools of other projects on the same questions: calls, tokens and right places.

    pip install bpe-openai 'mcp>=2.3,<3'
    npm install --prefix FOLDER @colbymchenry/codegraph@1.6.1    the command FOLDER/node_modules/.bin/codegraph
    pip install serena-agent uv                                  in an environment of its own: its command serena
    pip install semble                                           likewise; it fetches its model at the first question
    python benchmarks/agent_tools.py --codegraph COMMAND --serena COMMAND --semble COMMAND [--cache FOLDER]

The questions and the places that answer them were written before any tool ran (data/agent_questions.json), about two
packages that PKG was neither trained nor tuned on.
Each tool is called as its documentation recommends: PKG and codegraph by one `explore` with the question, PKG also with
codegraph's token count as budget; semble by one `search`; serena, which takes no question in words, by a search for
definitions whose names contain words of the question, and by a second call for the code of the best three. A fixed
script chooses those: an agent's model may choose better, and call more often. A tool that fails is listed with the
reason.
Tokens are those of the encoding o200k_base in requests and answers. `before` counts the list of tools and the
instructions, which are sent before the first question.
A place is shown if the answer contains half of its code lines, docstrings and comments aside. It is named if it is
shown, or if the answer contains its path, and either its first line or its name, beside the path or with its class.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import json
import os
import re
import statistics
import subprocess
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import Figures, make_parser, open_folder, run_pkg, write_result
from packages import HELD_OUT, unpack_package

QUESTIONS = Path(__file__).parent / "data" / "agent_questions.json"
SHOWN_SHARE = 0.5  # of a place's code lines, for it to count as shown: a budget may cut branches
TELLING = 8  # least characters of a line that counts: shorter ones, such as else:, are everywhere
CANDIDATES = 3  # definitions whose code is requested from serena
_STOP = {
    "what", "when", "which", "where", "from", "with", "that", "this", "than", "does", "into", "instead", "although",
    "before", "after", "while", "until", "more", "most", "over", "longer", "many", "find", "found", "takes", "under",
    "they", "them", "have", "been", "being", "goes", "come", "keep", "kept",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: its request and its answer."""

    request: str
    answer: str


@dataclass(frozen=True, slots=True)
class Place:
    """One place that answers a question, with the lines of its code."""

    path: str
    qualname: str
    head: str
    lines: frozenset[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """A package with its questions: texts, and the right places of each."""

    tree: Path
    questions: tuple[tuple[str, tuple[Place, ...]], ...]


def read_questions(name: str, tree: Path) -> Asked:
    """Read the questions about a package; fail if a place is not in its code."""
    asked = json.loads(QUESTIONS.read_text(encoding="utf-8"))[name]
    return Asked(
        tree, tuple((each["text"], tuple(read_place(tree, place) for place in each["places"])) for each in asked)
    )


def read_place(tree: Path, place: str) -> Place:
    """Read the code of path::qualified.name."""
    path, _, qualname = place.partition("::")
    text = (tree / path).read_text(encoding="utf-8")
    node: Any = ast.parse(text)
    for name in qualname.split("."):
        node = next(each for each in node.body if getattr(each, "name", None) == name)
    documented = ast.get_docstring(node) is not None
    start = node.body[1].lineno if documented and len(node.body) > 1 else node.body[0].lineno
    body = [line.strip() for line in text.splitlines()[start - 1 : node.end_lineno]]
    lines = frozenset(line for line in body if len(line) >= TELLING and not line.startswith("#"))
    return Place(path, qualname, text.splitlines()[node.lineno - 1].strip(), lines)


def is_named(place: Place, answer: str) -> bool:
    """Return whether an answer names a place."""
    if share_lines(place, answer) >= SHOWN_SHARE:
        return True
    if place.path not in answer:
        return False
    *around, name = map(re.escape, place.qualname.split("."))
    beside = rf"^.*(?:{re.escape(place.path)}.*\b{name}\b|\b{name}\b.*{re.escape(place.path)})"
    wanted = [rf"\b{around[-1]}[.:/]+{name}\b", beside] if around else [beside]
    return place.head in answer or any(re.search(each, answer, re.MULTILINE) for each in wanted)


def share_lines(place: Place, answer: str) -> float:
    """Return the share of the lines of a place that an answer contains."""
    return sum(line in answer for line in place.lines) / len(place.lines)


def ask_pkg(asked: Asked, folder: Path, options: Sequence[str] = ()) -> Iterator[list[Call]]:
    """Query `pkg explore`."""
    store = f"sqlite:///{folder / asked.tree.name}.db"
    run_pkg(["build", str(asked.tree), "--store", store], folder)
    for text, _ in asked.questions:
        yield [Call(text, run_pkg(["explore", text, "--store", store, "--no-json", *options], folder).output)]


def ask_codegraph(asked: Asked, command: str) -> Iterator[list[Call]]:
    """Query `codegraph explore`."""
    _run([command, "init", "."], asked.tree)
    for text, _ in asked.questions:
        yield [Call(text, _run([command, "explore", text], asked.tree))]


def ask_semble(asked: Asked, command: str) -> Iterator[list[Call]]:
    """Query `semble search` for its five results."""
    for text, _ in asked.questions:
        yield [Call(text, _run([command, "search", text, "."], asked.tree))]


def ask_serena(asked: Asked, command: str) -> Iterator[list[Call]]:
    """Query serena through its server: for definitions by name, then for the code of the best."""
    _run([command, "project", "create", ".", "--language", "python"], asked.tree)
    yield from asyncio.run(_ask_serena(asked, command))


async def _ask_serena(asked: Asked, command: str) -> list[list[Call]]:
    calls: list[list[Call]] = []
    async with _open_server(_make_serena(command, asked.tree), asked.tree) as client:
        found = re.search(r"session id is `(\w+)`", await _call(client, "initial_instructions", {}))
        session = found[1] if found else ""
        for text, _ in asked.questions:
            words = list_words(text)
            pattern = rf"(?i)^ *(?:async def|def|class) \w*(?:{'|'.join(words)})\w*"
            search = f"s.fs.search_for_pattern({pattern!r}, restrict_search_to_code_files=True)"
            first = Call(search, await _call(client, "serena_repl", {"session": session, "code": search}))
            best = choose_definitions(first.answer, words)
            bodies = [f"s.lsp.find_symbol({name!r}, relative_path={path!r}, include_body=True)" for path, name in best]
            code = f"[{', '.join(bodies)}]"
            second = (
                Call(code, await _call(client, "serena_repl", {"session": session, "code": code})) if best else None
            )
            calls.append([first] if second is None else [first, second])
    return calls


def list_words(text: str) -> list[str]:
    """Return the words of a question that may occur in names, without their suffixes."""
    words = (word.lower() for word in re.findall(r"[A-Za-z_]{4,}", text))
    return list(dict.fromkeys(re.sub(r"(?:ies|ing|ed|es|s|d|e)$", "", word) for word in words if word not in _STOP))


def choose_definitions(answer: str, words: Sequence[str]) -> list[tuple[str, str]]:
    """Choose the definitions whose names contain the most words; ties go to the file with the most matches."""
    with suppress(ValueError):
        matches: dict[str, list[str]] = json.loads(answer)
        found = [
            (-sum(word in name[1].lower() for word in words), -len(lines), path, name[1])
            for path, lines in matches.items()
            for line in lines
            if (name := re.search(r"(?:def|class) (\w+)", line))
        ]
        return [(path, name) for *_, path, name in sorted(found)[:CANDIDATES]]
    return []


def _make_serena(command: str, tree: Path) -> list[str]:
    quiet = ["--enable-web-dashboard", "false", "--enable-gui-log-window", "false"]
    return [command, "start-mcp-server", "--context", "agent", "--project", str(tree), *quiet]


@asynccontextmanager
async def _open_server(command: Sequence[str], tree: Path) -> AsyncIterator[Any]:
    """Start a server of the Model Context Protocol and yield a client of it."""
    from mcp import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client

    parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=_environment(), cwd=tree)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        async with stdio_client(parameters, errlog=nowhere) as (read, write), ClientSession(read, write) as client:
            yield client


async def _call(client: Any, name: str, arguments: Figures) -> str:
    await _start(client)
    answer = await client.call_tool(name, arguments)
    return "\n".join(part.text for part in answer.content if part.type == "text")


async def _start(client: Any) -> str:
    """Initialise the session; return the instructions of the server."""
    if not hasattr(client, "told"):
        client.told = (await client.initialize()).instructions or ""
    return str(client.told)


async def count_before(command: Sequence[str], tree: Path, count: Callable[[str], int]) -> Figures:
    """Count the tokens that a server sends before the first question: instructions and tools."""
    async with _open_server(command, tree) as client:
        instructions = await _start(client)
        tools = (await client.list_tools()).tools
        if any(tool.name == "initial_instructions" for tool in tools):  # must be called before all others
            instructions += await _call(client, "initial_instructions", {})
    written = [tool.model_dump_json(include={"name", "description", "input_schema"}, by_alias=True) for tool in tools]
    return {"tools": len(tools), "tokens": count(instructions) + sum(map(count, written))}


def _run(command: Sequence[str], tree: Path) -> str:
    done = subprocess.run(command, cwd=tree, env=_environment(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[-1][:300])
    return done.stdout


def _environment() -> dict[str, str]:
    return dict(os.environ) | {"CODEGRAPH_TELEMETRY": "0", "DO_NOT_TRACK": "1", "NO_COLOR": "1", "HF_HUB_OFFLINE": "0"}


def describe_answers(asked: Asked, answers: Sequence[Sequence[Call]], count: Callable[[str], int]) -> list[Figures]:
    """Describe for each question the cost of its answer and the right places in it."""
    described = []
    for (text, places), calls in zip(asked.questions, answers, strict=True):
        # Servers encode code as JSON strings.
        answer = "\n".join(call.answer.replace("\\n", "\n").replace('\\"', '"') for call in calls)
        described.append({
            "question": text, "calls": len(calls), "places": len(places),
            "tokens": sum(count(call.request) + count(call.answer) for call in calls),
            "named": sum(is_named(place, answer) for place in places),
            "lines": [round(share_lines(place, answer), 4) for place in places],
            "shown": sum(share_lines(place, answer) >= SHOWN_SHARE for place in places),
        })  # fmt: skip
    return described


def summarise_answers(described: Sequence[Figures]) -> Figures:
    """Sum up calls and tokens per question, and the shares of right places and of answered questions."""
    places = sum(each["places"] for each in described)
    tokens = [each["tokens"] for each in described]
    spent = {"mean": round(statistics.mean(tokens)), "median": round(statistics.median(tokens)), "max": max(tokens)}
    return {
        "calls": round(statistics.mean(each["calls"] for each in described), 2),
        "tokens": spent,
        "places_named": round(sum(each["named"] for each in described) / places, 4),
        "lines_shown": round(statistics.mean(share for each in described for share in each["lines"]), 4),
        "places_shown": round(sum(each["shown"] for each in described) / places, 4),
        "questions_with_one_shown": round(statistics.mean(each["shown"] > 0 for each in described), 4),
        "questions_with_all_shown": round(statistics.mean(each["shown"] == each["places"] for each in described), 4),
    }  # fmt: skip


def describe_tool(
    asked: Sequence[Asked], ask: Callable[[Asked], Iterator[list[Call]]], count: Callable[[str], int]
) -> Figures:
    """Run all questions on a tool; if it fails, return the reason."""
    try:
        described = {each.tree.name: describe_answers(each, list(ask(each)), count) for each in asked}
    except (RuntimeError, OSError) as fault:
        return {"not_asked": str(fault)}
    together = summarise_answers([figures for each in described.values() for figures in each])
    by_package = {name: summarise_answers(each) for name, each in described.items()}
    return {"together": together, "packages": by_package, "questions": described}


def main() -> None:
    parser = make_parser(__doc__)
    for peer in ("codegraph", "serena", "semble"):
        parser.add_argument(f"--{peer}", default=peer, help=f"the command of {peer}; default: {peer}")
    options = parser.parse_args()
    encoding = importlib.import_module("bpe_openai").get_encoding("o200k_base")

    def count(text: str) -> int:
        return len(encoding.encode(text))

    with open_folder(options.cache) as (cache, work):
        names = json.loads(QUESTIONS.read_text(encoding="utf-8"))
        chosen = [package for package in HELD_OUT if package.name in names]
        trees = [unpack_package(package, cache, work / "trees") for package in chosen]
        asked = [read_questions(tree.name, tree) for tree in trees]
        tools: Figures = {
            "pkg": describe_tool(asked, lambda each: ask_pkg(each, work), count),
            "pkg --budget 4000": describe_tool(asked, lambda each: ask_pkg(each, work, ["--budget", "4000"]), count),
            "codegraph": describe_tool(asked, lambda each: ask_codegraph(each, options.codegraph), count),
            "semble": describe_tool(asked, lambda each: ask_semble(each, options.semble), count),
            "serena": describe_tool(asked, lambda each: ask_serena(each, options.serena), count),
        }
        servers = {
            "codegraph": [options.codegraph, "serve", "--mcp"], "semble": [options.semble],
            "serena": _make_serena(options.serena, trees[0]),
        }  # fmt: skip
        for name, command in servers.items():
            tools[name]["before"] = _try(count_before(command, trees[0], count))
    versions = {name: _say_version(getattr(options, name)) for name in servers}
    write_result("agent_tools", {"encoding": "o200k_base", "versions": versions, "tools": tools})


def _try(counting: Coroutine[Any, Any, Figures]) -> Figures:
    try:
        return asyncio.run(counting)
    except Exception as fault:  # a server of another project may raise anything
        return {"not_asked": str(fault)}


def _say_version(command: str) -> str:
    try:
        return _run([command, "--version"], Path()).strip()
    except (RuntimeError, OSError) as fault:
        return str(fault)


if __name__ == "__main__":
    main()
