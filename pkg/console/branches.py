"""Draw a tree as lines of text that are as long as they need to be: rich cuts the lines of its trees at the width."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text


@dataclass(slots=True)
class Branch:
    """One line of a tree and the branches below it."""

    label: Text
    children: list[Branch] = field(default_factory=list)

    def add(self, label: Text) -> Branch:
        """Add a branch below this one."""
        self.children.append(Branch(label))
        return self.children[-1]


def draw_branches(root: Branch) -> Iterator[Text]:
    """Give the lines of a tree, however deep it is."""
    from rich.text import Text

    open_branches = [(root, "", "")]
    while open_branches:
        branch, lead, below = open_branches.pop()
        yield Text(lead, "dim").append_text(branch.label)
        last = len(branch.children) - 1
        open_branches += [
            (child, f"{below}└── ", f"{below}    ") if number == last else (child, f"{below}├── ", f"{below}│   ")
            for number, child in reversed(list(enumerate(branch.children)))
        ]
