"""Neo4j in a container, where testcontainers is installed, a daemon answers and the image can be had."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

from neo4j_access import Server, await_answer
from neo4j_settings import LOOPBACK, Sizing

from pkg.errors import StoreError

BOLT, HTTP = 7687, 7474


class Container(Protocol):
    """What is used of a container of testcontainers."""

    ports: dict[str, tuple[str, None]]  # of the container -> address on this machine, any free port

    def with_env(self, key: str, value: str) -> Container:
        """Set a variable of its environment."""

    def start(self) -> Container:
        """Start it."""

    def stop(self) -> None:
        """Remove it."""

    def get_exposed_port(self, port: int) -> int:
        """Tell where one of its ports is published."""


def start_container(version: str, password: str, sizing: Sizing) -> Container | None:
    """Start a container, published on loopback alone, its image pulled if need be; None where that cannot be done."""
    if find_spec("testcontainers") is None:
        return None
    docker, image = import_module("docker"), f"neo4j:{version}-community"
    try:
        images = docker.from_env().images
        if not images.list(image):
            images.pull(image)
        container: Container = import_module("testcontainers.core.container").DockerContainer(image)
        container.ports = {str(port): (LOOPBACK, None) for port in (BOLT, HTTP)}
        for name, value in render_environment(password, sizing).items():
            container.with_env(name, value)
        return container.start()
    except (docker.errors.DockerException, OSError):  # no daemon, or no way to an image
        return None


def find_server(version: str, password: str, container: Container) -> Server:
    """Give the server in a container once it answers."""
    bolt, http = (container.get_exposed_port(port) for port in (BOLT, HTTP))
    server = Server(version, f"bolt://{LOOPBACK}:{bolt}", f"http://{LOOPBACK}:{http}", password=password)
    problem = await_answer(server)
    if problem:
        raise StoreError(f"the container of Neo4j {version} is silent ({problem}), expected an answer; see docker logs")
    return server


def render_environment(password: str, sizing: Sizing) -> dict[str, str]:
    """Write the settings as the image reads them: dots become underscores, underscores are doubled."""
    return {
        "NEO4J_AUTH": f"neo4j/{password}",
        "NEO4J_server_memory_heap_initial__size": sizing.heap,
        "NEO4J_server_memory_heap_max__size": sizing.heap,
        "NEO4J_server_memory_pagecache_size": sizing.pagecache,
        "NEO4J_dbms_usage__report_enabled": "false",
    }
