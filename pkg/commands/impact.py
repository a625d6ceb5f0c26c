"""`pkg impact`: show what a change may break, as a tree, a drawing, test names or Markdown.

Every name from the analysed code is in a code span of the Markdown, or in a fence longer than any run of backticks
inside it, so that no name can open a tag, a link, a mention or a list.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import click

from pkg.console.drawings import emit_deps
from pkg.console.freshness_notes import open_answering, say_stale
from pkg.console.link_options import limit_option, relation_option
from pkg.console.options import (
    explain_option,
    fresh_option,
    json_option,
    make_format_option,
    store_options,
)
from pkg.console.settings import decode_option, decode_options, is_typed, source_setting
from pkg.console.trees import LINK_VERBS
from pkg.errors import UsageError
from pkg.model import rank_confidence
from pkg.quoting.data_marks import choose_fence
from pkg.quoting.hidden_characters import spell_hidden
from pkg.retrieval.deps.answer import WHOLE_FILE, Affected, Change, Impact, Place
from pkg.retrieval.deps.coverage_text import describe_affected, describe_doubt
from pkg.retrieval.deps.impact import list_tests

SECTION_CHARACTERS = 10_000  # of each of six sections: their sum stays below GitHub's limit of 65,536 for a comment


@click.command(epilog="Example:  pkg impact Cart.total shop/prices.py   or   pkg impact --diff main --tests")
@click.argument("names", nargs=-1, metavar="[NAME]...", callback=decode_options)
@store_options
@source_setting(help="Search only this source.")
@fresh_option
@click.option(
    "--diff",
    metavar="REV",
    callback=decode_option,
    help="Use the changes since a git revision, including uncommitted ones; REV..REV compares two.",
)
@click.option("--staged", is_flag=True, help="Use the staged changes, against HEAD or REV of --diff.")
@click.option("--depth", type=click.IntRange(1), help="Maximum number of steps. Default: 10.")
@relation_option
@click.option("--tests", "only_tests", is_flag=True, help="List only the tests to run, as arguments of pytest.")
@click.option(
    "--entries", is_flag=True, help="Also list the routes, commands and other entry points that reach it; slower."
)
@limit_option
@make_format_option("markdown")
@click.option(
    "--link",
    metavar="URL",
    callback=decode_option,
    help="With --format markdown: base URL of the files, for links.",
)
@explain_option
@json_option
def impact(
    names: tuple[str, ...],
    store: str,
    fresh: bool,
    only_tests: bool,
    form: str | None,
    link: str | None,
    explain: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Show what a change may break, and the tests that reach it.

    NAME is a function, class, constant or file, as for pkg deps; several are combined. With --diff or --staged, the
    change is that of a git diff: functions, classes, constants and module code that differ by more than comments,
    docstrings and blank lines.
    """
    asks_json = as_json and is_typed(click.get_current_context(), "as_json")
    if only_tests and (asks_json or form is not None):
        raise UsageError("--tests writes names for pytest; it excludes --json and --format")
    is_markdown = form == "markdown"
    if is_markdown and asks_json:
        raise UsageError("--json and --format markdown are different forms; give one of them")
    if link is not None and not is_markdown:
        raise UsageError("--link makes links of the places of --format markdown; give both, or neither")
    if is_markdown:
        options["entries"] = True
    needs_all = only_tests or is_markdown
    with open_answering(store, fresh, options["source"]) as (graph, options["source"]):
        answer = graph.impact(*names, **(options | {"limit": 0} if needs_all else options))
        say_stale(answer.coverage.stale)
    if is_markdown:
        click.echo(write_impact_markdown(answer, options["limit"], link), nl=False)
        return
    if not only_tests:
        emit_deps(answer, form, as_json, explain)
        return
    tests = list_tests(answer)
    for name in tests:
        click.echo(spell_hidden(name))
    if not tests:
        click.echo("pkg: no test reaches it", err=True)
    doubt = describe_doubt(answer) if not tests else ""
    for note in (*answer.coverage.notes, *([doubt] if doubt else [])):
        click.echo(f"pkg: {spell_hidden(note)}", err=True)


def write_impact_markdown(answer: Impact, limit: int, link: str | None = None) -> str:
    """Render an impact as Markdown; each section has the same limit of lines (0: no limit) and counts those left out.

    link: URL of the source's root, such as https://host/owner/name/blob/REVISION.
    """
    writer = _Writer(answer, limit, link)
    return "\n".join(writer.write()) + "\n"


class _Writer:
    """Writes the sections of one comment."""

    def __init__(self, answer: Impact, limit: int, link: str | None) -> None:
        self._answer = answer
        self._limit = limit
        self._link = link

    def write(self) -> Iterator[str]:
        answer = self._answer
        bound = [each for each in answer.affected if each.confidence != "possible"]
        code = [each for each in bound if not each.is_test]
        code.sort(key=lambda each: (rank_confidence(each.confidence), each.distance, each.place.path, each.place.line))
        possible = [each for each in answer.affected if each.confidence == "possible"]
        yield "### What this change may break"
        yield ""
        yield f"**{describe_affected(answer)}**"
        yield from self._write_list("Changed", self._say_subjects())
        yield from self._write_list("May break", [self._say_affected(each) for each in code])
        yield from self._write_list("Entries reached", list(self._say_entries()))
        yield from self._write_tests(list_tests(answer))
        yield from self._write_folded("only possibly affected", [self._say_affected(each) for each in possible])
        notes = [_write_code(note) for note in answer.coverage.notes]
        yield from self._write_list("Notes", notes)
        if doubt := describe_doubt(answer):
            yield from ("", f"<sub>{_write_code(doubt)}</sub>")

    def _write_list(self, title: str, lines: Sequence[str]) -> Iterator[str]:
        if lines:
            yield from ("", f"#### {title} ({len(lines):,})", "")
            yield from self._cut([f"- {line}" for line in lines])

    def _write_folded(self, title: str, lines: Sequence[str]) -> Iterator[str]:
        if lines:
            yield from ("", f"<details><summary>{len(lines):,} {title}</summary>", "")
            yield from self._cut([f"- {line}" for line in lines])
            yield from ("", "</details>")

    def _write_tests(self, names: Sequence[str]) -> Iterator[str]:
        """Write the tests as shell words for a pytest run."""
        if not names:
            yield from ("", "No test reaches it.")
            return
        words = [shlex.quote(_flatten(name)) for name in names]
        kept, left_out = _fit(words, self._limit)
        fence = choose_fence(kept)
        yield from ("", f"#### Tests to run ({len(names):,})", "", f"{fence}sh")
        yield " \\\n  ".join(["pytest", *kept])
        yield fence
        if left_out:
            yield from ("", f"and {left_out:,} more; all of them: `pkg impact --tests`")

    def _cut(self, lines: Sequence[str]) -> Iterator[str]:
        kept, left_out = _fit(lines, self._limit)
        yield from kept
        if left_out:
            yield f"- and {left_out:,} more; see `pkg impact --limit 0`"

    def _say_subjects(self) -> list[str]:
        if self._answer.changes:
            lines = {(each.path, each.qualname): each for each in self._answer.targets}
            return [self._say_change(each, lines.get((each.path, each.qualname))) for each in self._answer.changes]
        return [self._say_place(each) for each in self._answer.targets]

    def _say_change(self, change: Change, place: Place | None) -> str:
        is_named = change.qualname or change.how in WHOLE_FILE
        how = change.how if is_named else f"module code {change.how}"
        name = f" {_write_code(change.qualname)}" if change.qualname else ""
        if place is None:  # the graph has no line for it
            return f"{_write_code(change.path)}{name} {how}"
        return f"{self._link_line(change.path, place.line)}{name} {how}"

    def _say_affected(self, each: Affected) -> str:
        near = _write_code(each.link.end.qualname)
        lines = f" at line {each.link.lines[0]}" if each.link.lines else ""
        return f"{self._say_place(each.place)} {LINK_VERBS[each.link.type]} {near}{lines}, {each.confidence}"

    def _say_entries(self) -> Iterator[str]:
        for each in sorted(self._answer.entries, key=lambda each: rank_confidence(each.confidence)):
            place = self._link_line(each.entry.path, each.entry.line)
            entered = _write_code(each.place.qualname)
            yield f"{_write_code(each.entry.by)} enters {entered} at {place}, {each.confidence}"

    def _say_place(self, place: Place) -> str:
        name = f" {_write_code(place.qualname)}" if place.qualname != place.path else ""
        return f"{self._link_line(place.path, place.line)}{name}"

    def _link_line(self, path: str, line: int) -> str:
        words = _write_code(f"{path}:{line}" if line else path)
        if not self._link:
            return words
        return f"[{words}]({self._link.rstrip('/')}/{quote(path, errors='replace')}{f'#L{line}' if line else ''})"


def _fit(lines: Sequence[str], limit: int) -> tuple[list[str], int]:
    """Keep whole lines within the limits of lines and characters; return them and the number left out."""
    kept: list[str] = []
    room = SECTION_CHARACTERS
    for line in lines[: limit or None]:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept, len(lines) - len(kept)


def _write_code(text: str) -> str:
    """Render a text as a code span, in which no markup is interpreted."""
    plain = _flatten(text)
    fence = choose_fence([plain], 1)
    return f"{fence} {plain} {fence}" if len(fence) > 1 or plain != plain.strip() else f"{fence}{plain}{fence}"


def _flatten(text: str) -> str:
    return " ".join(spell_hidden(text).split("\n")).replace("\t", " ")
