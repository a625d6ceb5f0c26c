"""The settings files and encoders that the user has trusted, kept in the user configuration.

A settings file is trusted by its folder and the hash of its content, so a file that changes has to be trusted again.
An encoder is trusted by its name, because a graph remembers the name of its encoder and may come from someone else.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from pkg.errors import PathError, refuse_file
from pkg.private_files import make_folder, replace_file

TRUST_VARIABLE = "PKG_TRUST"
"""Holds hashes of settings files to trust, for machines without a configuration of their own, such as those of CI."""


@dataclass(frozen=True, slots=True)
class TrustedFile:
    """A settings file that the user has trusted."""

    folder: str  # without links, so that each way to it is the same folder
    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Trust:
    """The files and encoders that the user has trusted."""

    files: tuple[TrustedFile, ...] = ()
    encoders: frozenset[str] = field(default_factory=frozenset)

    def covers(self, file: TrustedFile) -> bool:
        """Return whether a settings file is trusted with the content that it has now."""
        return file in self.files or file.sha256 in os.environ.get(TRUST_VARIABLE, "").replace(",", " ").split()

    def knows(self, file: TrustedFile) -> bool:
        """Return whether a settings file was trusted with some content."""
        return any((each.folder, each.name) == (file.folder, file.name) for each in self.files)


def find_user_folder() -> Path:
    """Return the folder of the user's own configuration."""
    from platformdirs import user_config_path

    return user_config_path("pkg", appauthor=False)


def identify(file: Path, content: bytes) -> TrustedFile:
    """Identify a settings file by its folder and its content."""
    folder = os.path.normcase(os.path.realpath(file.parent))
    return TrustedFile(folder, file.name, hashlib.sha256(content).hexdigest())


def read_trust() -> Trust:
    """Read the trust record; raise PathError where it is damaged."""
    path = _find_record()
    try:
        kept = json.loads(path.read_bytes())
        return Trust(tuple(TrustedFile(**each) for each in kept["files"]), frozenset(map(str, kept["encoders"])))
    except FileNotFoundError:
        return Trust()
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise PathError(f"cannot read {path} ({fault}); expected what pkg trust has written: delete it") from None


def trust_file(file: TrustedFile) -> None:
    """Record a settings file in place of its earlier record; raise PathError where it cannot be written."""
    known = read_trust()
    others = (each for each in known.files if (each.folder, each.name) != (file.folder, file.name))
    _write(replace(known, files=(*others, file)))


def forget_folder(folder: Path) -> int:
    """Remove the settings files of a folder and return their number; raise PathError where that fails."""
    known, place = read_trust(), os.path.normcase(os.path.realpath(folder))
    kept = tuple(each for each in known.files if each.folder != place)
    _write(replace(known, files=kept))
    return len(known.files) - len(kept)


_named: set[str] = set()  # in this process, which may be unable to write the record


def trust_encoder(name: str) -> None:
    """Record an encoder that the user has named; raise PathError where it cannot be written."""
    _named.add(name)
    known = read_trust()
    if name not in known.encoders:
        _write(replace(known, encoders=known.encoders | {name}))


def forget_encoder(name: str) -> int:
    """Remove an encoder and return 1, or 0 for an unknown one; raise PathError where that fails."""
    _named.discard(name)
    known = read_trust()
    if name not in known.encoders:
        return 0
    _write(replace(known, encoders=known.encoders - {name}))
    return 1


def is_trusted_encoder(name: str) -> bool:
    """Return whether the user has named an encoder, in this process or before."""
    return name in _named or name in read_trust().encoders


def _find_record() -> Path:
    return find_user_folder() / "trust.json"


def _write(trust: Trust) -> None:
    path = _find_record()
    files: Iterable[TrustedFile] = sorted(trust.files, key=lambda each: (each.folder, each.name))
    lines = {
        "files": [{"folder": each.folder, "name": each.name, "sha256": each.sha256} for each in files],
        "encoders": sorted(trust.encoders),
    }
    try:
        make_folder(path.parent)
        with replace_file(path) as temporary:
            temporary.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    except OSError as fault:
        raise refuse_file(path, fault) from fault
