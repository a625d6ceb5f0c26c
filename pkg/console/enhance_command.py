"""Run `pkg enhance`: write docstrings, estimate, list, show, undo, or export a patch."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from pkg.api import Listener, enhance_graph, estimate_enhancement, list_failures, open_graph, remove_docstrings
from pkg.console import enhance_tables
from pkg.console.options import ENHANCE_NAMES, open_output
from pkg.console.progress import Consent, ProgressBar, say
from pkg.console.streams import choose_ask, emit
from pkg.errors import UsageError
from pkg.model import Docstring, Skip
from pkg.quoting.hidden_characters import spell_hidden

if TYPE_CHECKING:
    from pkg.indexing.code_patch import FilePatch
    from pkg.indexing.enhancement import EnhanceReport, Outcome, Progress

TEMPLATE = "template"
ACTIONS = ("estimate", "list", "diff", "undo", "export_patch", "dry_run")
"""Options that replace the default action, writing and storing; at most one at a time."""


def run_enhance(store: str, as_json: bool, options: dict[str, Any]) -> None:
    """Run the requested action; raises UsageError if there are several."""
    chosen = [name for name in ACTIONS if options[name]]
    if len(chosen) > 1:
        raise UsageError(f"--{' and --'.join(chosen).replace('_', '-')} exclude each other; give one of them")
    action = chosen[0] if chosen else "write"
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
        self._ask = choose_ask()

    def write(self) -> None:
        """Write and store docstrings; a pipe receives each as soon as it is written."""
        check_model(self._options)
        reports = self._run(_tell if self._as_json else None)
        lines = map(enhance_tables.report_line, reports)
        emit(self._as_json, lines, lambda: (part for each in reports for part in enhance_tables.view_report(each)))

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
                store=self._store, source=self._source, is_stored=is_stored, listen=listen,
                listener=self._listener(), **wanted,
            )  # fmt: skip
        for report in reports:
            say(enhance_tables.describe_usage(report))
        return reports

    def _listener(self) -> Listener:
        return Listener(say=say, agree=Consent(self._options["yes"]), ask=self._ask)

    def estimate(self) -> None:
        """Print the estimated time and cost of writing."""
        wanted = {name: self._options[name] for name in ("form", "limit", "price")}
        model = check_model(self._options)
        found = estimate_enhancement(
            model, store=self._store, source=self._source, listener=self._listener(), **wanted
        )  # fmt: skip
        emit(self._as_json, [enhance_tables.estimate_line(found)], lambda: enhance_tables.view_estimate(found))

    def list_written(self) -> None:
        """List the stored docstrings by model and, if a model is named, its failures."""
        with open_graph(self._store, ask=self._ask) as graph:
            counts = graph.docstrings(self._source)
        failures: list[tuple[str, str, str]] = []
        if self._options["model"] is not None:
            model = check_model(self._options)
            failures = list_failures(model, store=self._store, source=self._source, form=self._options["form"])
        emit(
            self._as_json,
            enhance_tables.list_lines(counts, failures),
            lambda: enhance_tables.view_list(counts, failures),
        )

    def undo(self) -> None:
        """Remove the docstrings that a model has written."""
        removed = remove_docstrings(
            self._options["undo"], store=self._store, source=self._source, listener=self._listener()
        )
        lines = [
            {"type": "undo", "source": source, "model": self._options["undo"], "functions": count}
            for source, count in removed.items()
        ]
        emit(self._as_json, lines, lambda: (f"{count:,} docstrings taken out of {s}" for s, count in removed.items()))

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

        check_model(self._options)
        self._run(keep, is_stored=False)
        with open_graph(self._store, ask=self._ask) as graph:
            self._show(graph.patches(self._source, fresh))

    def _show(self, patches: Iterator[FilePatch | Skip]) -> None:
        for each in patches:
            if self._as_json:
                emit(True, [enhance_tables.patch_line(each)], tuple)
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
            partial(enhance_tables.view_patch, file, files, docstrings, skipped),
        )


def _tell(outcome: Outcome) -> None:
    emit(True, [enhance_tables.outcome_line(outcome)], tuple)
