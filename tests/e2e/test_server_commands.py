"""The commands on Neo4j servers: same answers as on a file, password prompt, Ctrl-C."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from neo4j_servers import SERVERS, Server, empty_database, open_server
from trees import GUIDES, SHOP, write_tree

from pkg.cli import main
from pkg.model import EMBEDDED_LABELS

pytestmark = pytest.mark.server

PATIENCE = 60  # seconds for what takes two
QUESTION = "find the price of an item"
COMMAND = (sys.executable, "-m", "pkg.cli")
# Executes the command with the terminal as controlling one, where passwords are prompted.
IN_TERMINAL = """import fcntl, os, sys, termios
os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"""
INTERRUPTED = (
    "pkg: interrupted; the graph is as it was before\n",
    "pkg: interrupted; the graph is whole, as it was before or as it is after this build\n",
)
"""The second is said where the signal cut a message to the server, so that the connection cannot be asked further."""
LOADING = "MATCH (n:Source {state: 'loading'}) RETURN count(n) AS count"


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return an empty server, with its user and password in the environment."""
    server = open_server(request.param)
    with server.connect() as driver:
        empty_database(driver)
    monkeypatch.setenv("PKG_NEO4J_USER", server.user)
    monkeypatch.setenv("PKG_NEO4J_PASSWORD", server.password)
    return server


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "code", SHOP)


@pytest.fixture
def file_store(shop: Path, tmp_path: Path) -> str:
    store = f"sqlite:///{tmp_path / 'graph.db'}"
    assert run("build", str(shop), "--store", store).exit_code == 0
    return store


@pytest.fixture
def server_store(shop: Path, server: Server) -> str:
    assert run("build", str(shop), "--store", server.uri).exit_code == 0
    return server.uri


def run(*words: str) -> Result:
    return CliRunner().invoke(main, list(words))


def read_lines(result: Result) -> Iterator[dict[str, object]]:
    return map(json.loads, result.stdout.splitlines())


def test_a_server_and_a_file_have_equal_graphs(file_store: str, server_store: str) -> None:
    result = run("verify", "--store", file_store, "--store", server_store, "--vectors")
    (summary,) = read_lines(result)
    assert (result.exit_code, summary["equal"]) == (0, True)
    assert {"name": "Function", "a": 4, "b": 4, "different": 0} in summary["nodes"]  # type: ignore[operator]


def test_facts_are_equal_on_a_server_and_a_file(shop: Path, file_store: str, server_store: str) -> None:
    write_tree(shop, GUIDES)
    for store in (file_store, server_store):
        assert run("build", str(shop), "--store", store, "--reader", "structure").exit_code == 0
    result = run("verify", "--store", file_store, "--store", server_store, "--vectors")
    (summary,) = read_lines(result)
    assert (result.exit_code, summary["equal"]) == (0, True)
    assert {"name": "Fact", "a": 12, "b": 12, "different": 0} in summary["nodes"]  # type: ignore[operator]
    words = ["query", "how often is a request sent again", "--mode", "fact", "--store"]
    ours, theirs = (next(read_lines(run(*words, store))) for store in (file_store, server_store))
    assert (ours["id"], ours["qualname"]) == (theirs["id"], "Guide > Retries > times")
    ours, theirs = (next(read_lines(run("stats", "--store", store))) for store in (file_store, server_store))
    assert ours["fact_relations"] == theirs["fact_relations"] == 10


def test_one_edited_function_is_named(shop: Path, file_store: str, server_store: str) -> None:
    prices = SHOP["shop/prices.py"].replace("return price", "return price * 2")
    write_tree(shop, {"shop/prices.py": prices})
    assert run("build", str(shop), "--store", server_store).exit_code == 0
    result = run("verify", "--store", file_store, "--store", server_store)
    *differences, summary = read_lines(result)
    assert (result.exit_code, summary["equal"]) == (1, False)
    (function,) = [each for each in differences if each["label"] == "Function"]
    assert (function["path"], function["qualname"], function["where"]) == ("shop/prices.py", "find_price", "both")
    assert {"content", "content_hash"} <= set(function["properties"])  # type: ignore[call-overload]
    assert {each["path"] for each in differences} == {"shop/prices.py"}


def test_every_command_has_equal_output_on_a_server_and_a_file(
    file_store: str, server_store: str, tmp_path: Path
) -> None:
    words = ["query", QUESTION, "--mode", "function", "--store"]
    ours, theirs = (next(read_lines(run(*words, store))) for store in (file_store, server_store))
    assert (ours["id"], ours["pruned_content"]) == (theirs["id"], theirs["pruned_content"])
    assert theirs["qualname"] == "find_price"
    assert run("export", "--store", file_store).stdout == run("export", "--store", server_store).stdout
    assert run("export", "--store", server_store, "-o", str(tmp_path / "out")).exit_code == 0
    assert (tmp_path / "out").read_text() == run("export", "--store", file_store).stdout
    ours, theirs = (next(read_lines(run("stats", "--store", store))) for store in (file_store, server_store))
    assert [ours[key] for key in ("nodes", "relations", "partial")] == [
        theirs[key] for key in ("nodes", "relations", "partial")
    ]
    assert next(read_lines(run("build", "code", "--remove", "--store", server_store)))["removed"] == 3
    assert next(read_lines(run("stats", "--store", server_store)))["nodes"] == {"Source": 0}


def test_the_doctor_examines_the_server(server_store: str) -> None:
    findings = {
        line["name"]: (line["state"], line["detail"]) for line in read_lines(run("doctor", "--store", server_store))
    }
    assert findings["indexes"] == ("ok", f"{len(EMBEDDED_LABELS)} vector indexes online")
    assert findings["encryption"] == ("ok", "not needed, the server is this machine")
    assert findings["neo4j server"][0] == findings["store"][0] == "ok"
    assert str(findings["neo4j server"][1]).startswith("Neo4j ")


def test_the_doctor_reports_why_a_login_fails(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PKG_NEO4J_PASSWORD", "wrong")
    result = run("doctor", "--store", server.uri)
    findings = {str(line["name"]): line for line in read_lines(result)}
    assert (result.exit_code, findings["neo4j server"]["state"], "store" in findings) == (1, "broken", False)
    assert "PKG_NEO4J_PASSWORD" in str(findings["neo4j server"]["detail"])


def test_a_database_can_be_named_by_its_option(server_store: str) -> None:
    assert run("stats", "--store", server_store, "--database", "neo4j").exit_code == 0
    result = run("stats", "--store", server_store, "--database", "nowhere")
    assert (result.exit_code, f"{server_store}/nowhere" in result.stderr) == (1, True)


def test_without_a_terminal_there_is_no_password_prompt(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PKG_NEO4J_PASSWORD")
    result = run("stats", "--store", server.uri)
    assert (result.exit_code, "set PKG_NEO4J_USER and PKG_NEO4J_PASSWORD" in result.stderr) == (1, True)


def test_a_terminal_prompts_for_the_password_without_echo(
    shop: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PKG_NEO4J_PASSWORD")
    code, text = run_in_terminal("build", str(shop), "--store", server.uri, answer=server.password)
    assert (code, f"Password of {server.user} at {server.uri}: " in text, server.password in text) == (0, True, False)
    assert "code: 3 read" in text


def run_in_terminal(*words: str, answer: str) -> tuple[int, str]:
    """Run a command in a terminal and answer the password prompt; return its exit code and output."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", IN_TERMINAL, *COMMAND, *words]
    environment = os.environ | {"NO_COLOR": "1", "PKG_JSON": "0", "TERM": "dumb", "COLUMNS": "120"}
    text, is_answered = b"", False
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        while piece := read_piece(ours):
            text += piece
            if b"Password" in text and not is_answered:
                is_answered = bool(os.write(ours, f"{answer}\n".encode()))
        os.close(ours)
    return process.returncode, text.decode().replace("\r\n", "\n")


def read_piece(terminal: int) -> bytes:
    """Read the next output; empty if the other side has closed or is silent for too long."""
    try:
        return os.read(terminal, 65536) if select.select([terminal], [], [], PATIENCE)[0] else b""
    except OSError:  # on Linux, the other side has closed
        return b""


def test_ctrl_c_leaves_the_old_graph_on_a_server(server: Server, server_store: str) -> None:
    before = run("export", "--store", server_store).stdout
    words = ["build", "-", "--store", server_store, "--source", "piped"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, *words], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write(b'{"code": "def area(width):\\n    return width\\n"}\n')  # and the pipe stays open
        process.stdin.flush()
        await_load(server)
        process.send_signal(signal.SIGINT)
        output, message = process.communicate(timeout=PATIENCE)
    assert (process.returncode, output) == (130, b"")
    assert message.decode() in INTERRUPTED
    assert run("export", "--store", server_store).stdout == before


def await_load(server: Server) -> None:
    """Wait until a first load has begun."""
    end = time.monotonic() + PATIENCE
    with server.connect() as driver:
        while time.monotonic() < end:
            if driver.execute_query(LOADING).records[0]["count"]:
                return
            time.sleep(0.02)
    pytest.fail("the build never began to write")
