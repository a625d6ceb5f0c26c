"""Read wheels, source distributions and plain zip and tar files where they lie; nothing is unpacked by name."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from pkg.extract.entries import Discovery, Entry, print_path, sort_skips
from pkg.extract.left_out import choose_files
from pkg.extract.members import Member
from pkg.model import Skip

_MAX_NAME = 4_096  # PATH_MAX; no file system would hold a longer name, so only an attack has one

_ARCHIVE_SUFFIX = re.compile(r"\.(zip|whl|tgz|tar(\.gz|\.bz2)?)$", re.IGNORECASE)
_VERSION_SUFFIX = re.compile(r"(?<=.)-v?\d[\w.+!]*$")


def discover_archive(place: str, max_file_size: int) -> Discovery:
    """Find the Python files of an archive; a damaged one is a PathError, a member that cannot be read a Skip."""
    members, skipped = _label_members(_list_members(place, max_file_size))
    if not place.lower().endswith(".whl"):
        members = _strip_top_folder(members)
    chosen, left_out = choose_files(members.keys())
    skipped += left_out
    entries = []
    for path in chosen:
        member = members[path]
        if member.read is None:
            skipped.append(Skip(path, member.reason or "cannot be read"))
        else:
            entries.append(Entry(path, member.fingerprint, member.size, member.read))
    name = name_archive(os.path.basename(place))
    return Discovery(print_path(place), name, "repository", None, tuple(entries), sort_skips(skipped))


def name_archive(filename: str) -> str:
    """Name the project of an archive: django-5.2.8-py3-none-any.whl is django, spyder-6.0.0a4.tar.gz is spyder."""
    stem = _ARCHIVE_SUFFIX.sub("", filename)
    if filename.lower().endswith(".whl"):
        return print_path(stem.split("-")[0])
    return print_path(_VERSION_SUFFIX.sub("", stem))


def _list_members(place: str, max_file_size: int) -> Iterable[Member]:
    if place.lower().endswith((".zip", ".whl")):
        from pkg.extract.zips import list_zip

        return list_zip(place, max_file_size)
    from pkg.extract.tars import list_tar

    return list_tar(place, max_file_size)


def _label_members(members: Iterable[Member]) -> tuple[dict[str, Member], list[Skip]]:
    """Key members by a clean relative path; of equal ones the last counts, as it does for every unpacker."""
    labelled: dict[str, Member] = {}
    skipped = []
    for member in members:
        label = _clean_name(member.name)
        if len(label) > _MAX_NAME:
            skipped.append(Skip(label[:80] + "...", f"name longer than {_MAX_NAME:,} characters"))
            continue
        if label in labelled and labelled[label].read is not None:
            skipped.append(Skip(label, "a later member has the same name"))
        labelled[label] = member
    return labelled, skipped


def _clean_name(name: str) -> str:
    """Make a member's name a label below the root: no leading slash, no empty part, no dots that climb."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return print_path("/".join(parts))


def _strip_top_folder(members: dict[str, Member]) -> dict[str, Member]:
    """Drop the one folder that holds all of a source distribution, unless that folder is a package itself."""
    tops = {path.partition("/")[0] + "/" for path in members}
    if len(tops) != 1:
        return members
    top = tops.pop()
    is_package = top + "__init__.py" in members and top + "PKG-INFO" not in members
    if is_package or top[:-1] in members:
        return members
    return {path[len(top) :]: member for path, member in members.items()}
