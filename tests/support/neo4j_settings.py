"""What a Neo4j launched for tests is told: its ports, its memory, and to be quick."""

from __future__ import annotations

import random
import socket
from dataclasses import dataclass

from pkg.errors import StoreError

LOOPBACK = "127.0.0.1"
PORTS = range(20_000, 32_000)  # below what systems give to outgoing connections: a port stays free over a restart
PORT_TRIES = 100
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""For what does little: one thread to collect garbage, and no optimising compiler."""
SHIPPED = (
    "-XX:+UseG1GC", "-XX:-OmitStackTraceInFastThrow", "-XX:+AlwaysPreTouch", "-XX:+UnlockExperimentalVMOptions",
    "-XX:+TrustFinalNonStaticFields", "-XX:+DisableExplicitGC", "-Djdk.nio.maxCachedBufferSize=1024",
    "-Dio.netty.tryReflectionSetAccessible=true", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints",
)  # fmt: skip
"""What the neo4j.conf of a distribution sets that matters to speed: whoever installs Neo4j runs it with these."""


@dataclass(frozen=True)
class Sizing:
    """How much memory a server gets, and whether it starts quickly or runs at full speed."""

    heap: str = "512m"
    pagecache: str = "256m"
    quick: bool = True

    def render_flags(self) -> list[str]:
        """Write the flags of a server's virtual machine: at full speed, those that Neo4j comes with."""
        return [*self.render_heap(), *(QUICK if self.quick else SHIPPED)]

    def render_heap(self) -> list[str]:
        """Write the flags that give it memory."""
        return [f"-Xms{self.heap}", f"-Xmx{self.heap}"]


def pick_port(ports: range = PORTS) -> int:
    """Pick a port on which nothing listens."""
    for port in random.SystemRandom().sample(ports, min(PORT_TRIES, len(ports))):
        with socket.socket() as listener:
            try:
                listener.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise StoreError(f"no free port seen among {ports[0]} to {ports[-1]} on {LOOPBACK}, expected one; end some servers")


def render_settings(bolt: int, http: int, pagecache: str) -> str:
    """Write a configuration: loopback alone, little memory, nothing reported, quick to end."""
    settings = {
        "server.default_listen_address": LOOPBACK,
        "server.bolt.listen_address": f"{LOOPBACK}:{bolt}",
        "server.bolt.advertised_address": f"{LOOPBACK}:{bolt}",
        "server.http.listen_address": f"{LOOPBACK}:{http}",
        "server.http.advertised_address": f"{LOOPBACK}:{http}",
        "server.memory.pagecache.size": pagecache,
        "dbms.usage_report.enabled": "false",
        "db.tx_log.preallocate": "false",  # else 256 MB are written for each of the two databases
        "internal.server.bolt.thread_pool_shutdown_wait_time": "0s",  # else each end waits ten seconds for nobody
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())
