"""Find folders below a root that are other work trees of its git repository: copies of the same code.

`git worktree add` creates a .git file there that points into the repository. The .git file of a submodule points to a
repository of its own, and a clone has a .git folder; both are other code.
"""

from __future__ import annotations

import os
from contextlib import suppress

from pkg.extract.ignore import find_git_folder, find_work_tree

WORKTREE_REASON = "another work tree of this git repository; name it as PATH to read it"
GIT_FILE = ".git"
_WORKTREES = "worktrees"  # folder of a repository with the private files of its linked work trees


def is_other_work_tree(place: str, root: str) -> bool:
    """Return whether a folder below a root is a linked work tree of the repository that the root belongs to."""
    if not os.path.isfile(os.path.join(place, GIT_FILE)):
        return False
    top = find_work_tree(os.path.realpath(root))
    with suppress(ValueError):  # a path with a null byte, which a broken file may hold
        return top is not None and _find_repository(place) == _find_repository(top)
    return False


def _find_repository(top: str) -> str:
    """Return the folder that all work trees of a repository share; its former place if git has forgotten one."""
    folder = os.path.realpath(find_git_folder(top))
    holder = os.path.dirname(folder)
    return os.path.dirname(holder) if os.path.basename(holder) == _WORKTREES else folder
