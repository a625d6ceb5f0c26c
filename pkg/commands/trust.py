"""`pkg trust`: record, list or remove what the user trusts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from pkg.config import trust_settings
from pkg.console.options import json_option
from pkg.console.settings import decode_option
from pkg.console.streams import emit, style_words
from pkg.encode.registry import name_encoder
from pkg.errors import UsageError
from pkg.services import conceal_name
from pkg.trust import forget_encoder, forget_folder, read_trust, trust_encoder


@click.command(epilog="Example:  pkg trust ~/src/shop   or   pkg trust --list")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option(
    "--encoder",
    metavar="NAME",
    callback=decode_option,
    help="Trust an encoder of a graph, such as openai:NAME@URL.",
)
@click.option("--list", "is_list", is_flag=True, help="List all trusted folders and encoders.")
@click.option("--remove", is_flag=True, help="Remove the folder or the encoder from the trusted ones.")
@json_option
def trust(folder: Path | None, encoder: str | None, is_list: bool, remove: bool, as_json: bool) -> None:
    """Trust the settings file of FOLDER.

    A trusted settings file can decide where code and credentials are sent; an untrusted one controls only the results
    of search and their display. Read the file before you trust it; a changed file must be trusted again. FOLDER is the
    current folder by default.
    """
    if is_list:
        if folder is not None or encoder is not None or remove:
            raise UsageError("--list lists all that is trusted; give nothing else with it")
        _list(as_json)
    elif encoder is not None:
        if folder is not None:
            raise UsageError("FOLDER and --encoder are two things to trust; give one of them")
        _change_encoder(name_encoder(encoder), remove, as_json)
    else:
        place = (folder or Path()).expanduser().resolve()  # the parents of "../x" are not those of x
        if remove:
            _forget(place, as_json)
        elif place.is_dir():
            _trust(place, as_json)
        else:
            raise UsageError(f"no folder {place}, expected the one whose settings file is to be trusted")


def _trust(folder: Path, as_json: bool) -> None:
    file, allowed = trust_settings(folder)
    path = str(Path(file.folder, file.name))
    line: dict[str, object] = {"type": "trust", "path": path, "sha256": file.sha256, "settings": dict(allowed)}
    told = [f"{name} = {value}" for name, value in allowed] or ["nothing in it needs trust"]
    _emit(as_json, [line], [f"{path} is trusted until it changes:", *(f"  {each}" for each in told)])


def _change_encoder(name: str, remove: bool, as_json: bool) -> None:
    shown = conceal_name(name)
    if remove:
        if not forget_encoder(name):
            raise UsageError(f"the encoder {shown} is not trusted; see: pkg trust --list")
    else:
        trust_encoder(name)
    line: dict[str, object] = {"type": "forget" if remove else "trust", "encoder": shown}
    _emit(as_json, [line], [f"the encoder {shown} is trusted{' no longer' if remove else ''}"])


def _forget(folder: Path, as_json: bool) -> None:
    if not forget_folder(folder):
        raise UsageError(f"{folder} is not trusted; see: pkg trust --list")
    _emit(as_json, [{"type": "forget", "path": str(folder)}], [f"{folder} is trusted no longer"])


def _list(as_json: bool) -> None:
    known = read_trust()
    files = [(str(Path(each.folder, each.name)), each.sha256) for each in known.files]
    encoders = sorted(map(conceal_name, known.encoders))
    lines: list[dict[str, object]] = [{"type": "trust", "path": path, "sha256": sha256} for path, sha256 in files]
    lines += [{"type": "trust", "encoder": name} for name in encoders]
    told = [f"{path}  sha256 {sha256}" for path, sha256 in files] + [f"encoder {name}" for name in encoders]
    _emit(as_json, lines, told or ["nothing is trusted"])


def _emit(as_json: bool, lines: Sequence[dict[str, object]], told: Sequence[str]) -> None:
    emit(as_json, lines, lambda: map(style_words, told))
