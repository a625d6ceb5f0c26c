"""The page over HTTP: one browser for each address, no access for other hosts and pages, and texts as data."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from pkg.errors import MissingExtraError, name_install
from pkg.lab.rating.rated_items import read_rated_file
from pkg.lab.rating.rating_app import MAX_POST_SIZE, Visitor, make_app
from pkg.lab.rating.rating_task import RatingOptions, RatingTask
from pkg.lab.rating.ratings_file import RatingsFile
from pkg.service.web.web_access import BrowserAccess, WebHosts

HOST = "127.0.0.1:8719"
ORIGIN = {"origin": f"http://{HOST}"}
HOSTILE = "<script>alert(1)</script>\0\x1b]0;x\x07\u202e" + "A" * 3_000_000
RATED = {"ratings": {"question": 3, "answer": 8}, "seconds": 2}


class Setup:
    """A page with two pairs to rate, and its browsers."""

    def __init__(self, folder: Path, **options: Any) -> None:
        path = folder / "rows.jsonl"
        rows = [{"id": "p0", "question": HOSTILE, "answer": "a0"}, {"id": "p1", "question": "q1", "answer": "a1"}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        self.out = folder / "out.jsonl"
        self.task = RatingTask(read_rated_file(path), RatingsFile(self.out), RatingOptions(**options))
        self.access = BrowserAccess[Visitor](WebHosts((HOST, "localhost:8719")), "rate")
        self.let_in: list[str | None] = []
        self.ends = 0
        self._app = make_app(self.task, self.access, self.let_in.append, self._end)

    def _end(self) -> bool:
        self.ends += 1
        return True

    def open_browser(self) -> TestClient:
        return TestClient(self._app, base_url=f"http://{HOST}")

    def come_in(self, rater: str | None = "ana") -> TestClient:
        browser = self.open_browser()
        assert browser.get(self.access.make_address(Visitor(rater))).status_code == 200
        return browser


@pytest.fixture
def setup(tmp_path: Path) -> Setup:
    return Setup(tmp_path)


def test_an_address_signs_in_one_browser(setup: Setup) -> None:
    address = setup.access.make_address(Visitor("ana"))
    browser, other = setup.open_browser(), setup.open_browser()
    cookie = browser.get(address).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert browser.get("/api/state").json()["rater"] == "ana"
    refused = other.get(address)
    assert (refused.status_code, "set-cookie" in refused.headers) == (403, False)
    assert other.get("/api/state").status_code == 401
    assert browser.get(address).status_code == 200  # reloaded by the same browser
    assert setup.let_in == ["ana"]


@pytest.mark.parametrize("token", ["", "x", "\u00e9", "a" * 5_000])
def test_an_invalid_token_is_refused(setup: Setup, token: str) -> None:
    setup.access.make_address(Visitor(None))
    assert setup.open_browser().get("/", params={"token": token}).status_code == 403


@pytest.mark.parametrize("path", ["/api/state", "/api/items/0"])
def test_reading_needs_the_cookie(setup: Setup, path: str) -> None:
    browser = setup.open_browser()
    browser.cookies.set(setup.access.cookie, "forged")
    refused = browser.get(path)
    assert refused.status_code == 401
    assert "q1" not in refused.text


@pytest.mark.parametrize("path", ["/api/rater", "/api/participant", "/api/items/0"])
def test_writing_needs_the_cookie(setup: Setup, path: str) -> None:
    assert setup.open_browser().post(path, json=RATED, headers=ORIGIN).status_code == 401
    assert not setup.out.exists()


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8719", "127.0.0.1", "127.0.0.1:80", "", "127.0.0.1.evil.example:8719"]
)
def test_another_host_name_is_refused(setup: Setup, host: str) -> None:
    browser = setup.come_in()
    for path in ("/", "/rate.js", "/api/state", "/api/items/0"):
        assert browser.get(path, headers={"host": host}).status_code == 403


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "https://127.0.0.1:8719", "http://127.0.0.1:9999"]
)
def test_other_origins_cannot_write(setup: Setup, origin: str | None) -> None:
    browser = setup.come_in()
    headers = {} if origin is None else {"origin": origin}
    assert browser.post("/api/items/0", json=RATED, headers=headers).status_code == 403
    assert not setup.out.exists()


@pytest.mark.parametrize("path", ["/", "/rate.css", "/rate.js", "/api/state", "/nothing", "/?token=x"])
def test_every_response_forbids_foreign_content(setup: Setup, path: str) -> None:
    headers = setup.come_in().get(path).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert "access-control-allow-origin" not in headers


def test_the_page_loads_nothing_from_other_hosts(setup: Setup) -> None:
    browser = setup.come_in()
    for path in ("/", "/rate.css", "/rate.js"):
        assert "://" not in browser.get(path).text
    assert "innerHTML" not in browser.get("/rate.js").text


@pytest.mark.parametrize(
    "path", ["/rate.html", "/../pyproject.toml", "/%2e%2e/rating_app.py", "/docs", "/page/rate.js"]
)
def test_no_other_file_is_served(setup: Setup, path: str) -> None:
    assert setup.come_in().get(path).status_code == 404


def test_large_hostile_texts_are_sent_as_data(setup: Setup) -> None:
    answer = setup.come_in().get("/api/items/0")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["question"] == HOSTILE


def test_a_rating_is_on_the_disk_before_the_response(setup: Setup) -> None:
    browser = setup.come_in()
    answer = browser.post("/api/items/1", json=RATED, headers=ORIGIN).json()
    assert (answer["done"], answer["over"], setup.ends) == ([False, True], False, 0)
    assert json.loads(setup.out.read_text())["rater"] == "ana"
    assert browser.get("/api/items/1").json()["rated"] == answer["row"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "invalid JSON"), (b"{", "invalid JSON"), (b"[1]", "not an object"), (b"\xff", "invalid JSON"),
        (b"[" * 100_000, "invalid JSON"),
        (b'{"x": "' + b"a" * MAX_POST_SIZE + b'"}', "more than 2,000,000 bytes"), (b"{}", "not set yet"),
        (b'{"ratings": {"question": 1, "answer": 1}}', "seconds None"),
        (b'{"ratings": {"question": 1, "answer": 1}, "seconds": NaN}', "seconds nan"),
    ],
    ids=range(9),
)  # fmt: skip
def test_an_invalid_rating_is_refused_with_a_reason(setup: Setup, content: bytes, message: str) -> None:
    refused = setup.come_in().post("/api/items/1", content=content, headers=ORIGIN)
    assert refused.status_code == 400
    assert message in refused.json()["error"]
    assert not setup.out.exists()


@pytest.mark.parametrize(
    ("path", "status"), [("/api/items/2", 400), ("/api/items/-1", 404), ("/api/items/9" + "9" * 50, 400)]
)
def test_an_unknown_item_is_reported(setup: Setup, path: str, status: int) -> None:
    assert setup.come_in().get(path).status_code == status


def test_a_rating_of_another_tab_is_shown_before_it_is_replaced(setup: Setup) -> None:
    browser = setup.come_in()
    first = browser.post("/api/items/1", json=RATED, headers=ORIGIN).json()["row"]
    other = {**RATED, "ratings": {"question": 1, "answer": 1}}
    refused = browser.post("/api/items/1", json=other, headers=ORIGIN)
    assert (refused.status_code, refused.json()["rated"]) == (409, first)
    again = browser.post("/api/items/1", json={**other, "seen": first["when"]}, headers=ORIGIN)
    assert again.status_code == 200
    assert len(setup.out.read_text().splitlines()) == 2


def test_an_unnamed_rater_enters_a_name_once(setup: Setup) -> None:
    browser = setup.come_in(None)
    assert browser.get("/api/items/0").status_code == 409
    assert browser.post("/api/rater", json={"name": " "}, headers=ORIGIN).status_code == 400
    assert browser.post("/api/rater", json={"name": "Ana"}, headers=ORIGIN).json()["done"] == [False, False]
    assert browser.post("/api/rater", json={"name": "Ben"}, headers=ORIGIN).json()["rater"] == "Ana"


def test_the_last_rating_of_the_last_rater_ends_the_server(tmp_path: Path) -> None:
    setup = Setup(tmp_path, raters=("ana", "ben"))
    for rater in ("ana", "ben"):
        browser = setup.come_in(rater)
        for number in range(2):
            assert setup.ends == 0
            answer = browser.post(f"/api/items/{number}", json=RATED, headers=ORIGIN).json()
    assert answer["over"]
    assert setup.ends == 1


def test_a_participant_is_asked_once_and_may_skip(tmp_path: Path) -> None:
    setup = Setup(tmp_path, participants=tmp_path / "people.jsonl")
    skipping, telling = setup.come_in("ana"), setup.come_in("ben")
    assert skipping.get("/api/state").json()["asks_participant"]
    skipping.post("/api/participant", json={"skipped": True}, headers=ORIGIN)
    assert not skipping.get("/api/state").json()["asks_participant"]
    assert not (tmp_path / "people.jsonl").exists()
    told = telling.post("/api/participant", json={"degree": "doctorate"}, headers=ORIGIN)
    assert told.status_code == 200
    assert not setup.come_in("ben").get("/api/state").json()["asks_participant"]
    assert telling.post("/api/participant", json={"degree": "pope"}, headers=ORIGIN).status_code == 400


def test_a_changed_file_is_reported_on_the_page(setup: Setup) -> None:
    browser = setup.come_in()
    assert not browser.get("/api/state").json()["changed"]
    setup.task.file.path.write_text("{}\n")
    assert browser.get("/api/state").json()["changed"]
    assert browser.get("/api/items/1").json()["question"] == "q1"


def test_without_starlette_the_error_has_the_install_command(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    with pytest.raises(MissingExtraError, match=re.escape(name_install("service"))):
        make_app(setup.task, setup.access, setup.let_in.append, lambda: True)
