"""Serve the reports of the runs in a folder beside the page of a graph: a list of the runs, and a page for each.

A request names a run that the list has, so it reaches no other file. The pages have no script, and their content
security policy allows none, because records quote the answers of models.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pkg.errors import MissingExtraError, PathError, PkgError, count_things
from pkg.lab.evaluation.code.code_report import CodeReport, read_report
from pkg.lab.evaluation.code.run_folder import RECORDS, RUN
from pkg.lab.evaluation.report.code_sections import TITLE, list_sections, name_runs
from pkg.lab.evaluation.report.report_format import render_html, render_page
from pkg.quoting.hidden_characters import spell_hidden
from pkg.service.http.problems import describe_fault

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

ADDRESS = "/evaluation"
BACK = '<p><a href="/">Graph</a> · <a href="/evaluation">All runs</a></p>\n'
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def make_run_routes(folder: Path) -> list[BaseRoute]:
    """Return the routes of the list and of the reports.

    Raises PathError for a folder without a run, MissingExtraError without Starlette.
    """
    try:
        from starlette.routing import Route
    except ImportError as fault:
        raise MissingExtraError("starlette", "service", "the page of pkg serve") from fault
    if not list_runs(folder):
        raise PathError(f"no run in {folder}; expected a folder of folders that pkg eval has written")
    pages = RunPages(folder)
    return [Route(ADDRESS, pages.get_list), Route(f"{ADDRESS}/{{name}}", pages.get_report)]


def list_runs(folder: Path) -> dict[str, Path]:
    """List the folders of runs by name: those in the folder, or the folder itself if it is one."""
    found = [folder] if (folder / RUN).is_file() else [each.parent for each in folder.glob(f"*/{RUN}")]
    return {each.resolve().name: each for each in sorted(found)}


@dataclass(slots=True)
class RunPages:
    """The pages of a folder of runs; a page is rendered again when the records of its run change."""

    folder: Path
    _reports: dict[str, tuple[int, str]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)  # the style of figures is one for all threads

    def get_list(self, request: Request) -> Response:
        """Return the list of all runs with their tasks and columns."""
        lines = "\n".join(_describe_runs(list_runs(self.folder)))
        body = f'<p><a href="/">Graph</a></p>\n<main>\n<ul>\n{lines}\n</ul>\n</main>'
        return _respond(render_page(TITLE, body))

    def get_report(self, request: Request) -> Response:
        """Return the report of one run; raises HTTPException for an unknown name."""
        from starlette.exceptions import HTTPException

        name = request.path_params["name"]
        path = list_runs(self.folder).get(name)
        if path is None:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        try:
            with self._lock:
                return _respond(self._render(name, path))
        except PkgError as fault:
            return describe_fault(fault).to_response()

    def _render(self, name: str, path: Path) -> str:
        state = (path / RECORDS).stat().st_mtime_ns if (path / RECORDS).exists() else 0
        if self._reports.get(name, (0, ""))[0] != state or not state:
            page = render_html(TITLE, list(list_sections([read_report(path)])))
            self._reports[name] = state, page.replace("<nav ", f"{BACK}<nav ", 1)
        return self._reports[name][1]


def _describe_runs(runs: Mapping[str, Path]) -> Iterator[str]:
    """Yield an item of the list for each run; one that cannot be read says why."""
    for name, path in runs.items():
        try:
            words = _describe(read_report(path))
        except PkgError as fault:
            words = f"cannot be read: {fault}"
        shown = escape(spell_hidden(name))
        yield (
            f'<li><a href="{ADDRESS}/{quote(name, safe="")}">{shown}</a>'
            f'<p class="note">{escape(spell_hidden(words))}</p></li>'
        )


def _describe(report: CodeReport) -> str:
    (run,) = name_runs([report])
    solved = ", ".join(f"{each.column} {each.solved}" for each in report.columns)
    return f"{report.head['benchmark']}, {run.name}, {count_things(report.columns[0].items, 'task')}; solved: {solved}"


def _respond(page: str) -> Response:
    from starlette.responses import HTMLResponse

    return HTMLResponse(page, headers={"content-security-policy": POLICY})
