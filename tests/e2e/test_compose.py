"""Docker Compose accepts docker-compose.yml, and the health check detects a live server."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from neo4j_process import pick_port
from neo4j_servers import VERSIONS, start_server
from pages import ROOT

PASSWORD = "a-secret-of-the-test"
IN_CI = os.environ.get("CI") == "true"


def find_compose() -> list[str]:
    """Find Docker Compose: the plugin of docker, or a separate program; return an empty list if there is neither."""
    if shutil.which("docker"):
        plugin = subprocess.run(["docker", "compose", "version"], capture_output=True)
        if plugin.returncode == 0:
            return ["docker", "compose"]
    return ["docker-compose"] if shutil.which("docker-compose") else []


@pytest.fixture(scope="module")
def compose() -> list[str]:
    """Return the command; it is required if the whole project is checked."""
    command = find_compose()
    if not command and not IN_CI:
        pytest.skip("no 'docker compose' and no 'docker-compose' on this machine; install docker-compose to run this")
    assert command, "no 'docker compose' and no 'docker-compose', expected one of them (Debian: docker-compose)"
    return command


def read_config(compose: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | variables
    command = [*compose, "--profile", "pkg", "config"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def test_the_file_is_valid_and_passes_the_password_to_both_services(compose: list[str]) -> None:
    done = read_config(compose, NEO4J_PASSWORD=PASSWORD)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"NEO4J_AUTH: neo4j/{PASSWORD}" in done.stdout
    assert f"PKG_NEO4J_PASSWORD: {PASSWORD}" in done.stdout


def test_without_a_password_nothing_starts(compose: list[str]) -> None:
    for variables in ({}, {"NEO4J_PASSWORD": ""}):
        done = read_config(compose, **variables)
        assert done.returncode != 0
        assert "set NEO4J_PASSWORD" in done.stderr


def test_every_published_port_is_on_loopback(compose: list[str]) -> None:
    shown = read_config(compose, NEO4J_PASSWORD=PASSWORD, NEO4J_BOLT_PORT="17687").stdout
    short = re.findall(r"- (\S+):(\d+):(\d+)/tcp", shown)  # as printed by version 1
    long = re.findall(r'host_ip: (\S+)\s+target: (\d+)\s+published: "?(\d+)', shown)
    ports = {(host, published, target) for host, published, target in short}
    ports |= {(host, published, target) for host, target, published in long}
    assert ports == {("127.0.0.1", "7474", "7474"), ("127.0.0.1", "17687", "7687")}


def check_health(port: int) -> int:
    """Run the health check of the file against a port of this machine."""
    written = re.search(r"- '(exec 3<>.*)'$", (ROOT / "docker-compose.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert written is not None
    script = written[1].replace("/7474", f"/{port}")
    return subprocess.run(["bash", "-c", script], capture_output=True, timeout=20).returncode


def test_the_health_check_fails_where_nothing_listens() -> None:
    assert check_health(pick_port()) != 0


@pytest.mark.server
@pytest.mark.parametrize("version", VERSIONS)
def test_the_health_check_passes_once_a_server_answers(version: str, tmp_path: Path) -> None:
    server = start_server(version, tmp_path)
    try:
        assert check_health(int(server.http.rpartition(":")[2])) == 0
    finally:
        server.kill()
