"""`pkg enhance`: write docstrings or questions, estimate, list, show, undo, or export a patch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pkg.api import Listener, enhance_graph, estimate_enhancement, list_failures, open_graph, remove_docstrings
from pkg.console.options import json_option, open_output, store_options
from pkg.console.progress import Consent, ProgressBar, say
from pkg.console.settings import combine, decode_option, model_setting, setting, source_setting
from pkg.console.streams import choose_ask, emit, style_words
from pkg.console.tables import SHOWN_SKIPS, make_table
from pkg.enhance.writer import Failure
from pkg.errors import UsageError, count_things
from pkg.graph.graph_records import describe_docstring, describe_questions
from pkg.model import Docstring, Questions, Skip
from pkg.quoting.hidden_characters import spell_hidden

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pkg.enhance.code_patch import FilePatch
    from pkg.enhance.enhancement import EnhanceReport, Outcome, Progress
    from pkg.enhance.enhancement_estimate import EnhanceEstimate
    from pkg.enhance.enhancement_session import DocstringCount
    from pkg.enhance.undocumented import Target


Failed = Sequence[tuple[str, str, str]]
"""Path, qualified name and reason of each function on which a model has failed."""

ACTIONS = ("estimate", "list", "diff", "undo", "export_patch", "dry_run")
"""Options that replace the default action, writing and storing; at most one at a time."""

_NO_WRITING = ("diff", "undo", "export_patch")  # options of pkg enhance that call no model

_ENHANCE = (
    model_setting(
        help="Text model: gguf:FILE, openai:NAME@URL or hf:FOLDER; or template, which derives docstrings from the code"
        " without a model.",
        only_with="is_enhanced",
        or_with="reader=model",
        not_with=_NO_WRITING,
    ),
    click.option("--form", metavar="FORM", help="Prompt template. Default: the best for the model."),
    click.option("--comments", is_flag=True, help="Also write comments before the blocks of each function."),
    click.option("--limit", type=click.IntRange(0), help="Maximum number of functions, most called first."),
    click.option("--minutes", type=click.FloatRange(0), help="Maximum time in minutes."),
    click.option("--max-cost", type=click.FloatRange(0), help="Maximum cost; needs --price."),
    setting(
        "--price",
        metavar="IN/OUT",
        help="Price of a million input and output tokens, such as 0.15/0.60.",
        only_with="is_enhanced",
        not_with=_NO_WRITING,
    ),
    click.option("--retry-failed", is_flag=True, help="Retry functions for which the model has failed before."),
)
"""Options for the model that writes docstrings, and its limits."""

ENHANCE_NAMES = ("model", "form", "comments", "limit", "minutes", "max_cost", "price", "retry_failed")
"""Names of the options for the model that writes docstrings, and its limits."""


@click.command(epilog="Example:  pkg enhance --model gguf:coder.gguf --limit 200   or   pkg enhance --model template")
@store_options
@source_setting(help="Document only this source.")
@combine(*_ENHANCE)
@click.option(
    "--questions",
    is_flag=True,
    help="Write questions in everyday words that each function answers, instead of docstrings.",
)
@click.option("--yes", is_flag=True, help="Send code to another machine without asking.")
@click.option(
    "--estimate", is_flag=True, help="Estimate the cost from 20 functions, whose texts are written and cached."
)
@click.option("--dry-run", is_flag=True, help="Show the docstrings as a diff, or the questions, and store nothing.")
@click.option("--list", is_flag=True, help="Count the texts of each model; with --model, also list its failures.")
@click.option("--diff", is_flag=True, help="Show the stored docstrings as a diff of the code.")
@click.option(
    "--undo",
    metavar="MODEL",
    callback=decode_option,
    help="Remove the docstrings of a model; with --questions, its questions.",
)
@click.option(
    "--export-patch",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write a patch that adds the docstrings to the files; - for standard output.",
)
@json_option
def enhance(store: str, as_json: bool, **options: Any) -> None:
    """Write missing docstrings into the graph, never into files.

    The most called functions come first. Docstrings are cached by the code of the function, so that a second run writes
    none again and a moved function keeps its own. Existing docstrings are never replaced.

    With --questions, a model writes two or three questions for each function, which a search in everyday words finds.
    """
    chosen = [name for name in ACTIONS if options[name]]
    if len(chosen) > 1:
        raise UsageError(f"--{' and --'.join(chosen).replace('_', '-')} exclude each other; give one of them")
    action = chosen[0] if chosen else "write"
    if options["questions"] and action in ("diff", "export_patch"):
        raise UsageError(f"--{action.replace('_', '-')} shows docstrings; leave out --questions")
    command = _Command(store, as_json, options)
    {
        "write": command.write,
        "estimate": command.estimate,
        "list": command.list_written,
        "diff": command.show_diff,
        "undo": command.undo,
        "export_patch": command.export_patch,
        "dry_run": command.show_dry_run,
    }[action]()


def check_model(options: dict[str, Any]) -> str:
    """Return the name of the model; raises UsageError without one."""
    model: str | None = options["model"]
    if model is None:
        raise UsageError(
            "no model is named; give --model gguf:FILE, openai:NAME@URL or hf:FOLDER, or template, which needs none"
        )
    return model


def run_writing(store: str, as_json: bool, options: dict[str, Any]) -> None:
    """Write and store docstrings after a build; raises UsageError without a model."""
    _Command(store, as_json, options).write()


class _Command:
    """One call of the command."""

    def __init__(self, store: str, as_json: bool, options: dict[str, Any]) -> None:
        self._store, self._as_json, self._options = store, as_json, options
        self._source: str | None = options["source"]
        self._of_questions: bool = options.get("questions", False)  # pkg build --enhance has no questions
        self._ask = choose_ask()

    def write(self) -> None:
        """Write and store docstrings; a pipe receives each as soon as it is written."""
        check_model(self._options)
        reports = self._run(_tell if self._as_json else None)
        lines = map(report_line, reports)
        emit(self._as_json, lines, lambda: (part for each in reports for part in view_report(each)))

    def _run(self, tell: Callable[[Outcome], None] | None, is_stored: bool = True) -> list[EnhanceReport]:
        wanted = {name: self._options[name] for name in ENHANCE_NAMES}
        with closing(ProgressBar()) as bar:
            follow = bar.enhance if sys.stderr.isatty() else None

            def listen(outcome: Outcome, progress: Progress) -> None:
                if follow is not None:
                    follow(progress.done, progress.total, progress.seconds)
                if tell is not None:
                    tell(outcome)

            reports = enhance_graph(
                store=self._store, source=self._source, questions=self._of_questions, is_stored=is_stored,
                listen=listen, listener=self._listener(), **wanted,
            )  # fmt: skip
        for report in reports:
            if report.usage.requests:
                say(describe_usage(report))
        return reports

    def _listener(self) -> Listener:
        return Listener(say=say, agree=Consent(self._options["yes"]), ask=self._ask)

    def estimate(self) -> None:
        """Print the estimated time and cost of writing."""
        wanted = {name: self._options[name] for name in ("form", "limit", "price")}
        model = check_model(self._options)
        found = estimate_enhancement(
            model, store=self._store, source=self._source, questions=self._of_questions, listener=self._listener(),
            **wanted,
        )  # fmt: skip
        emit(self._as_json, [estimate_line(found)], lambda: view_estimate(found))

    def list_written(self) -> None:
        """List the stored docstrings by model and, if a model is named, its failures."""
        with open_graph(self._store, ask=self._ask) as graph:
            counts = graph.docstrings(self._source)
        failures: list[tuple[str, str, str]] = []
        if self._options["model"] is not None:
            model = check_model(self._options)
            failures = list_failures(
                model,
                store=self._store,
                source=self._source,
                form=self._options["form"],
                questions=self._of_questions,
            )
        emit(
            self._as_json,
            list_lines(counts, failures),
            lambda: view_list(counts, failures),
        )

    def undo(self) -> None:
        """Remove the docstrings that a model has written."""
        removed = remove_docstrings(
            self._options["undo"],
            store=self._store,
            source=self._source,
            questions=self._of_questions,
            listener=self._listener(),
        )
        lines = [
            {"type": "undo", "source": source, "model": self._options["undo"], "functions": count}
            for source, count in removed.items()
        ]
        emit(
            self._as_json,
            lines,
            lambda: (
                style_words(f"{s}: {_count_kind(count, self._of_questions)} removed") for s, count in removed.items()
            ),
        )

    def show_diff(self) -> None:
        """Print the written docstrings as a diff of the code."""
        with open_graph(self._store, ask=self._ask) as graph:
            self._show(graph.patches(self._source))

    def show_dry_run(self) -> None:
        """Print what would be stored; results go to the cache only, at the same cost as a real run."""
        fresh: dict[str, Docstring] = {}

        def keep(outcome: Outcome) -> None:
            if isinstance(outcome.result, Docstring):
                fresh[outcome.target.content_hash] = outcome.result
            elif isinstance(outcome.result, Questions):
                emit(self._as_json, [outcome_line(outcome)], lambda: view_questions(outcome.target, outcome.result))

        check_model(self._options)
        self._run(keep, is_stored=False)
        if self._of_questions:
            return
        with open_graph(self._store, ask=self._ask) as graph:
            self._show(graph.patches(self._source, fresh))

    def _show(self, patches: Iterator[FilePatch | Skip]) -> None:
        for each in patches:
            if self._as_json:
                emit(True, [patch_line(each)], tuple)
            elif isinstance(each, Skip):
                say(f"left out {each}")
            else:
                text = each.diff.decode("utf-8", "replace")
                click.echo((spell_hidden(text) if sys.stdout.isatty() else text).rstrip("\n"))

    def export_patch(self) -> None:
        """Write a patch against the files on disk, which are not touched."""
        file: str = self._options["export_patch"]
        files = docstrings = 0
        skipped: list[Skip] = []
        with open_graph(self._store, ask=self._ask) as graph:
            repositories = [each.name for each in graph.store.sources() if each.kind != "corpus"]
            if self._source is None and len(repositories) > 1:
                names = ", ".join(repositories)
                raise UsageError(f"a patch is for one folder, and {self._store} holds {names}; name one with --source")
            with open_output(file, self._store, is_binary=True) as output:
                for each in graph.patches(self._source):
                    if isinstance(each, Skip):
                        skipped.append(each)
                    else:
                        output.write(each.diff)
                        files, docstrings = files + 1, docstrings + each.docstrings
        counts = {"files": files, "docstrings": docstrings, "skipped": [asdict(each) for each in skipped]}
        emit(
            self._as_json,
            [{"type": "patch", "path": file, **counts}] if file != "-" else [],
            partial(view_patch, file, files, docstrings, skipped),
        )


def _count_kind(count: int, of_questions: bool) -> str:
    """Return a number of docstrings, or of functions with questions, in words."""
    return f"questions of {count_things(count, 'function')}" if of_questions else count_things(count, "docstring")


def _tell(outcome: Outcome) -> None:
    emit(True, [outcome_line(outcome)], tuple)


def outcome_line(outcome: Outcome) -> dict[str, Any]:
    """Return the outcome of one function as a line."""
    target, result, is_new = outcome
    place = {name: getattr(target, name) for name in ("id", "path", "qualname", "calls", "functions")}
    if isinstance(result, Failure):
        return {"type": "failure", **place, "is_new": is_new, "reason": result.reason}
    if isinstance(result, Questions):
        return {"type": "questions", **place, "is_new": is_new, **describe_questions(result)}
    return {"type": "docstring", **place, "is_new": is_new, **describe_docstring(result)}


def view_questions(target: Target, result: object) -> Iterator[RenderableType]:
    """Render the questions of one function."""
    yield style_words(f"{target.path} {target.qualname}", "bold")
    for text in result.texts if isinstance(result, Questions) else ():
        yield style_words(f"  {text}")


def report_line(report: EnhanceReport) -> dict[str, Any]:
    """Return the report of a run as one line; failures have lines of their own."""
    return {"type": "enhance", **asdict(report), "failed": len(report.failed)}


def view_report(report: EnhanceReport) -> Iterator[RenderableType]:
    """Render a summary of a run."""
    of_questions = report.kind == "questions"
    more = f" for {count_things(report.functions, 'function')}" if report.functions != report.written else ""
    before = report.written + len(report.failed) - report.known_failures - report.asked
    known = f", {before:,} of them written before" if before > 0 else ""
    failed = f", {len(report.failed):,} failed" if report.failed else ""
    yield style_words(
        f"{report.source}: {_count_kind(report.written, of_questions)} of {report.model} stored{more}{known}{failed}"
        + ("; see pkg enhance --diff" if report.written and not of_questions else "")
    )
    if had := report.human + report.documented:
        yield style_words(
            f"  {count_things(had, 'function')} had {'questions' if of_questions else 'a docstring'}", "dim"
        )
    if report.stopped:
        yield style_words(f"  {count_things(report.left, 'function')} left, stopped by {report.stopped}")
    for skip in report.failed[:SHOWN_SKIPS]:
        yield style_words(f"  failed: {skip}", "yellow")
    if len(report.failed) > SHOWN_SKIPS:
        yield style_words(f"  and {len(report.failed) - SHOWN_SKIPS:,} more; pkg enhance --list --model names all")


def describe_usage(report: EnhanceReport) -> str:
    """Return the cost of a run in words."""
    usage = report.usage
    tokens = f"{usage.prompt_tokens:,} tokens read and {usage.completion_tokens:,} written"
    cost = "" if report.cost is None else f", {report.cost:,.4f} at this price"
    return f"{report.model}: {count_things(usage.requests, 'request')}, {tokens}, {report.seconds:,.1f} seconds{cost}"


def estimate_line(estimate: EnhanceEstimate) -> dict[str, Any]:
    """Return an estimate as one line."""
    return {"type": "estimate", **asdict(estimate)}


def view_estimate(estimate: EnhanceEstimate) -> Iterator[RenderableType]:
    """Render the estimated time and cost of writing."""
    yield style_words(f"{estimate.model}: {estimate.describe()}")
    if estimate.seconds is not None:
        yield style_words(f"  {_show_time(estimate.seconds)}")
    told = f"from a sample of {estimate.sample}, of which {estimate.failed} failed" if estimate.sample else ""
    yield style_words(f"  {told or 'from the sizes of the functions; no model was asked'}", "dim")


def _show_time(seconds: float) -> str:
    if seconds < 120:
        return f"about {seconds:.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 7200 else f"about {seconds / 3600:.1f} hours"


def list_lines(counts: Sequence[DocstringCount], failures: Failed) -> Iterator[dict[str, Any]]:
    """Yield one line for each model and prompt, then one for each failure."""
    for each in counts:
        yield {"type": "docstrings", **asdict(each)}
    for path, qualname, reason in failures:
        yield {"type": "failure", "path": path, "qualname": qualname, "reason": reason}


def view_list(counts: Sequence[DocstringCount], failures: Failed) -> Iterator[RenderableType]:
    """Render the docstrings and questions in a graph by model, and the failures of a model."""
    rows = [(each.source, each.model, each.prompt, f"{each.functions:,}", each.first, each.last) for each in counts]
    if not rows:
        yield "no docstring was written"
    else:
        yield make_table(("source", "model", "prompt", "functions", "first", "last"), rows)
    if failures:
        yield make_table(("failed", "reason"), [(f"{path} {name}", reason) for path, name, reason in failures])


def patch_line(patch: FilePatch | Skip) -> dict[str, Any]:
    """Return the diff of one file, or the reason why it has none, as one line."""
    if isinstance(patch, Skip):
        return {"type": "skip", **asdict(patch)}
    diff = patch.diff.decode("utf-8", "replace")
    return {"type": "diff", "path": patch.path, "docstrings": patch.docstrings, "diff": diff}


def view_patch(file: str, files: int, docstrings: int, skipped: Sequence[Skip]) -> Iterator[RenderableType]:
    """Render the contents of a patch and the command that applies it."""
    counts = f"{count_things(docstrings, 'docstring')} in {count_things(files, 'file')}"
    yield style_words(f"{counts}; put them in with: git apply {file}")
    for skip in skipped:
        yield style_words(f"  left out {skip}", "yellow")
