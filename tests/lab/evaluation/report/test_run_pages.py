"""Reports of runs beside the page of a graph: only the runs of the named folder are served, without scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from code_runs import alternate, write_run
from starlette.testclient import TestClient
from trees import write_tree

import pkg
from pkg.errors import PathError
from pkg.lab.evaluation.code.run_folder import read_records
from pkg.lab.evaluation.report.run_pages import make_run_routes
from pkg.service.graph_service import GraphService, ServiceOptions
from pkg.service.http.http_access import HttpAccess
from pkg.service.http.service_app import make_app
from pkg.service.page.page_routes import make_routes
from pkg.service.web.web_access import BrowserAccess, WebHosts

HOST = "127.0.0.1:8720"
SOLVED = {"none": alternate(12, 2), "func-pkg": alternate(12, 3)}


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    write_run(tmp_path / "runs/first", SOLVED)
    write_run(tmp_path / "runs/<b>", SOLVED, benchmark="mbpp")
    write_run(tmp_path / "outside", SOLVED)
    write_tree(tmp_path / "runs", {"notes/notes.txt": "not a run", "run.txt": "", "broken/run.json": "{}"})
    return tmp_path / "runs"


def open_client(folder: Path, token: str | None = None) -> TestClient:
    store = f"sqlite:///{folder.parent}/graph.db"
    pkg.build_graph(write_tree(folder.parent / "repo", {"a.py": "def work(): pass\n"}), store=store)
    access = HttpAccess(BrowserAccess[str](WebHosts((HOST,), has_programs=True), "serve"), token)
    routes = [*make_run_routes(folder), *make_routes(has_runs=True)]
    return TestClient(make_app(GraphService(ServiceOptions(store)), access, routes=routes), base_url=f"http://{HOST}")


def test_the_list_names_all_runs_and_each_has_a_report(runs: Path) -> None:
    client = open_client(runs)
    listed = client.get("/evaluation").text
    assert [name in listed for name in ("first", "&lt;b&gt;", "broken", "notes", "outside", "<b>")] == [
        True, True, True, False, False, False,
    ]  # fmt: skip
    assert "none 6, func-pkg 4" in listed
    assert "cannot be read" in listed
    report = client.get("/evaluation/first")
    assert (report.status_code, report.text.count("<svg ") > 3, '<a href="/evaluation">' in report.text) == (
        200,
        True,
        True,
    )
    assert client.get("/evaluation/%3Cb%3E").status_code == 200
    assert client.get("/evaluation/broken").status_code == 422
    assert '<a href="/evaluation">Evaluation</a>' in client.get("/").text


def test_no_script_runs_and_nothing_is_loaded(runs: Path) -> None:
    client = open_client(runs)
    for address in ("/evaluation", "/evaluation/first"):
        policy = client.get(address).headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
        assert "script-src" not in policy


@pytest.mark.parametrize(
    "name",
    ["outside", "%2e%2e", "..%2foutside", "%2e%2e%2foutside", "first/../../outside", "first%2frun.json", "notes"],
)
def test_other_files_and_folders_are_unknown(runs: Path, name: str) -> None:
    assert open_client(runs).get(f"/evaluation/{name}").status_code == 404


def test_reports_need_the_token_of_the_graph(runs: Path) -> None:
    client = open_client(runs, token="a-token-of-the-tests")
    assert client.get("/evaluation/first").status_code == 401
    assert client.get("/evaluation/first", headers={"authorization": "Bearer a-token-of-the-tests"}).status_code == 200


def test_a_page_follows_the_records(runs: Path) -> None:
    client = open_client(runs)
    before = client.get("/evaluation/first").text
    assert client.get("/evaluation/first").text == before
    write_run(runs / "first", {"random": alternate(12, 4)})
    assert len({each.column for each in read_records(runs / "first")}) == 3
    assert client.get("/evaluation/first").text != before


def test_one_run_is_a_list_of_one_and_a_folder_without_a_run_is_refused(runs: Path) -> None:
    assert ">first</a>" in open_client(runs / "first").get("/evaluation").text
    with pytest.raises(PathError, match="no run in"):
        make_run_routes(runs / "notes")
