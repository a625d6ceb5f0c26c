"""The archive for an image contains a working Python, and no installed packages."""

from __future__ import annotations

import sys
import tarfile
from pathlib import Path, PurePosixPath

import pytest

from pkg.errors import SandboxError
from pkg.sandbox.docker import write_image


def test_the_archive_holds_the_interpreter_its_library_and_what_they_load(tmp_path: Path) -> None:
    write_image(tmp_path / "image.tar")
    with tarfile.open(tmp_path / "image.tar") as archive:
        names = set(archive.getnames())
        start = archive.getmember("usr/bin/python3")
        target = start.linkname.lstrip("/") if start.issym() else start.name
    files = {PurePosixPath(name).name for name in names}
    assert target in names
    assert {"os.py", "json", "box", "proc"} <= files
    assert any(name.startswith(("ld-linux", "ld-musl")) for name in files)
    assert not any("site-packages" in name or "__pycache__" in name for name in names)


def test_an_image_cannot_be_made_of_another_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SandboxError, match="only be made on Linux, this is darwin"):
        write_image(tmp_path / "image.tar")
