"""What is known from the last resolution where only some files are resolved again."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from pkg.resolve.changes.dependency_record import DependencyRecord
from pkg.resolve.changes.file_diff import OtherParts
from pkg.resolve.facts.repository_files import Files


@dataclass(slots=True)
class Past:
    """What is known from the last resolution."""

    snapshot: Mapping[str, DependencyRecord]  # of every file that was there
    changed: Set[str]  # files
    files: Files  # those that changed or are gone, as they were
    same: set[str] = field(default_factory=set)  # files that changed in nothing others were worked out from
    other: dict[str, OtherParts] = field(default_factory=dict)  # by file that changed, what is not as it was
