"""Docker backend, for systems without namespaces: each worker is the first process of a container.

The container has no network, a read-only root, one small writable folder in memory, no capabilities and no way to gain
any, and limits on memory and processes. Inside, the worker adds Landlock and a filter of system calls. The image is
made from the running Python, without a registry or network.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from pkg.errors import MissingExtraError, SandboxError
from pkg.sandbox.launch import ENVIRONMENT, Isolation, build_command
from pkg.sandbox.protocol import BOX, BOX_ROOM
from pkg.sandbox.worker import Worker

EXCLUDED = {"__pycache__", "test", "tests", "idlelib", "tkinter", "turtledemo", "ensurepip", "lib2to3", "site-packages"}
FOLDERS = ("box", "dev", "proc", "sys", "tmp", "etc", "usr/bin")

_LIBRARY = re.compile(r"(/\S+) \(0x")


def write_image(path: str | Path) -> None:
    """Write a tar archive for `docker import`: this Python, its library and the shared libraries that it needs.

    Raises a SandboxError on other systems than Linux.
    """
    if sys.platform != "linux":
        raise SandboxError(f"an image can only be made on Linux, this is {sys.platform}; see docs/security.md")
    python, library = Path(sys.executable).resolve(), Path(sysconfig.get_path("stdlib"))
    with tarfile.open(path, "w") as archive:
        for folder in FOLDERS:
            _add_folder(archive, folder)
        for file in sorted({python, *_list_shared(python, library)}):
            archive.add(file.resolve(), file.as_posix().lstrip("/"))
        archive.add(library, library.as_posix().lstrip("/"), filter=_choose)
        _add_link(archive, "usr/bin/python3", python.as_posix())


def _add_folder(archive: tarfile.TarFile, name: str) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, 0o755
    archive.addfile(entry)


def _add_link(archive: tarfile.TarFile, name: str, target: str) -> None:
    if f"/{name}" != target:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        archive.addfile(entry)


def _choose(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Exclude tests, graphical tools, caches and installed packages."""
    parts = entry.name.split("/")
    return None if EXCLUDED.intersection(parts) or parts[-1].startswith("config-") else entry


def _list_shared(python: Path, library: Path) -> Iterator[Path]:
    """Yield the shared libraries that the interpreter and its modules load, and the loader."""
    modules = sorted(library.joinpath("lib-dynload").glob("*.so"))
    command = ["ldd", os.fspath(python), *map(os.fspath, modules)]
    listing = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False).stdout
    yield from {Path(found) for found in _LIBRARY.findall(listing)}


IMAGE = "pkg-sandbox"
MEMORY = 2 << 30  # bytes of a container: the supervisor, the files, and more than the limit of a run
PROCESSES = 64  # of a container, in addition to the limit of each run
FIRST_USER, USERS = (
    2_000_000,
    1_000_000,
)  # unused user ids, one for each worker, because processes are counted by user
HEADER_BYTES = 8  # before each piece of the stream: the output, three unused bytes, the length
STANDARD_OUTPUT = 1

_numbers = itertools.count()


def connect_docker(image: str | None = None) -> Callable[[], Worker]:
    """Connect to the daemon, check the image, and return a function that starts a worker.

    Raises a MissingExtraError without the package docker, and a SandboxError without the daemon or the image.
    """
    docker = _import_docker()
    name = image or IMAGE
    try:
        client = docker.from_env()
        client.images.get(name)
    except docker.errors.ImageNotFound:
        raise SandboxError(
            f"no Docker image {name!r} here, expected one with Python; docs/security.md has a recipe"
        ) from None
    except (docker.errors.DockerException, OSError) as error:
        raise SandboxError(f"no Docker daemon responds ({error}); start it, or run only the static stages") from None
    return lambda: _start_worker(client, name)


def _import_docker() -> Any:
    try:
        docker = import_module("docker")
    except ImportError:
        docker = None
    if not hasattr(docker, "from_env"):  # a folder of that name on the path is a package too
        raise MissingExtraError("docker", "docker", "the docker sandbox")
    return docker


def _start_worker(client: Any, image: str) -> Worker:
    """Start a worker in a new container."""
    user = FIRST_USER + (os.getpid() * 97 + next(_numbers)) % USERS
    isolation = Isolation(enter=False, confine=True, count=True, box=BOX)
    return Worker(ContainerStream(_create_container(client, image, user)), isolation)


def _create_container(client: Any, image: str, user: int) -> Any:
    """Create a container with minimal rights."""
    return client.containers.create(
        image,
        build_command("python3"),
        user=f"{user}:{user}",
        environment=ENVIRONMENT,
        working_dir=BOX,
        hostname="sandbox",
        stdin_open=True,
        auto_remove=True,
        network_mode="none",
        ipc_mode="none",
        read_only=True,
        tmpfs={BOX: f"{BOX_ROOM},mode=0700,uid={user},gid={user},noexec,nosuid,nodev"},
        mem_limit=MEMORY,
        memswap_limit=MEMORY,
        pids_limit=PROCESSES,
        cap_drop=["ALL"],
        security_opt=["no-new-privileges"],
        oom_score_adj=1000,
        log_config={"type": "none"},  # the output is only for this process
    )


class ContainerStream:
    """Attached standard streams of a container; the worker and the container end when they are closed."""

    def __init__(self, container: Any) -> None:
        self._container = container
        self._attached = container.attach_socket(params={"stdin": 1, "stdout": 1, "stream": 1})
        self._socket = getattr(self._attached, "_sock", self._attached)
        self._received = bytearray()
        container.start()

    def write(self, data: bytes) -> None:
        """Send all data; raises an OSError if the worker has ended."""
        self._socket.settimeout(None)
        self._socket.sendall(data)

    def read(self, seconds: float) -> bytes | None:
        """Return received bytes of the standard output: b"" at the end, None after a timeout."""
        end = time.monotonic() + seconds
        while (piece := self._cut_piece()) is None:
            self._socket.settimeout(max(0.001, end - time.monotonic()))
            try:
                received = self._socket.recv(1 << 20)
            except TimeoutError:
                return None
            if not received:
                return b""
            self._received += received
        return piece

    def close(self) -> None:
        """Remove the container with all of its processes."""
        with contextlib.suppress(Exception):  # it may have been removed already
            self._container.remove(force=True)
        self._attached.close()
        self._socket.close()

    def _cut_piece(self) -> bytes | None:
        """Remove and return the next complete piece of the standard output; None if there is none."""
        while len(self._received) >= HEADER_BYTES:
            end = HEADER_BYTES + int.from_bytes(self._received[4:HEADER_BYTES], "big")
            if len(self._received) < end:
                return None
            kind, piece = self._received[0], bytes(self._received[HEADER_BYTES:end])
            del self._received[:end]
            if kind == STANDARD_OUTPUT and piece:
                return piece
        return None
