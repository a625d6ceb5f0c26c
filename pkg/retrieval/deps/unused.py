"""Find definitions that nothing refers to, and say what could make that wrong."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from pkg.model import Edge, Label, Node, RelationType
from pkg.retrieval.deps.answer import DepsOptions, Place, Unused, UnusedPlace, cut_limit, make_place
from pkg.retrieval.deps.impact import is_test
from pkg.retrieval.deps.names import Target
from pkg.retrieval.deps.neighbours import LinkReader, count_calls, count_unbound_names

_TYPES = (
    RelationType.CALLS, RelationType.UNRESOLVED, RelationType.RESOLVES_TO, RelationType.INHERITS,
    RelationType.OVERRIDES,
)  # fmt: skip
_USES = frozenset(_TYPES) - {RelationType.UNRESOLVED}
_ENTRY_FILES = ("__main__.py", "setup.py", "manage.py", "conftest.py", "noxfile.py", "tasks.py")
_ENTRY_NAMES = ("main", "run", "cli", "app")
_ALL = re.compile(rb"^__all__\s*(?::[^=\n]*)?\+?=\s*[\[(]([^\])]*)", re.MULTILINE)
_QUOTED = re.compile(rb"""["'](\w+)["']""")
_WORD = re.compile(rb"[\w\x80-\xff]+")

Doubt = tuple[int, str]
"""How much a reason weighs, and the reason: 4 and 5 for what is used by its very nature, 1 for what most have."""


def find_unused(reader: LinkReader, target: Target | None, options: DepsOptions) -> Unused:
    """List functions and classes that no call, import, subclass or override leads to, those with least doubt first.

    A function that only calls itself is unused. With a target only what is inside it.
    """
    store = reader.store
    edges = list(store.edges(_TYPES, options.source))
    used = {edge.end for edge in edges if edge.type in _USES and edge.start != edge.end}
    nodes = list(store.nodes((Label.FUNCTION, Label.CLASS), options.source))
    wanted = {node.id for node in nodes} if target is None else set(target.ids)
    unused = [node for node in nodes if node.id in wanted and node.id not in used]
    judge = _Judge(_read_mentions(reader, unused), count_unbound_names(store, options.source), nodes, edges, used)
    judged = sorted(map(judge.judge, unused), key=lambda each: (each[0], _order(each[1].place)))
    shown = cut_limit(options.limit, len(judged))
    coverage = count_calls(edges, "of all definitions; a use that they hide is not seen")
    return Unused(
        tuple(each for _, each in judged[:shown]), len(judged), len(wanted), len(judged) - shown, coverage
    )  # fmt: skip


def _order(place: Place) -> tuple[str, str, int, str]:
    return place.source, place.path, place.line, place.id


class _Mention(NamedTuple):
    """What the text of its file tells of a definition."""

    times: int  # that its name stands there besides definitions
    is_exported: bool  # by __all__


def _read_mentions(reader: LinkReader, nodes: Iterable[Node]) -> dict[str, _Mention]:
    """Count in the text of each file how often the names of its unused definitions stand there."""
    by_source: dict[str, dict[str, list[Node]]] = defaultdict(lambda: defaultdict(list))
    for node in nodes:
        by_source[node.source][node.path].append(node)
    return {
        node.id: mention
        for source, by_path in by_source.items()
        for path, text in reader.store.texts(source, sorted(by_path))
        for node, mention in _read_file(text, by_path[path])
    }


def _read_file(text: bytes, nodes: Sequence[Node]) -> Iterator[tuple[Node, _Mention]]:
    words = Counter(_WORD.findall(text))
    defined = Counter(node.name for node in nodes)
    exported = {name for listed in _ALL.findall(text) for name in _QUOTED.findall(listed)}
    for node in nodes:
        name = node.name.encode()
        is_exported = node.qualname == node.name and name in exported
        yield node, _Mention(max(0, words[name] - defined[node.name] - is_exported), is_exported)


class _Judge:
    """Weigh what could make it wrong that a definition is unused."""

    def __init__(
        self,
        mentions: Mapping[str, _Mention],
        unbound: Counter[str],
        nodes: Iterable[Node],
        edges: Iterable[Edge],
        used: set[str],
    ) -> None:
        self._mentions = mentions
        self._unbound = unbound
        self._classes = {_scope(node): node for node in nodes if node.label is Label.CLASS}
        self._users = {_outer(node) for node in nodes if node.id in used}
        self._bases = Counter(edge.start for edge in edges if edge.type is RelationType.INHERITS)
        self._overriding = {edge.start for edge in edges if edge.type is RelationType.OVERRIDES}

    def judge(self, node: Node) -> tuple[int, UnusedPlace]:
        """Give the weight of all doubts, and the doubts in words, the heaviest first."""
        found = [*self._doubt_use(node), *self._doubt_name(node), *self._doubt_scope(node)]
        found.sort(reverse=True)
        return sum(weight for weight, _ in found), UnusedPlace(make_place(node), tuple(words for _, words in found))

    def _doubt_use(self, node: Node) -> Iterator[Doubt]:
        """Doubt because something may use it that was not bound."""
        mention = self._mentions.get(node.id, _Mention(0, False))
        if count := self._unbound[node.name]:
            yield 3, f"{count:,} unbound call sites bear its name"
        if mention.times:
            yield 3, f"its name stands {mention.times:,} more times in its file"
        if mention.is_exported:
            yield 3, "listed in __all__"
        if decorators := node.properties.get("decorators"):
            yield 2, f"decorated: {_join(decorators)}"

    def _doubt_name(self, node: Node) -> Iterator[Doubt]:
        """Doubt because of what it is called, and where it stands."""
        name, file = node.name, node.path.rpartition("/")[2]
        if name.startswith("__") and name.endswith("__"):
            yield 5, "Python itself calls a name with two underscores at both ends"
        if is_test(make_place(node)):
            yield 4, "a test, or part of one: a test runner calls it"
        if file in _ENTRY_FILES or (node.qualname == name and name in _ENTRY_NAMES):
            yield 3, "may be an entry point"
        if not any(part.startswith("_") for part in node.qualname.split(".")):
            yield 1, "public: others may use it"

    def _doubt_scope(self, node: Node) -> Iterator[Doubt]:
        """Doubt because of the class around it, or of what is inside it."""
        owner = self._classes.get(_outer(node))
        if node.id in self._overriding:
            yield 3, "overrides a method, and may be called through the base"
        elif owner is not None and self._has_foreign_base(owner):
            yield 3, f"{owner.qualname} has a base outside of the project, which may call it"
        if _scope(node) in self._users:
            yield 4, "what is inside it is used"

    def _has_foreign_base(self, owner: Node) -> bool:
        bases = owner.properties.get("bases")
        named = [base for base in bases if "=" not in str(base) and base != "object"] if isinstance(bases, list) else []
        return len(named) > self._bases[owner.id]


Scope = tuple[str, str, str]  # source, path, qualified name


def _scope(node: Node) -> Scope:
    return node.source, node.path, node.qualname


def _outer(node: Node) -> Scope:
    return node.source, node.path, node.qualname.rpartition(".")[0]


def _join(words: object) -> str:
    return ", ".join(map(str, words)) if isinstance(words, (list, tuple)) else str(words)
