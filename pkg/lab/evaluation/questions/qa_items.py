"""Read questions about a repository with reference answers, and the file of each (Q-01)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pkg.lab.judge.items import JudgedItem, parse_item
from pkg.model import Skip


@dataclass(frozen=True, slots=True)
class QaItem:
    """A question, and the path of the file that answers it; "" if unknown."""

    item: JudgedItem
    path: str = ""


class ReadQuestions(NamedTuple):
    """The questions of a file, and its invalid rows."""

    items: tuple[QaItem, ...]
    bad: tuple[Skip, ...]  # with the line as path


def read_questions(lines: Iterable[str]) -> ReadQuestions:
    """Read rows in the format of SpyderCodeQA; invalid ones are returned with the reason."""
    items: dict[str, QaItem] = {}
    bad: list[Skip] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            item = parse_item(row)
        except (ValueError, RecursionError) as fault:
            bad.append(Skip(f"line {number}", str(fault)))
            continue
        if item.id in items:
            bad.append(Skip(f"line {number}", f"the id '{item.id}' is there twice; expected one row for each"))
        else:
            items[item.id] = QaItem(item, find_path(row))
    return ReadQuestions(tuple(items.values()), tuple(bad))


def find_path(row: Mapping[str, Any]) -> str:
    """Return the path of the file of a row: its own, or one made of its module and file name.

    The first part of the dotted module is the name of the repository itself.
    """
    if isinstance(row.get("path"), str):
        return str(row["path"])
    about = row.get("meta_data")
    if not isinstance(about, dict) or not isinstance(about.get("file_name"), str):
        return ""
    module = about.get("module")
    folders = module.split(".")[1:] if isinstance(module, str) else []
    return "/".join((*folders, about["file_name"]))
