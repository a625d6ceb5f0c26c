"""Find the import that answers an undefined name: of the standard library, of code nearby, or of an installed library.

A name of the standard library counts only if its use agrees: each attribute that the code reads of it must exist. Names
that a program would rather define itself, such as `add` of operator, need an import nearby. Libraries are not imported
to find this out.
"""

from __future__ import annotations

import ast
import sys
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.metadata import packages_distributions

from pkg.extract.syntax import parse_code

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


_ALIASES = {"np": "numpy", "pd": "pandas", "plt": "matplotlib.pyplot", "sns": "seaborn"}
"""Aliases under which the documentation of a library imports it; code nearby decides on all others."""


def find_imports(code: str, known: Mapping[str, Iterable[str]]) -> list[str]:
    """List the imports that answer undefined names of code.

    known: the names to find, each with the statements of code nearby.
    """
    tree = parse_code(code)
    found = [find_import(name, tree, known[name]) for name in known] if tree is not None else []
    return list(dict.fromkeys(each for each in found if each is not None))


def find_import(name: str, tree: ast.Module, known: Iterable[str] = ()) -> str | None:
    """Return the import for a name that a program reads; None if none fits its use.

    known: import statements of code nearby, of which the first that binds the name and can be imported is taken.
    """
    read = list(_list_attributes(name, tree))
    if name in _MODULES and read and _has_all(import_module(name), read):
        return f"import {name}"
    for module, names in _NAMES.items():
        if name in names and _has_all(getattr(import_module(module), name, None), read):
            return f"from {module} import {name}"
    for statement in known:
        if _fits(statement, name, read) and _is_installed(statement):
            return statement
    module = _ALIASES.get(name, name)
    if not read or module.partition(".")[0] not in _list_installed():
        return None
    return f"import {module} as {name}" if name in _ALIASES else f"import {module}"


def _fits(statement: str, name: str, read: Sequence[str]) -> bool:
    """Return whether an import statement binds a name; as a module only if attributes of the name are read."""
    is_module = statement.startswith("import ")
    bound = [(each.asname or each.name).partition(".")[0] for _, each in _list_aliases(statement)]
    return name in bound and (bool(read) or not is_module)


def _is_installed(statement: str) -> bool:
    """Return whether the modules of an import statement are of the standard library or of an installed library."""
    modules = {module.partition(".")[0] for module, _ in _list_aliases(statement)}
    return bool(modules) and modules <= (sys.stdlib_module_names | _list_installed())


def _list_aliases(statement: str) -> Iterator[tuple[str, ast.alias]]:
    """Yield each alias of an import statement with its module, which is "" for a relative import."""
    tree = parse_code(statement)
    for each in tree.body if tree is not None else ():
        if isinstance(each, ast.Import):
            yield from ((alias.name, alias) for alias in each.names)
        elif isinstance(each, ast.ImportFrom):
            yield from (("" if each.level else each.module or "", alias) for alias in each.names)


@lru_cache(maxsize=1)
def _list_installed() -> frozenset[str]:
    """Return the top-level modules of the installed distributions, which takes some 100 ms."""
    return frozenset(packages_distributions())


def _list_attributes(name: str, tree: ast.Module) -> Iterator[str]:
    """Yield the attributes of a name that a program reads."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == name:
            yield node.attr


def _has_all(value: object, attributes: list[str]) -> bool:
    return value is not None and all(hasattr(value, each) for each in attributes)
