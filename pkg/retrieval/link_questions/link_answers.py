"""Answer a question about links from the graph: every meaning of its names, with the relation that was read (Q-23)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from pkg.errors import count_things, shorten
from pkg.graph.path_filter import is_test as is_test_path
from pkg.model import LIKELY, POSSIBLE, Label, Node, RelationType, Stale
from pkg.retrieval.deps.answer import (
    CallCoverage,
    Chains,
    Dependencies,
    Dependency,
    DepsOptions,
    Impact,
    Link,
    Place,
    RelationKind,
    is_test,
    make_place,
)
from pkg.retrieval.deps.answer_sections import (
    Section,
    fit_sections,
    format_dependency,
    format_head,
    format_place,
    join_places,
    list_sections,
    measure_section,
    share_budget,
)
from pkg.retrieval.deps.coverage_text import describe_affected, describe_doubt
from pkg.retrieval.deps.impact import find_impact
from pkg.retrieval.deps.names import DEFINITIONS, Target
from pkg.retrieval.deps.neighbours import LinkReader
from pkg.retrieval.deps.paths import SUFFIXES, list_sources, name_unit
from pkg.retrieval.deps.readers import find_readers
from pkg.retrieval.deps.walk import find_chains, walk_dependencies, walk_relations
from pkg.retrieval.freshness import find_stale
from pkg.retrieval.heads import make_head
from pkg.retrieval.link_questions.link_skeletons import LinkKind
from pkg.retrieval.link_questions.link_targets import Meaning, NameFinder, holds_module
from pkg.retrieval.link_questions.link_wordings import LinkClause, Phrase, parse_link_question
from pkg.retrieval.query_options import Globs, TestChoice, list_globs
from pkg.retrieval.token_count import count_tokens

if TYPE_CHECKING:
    from pkg.graph.store import GraphStore

MOST_MEANINGS = 6  # of a name that are answered; further ones are listed by their places
MOST_LISTED = 20  # further meanings
PACKAGE = "__init__.py"
ALL_DEPTHS = 10  # steps along bases and subclasses
LONGEST_HEAD = 140  # characters of a definition's header
LONGEST_IMPORT = 80  # characters of an import statement
FEW_IMPORTERS = 15  # files that are listed with their statements; more are listed by their lines

_RELATIONS: dict[LinkKind, tuple[str, tuple[RelationKind, ...]]] = {
    "callers": ("in", ("calls",)), "creators": ("in", ("calls",)), "uses": ("in", ()), "readers": ("in", ()),
    "importers": ("in", ("imports",)), "subclasses": ("in", ("inherits",)), "overridden by": ("in", ("overrides",)),
    "callees": ("out", ("calls",)), "needs": ("out", ("calls", "imports", "inherits")),
    "imports": ("out", ("imports",)), "bases": ("out", ("inherits",)), "overrides": ("out", ("overrides",)),
}  # fmt: skip
_TITLES: dict[LinkKind, str] = {
    "creators": "callers", "needs": "callees, bases and imports", "overridden by": "overriding methods",
    "overrides": "methods overridden by", "tests": "tests that reach", "impact": "what may break if it changes:",
    "imports": "imports", "definition": "definition", "readers": "readers",
}  # fmt: skip
_DEEP: tuple[LinkKind, ...] = ("subclasses", "bases", "overridden by", "overrides")
_NOTHING: dict[LinkKind, str] = {
    "importers": "no import of it is in the graph", "subclasses": "no class of the graph inherits from it",
    "overridden by": "no method of the graph overrides it", "overrides": "it overrides no method of the graph",
    "callees": "no call in it leads to code of the graph", "imports": "it has no imports",
    "bases": "it has no base classes", "needs": "no link leads from it to code of the graph",
    "readers": "no reader of it is known", "uses": "no use of it is known",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class LinkLine:
    """The place of one link in an answer, with the name at its other end."""

    path: str
    line: int
    text: str
    name: str


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """The links of one meaning of a name: the relation that was read, and its results by kind and confidence."""

    kind: LinkKind
    title: str  # the relation and its subject, such as callers of shop.cart.Cart.total
    place: Place  # of the subject
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()  # what the answer may lack, and empty results in words
    lines: tuple[LinkLine, ...] = ()

    @property
    def head(self) -> str:
        """Return the title with the place of the subject."""
        where = f"{self.place.path}:{self.place.line}" if self.place.line else self.place.path
        return f"{self.title} ({where})" if where and where not in self.title else self.title


@dataclass(frozen=True, slots=True)
class LinkAnswers:
    """All answers to a question about links."""

    answers: tuple[LinkAnswer, ...]
    notes: tuple[str, ...] = ()  # about names with several meanings
    is_whole: bool = True  # whether the question asks nothing else
    stale: tuple[Stale, ...] = ()


def answer_link_question(
    store: GraphStore, text: str, source: str | None = None, path: Globs = None, tests: TestChoice = "auto"
) -> LinkAnswers | None:
    """Answer a question about links; None if it is none, or if the graph does not know its names.

    Also None with globs or a choice of tests, which restrict a search.
    """
    if list_globs(path) or tests != "auto":
        return None
    question = parse_link_question(text)
    if not question.clauses:
        return None
    with store.snapshot():
        reader = _Answerer(store, source)
        found = [reader.answer(clause) for clause in question.clauses]
        if not all(found):
            return None
        answers = tuple(each for some in found for each in some)
        places = [(each.place.source, each.place.path) for each in answers]
        places += [(each.place.source, line.path) for each in answers for line in each.lines]
        notes, stale = tuple(dict.fromkeys(reader.notes)), find_stale(store, places)
        return LinkAnswers(answers, notes, question.is_whole, stale)


def write_link_answers(found: LinkAnswers, budget: int = 0) -> str:
    """Format answers as text within a token budget (0: no limit); each says how much of it is left out."""
    room = max(budget - sum(map(count_tokens, found.notes)), 1) if budget else 0
    costs = [sum(map(measure_section, each.sections)) + _measure_rest(each) for each in found.answers]
    rooms = share_budget(costs, room)
    parts = [write_link_answer(each, share) for each, share in zip(found.answers, rooms, strict=True)]
    return "\n\n".join([*(["\n".join(found.notes)] if found.notes else []), *parts])


def write_link_answer(answer: LinkAnswer, budget: int = 0) -> str:
    """Format one answer: the relation that was read, its results, and what it may lack."""
    body = write_link_body(answer, max(budget - _measure_rest(answer), 1) if budget else 0)
    return f"Read from the graph: {answer.head}\n{body}"


def write_link_body(answer: LinkAnswer, budget: int = 0) -> str:
    """Format the results of one answer, and what it may lack."""
    text, left_out = fit_sections(answer.sections, budget)
    more = [f"left out: {', '.join(left_out)}; raise the budget, or see pkg deps"] if left_out else []
    return "\n".join([*([text] if text else []), *more, *answer.notes])


def _measure_rest(answer: LinkAnswer) -> int:
    return count_tokens(answer.head) + sum(map(count_tokens, answer.notes)) + 20


class _Answerer:
    """Answers clauses from one generation of a graph."""

    def __init__(self, store: GraphStore, source: str | None) -> None:
        self.store = store
        self.reader = LinkReader(store)
        self.sources = list_sources(store, source)
        self.finder = NameFinder(store, self.sources)
        self.notes: list[str] = []

    def answer(self, clause: LinkClause) -> list[LinkAnswer]:
        """Answer a clause for all meanings of its subjects; nothing if a name is unknown."""
        if clause.within is not None and not self._is_known_place(clause.within):
            return []
        meanings = [self._find(phrase, clause.kind) for phrase in clause.subjects]
        if not all(meanings):
            return []
        subjects = [each for some in meanings for each in some]
        if clause.other is None:
            return [self._answer_one(clause, each) for each in subjects]
        others = self._find(clause.other, clause.kind)
        answers = [self._answer_pair(clause.kind, *pair) for pair in product(subjects, others)]
        return [each for each in answers if each.sections] or answers

    def _find(self, phrase: Phrase, kind: LinkKind) -> list[Meaning]:
        found = self.finder.find(phrase, kind)
        found.sort(key=lambda each: is_test(each.target.place))
        if len(found) > 1:
            name, shown, more = phrase.names[0], found[:MOST_MEANINGS], found[MOST_MEANINGS:]
            listed = ", ".join(format_place(each.target.place) for each in more[:MOST_LISTED])
            rest = f" and {len(more) - MOST_LISTED} more" if len(more) > MOST_LISTED else ""
            also = f"; answered for {len(shown)} of them, also: {listed}{rest}" if more else "; all are answered"
            self.notes.append(f"'{name}' has {len(found)} meanings in the graph{also}")
        return found[:MOST_MEANINGS]

    def _is_known_place(self, phrase: Phrase) -> bool:
        name = phrase.names[0] if phrase.names else ""
        return bool(name) and any(
            name == source.name or self.finder.is_inside(source.name, path, "", name)
            for source in self.sources
            for path, _, _ in self.store.fingerprints(source.name)
        )

    def _answer_one(self, clause: LinkClause, meaning: Meaning) -> LinkAnswer:
        node = meaning.target.nodes[0]
        if clause.kind == "definition":
            return self._answer_definition(meaning)
        if node.label is Label.LIBRARY:
            return self._answer_library(clause, meaning)
        if clause.kind in ("tests", "impact"):
            return self._answer_impact(clause.kind, meaning)
        return self._answer_relation(clause, meaning)

    def _answer_definition(self, meaning: Meaning) -> LinkAnswer:
        lines = list[str]()
        for node in meaning.target.nodes:
            kind = "library, outside of the graph" if node.label is Label.LIBRARY else node.label.value.lower()
            head = ""
            if node.label in (Label.FUNCTION, Label.CLASS, Label.CONSTANT):
                head = " ".join((make_head(node).signature or node.content.split("\n", 1)[0]).split())
            line = f"{format_place(make_place(node))} ({kind}){f': {head}' if head else ''}"
            lines.append(shorten(line, LONGEST_HEAD))
        section = Section("defined at", lines, len(lines))
        return _make(meaning, "definition", [section], (), [_place_line(meaning.target.place)])

    def _answer_library(self, clause: LinkClause, meaning: Meaning) -> LinkAnswer:
        """List the imports of a library, or of a module of it."""
        node = meaning.target.nodes[0]
        edges = self.store.neighbours([node.id], (RelationType.RESOLVES_TO,), "in")
        imports = [
            each for each in self.store.get(sorted({edge.start for edge in edges})) if each.label is Label.IMPORT
        ]
        name = next((each for each in clause.subjects[0].names if each.partition(".")[0] == node.name), node.name)
        kept = [each for each in imports if name == node.name or holds_module(each.content, name)]
        kept = [each for each in kept if self._is_within(clause, each.source, each.path, each.qualname)]
        kept.sort(key=lambda each: (is_test_path(each.path), each.path, each.start_line))
        lines = [f"{each.path}:{each.start_line} {' '.join(each.content.split())}" for each in kept]
        notes = () if lines else (_NOTHING["importers"],)
        placed = [LinkLine(each.path, each.start_line, line, "") for each, line in zip(kept, lines, strict=True)]
        named = replace(meaning, name=f"the library {name}")
        return _make(named, "importers", [Section("importers", lines, len(lines))], notes, placed)

    def _answer_impact(self, kind: LinkKind, meaning: Meaning) -> LinkAnswer:
        target = meaning.target
        found = find_impact(self.reader, target.place.source, [target], DepsOptions("impact", limit=0))
        if kind == "tests":
            return self._answer_tests(meaning, found)
        sections = list(_list_affected(found))
        notes = [describe_affected(found), *filter(None, [describe_doubt(found)]), *found.coverage.notes]
        placed = [_place_line(each.place) for each in found.affected]
        return _make(meaning, kind, sections, notes, placed)

    def _answer_tests(self, meaning: Meaning, found: Impact) -> LinkAnswer:
        tests = [each for each in found.affected if each.is_test]
        groups: dict[str, list[tuple[Place, str]]] = {}
        for each in sorted(tests, key=lambda each: (each.confidence == POSSIBLE, each.distance)):
            step = "directly" if each.distance == 1 else "through other code"
            title = (
                f"tests that reach it {step}" if each.confidence != POSSIBLE else "tests that only possibly reach it"
            )
            groups.setdefault(title, []).append((each.place, each.confidence if each.confidence == "likely" else ""))
        sections = [Section(title, lines := join_places(places), len(lines)) for title, places in groups.items()]
        return _make(meaning, "tests", sections, () if tests else (self._explain_untested(meaning),), [
            _place_line(each.place) for each in tests
        ])  # fmt: skip

    def _explain_untested(self, meaning: Meaning) -> str:
        source = meaning.target.place.source
        has_tests = any(is_test_path(path) for path, _, _ in self.store.fingerprints(source))
        return (
            "no test is known to reach it" if has_tests else f"no test is known to reach it: {source} has no test files"
        )

    def _answer_relation(self, clause: LinkClause, meaning: Meaning) -> LinkAnswer:
        target, kind = meaning.target, "readers" if meaning.target.is_constant else clause.kind
        answer = self._walk(kind, meaning)
        kept = [each for each in answer.found if _is_asked(kind, target.nodes[0], each)]
        shown = [each for each in kept if self._is_shown(clause, target, each.place)]
        sections = list(_list_sections(kind, target.nodes[0], shown))
        if kind in ("importers", "uses") and target.place.path.endswith(PACKAGE):
            sections += self._list_inner_importers(clause, target)
        if answer.entries and clause.within is None:
            entries = [f"{each.path}:{each.line} {each.by}" for each in answer.entries]
            sections.append(Section("entered by", entries, len(entries)))
        if answer.coverage.named is not None:
            sections += self._list_unbound(target)
        notes = list(_list_notes(kind, answer, bool(kept or answer.entries)))
        if len(kept) > len(shown):
            where = "in other files" if clause.within is None else f"in {clause.within.names[0]}"
            notes.append(f"{len(shown)} {where}, and {len(kept) - len(shown)} elsewhere")
        if kind == "bases" and (outside := _list_outside(target.nodes[0], kept)):
            notes = [each for each in notes if each != _NOTHING["bases"]]
            sections.append(Section("bases outside of the graph, as written", outside, len(outside)))
        return _make(meaning, kind, sections, notes, [_place_link(each) for each in shown])

    def _is_shown(self, clause: LinkClause, target: Target, place: Place) -> bool:
        """Return whether a result is where the question asks for results."""
        if clause.is_elsewhere and (place.source, place.path) == (target.place.source, target.place.path):
            return False
        return self._is_within(clause, place.source, place.path, place.qualname)

    def _list_inner_importers(self, clause: LinkClause, target: Target) -> Iterator[Section]:
        """Yield the files elsewhere that import a module inside a package."""
        source, folder = target.place.source, target.place.path.removesuffix(PACKAGE)
        paths = [path for path, _, _ in self.store.fingerprints(source) if path.startswith(folder)]
        files = self.store.get([name_unit(source, path) for path in paths if path.endswith(SUFFIXES)])
        inner = [node for node in files if node.id != target.nodes[0].id]
        if not inner:
            return
        options = DepsOptions(direction="in", relations=("imports",), limit=0)
        inside = tuple(each for node in inner for each in self.store.subtree(node.id) if each.label in DEFINITIONS)
        found = walk_relations(self.reader, Target(tuple(inner), inside), options).found
        outer = [each for each in found if not each.place.path.startswith(folder)]
        lines = list(_join_importers([each for each in outer if self._is_shown(clause, target, each.place)]))
        yield Section("importers of modules inside it", lines, len(lines))

    def _walk(self, kind: LinkKind, meaning: Meaning) -> Dependencies:
        target = meaning.target
        if kind in ("callers", "creators") and target.nodes[0].label in DEFINITIONS:
            target = replace(target, inside=())
        direction, relations = _RELATIONS[kind]
        depth = ALL_DEPTHS if kind in _DEEP else None
        options = DepsOptions(direction="in" if direction == "in" else "out", relations=relations, limit=0, depth=depth)
        if target.is_constant:
            return find_readers(self.reader, target, options)
        if kind in ("callers", "uses", "creators"):
            return walk_dependencies(self.reader, target, options)
        found, left_out, _ = walk_relations(self.reader, target, options)
        return Dependencies(target.place, direction, tuple(found), tuple(left_out), _NO_COVERAGE)

    def _list_unbound(self, target: Target) -> Iterator[Section]:
        """Yield the calls of the target's name that lead to no known definition, if it has no known caller."""
        name = target.nodes[0].name
        calls = [
            node
            for node in self.store.nodes((Label.CALL,), target.place.source)
            if node.name.rpartition(".")[2].strip() == name
        ]
        edges = self.store.neighbours([each.id for each in calls], (RelationType.UNRESOLVED,), "in") if calls else []
        starts = {node.id: node for node in self.store.get(sorted({edge.start for edge in edges}))}
        ordered = sorted(edges, key=lambda edge: (starts[edge.start].path, edge.line or 0))
        lines = [f"{starts[each.start].path}:{each.line} {starts[each.start].qualname}" for each in ordered]
        if lines:
            yield Section(
                f"calls of the name {name} that could not be resolved, each of which may be one", lines, len(lines)
            )

    def _is_within(self, clause: LinkClause, source: str, path: str, qualname: str) -> bool:
        return clause.within is None or self.finder.is_inside(source, path, qualname, clause.within.names[0])

    def _answer_pair(self, kind: LinkKind, start: Meaning, end: Meaning) -> LinkAnswer:
        """Answer whether one definition calls another, inherits from it, or has any link to it."""
        what = {"calls": "calls", "inherits": "inheritance"}.get(kind, "links")
        title = f"{what} from {start.name} to {end.name}"
        if kind == "calls" and all(each.target.nodes[0].label in _CALLABLE for each in (start, end)):
            options = DepsOptions("path", to=end.name, limit=5)
            found = find_chains(self.reader, start.target, end.target, options)
            return _make_chains(title, start, found)
        ends = set(end.target.ids)
        if kind == "inherits":
            options = DepsOptions(direction="out", relations=("inherits",), limit=0, depth=ALL_DEPTHS)
        else:
            options = DepsOptions(direction="out", relations=("calls", "imports", "inherits", "overrides"), limit=0)
        walked = walk_relations(self.reader, start.target, options).found
        links = [each for each in walked if each.place.id in ends or _imports_from(each, end)]
        lines = [f"{each.relation}: {format_dependency(each)}" for each in links]
        notes = () if lines else (f"no such link is in the graph from {start.name} to {end.name}",)
        sections = [Section("links", lines, len(lines))] if lines else []
        return LinkAnswer(kind, title, start.target.place, tuple(sections), notes, tuple(map(_place_link, links)))


_CALLABLE = (Label.FUNCTION, Label.CLASS, Label.FILE)
_NO_COVERAGE = CallCoverage("", 0, 0, 0)


def _imports_from(each: Dependency, end: Meaning) -> bool:
    """Return whether a link is an import from a package, which leads to a module inside it."""
    node = end.target.nodes[0]
    if node.label is not Label.FILE or not node.path.endswith(PACKAGE) or each.relation != "imports":
        return False
    name = node.path.removesuffix(PACKAGE).replace("/", ".").strip(".")
    return holds_module(each.link.text, name) or holds_module(each.link.text, name.rpartition(".")[2])


def _is_asked(kind: LinkKind, target: Node, each: Dependency) -> bool:
    """Return whether a link answers a question: a base of a class inside another is not one of that."""
    return kind not in ("subclasses", "bases") or each.inside is None


def _list_affected(found: Impact) -> Iterator[Section]:
    """Yield what may break by distance, callers before files that only import it, then tests."""
    bound = [each for each in found.affected if each.confidence != POSSIBLE]
    groups = {
        "1 step away": [each for each in bound if each.distance == 1 and not each.is_test],
        "2 steps away": [each for each in bound if each.distance == 2 and not each.is_test],
        "further away": [each for each in bound if each.distance > 2 and not each.is_test],
        "tests": [each for each in bound if each.is_test],
        "only possibly affected": [each for each in found.affected if each.confidence == POSSIBLE],
    }
    for title, affected in groups.items():
        affected.sort(key=lambda each: (each.distance, not each.place.line))
        lines = join_places((each.place, "likely" if each.confidence == LIKELY else "") for each in affected)
        yield Section(title, lines, len(lines))


def _list_sections(kind: LinkKind, target: Node, found: Sequence[Dependency]) -> Iterator[Section]:
    """Yield the links by relation, those that are only possible apart, and tests last."""
    groups: dict[str, dict[str, None]] = {}
    for each in sorted(found, key=lambda each: is_test(each.place)):
        relation = each.relation
        if kind == "uses" and target.label is Label.CLASS and relation == "callers" and each.inside is not None:
            relation = "callers of its methods"
        title = f"possible {relation}" if each.link.confidence == POSSIBLE else relation
        line = f"{each.link.start.path}:{_first_line(each.link)} {each.link.text}" if relation == "imports" else ""
        groups.setdefault(title, {})[line or format_dependency(each)] = None
    if "importers" in groups:
        importers = [each for each in found if each.relation == "importers"]
        groups["importers"] = dict.fromkeys(_join_importers(importers))
    late = ("callers of its methods", "callees") if target.label is not Label.FUNCTION else ()
    for title in sorted(groups, key=lambda title: (title.startswith("possible"), title in late)):
        yield Section(title, [*groups[title]], len(groups[title]))


def _first_line(link: Link) -> int:
    return link.lines[0] if link.lines else link.start.line


def _join_importers(found: Sequence[Dependency]) -> Iterator[str]:
    """Yield the importers, each file once with the lines of its imports."""
    lines: dict[str, set[int]] = {}
    for each in sorted(found, key=lambda each: (is_test(each.place), each.place.path)):
        lines.setdefault(each.place.path, set()).update(each.link.lines)
    texts = {each.place.path: " ".join(each.link.text.split()) for each in found}
    for path, numbers in lines.items():
        placed = f"{path}:{','.join(map(str, sorted(numbers)))}"
        yield f"{placed} {shorten(texts[path], LONGEST_IMPORT)}" if len(lines) <= FEW_IMPORTERS else placed


def _list_notes(kind: LinkKind, answer: Dependencies, has_any: bool) -> Iterator[str]:
    coverage = answer.coverage
    if kind in ("callers", "creators") and (doubt := describe_doubt(answer)):
        yield doubt
    elif kind == "uses" and (coverage.named is not None or coverage.same_name):
        more = f"{count_things(coverage.same_name or 0, 'call')} of {coverage.names} could not be resolved"
        yield coverage.named.describe() if coverage.named is not None else f"{more}, and may be further uses"
    elif not has_any:
        yield _NOTHING.get(kind, "no caller is known")
    if kind in ("callees", "needs") and answer.coverage.unbound:
        yield f"{count_things(answer.coverage.unbound, 'call')} in it could not be resolved"
    yield from answer.coverage.notes


def _list_outside(node: Node, linked: Sequence[Dependency]) -> list[str]:
    """List the bases of a class that no link leads to, as written."""
    written = node.properties.get("bases")
    known = {each.place.qualname.rpartition(".")[2] for each in linked}
    names = [str(each) for each in written] if isinstance(written, list) else []
    return [each for each in names if "=" not in each and each.partition("[")[0].rpartition(".")[2] not in known]


def _make_chains(title: str, start: Meaning, found: Chains) -> LinkAnswer:
    sections = [each for each in list_sections(found) if each.total]
    hops = len(found.chains[0]) if found.chains else 0
    head = "" if not found.chains else "a direct call" if hops == 1 else f"no direct call, but a chain of {hops} calls"
    notes = [head or format_head(found), *filter(None, [describe_doubt(found)]), *found.coverage.notes]
    lines = [_line(link) for chain in found.chains for link in chain]
    return LinkAnswer("calls", title, start.target.place, tuple(sections), tuple(notes), tuple(lines))


def _line(link: Link) -> LinkLine:
    return LinkLine(
        link.start.path, _first_line(link), f"{link.start.qualname} calls {link.end.qualname}", link.start.qualname
    )


def _place_line(place: Place) -> LinkLine:
    return LinkLine(place.path, place.line, format_place(place), place.qualname)


def _place_link(each: Dependency) -> LinkLine:
    """Return the place of a link: the line of its start for a call or import, else that of its far end."""
    link, far = each.link, each.place
    is_site = bool(link.lines) and link.type != RelationType.INHERITS.value
    path, line = (link.start.path, link.lines[0]) if is_site else (far.path, far.line)
    return LinkLine(path or link.start.path, line, format_dependency(each), far.qualname)


def _make(
    meaning: Meaning, kind: LinkKind, sections: Sequence[Section], notes: Sequence[str], lines: Sequence[LinkLine]
) -> LinkAnswer:
    relation = _TITLES.get(kind, kind)
    of = " " if relation.endswith(("by", "reach", ":")) else " of "
    via = f", which {meaning.via} inherits" if meaning.via else ""
    unique = tuple(dict.fromkeys(lines))
    title = f"{relation}{of}{meaning.name}{via}"
    return LinkAnswer(
        kind, title, meaning.target.place, tuple(each for each in sections if each.total), tuple(notes), unique
    )
