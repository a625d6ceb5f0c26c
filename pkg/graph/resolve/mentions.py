"""Which files speak of a name in a way by which they may have found it in another file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from pkg.graph.resolve.model import ModuleScopes


def find_mentions(modules: Iterable[ModuleScopes], names: Collection[str], counts: Collection[str]) -> Iterator[str]:
    """Give the files that ask others for one of some names, or define one whose calls are counted."""
    asked = [(name.encode("utf-8", "replace"), _find_asking(name)) for name in sorted(names) if name]
    defined = [(name.encode("utf-8", "replace"), _find_defining(name)) for name in sorted(counts) if name]
    words = (*asked, *defined)
    for module in modules:
        text = module.text
        if _imports_any(module, names) or any(name in text and word.search(text) for name, word in words):
            yield module.path


def _imports_any(module: ModuleScopes, names: Collection[str]) -> bool:
    """Tell whether a file imports one of the names; where a star import may bring them, whether it speaks of one."""
    for record in module.imports:
        if record.name in names or any(part in names for part in record.module.split(".")):
            return True
    return bool(module.root.stars) and any(name.encode("utf-8", "replace") in module.text for name in names)


def _find_asking(name: str) -> re.Pattern[bytes]:
    """Match a name as an attribute, or in quotes; of special names, not where super() is asked for them."""
    pattern = re.escape(name.encode("utf-8", "replace"))
    start = rb"(?<!super\(\))\.[\s\\]*" if name.startswith("__") else rb"\.[\s\\]*"
    return re.compile(start + pattern + rb"(?!\w)|['\"]" + pattern + rb"['\"]")


def _find_defining(name: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?:def|class)[\s\\]+" + re.escape(name.encode("utf-8", "replace")) + rb"(?!\w)")
