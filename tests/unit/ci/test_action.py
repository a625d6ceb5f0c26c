"""The action for GitHub: its shell steps run by bash on a local repository, with a stand-in for the forge."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from git_trees import IDENTITY, commit_all, make_repository, run_git
from trees import write_tree

ROOT = Path(__file__).resolve().parents[3]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
FILES = {
    "src/shop/prices.py": "def load():\n    return {}\n\n\ndef find_price(item):\n    return load()[item]\n",
    "src/tests/test_prices.py": "from shop.prices import find_price\n\n\ndef test_price():\n    assert find_price(1)\n",
}
BROKEN = {"src/shop/prices.py": FILES["src/shop/prices.py"].replace("def load", "def load_all")}
FORGE = """
import json, os, sys
from pathlib import Path
words, comments = sys.argv[2:], Path(os.environ["FORGE"])
known = json.loads(comments.read_text())
if os.environ.get("GH_TOKEN") != "secret":
    sys.exit("HTTP 403: Resource not accessible by integration")
elif "--method" not in words:
    assert words == ["--paginate", "--slurp", "repos/me/shop/issues/7/comments"], words
    print(json.dumps([known[:1], known[1:]]))
else:
    method, address, file = words[1], words[2], words[4].removeprefix("body=@")
    body = Path(file).read_text()
    if method == "POST":
        assert address == "repos/me/shop/issues/7/comments"
        known.append({"id": 100 + len(known), "user": {"login": "github-actions[bot]"}, "body": body})
    else:
        (one,) = [each for each in known if address == f"repos/me/shop/issues/comments/{each['id']}"]
        one["body"] = body
    comments.write_text(json.dumps(known))
"""
EXPRESSION = re.compile(r"\$\{\{ *([^}]+?) *\}\}")


class Runner:
    """Run steps of the action as a runner of the forge does: with what stands in env filled in, up to a fault."""

    def __init__(self, folder: Path, work: Path) -> None:
        self.work = work
        self.temp = folder / "temp"
        self.forge = folder / "comments.json"
        programs = folder / "bin"
        for path in (self.temp, programs):
            path.mkdir()
        installed = self.temp / "pkg" / "bin"
        installed.mkdir(parents=True)
        scripts = {
            installed / "pkg": f"#!{sys.executable}\nfrom pkg.cli import run\n\nrun()\n",
            programs / "gh": f'#!/bin/sh\nexec {sys.executable} {folder / "gh.py"} "$@"\n',
            programs / "python": f'#!/bin/sh\nexec {sys.executable} "$@"\n',
        }
        for path, script in scripts.items():
            path.write_text(script, encoding="utf-8")
            path.chmod(0o755)
        (folder / "gh.py").write_text(FORGE, encoding="utf-8")
        self.forge.write_text("[]", encoding="utf-8")
        self.path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self.known = {f"inputs.{name}": str(each["default"]) for name, each in ACTION["inputs"].items()}
        self.known |= {
            "inputs.token": "secret", "runner.temp": str(self.temp), "github.server_url": "https://host",
            "github.repository": "me/shop", "github.event.pull_request.number": "7",
            "github.action_path": str(ROOT),
        }  # fmt: skip

    def run(self, name: str, **inputs: str) -> subprocess.CompletedProcess[str]:
        """Run one step with some inputs instead of their defaults."""
        known = self.known | {f"inputs.{key}": value for key, value in inputs.items()}
        filled = {
            key: EXPRESSION.sub(lambda found: known[found[1]], value) for key, value in STEPS[name]["env"].items()
        }
        files = {name: str(self.temp / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH")}
        env = os.environ | filled | files | {"PATH": self.path, "PYTHONPATH": str(ROOT), "FORGE": str(self.forge)}
        script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", STEPS[name]["run"]]
        done = subprocess.run(script, cwd=self.work, env=env, capture_output=True, text=True)
        if Path(files["GITHUB_OUTPUT"]).exists():
            outputs = Path(files["GITHUB_OUTPUT"]).read_text(encoding="utf-8").splitlines()
            self.known |= {
                f"steps.impact.outputs.{name}": value for name, _, value in (line.partition("=") for line in outputs)
            }
        return done

    def read_file(self) -> str:
        """Return the text of the comment."""
        return Path(self.known["steps.impact.outputs.file"]).read_text(encoding="utf-8")

    def read_comments(self) -> list[str]:
        """Return the texts of the comments, "" for an empty one."""
        return [each["body"] or "" for each in json.loads(self.forge.read_text(encoding="utf-8"))]


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Return a runner in a repository whose last commit deletes a called function."""
    top = make_repository(tmp_path / "code", FILES)
    write_tree(top, BROKEN)
    commit_all(top)
    return Runner(tmp_path, top)


def test_the_impact_is_commented_and_the_comment_updated_at_the_next_push(runner: Runner) -> None:
    done = runner.run("Find what may break", path="src")
    assert (done.returncode, done.stderr) == (0, "")
    before = run_git(runner.work, "rev-parse", "HEAD^1").strip()
    assert runner.run("Comment").returncode == 0
    (comment,) = runner.read_comments()
    link = f"https://host/me/shop/blob/{before}/src/shop/prices.py"
    assert comment.startswith("<!-- pkg impact: impact -->\n### What this change may break\n")
    assert f"- [`shop/prices.py:1`]({link}#L1) `load` deleted\n" in comment
    assert f"- [`shop/prices.py:5`]({link}#L5) `find_price` calls `load` at line 6, certain\n" in comment
    assert "  tests/test_prices.py::test_price\n" in comment
    assert comment == (runner.temp / "GITHUB_STEP_SUMMARY").read_text(encoding="utf-8")
    write_tree(runner.work, FILES)
    commit_all(runner.work)
    assert [runner.run(name).returncode for name in ("Find what may break", "Comment")] == [0, 0]
    (updated,) = runner.read_comments()
    assert "`load_all` deleted" in updated
    assert run_git(runner.work, "status", "--porcelain") == ""


def test_a_comment_of_others_that_begins_alike_is_left_alone(runner: Runner) -> None:
    theirs = {"id": 1, "user": {"login": "somebody"}, "body": "<!-- pkg impact: impact -->\nmine"}
    runner.forge.write_text(json.dumps([theirs]), encoding="utf-8")
    runner.run("Find what may break")
    assert runner.run("Comment").returncode == 0
    assert [body.splitlines()[1] for body in runner.read_comments()] == ["mine", "### What this change may break"]


def test_comments_without_author_or_text_are_passed_over(runner: Runner) -> None:
    mark = "<!-- pkg impact: impact -->\nold"
    empty = {"id": 2, "user": {"login": "github-actions[bot]"}, "body": None}
    known = {"id": 3, "user": {"login": "github-actions[bot]"}, "body": mark}
    runner.forge.write_text(json.dumps([{"id": 1, "user": None, "body": mark}, empty, known]), encoding="utf-8")
    runner.run("Find what may break")
    assert runner.run("Comment").returncode == 0
    first, second, third = runner.read_comments()
    assert (first, second) == (mark, "")
    assert "### What this change may break" in third


def test_modules_of_the_checkout_do_not_run(runner: Runner, tmp_path: Path) -> None:
    hostile = f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__)\n"
    write_tree(runner.work, dict.fromkeys(("json.py", "venv.py", "pip.py", "ensurepip.py", "os.py"), hostile))
    runner.known["github.action_path"] = str(tmp_path / "nothing to install")
    done = runner.run("Install")
    assert "nothing to install" in done.stderr  # pip itself has looked for it
    assert (runner.temp / "pkg" / "pyvenv.cfg").exists()
    assert not (runner.temp / "GITHUB_PATH").exists()  # later steps of the job keep their programs
    assert [runner.run(name).returncode for name in ("Find what may break", "Comment")] == [0, 0]
    assert len(runner.read_comments()) == 1
    assert not (tmp_path / "ran").exists()


def test_a_token_that_may_not_write_is_a_warning(runner: Runner) -> None:
    runner.run("Find what may break")
    done = runner.run("Comment", token="of a fork")
    assert (done.returncode, runner.read_comments()) == (0, [])
    assert done.stdout.startswith("::warning::the comments cannot be read")


def test_three_dots_compare_with_where_the_two_part(runner: Runner) -> None:
    run_git(runner.work, "checkout", "--quiet", "-b", "topic", "HEAD^1")
    write_tree(runner.work, {"src/shop/prices.py": FILES["src/shop/prices.py"].replace("[item]", "[item + 1]")})
    commit_all(runner.work)
    assert runner.run("Find what may break", diff="main...topic").returncode == 0
    written = runner.read_file()
    assert "`find_price` changed" in written
    assert "load" not in written


def test_a_change_without_python_says_so(runner: Runner) -> None:
    write_tree(runner.work, {"notes.md": "new\n"})
    commit_all(runner.work)
    assert runner.run("Find what may break").returncode == 0
    written = runner.read_file()
    assert written.endswith("\nNo Python file differs: nothing that the graph knows may break.\n")


@pytest.mark.parametrize("diff", ["HEAD^9..HEAD", "nowhere..HEAD", "--output=x..HEAD", "$(touch stolen)..HEAD", ".."])
def test_a_revision_that_is_not_there_is_told(runner: Runner, diff: str) -> None:
    done = runner.run("Find what may break", diff=diff)
    assert done.returncode == 1
    assert done.stdout.startswith("::error::no commit '")
    assert "fetch-depth: 2" in done.stdout
    assert run_git(runner.work, "status", "--porcelain") == ""


def test_a_diff_of_one_revision_is_refused(runner: Runner) -> None:
    done = runner.run("Find what may break", diff="HEAD")
    assert (done.returncode, done.stdout) == (1, "::error::the diff is 'HEAD'; expected REV..REV or REV...REV\n")


def test_a_shallow_clone_of_two_commits_is_enough(runner: Runner, tmp_path: Path) -> None:
    subprocess.run(
        ["git", *IDENTITY, "clone", "--quiet", "--depth", "2", f"file://{runner.work}", str(tmp_path / "clone")],
        check=True,
    )
    runner.work = tmp_path / "clone"
    assert runner.run("Find what may break").returncode == 0


def test_no_expression_stands_in_a_script() -> None:
    scripts = [step["run"] for step in STEPS.values() if "run" in step]
    assert [EXPRESSION.findall(script) for script in scripts] == [[], [], []]
    named = {name for step in STEPS.values() for name in EXPRESSION.findall(str(step)) if name.startswith("inputs.")}
    used = {f"inputs.{name}" for name in ACTION["inputs"]} - {"inputs.comment"}
    assert named == used
    assert all("shell" in step for step in STEPS.values() if "run" in step)
