"""The Compose file is pinned, on loopback only, without a default password and without plugins."""

from __future__ import annotations

import re

import pytest
from neo4j_servers import VERSIONS
from pages import ROOT

COMPOSE = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
DOCKERFILE = (ROOT / "docker" / "pkg.Dockerfile").read_text(encoding="utf-8")
IGNORED = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()


def test_the_server_is_the_long_term_release_that_is_tested() -> None:
    assert re.findall(r"image: neo4j:(\S+)", COMPOSE) == [f"${{NEO4J_VERSION:-{VERSIONS[0]}}}-community"]


def test_every_port_is_bound_to_loopback() -> None:
    ports = re.findall(r'- "(\S+:\d+)"', COMPOSE)
    assert len(ports) == 2
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_password_has_no_default() -> None:
    uses = re.findall(r"\$\{NEO4J_PASSWORD(.{2})", COMPOSE)
    assert uses == [":?", ":?"]
    assert re.findall(r"NEO4J_AUTH: (\S+?)/", COMPOSE) == ["neo4j"]


@pytest.mark.parametrize("plugin", ["apoc", "gds", "graph-data-science", "NEO4J_PLUGINS"])
def test_no_plugin_is_needed(plugin: str) -> None:
    assert plugin.lower() not in COMPOSE.lower()


def test_the_command_runs_without_rights_and_cannot_write_the_code() -> None:
    assert re.search(r"^USER [1-9]\d+:", DOCKERFILE, re.MULTILINE)
    assert "${PKG_CODE:-.}:/code:ro" in COMPOSE
    for guard in ("read_only: true", "- ALL", "no-new-privileges:true"):
        assert guard in COMPOSE


def test_the_image_is_given_all_that_it_copies_and_nothing_else() -> None:
    copied = {
        name for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE) for name in line.split()
    }
    assert IGNORED[0] == "*"
    assert {name.partition("/")[0] for name in copied} == {name[1:] for name in IGNORED if name.startswith("!")}
    assert [name for name in copied if not (ROOT / name).exists()] == []
