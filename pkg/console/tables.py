"""Render results with rich for a person, some also as JSON-ready lines. Nothing here prints."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from textwrap import indent
from typing import TYPE_CHECKING, Any

from pkg.console.streams import style_words
from pkg.errors import count_things
from pkg.quoting.hidden_characters import spell_hidden, spell_line
from pkg.retrieval.heads import list_unshown

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from pkg.graph.store import StoreStats
    from pkg.graph.verify import Difference, Verification
    from pkg.indexing.report import BuildReport
    from pkg.model import Audit, Cut, Finding, Hit, QueryResult
    from pkg.trace.call_comparison import Missed, Precision, TraceReport, Unseen


WRITTEN = ("fim", "template")  # sources of docstrings that are not in the code
SHOWN_SKIPS = 10  # skipped items; JSON output lists all
SHOWN_ERRORS = 5  # internal errors of a build
HEAD_MARGIN = " " * 7  # the width of line numbers
SHOWN_LINES = 60  # of one hit on a terminal; JSON output and the prompt are complete

_FOLD = re.compile(r"# \.\.\. lines \d+-(\d+) folded$")


def view_build(report: BuildReport, stats: StoreStats) -> Iterator[RenderableType]:
    """Render a summary of a build and of the contents of the graph."""
    seconds = sum(report.stages.values())
    yield (
        f"[bold]{_escape(report.source)}[/]: {report.written:,} read, {report.unchanged:,} unchanged,"
        f" {report.removed:,} removed"
        + (f", {report.partial:,} not fully parsed" if report.partial else "")
        + (f", {count_things(len(report.errors), 'internal error')}" if report.errors else "")
        + (f" ({seconds:.1f} CPU-seconds)" if seconds else "")
    )
    if report.reencoded:
        yield f"  {report.reencoded:,} nodes of the graph re-encoded with {_escape(stats.encoder)}"
    for skip in report.skipped[:SHOWN_SKIPS]:
        yield f"  left out {_escape(skip.path)}: {_escape(skip.reason)}"
    if len(report.skipped) > SHOWN_SKIPS:
        yield f"  and {len(report.skipped) - SHOWN_SKIPS:,} more left out; pkg stats lists all"
    for error in report.errors[:SHOWN_ERRORS]:
        yield f"  [yellow]internal error[/] {_escape(str(error))}"
    if len(report.errors) > SHOWN_ERRORS:
        yield f"  and {len(report.errors) - SHOWN_ERRORS:,} more internal errors; pkg stats lists all"
    counts = ", ".join(f"{count:,} {label}" for label, count in stats.nodes.items())
    yield f"[dim]graph {_escape(report.store)}: {counts}[/]"


def view_query(result: QueryResult, explain: bool) -> Iterator[RenderableType]:
    """Render hits with their place, score and highlighted code, pruned code as folds, and one line of coverage."""
    if result.hits and result.coverage.fits is False:
        yield "[bold yellow]nothing fits[/]; nearest, unlikely to help:"
    for hit in result.hits:
        yield _view_title(hit)
        if hit.functions:
            yield from _view_places(hit)
            continue
        if hit.docstring and hit.docstring_source in WRITTEN:  # a docstring from the source is part of the code
            yield style_words(f"{hit.docstring}\n({hit.docstring_source})", "dim italic")
        yield from _view_head(hit)
        if hit.has_code:
            yield _view_code(hit)
        for helper in hit.helpers:
            place = f"{_escape(helper.path)}:{helper.start_line}"
            does = {"caller": "called by", "wrapped": "wraps"}.get(helper.role, "calls")
            yield f"  [cyan]{does} {_escape(helper.qualname)}[/] {place}  [dim]{_escape(helper.reason)}[/]"
            if helper.role == "wrapped":  # it holds the implementation
                yield _view_lines(helper.content, helper.start_line, (), has_folds=helper.is_folded)
    if not result.hits:
        yield "nothing found"
    covered = result.coverage
    yield (
        f"[dim]{covered.searched:,} searched, {covered.filtered:,} filtered out, {covered.folded:,} folded as equal,"
        f" {covered.shown:,} shown" + (f", {covered.over_budget:,} over budget" if covered.over_budget else "") + "[/]"
    )
    for note in (*covered.notes, *(result.explain if explain else ())):
        yield f"[dim]  {_escape(note)}[/]"


def _view_title(hit: Hit) -> RenderableType:
    kind = f"{hit.kind} block in " if hit.label == "Block" else f"{hit.kind} " if hit.kind else ""
    cuts = ", ".join(f"{cut.start_line}-{cut.end_line}" for cut in hit.pruned)
    scores = f"{hit.score:.3f}" + (f" -> {hit.score_pruned:.3f} without lines {cuts}" if cuts else "")
    others = f", {hit.same_function} more of its blocks" if hit.same_function else ""
    return (
        f"[bold]{hit.rank}. {_escape(hit.path)}:{hit.start_line}[/]  {kind}[bold cyan]{_escape(hit.qualname)}[/]"
        f"  [green]{scores}[/]  [dim]{_escape(hit.source)}{others}[/]" + ("  [yellow]stale[/]" if hit.is_stale else "")
    )


def _view_head(hit: Hit) -> Iterator[RenderableType]:
    """Render the headers of class and function, and the first sentence of the docstring."""
    for text in list_unshown(hit):
        is_told = text == hit.summary and hit.docstring_source in WRITTEN  # already shown above
        if not is_told:
            yield style_words(indent(text, HEAD_MARGIN), "dim italic" if text == hit.summary else "dim")


def _view_places(hit: Hit) -> Iterator[RenderableType]:
    """List the functions that represent a file."""
    for place in hit.functions:
        summary = f"  [dim italic]{_escape(place.summary)}[/]" if place.summary else ""
        where = f"{place.start_line}-{place.end_line}"
        yield f"  [cyan]{_escape(place.qualname)}[/] {where}  [green]{place.score:.3f}[/]{summary}"


def _view_code(hit: Hit) -> Text:
    """Highlight the code of a hit; only the head of a class or module, and plain text unchanged."""
    if hit.label == "Chunk":
        return _view_lines(hit.content, hit.start_line, (), has_folds=False, is_text=True)
    is_head = hit.label not in ("Function", "Block")
    return _view_lines(hit.pruned_content if is_head else hit.content, hit.start_line, hit.pruned, is_head)


def _view_lines(content: str, first: int, cuts: Sequence[Cut], has_folds: bool, is_text: bool = False) -> Text:
    """Highlight the first lines of code with their numbers, with a fold in place of each cut."""
    lines = _highlight(content, "text" if is_text else "python")
    view = _join_numbered(_number_lines(lines[:SHOWN_LINES], first, cuts, has_folds))
    if len(lines) > SHOWN_LINES:
        view.append(f"       and {len(lines) - SHOWN_LINES} more lines\n", "dim")
    return view


def number_code(content: str, first: int) -> Text:
    """Highlight all lines of code with their numbers."""
    return _join_numbered(enumerate(_highlight(content), first))


def _highlight(content: str, language: str = "python") -> list[Text]:
    from rich.syntax import Syntax

    from pkg.generation.aligned_code import align_code

    text = spell_hidden(align_code(content))
    return list(Syntax("", language, theme="ansi_dark", background_color="default").highlight(text).split("\n"))


def _join_numbered(lines: Iterable[tuple[int, Text]]) -> Text:
    from rich.text import Text

    view = Text()
    for number, line in lines:
        view.append(f"{number:>6} ", "dim").append_text(line).append("\n")
    return view


def _number_lines(
    lines: Sequence[Text], number: int, cuts: Sequence[Cut], has_folds: bool
) -> Iterator[tuple[int, Text]]:
    """Number lines as in the file; a head already contains its folds, other code has them inserted here."""
    from rich.text import Text

    from pkg.retrieval.folds import format_fold

    by_line = {line: cut for cut in cuts for line in range(cut.start_line, cut.end_line + 1)}
    for line in lines:
        cut = by_line.get(number)
        if cut is None:
            yield number, line
        elif number == cut.start_line:
            margin = line.plain[: len(line.plain) - len(line.plain.lstrip())]
            yield number, Text(margin + format_fold(cut.start_line, cut.end_line), "dim")
        fold = _FOLD.search(line.plain) if has_folds else None
        number = int(fold[1]) + 1 if fold else number + 1


def view_stats(stats: StoreStats) -> Iterator[RenderableType]:
    """Render counts, skipped items, and the cost of each stage (P-36)."""
    yield f"generation {stats.generation}, encoder {_escape(stats.encoder)} ({stats.dimension} dimensions)"
    yield make_table(("source", "kind", "root"), [(each.name, each.kind, each.root) for each in stats.sources])
    yield make_table(("node", "count"), [(name, f"{count:,}") for name, count in stats.nodes.items()])
    yield make_table(("relationship", "count"), [(name, f"{count:,}") for name, count in stats.relations.items()])
    for source, stages in stats.stages.items():
        yield make_table(
            (f"stage of {source}", "CPU seconds"), [(name, f"{value:.2f}") for name, value in stages.items()]
        )
    for title, sizes in (("part", stats.parts), ("file", stats.bytes)):
        if sizes:  # a server does not report them
            yield make_table((title, "bytes"), [(name, f"{size:,}") for name, size in sizes.items()])
    if stats.audits:
        yield make_table(AUDIT_COLUMNS, [_tell_audit(each, stats) for each in stats.audits], right=AUDIT_COLUMNS[1:4])
    for title, skips in (("partly understood", stats.partial), ("left out", stats.skipped)):
        if skips:
            yield make_table((title, "reason"), [(skip.path, skip.reason) for skip in skips])
    if stats.overflows:
        causes = [(each.variable, f"{each.calls:,}") for each in stats.overflows[:SHOWN_OVERFLOWS]]
        yield make_table(("too many values", "calls not bound"), causes)
    if stats.errors:
        title = f"{count_things(len(stats.errors), 'internal error')} in"
        rows = [(each.place, each.stage, each.exception) for each in stats.errors]
        yield make_table((title, "stage", "exception"), rows)


SHOWN_OVERFLOWS = 20  # in a table; JSON has all
AUDIT_COLUMNS = ("audited against", "tasks", "leaked", "functions", "")


def _tell_audit(audit: Audit, stats: StoreStats) -> tuple[str, ...]:
    is_old = audit.benchmark in stats.outdated_audits
    state = "older than the graph; run pkg audit again" if is_old else ""
    return audit.benchmark, f"{audit.tasks:,}", f"{audit.leaked:,}", f"{audit.functions:,}", state


def verification_lines(found: Verification) -> Iterator[dict[str, Any]]:
    """Yield one line for each difference, then the line of counts."""
    for each in found.differences:
        yield {"type": "difference", **asdict(each)}
    counts = asdict(found)
    del counts["differences"]
    yield {"type": "verification", "equal": found.is_equal, **counts}


def view_verification(found: Verification) -> Iterator[RenderableType]:
    """Render the counts of both stores by kind, and the first differences."""
    for title, tallies in (("node", found.nodes), ("relationship", found.relations)):
        rows = [(each.name, f"{each.a:,}", f"{each.b:,}", f"{each.different:,}") for each in tallies]
        yield make_table((title, "A", "B", "different"), rows)
    if found.differences:
        differences = [(each.label, each.id, each.path, each.qualname, _say(each)) for each in found.differences]
        yield make_table(("difference", "id", "path", "name", "what"), differences)
    if found.different > len(found.differences):
        yield f"and {found.different - len(found.differences):,} more"
    result = f"{found.different:,} differences between" if found.different else "no difference between"
    yield f"[bold]{result}[/] A, {_escape(found.a)}, and B, {_escape(found.b)}"


def _say(difference: Difference) -> str:
    if difference.where == "both":
        return f"other {', '.join(difference.properties)}"
    return f"only in {difference.where.upper()}"


def view_findings(findings: Sequence[Finding]) -> Table:
    """Render the doctor's findings with the commands that fix them."""
    colours = {"ok": "green", "missing": "yellow", "broken": "red"}
    rows = [(each.name, style_words(each.state, colours[each.state]), each.detail, each.advice) for each in findings]
    return make_table(("what", "state", "found", "to do"), rows)


def make_table(headers: Sequence[str], rows: Iterable[Sequence[str | Text]], right: Collection[str] = ()) -> Table:
    """Build a table, the named columns aligned right; cells wrap, because a path or command must stay complete."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headers))
    for header in headers:
        table.add_column(style_words(header), justify="right" if header in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(style_words(cell) if isinstance(cell, str) else cell for cell in row))
    return table


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(spell_line(text))


SHOWN = 20  # missed calls and unseen edges on a terminal; JSON output lists all


def trace_lines(report: TraceReport) -> Iterator[dict[str, Any]]:
    """Yield one line for each missed call, one for each unseen edge, then the line of numbers."""
    for missed in report.missed:
        yield {"type": "missed", **asdict(missed)}
    for unseen in report.unseen:
        yield {"type": "unseen", **asdict(unseen)}
    facts = asdict(report)
    del facts["missed"], facts["unseen"]
    for name in ("missed_reasons", "unseen_reasons", "left_out"):
        facts[name] = dict(facts[name])
    yield {"type": "trace", **facts}


def view_trace(report: TraceReport) -> Iterator[RenderableType]:
    """Render precision, recall and the reasons as tables, then the first missed calls and unseen edges."""
    yield make_table(("edges whose line ran", "ran", "seen", "precision"), map(_say_precision, report.precision))
    yield make_table(("certain and likely, by rule", "ran", "seen", "precision"), map(_say_precision, report.rules))
    rows = [
        (each.name, f"{each.calls:,}", f"{each.bound:,}", _share(each.bound, each.calls), f"{each.possible:,}",
         _share(each.bound + each.possible, each.calls))
        for each in report.recall
    ]  # fmt: skip
    yield make_table(("calls seen", "calls", "bound", "recall", "possible", "recall with possible"), rows)
    yield from _view_counts("direct calls missed, by reason", report.missed_reasons)
    yield from _view_counts("certain and likely edges not seen", report.unseen_reasons)
    yield from _view_counts("left out", report.left_out)
    yield from _view_first("missed call", "reason", [(_say_call(each), each.reason) for each in report.missed])
    unseen = [(_say_call(each), f"{each.confidence}, {each.rule}: {each.instead}") for each in report.unseen]
    yield from _view_first("edge not seen", "what it is, and what happened", unseen)
    for copy in report.copies:
        yield style_words(f"not compared: {copy} ran, another copy of what {report.source} has", "yellow")
    yield style_words(
        f"{report.source} in {report.root}: the command ended with exit code {report.exit_code};"
        f" {report.processes:,} processes traced, Python {', '.join(report.python)}, by {', '.join(report.hooks)}"
    )


def _say_precision(each: Precision) -> tuple[str, ...]:
    return each.name, f"{each.ran:,}", f"{each.seen:,}", _share(each.seen, each.ran)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


def _say_call(call: Missed | Unseen) -> str:
    return f"{call.path}:{call.line} {call.caller} -> {call.callee_path} {call.callee}"


def _view_counts(title: str, counts: Sequence[tuple[str, int]]) -> Iterator[RenderableType]:
    if counts:
        yield make_table((title, "count"), [(reason, f"{count:,}") for reason, count in counts])


def _view_first(title: str, second: str, rows: Sequence[tuple[str, ...]]) -> Iterator[RenderableType]:
    if rows:
        yield make_table((title, second), rows[:SHOWN])
    if len(rows) > SHOWN:
        yield style_words(f"and {len(rows) - SHOWN:,} more; --json lists all")
