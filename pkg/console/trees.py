"""Render dependency answers as trees for a person. Nothing here prints.

Trees are text lines of any length, because rich truncates the lines of its own trees at the terminal's width.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import singledispatch
from typing import TYPE_CHECKING

from pkg.console.streams import style_words
from pkg.console.tables import make_table
from pkg.errors import count_things
from pkg.quoting.hidden_characters import spell_line
from pkg.retrieval.deps.answer import (
    WHOLE_FILE,
    Affected,
    Answer,
    Chains,
    Cycles,
    Dependencies,
    Dependency,
    Impact,
    ImportTable,
    Link,
    Place,
    Unused,
)
from pkg.retrieval.deps.coverage_text import describe_affected, describe_doubt, describe_unlisted, explain_coverage

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


@dataclass(slots=True)
class Branch:
    """One line of a tree and its child branches."""

    label: Text
    children: list[Branch] = field(default_factory=list)

    def add(self, label: Text) -> Branch:
        """Add a branch below this one."""
        self.children.append(Branch(label))
        return self.children[-1]


def draw_branches(root: Branch) -> Iterator[Text]:
    """Yield the lines of a tree, without recursion."""
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


SHOWN_LINES = 5  # of the call sites between the same two functions
LINK_VERBS = {
    "CALLS": "calls", "RESOLVES_TO": "imports", "INHERITS": "inherits from", "OVERRIDES": "overrides",
    "READS": "reads", "HOLDS": "holds", "ENTERS": "makes the object of", "RUNS": "runs with",
}  # fmt: skip
"""Verb for the relation of the start of a link to its end."""

_COLOURS = {"certain": "green", "likely": "yellow", "possible": "red"}


def view_deps(answer: Answer, explain: bool = False) -> Iterator[RenderableType]:
    """Render an answer as trees and tables, then what it may lack; with `explain` every count.

    Raises TypeError for other values.
    """
    yield from _view_answer(answer)
    doubt, coverage = describe_doubt(answer), answer.coverage
    has_more = coverage.same_name or (coverage.unbound and not isinstance(answer, Dependencies))
    lines = [doubt if explain or not has_more else f"{doubt}; see --explain"] if doubt else []
    lines += [unlisted] if (unlisted := describe_unlisted(answer)) else []
    for line in (*lines, *(explain_coverage(answer) if explain else ()), *coverage.notes):
        yield style_words(spell_line(line), "dim")


@singledispatch
def _view_answer(answer: Answer) -> Iterator[RenderableType]:
    raise TypeError(f"no view of {type(answer).__name__}; expected an answer of Graph.deps")


@_view_answer.register(Dependencies)
def _view_links(answer: Dependencies) -> Iterator[RenderableType]:
    tree = Branch(_say_place(answer.target))
    for relation in dict.fromkeys(each.relation for each in answer.found):
        found = [each for each in answer.found if each.relation == relation]
        head = style_words(f"{relation} ({_count_found(answer, relation, len(found))})", "bold")
        branches = {answer.target.id: tree.add(head)}
        for each in found:
            other = each.place
            branches.setdefault(other.id, branches[each.of].add(_say_dependency(each, other)))
    for entry in answer.entries:
        tree.add(
            style_words(f"entered by {entry.by}", "bold").append(f"  {spell_line(entry.path)}:{entry.line}", "dim")
        )
    yield from draw_branches(tree)
    if answer.coverage.what == "reads" and not answer.found:
        yield style_words("no readers found")


@_view_answer.register(Chains)
def _view_chains(answer: Chains) -> Iterator[RenderableType]:
    for chain in answer.chains:
        tree = branch = Branch(_say_place(chain[0].start))
        for link in chain:
            branch = branch.add(_say_link(link, link.end, f"called at {_say_lines(link)}"))
        yield from draw_branches(tree)
    if not answer.chains:
        yield style_words(
            f"no chain of calls from {answer.start.qualname} to {answer.end.qualname} within {answer.depth} hops"
        )
    yield from _view_more(answer.left_out)


@_view_answer.register(Impact)
def _view_impact(answer: Impact) -> Iterator[RenderableType]:
    yield from draw_branches(_draw_targets(answer))
    bound = [each for each in answer.affected if each.confidence != "possible"]
    code = [each for each in bound if not each.is_test]
    tests = [each for each in bound if each.is_test]
    rest = [each for each in answer.affected if each.confidence == "possible"]
    for title, chosen in (
        ("may break", code),
        ("tests that reach it", tests),
        ("only possibly affected", rest),
    ):
        if chosen:
            yield from draw_branches(_draw_files(title, chosen))
    yield from _view_more(answer.left_out)
    if answer.entries:
        yield from draw_branches(_draw_entries(answer))
    yield style_words(describe_affected(answer))


def _draw_targets(answer: Impact) -> Branch:
    """Draw the subjects of the question: one place, several, or those that a diff changes."""
    if not answer.changes and len(answer.targets) == 1:
        return Branch(_say_place(answer.targets[0]))
    tree = Branch(style_words("changed" if answer.changes else "asked about", "bold"))
    for each in answer.changes:
        label = style_words(spell_line(each.path), "bold").append(f"  {spell_line(each.qualname)}", "cyan")
        is_whole = each.how in WHOLE_FILE
        tree.add(label.append(f"  {each.how}" if each.qualname or is_whole else f"  module code {each.how}", "dim"))
    for place in () if answer.changes else answer.targets:
        tree.add(_say_place(place))
    return tree


def _draw_files(title: str, chosen: Sequence[Affected]) -> Branch:
    """Draw affected places by file, the file with the nearest place first, and by distance within a file."""
    tree = Branch(style_words(title, "bold"))
    by_file: dict[str, list[Affected]] = {}
    for each in sorted(chosen, key=lambda each: (each.distance, each.place.path, each.place.line)):
        by_file.setdefault(each.place.path, []).append(each)
    for path, found in by_file.items():
        branch = tree.add(style_words(f"{spell_line(path)} ({len(found):,})", "bold"))
        for each in found:
            branch.add(_say_affected(each))
    return tree


def _draw_entries(answer: Impact) -> Branch:
    tree = Branch(style_words("entries reached", "bold"))
    for each in answer.entries:
        line = style_words(spell_line(f"{each.entry.path}:{each.entry.line}"), "bold")
        line.append(f"  {spell_line(each.entry.by)}", "cyan").append(f"  {spell_line(each.place.qualname)}", "dim")
        tree.add(line.append(f"  {each.confidence}", _COLOURS[each.confidence]))
    return tree


@_view_answer.register(Cycles)
def _view_cycles(answer: Cycles) -> Iterator[RenderableType]:
    for cycle in answer.cycles:
        tree = Branch(style_words(f"{cycle.kind} cycle of {cycle.size:,}", "bold"))
        for link in cycle.around:
            tree.add(_say_place(link.start)).add(_say_link(link, link.end, f"line {_say_lines(link)}"))
        passed = {link.start.id for link in cycle.around}
        rest = [place for place in cycle.members if place.id not in passed]
        more = count_things(cycle.size - len(passed), "more member")
        branch = tree.add(style_words(f"and {more}", "dim")) if rest else tree
        for place in rest:
            branch.add(_say_place(place))
        yield from draw_branches(tree)
    yield from _view_more(answer.left_out)
    counts = f"{count_things(answer.imports, 'cycle')} of imports, {answer.calls:,} of calls"
    yield style_words(f"{counts}; functions that call themselves: {answer.recursive:,}")


@_view_answer.register(Unused)
def _view_unused(answer: Unused) -> Iterator[RenderableType]:
    for each in answer.found:
        line = _say_place(each.place)
        yield line.append(f"  {spell_line('; '.join(each.doubts))}" if each.doubts else "  probably unused", "dim")
    yield from _view_more(answer.left_out)
    yield style_words(f"nothing refers to {answer.total:,} of {answer.definitions:,} functions and classes")
    spared = sum(number for _, number in answer.spared)
    if spared and len(answer.found) + answer.left_out <= answer.total:
        yield style_words(f"{spared:,} more may be used in a way that no link shows; see --doubtful", "dim")


@_view_answer.register(ImportTable)
def _view_imports(answer: ImportTable) -> Iterator[RenderableType]:
    records = [
        (f"{each.file_name}:{each.line}", each.artifact, each.artifact_type, each.category,
         each.target_file or each.library_name or "")
        for each in answer.records
    ]  # fmt: skip
    totals: list[tuple[str, str, str]] = []
    for kind, number in answer.categories:
        totals.append((kind, "", f"{number:,}"))
        totals += [("", name, f"{count:,}") for category, name, count in answer.artifact_types if category == kind]
    yield make_table(("import", "artifact", "type", "category", "target"), records)
    yield from _view_more(answer.left_out)
    yield style_words(f"{count_things(answer.total, 'import')} in {count_things(answer.files, 'file')}")
    yield make_table(("", "", ""), totals)


def _view_more(left_out: int) -> Iterator[RenderableType]:
    if left_out:
        yield style_words(f"and {left_out:,} more; see --limit", "dim")


def _count_found(answer: Dependencies, relation: str, shown: int) -> str:
    more = dict(answer.left_out).get(relation, 0)
    return f"{shown:,}" if not more else f"{shown:,} shown, {more:,} more; see --limit"


def _say_dependency(each: Dependency, other: Place) -> Text:
    link = each.link
    of = each.describe_inside()
    if each.relation in ("callers", "importers"):
        return _say_link(link, other, f"at {_say_lines(link)}", of or link.end.qualname)
    verb = {
        "callees": "called at",
        "module callees": "called at",
        "readers": "at",
        "imports": "imported at",
        "unresolved calls": "at",
    }.get(each.relation, "")
    return _say_link(link, other, f"{verb} {_say_lines(link)}" if verb and link.lines else "", of)


def _say_affected(each: Affected) -> Text:
    line = style_words(f"{each.distance}  ", "dim").append_text(_say_place(each.place))
    words = f"{LINK_VERBS[each.link.type]} {each.link.end.qualname}"
    sites = f" at {_say_lines(each.link)}" if each.link.lines else ""
    line.append(f"  {spell_line(words)}{sites}", "dim")
    line.append(f"  {spell_line(each.link.rule)}" if each.link.rule else "", "dim")
    return line.append(f"  {each.confidence}", _COLOURS[each.confidence])


def _say_link(link: Link, place: Place, sites: str, of: str = "") -> Text:
    """Render a link: its end, its lines, its rule and its confidence."""
    line = _say_place(place)
    words = " ".join(word for word in (sites, f"({of})" if of else "") if word)
    line.append(f"  {spell_line(words)}" if words else "", "dim")
    line.append(f"  {spell_line(link.rule)}" if link.rule else "", "dim")
    if link.type != "UNRESOLVED":
        line.append(f"  {link.confidence}", _COLOURS[link.confidence])
    return line


def _say_lines(link: Link) -> str:
    lines = ", ".join(map(str, link.lines[:SHOWN_LINES]))
    return lines + (f" and {len(link.lines) - SHOWN_LINES} more" if len(link.lines) > SHOWN_LINES else "")


def _say_place(place: Place) -> Text:
    line = style_words(spell_line(f"{place.path}:{place.line}" if place.line else place.path), "bold")
    if place.qualname != place.path:
        line.append(("  " if place.path else f"{place.label.lower()} ") + spell_line(place.qualname), "cyan")
    return line.append("  stale", "yellow") if place.is_stale else line
