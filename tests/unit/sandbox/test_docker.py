"""The output of a container is parsed correctly, and a missing daemon or image is reported."""

from __future__ import annotations

import socket
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pkg.errors import SandboxError
from pkg.sandbox import open_sandbox
from pkg.sandbox.docker import ContainerStream

PIECES = st.lists(st.tuples(st.sampled_from([1, 2]), st.binary(max_size=300)))


class Container:
    """A fake container whose standard streams are a socket."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.state = "created"

    def attach_socket(self, params: dict[str, int]) -> Any:
        assert params == {"stdin": 1, "stdout": 1, "stream": 1}
        return SimpleNamespace(_sock=self.ours, close=self.ours.close)

    def start(self) -> None:
        self.state = "running"

    def remove(self, force: bool) -> None:
        assert force
        self.state = "removed"
        self.theirs.close()


class DockerError(Exception):
    """A fake of the package's base error."""


class ImageMissingError(DockerError):
    """A fake of the package's error for a missing image."""


def fake_docker(failure: Exception) -> Any:
    """Return a fake package whose daemon, or whose image, is missing."""

    def fail(*_: object) -> Any:
        raise failure

    client = SimpleNamespace(images=SimpleNamespace(get=fail))
    from_env = (lambda: client) if isinstance(failure, ImageMissingError) else fail
    errors = SimpleNamespace(DockerException=DockerError, ImageNotFound=ImageMissingError)
    return SimpleNamespace(from_env=from_env, errors=errors)


def frame(kind: int, data: bytes) -> bytes:
    return bytes([kind, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


@given(PIECES, st.integers(1, 64))
def test_the_standard_output_is_read_whatever_the_size_of_the_pieces(pieces: list[tuple[int, bytes]], cut: int) -> None:
    container = Container()
    stream = ContainerStream(container)
    sent = b"".join(frame(kind, data) for kind, data in pieces)
    for start in range(0, len(sent), cut):
        container.theirs.sendall(sent[start : start + cut])
    container.theirs.shutdown(socket.SHUT_WR)
    received = b""
    while piece := stream.read(1.0):
        received += piece
    assert received == b"".join(data for kind, data in pieces if kind == 1)
    stream.close()
    assert container.state == "removed"


def test_a_container_that_is_silent_is_not_waited_for_longer_than_asked() -> None:
    stream = ContainerStream(Container())
    assert stream.read(0.01) is None
    stream.close()


def test_what_is_written_arrives() -> None:
    container = Container()
    stream = ContainerStream(container)
    stream.write(b"hello")
    assert container.theirs.recv(100) == b"hello"
    assert container.state == "running"
    stream.close()


def test_a_missing_image_is_named_with_the_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", fake_docker(ImageMissingError()))
    with pytest.raises(SandboxError, match=r"no Docker image 'pkg-sandbox' here.*docs/security.md has a recipe"):
        open_sandbox("docker")


def test_a_silent_daemon_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", fake_docker(DockerError("refused")))
    with pytest.raises(SandboxError, match=r"no Docker daemon responds \(refused\); start it"):
        open_sandbox("docker")
