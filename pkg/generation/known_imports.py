"""Find the import of the standard library that answers an undefined name.

A name counts only if its use agrees: each attribute that the code reads of it must exist. Names that a program would
rather define itself, such as `add` of operator, are left out.
"""

from __future__ import annotations

import ast
import typing
from collections.abc import Iterator
from importlib import import_module

_MODULES = frozenset((
    "abc", "array", "ast", "asyncio", "base64", "binascii", "bisect", "calendar", "cmath", "collections", "contextlib",
    "copy", "csv", "dataclasses", "datetime", "decimal", "difflib", "enum", "fnmatch", "fractions", "functools", "glob",
    "gzip", "hashlib", "heapq", "html", "inspect", "io", "itertools", "json", "keyword", "logging", "math", "numbers",
    "operator", "os", "pathlib", "pickle", "platform", "pprint", "queue", "random", "re", "secrets", "shlex", "shutil",
    "signal", "socket", "sqlite3", "statistics", "string", "struct", "subprocess", "sys", "tempfile", "textwrap",
    "threading", "time", "timeit", "traceback", "types", "typing", "unicodedata", "urllib", "uuid", "warnings",
    "weakref", "zipfile", "zlib",
))  # fmt: skip
"""Modules that are imported by their name."""

_NAMES: dict[str, tuple[str, ...]] = {
    "collections": ("ChainMap", "Counter", "OrderedDict", "UserDict", "defaultdict", "deque", "namedtuple"),
    "collections.abc": (
        "AsyncIterator", "Awaitable", "Callable", "Collection", "Coroutine", "Generator", "Hashable", "Iterable",
        "Iterator", "Mapping", "MutableMapping", "MutableSequence", "MutableSet", "Sequence", "Sized",
    ),
    "typing": tuple(name for name in typing.__all__ if name[0].isupper()),
    "abc": ("ABC", "ABCMeta", "abstractmethod"),
    "bisect": ("bisect_left", "bisect_right", "insort"),
    "contextlib": ("closing", "contextmanager", "nullcontext", "suppress"),
    "copy": ("deepcopy",),
    "dataclasses": ("asdict", "astuple", "dataclass"),
    "datetime": ("date", "datetime", "timedelta", "timezone"),
    "decimal": ("Decimal",),
    "enum": ("Enum", "IntEnum"),
    "fractions": ("Fraction",),
    "functools": (
        "cached_property", "cmp_to_key", "lru_cache", "partial", "reduce", "singledispatch", "total_ordering", "wraps",
    ),
    "heapq": ("heapify", "heappop", "heappush", "nlargest", "nsmallest"),
    "io": ("BytesIO", "StringIO"),
    "itertools": (
        "accumulate", "chain", "combinations", "combinations_with_replacement", "dropwhile", "groupby", "islice",
        "permutations", "product", "starmap", "takewhile", "zip_longest",
    ),
    "math": ("ceil", "comb", "factorial", "floor", "gcd", "hypot", "isclose", "sqrt"),
    "pathlib": ("Path", "PurePath"),
    "string": ("ascii_letters", "ascii_lowercase", "ascii_uppercase"),
    "types": ("MappingProxyType", "SimpleNamespace"),
}  # fmt: skip
"""Distinctive names, by the module that they are imported from; the first of several modules is taken."""


def find_import(name: str, tree: ast.Module) -> str | None:
    """Return the import of the standard library for a name that a program reads; None if none fits its use."""
    read = list(_list_attributes(name, tree))
    if name in _MODULES and read and _has_all(import_module(name), read):
        return f"import {name}"
    for module, names in _NAMES.items():
        if name in names and _has_all(getattr(import_module(module), name, None), read):
            return f"from {module} import {name}"
    return None


def _list_attributes(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield the attributes of a name that a program reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield node.attr


def _has_all(value: object, attributes: list[str]) -> bool:
    return value is not None and all(hasattr(value, each) for each in attributes)
