"""`pkg rate` as a process: Ctrl-C keeps saved ratings, the same command resumes, and --open opens the address."""

from __future__ import annotations

import json
import time
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest
from rate_process import PATIENCE, read_rows, start_rate


def rate(address: str, number: int) -> dict[str, Any]:
    """Log in by an address, and rate one item as the page does."""
    place = address.partition("/?")[0]
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    with browser.open(address):
        pass
    posted = json.dumps({"ratings": {"question": 4, "answer": 8}, "seconds": 1.5}).encode()
    request = urllib.request.Request(f"{place}/api/items/{number}", posted, {"Origin": place})
    with browser.open(request) as answer:
        told: dict[str, Any] = json.load(answer)
    return told


@pytest.fixture(autouse=True)
def rows(tmp_path: Path) -> None:
    pairs = [{"id": f"p{n}", "question": f"q{n}", "answer": f"a{n}"} for n in range(2)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in pairs))


def test_ctrl_c_keeps_saved_ratings_and_the_same_command_resumes(tmp_path: Path) -> None:
    with start_rate(tmp_path, "rows.jsonl", "--rater", "ana") as process:
        assert rate(process.wait_for_addresses(1)[0], 0)["done"] == [True, False]
        code, (head, pair) = process.interrupt()
    assert code == 130
    assert (head["ratings"], pair["decision"]) == (1, "keep")
    assert "pkg: ana: 1 of 2, p0" in process.told
    assert "interrupted; what was saved is kept" in process.told

    with start_rate(tmp_path, "rows.jsonl", "--rater", "ana") as process:
        assert rate(process.wait_for_addresses(1)[0], 1)["over"] is True
        code, (head, *_) = process.wait()
    assert (code, head["ratings"]) == (0, 2)
    assert [row["id"] for row in read_rows(tmp_path / "rows.ratings.jsonl")] == ["p0", "p1"]


def test_open_opens_the_first_address_in_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", 'sh -c "echo %s >> opened.txt"')
    with start_rate(tmp_path, "rows.jsonl", "--raters", "2", "--open") as process:
        first, _ = process.wait_for_addresses(2)
        opened, end = tmp_path / "opened.txt", time.monotonic() + PATIENCE
        while not (opened.exists() and opened.read_text()) and time.monotonic() < end:
            time.sleep(0.05)
        assert opened.read_text().split() == [first]
