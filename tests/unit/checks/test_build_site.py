"""The site of the documentation: links of its pages, the pages made from the code, and faults of built pages."""

from __future__ import annotations

import re
from pathlib import Path

import build_site
import pytest
from build_site import DOCS, ROOT, find_place, list_faults, stage_page
from reference_pages import list_commands, render_api, render_commands, render_service, render_settings
from run_notebook import render_output

import pkg
from pkg.cli import main
from pkg.config import SETTINGS
from pkg.service.http.openapi import describe_service
from pkg.service.operations.catalogue import OPERATIONS


def test_every_page_is_in_the_navigation() -> None:
    named = set(re.findall(r'"([\w/]+\.md)"', (ROOT / "zensical.toml").read_text(encoding="utf-8")))
    pages = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if path.parent.name != "decisions"}
    made = {"reference/options.md", "reference/settings.md", "reference/http.md", "reference/python.md"}
    assert named == pages | made | {"decisions/README.md", "repository/CHANGELOG.md"}


def test_the_page_of_commands_has_every_command_with_every_option() -> None:
    page = render_commands(main)
    for name, command in list_commands(main):
        section = page.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        shown = set(re.findall(r"--[a-z][\w-]*", section))
        assert {flag for each in command.params for flag in each.opts if flag.startswith("--")} <= shown, name


def test_the_page_of_settings_has_one_row_for_each() -> None:
    rows = [line for line in render_settings(main).splitlines() if line.startswith("| `")]
    assert sorted(row.split("`")[1] for row in rows) == sorted(SETTINGS)


def test_the_page_of_the_service_has_every_operation_with_its_arguments() -> None:
    page = render_service(describe_service(OPERATIONS, needs_token=False))
    for name, operation in OPERATIONS.items():
        section = page.partition(f"\n## /v1/{name}\n")[2].partition("\n## ")[0]
        assert [each for each in operation.schema.get("properties", {}) if f"`{each}`" not in section] == []


def test_the_page_of_the_api_documents_every_exported_name() -> None:
    assert sorted(re.findall(r"^::: pkg\.(\w+)$", render_api({"pkg": pkg.__all__}), re.MULTILINE)) == pkg.__all__


def test_links_to_files_outside_of_the_docs_lead_to_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_site, "PAGES", tmp_path)
    text = "[a](../README.md) [b](../pkg/model.py) [c](../pkg/graph/) [d](concepts.md#blocks) [e](https://example.org)"
    waiting: list[Path] = []
    stage_page(DOCS / "schema.md", text, waiting)
    assert (tmp_path / "schema.md").read_text(encoding="utf-8") == (
        "[a](repository/README.md) [b](repository/pkg/model.py.txt) c [d](concepts.md#blocks) [e](https://example.org)"
    )
    assert waiting == [ROOT / "README.md", ROOT / "pkg" / "model.py"]
    assert find_place(DOCS / "images") is None


def test_requests_to_other_machines_and_broken_links_are_faults(tmp_path: Path) -> None:
    (tmp_path / "style.css").write_text("a { background: url(//fonts.example/a.woff) }")
    (tmp_path / "a.html").write_text(
        '<link rel="canonical" href="https://docs.example/a"><link rel="stylesheet" href="style.css">'
        '<script src="https://cdn.example/x.js"></script><img src="//cdn.example/x.png">'
        '<a href="b.html#there">b</a><a href="b.html#gone">b</a><a href="c.html">c</a><a href="https://example.org">d</a>'
    )
    (tmp_path / "b.html").write_text('<h2 id="there">b</h2>')
    assert sorted(list_faults(tmp_path)) == [
        "a.html: loads //cdn.example/x.png",
        "a.html: loads https://cdn.example/x.js",
        "a.html: no anchor b.html#gone",
        "a.html: no file c.html",
        "style.css: loads //fonts.example/a.woff",
    ]


def test_an_output_of_a_notebook_becomes_text_or_a_picture(tmp_path: Path) -> None:
    pictures = tmp_path / "plots"
    assert render_output({"output_type": "stream", "text": "100 files\n"}, pictures) == ["```text\n100 files\n```"]
    drawn = {"output_type": "display_data", "data": {"image/png": "iVBORw=="}}
    assert render_output(drawn, pictures) == ["![A plot of the code above](plots/1.png)"]
    assert (pictures / "1.png").read_bytes().startswith(b"\x89PNG")
