"""A sandbox opens, or reports in one line what is missing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from traces import find_family, wait_for_end

from pkg.errors import MissingExtraError, SandboxError, UsageError, name_install
from pkg.sandbox import choose_backend, open_sandbox

ROOT = Path(__file__).resolve().parents[3]

ASK = """
import json, sys
from pkg.errors import PkgError
from pkg.sandbox import Limits, Program, Step, open_sandbox
try:
    with open_sandbox("process", jobs=1) as sandbox:
        steps = (Step("f(2)", True), Step("open('/escaped', 'w')", True), Step("__import__('os').getuid()", True))
        result = sandbox.run(Program("def f(n): return n + 1", steps), Limits())
        print(json.dumps([result.load.kind, *((step.kind, step.value) for step in result.steps), sandbox.layers]))
except PkgError as error:
    print(json.dumps(str(error)))
"""


def ask_as_ordinary_user(path: str = os.environ["PATH"]) -> list[Any]:
    """Open a sandbox in an unprivileged process, even if the tests run as root."""
    command = [
        "unshare",
        "--user",
        "--map-user=1000",
        "--map-group=1000",
        "sh",
        "-c",
        'exec "$0" -c "$1"',
        sys.executable,
        ASK,
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PATH": path}
    run = subprocess.run(command, stdout=subprocess.PIPE, env=environment, text=True, check=True)
    answer: list[Any] = json.loads(run.stdout)
    return answer


def test_an_ordinary_user_has_the_same_walls_as_root() -> None:
    load, value, outside, user, layers = ask_as_ordinary_user()
    assert (load, value, outside[0], user) == ("ok", ["ok", "3"], "forbidden", ["ok", "1"])
    with open_sandbox("process", jobs=1) as sandbox:
        assert sandbox.layers == layers


def test_a_bubblewrap_that_does_not_work_is_done_without(tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    load, *_ = ask_as_ordinary_user(path=f"{tmp_path}:{os.environ['PATH']}")
    assert load == "ok"


def test_the_error_without_namespaces_names_the_setting() -> None:
    command = ["unshare", "--user", "--map-root-user", "sh", "-c"]
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" -c "$1"'
    run = subprocess.run(
        [*command, script, sys.executable, ASK],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        text=True,
        check=True,
    )
    message = json.loads(run.stdout)
    assert message.startswith("no sandbox of namespaces here (unshare: No space left on device); ")
    assert "/proc/sys/user/max_user_namespaces is 0" in message


def test_an_unknown_backend_is_a_wrong_call() -> None:
    with pytest.raises(UsageError, match="unknown sandbox 'chroot'; expected one of: process, docker, none"):
        open_sandbox("chroot")


@pytest.mark.parametrize(("platform", "backend"), [("linux", "process"), ("darwin", "docker"), ("win32", "docker")])
def test_the_default_is_never_none(monkeypatch: pytest.MonkeyPatch, platform: str, backend: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert choose_backend() == backend


def test_namespaces_are_a_matter_of_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="needs Linux, this is darwin; install Docker"):
        open_sandbox("process")


@pytest.mark.parametrize("found", [None, ModuleType("docker")], ids=["nothing", "a folder of that name"])
def test_docker_without_its_package_names_the_command(
    monkeypatch: pytest.MonkeyPatch, found: ModuleType | None
) -> None:
    monkeypatch.setitem(sys.modules, "docker", found)
    with pytest.raises(MissingExtraError, match=re.escape(name_install("docker"))):
        open_sandbox("docker")


def test_none_is_given_to_those_who_ask_for_it_by_name() -> None:
    from pkg.sandbox import Kind, Limits, Program

    with open_sandbox("none", jobs=1) as sandbox:
        assert sandbox.run(Program("open('a', 'w').close()")).load.kind is Kind.OK
        assert sandbox.run(Program("while True: pass"), Limits(wall_seconds=0.5)).load.kind is Kind.TIMEOUT


def test_without_walls_too_a_run_ends_with_its_client() -> None:
    code = (
        "from pkg.sandbox import *\n"
        "with open_sandbox('none', jobs=1) as sandbox:\n"
        "    sandbox.run(Program('import time; time.sleep(60)'), Limits(wall_seconds=60))"
    )
    client = subprocess.Popen([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(ROOT)})
    while client.poll() is None and len((family := find_family(client.pid)).processes) < 2:
        time.sleep(0.02)
    assert client.poll() is None  # it ran still
    client.kill()
    client.wait()
    assert wait_for_end(family) == set()
