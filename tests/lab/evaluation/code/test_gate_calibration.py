"""Rules are learned from one half of the items and tested on the other."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pkg.cli import main
from pkg.errors import InputError
from pkg.generation.gate import read_rules
from pkg.lab import calibrate_gate
from pkg.lab.evaluation.code.run_folder import Record

ITEMS = 80


def write_run(path: Path, is_signal_true: bool) -> Path:
    """Write a run in which code fixes every fourth item and breaks another; only a true signal tells them apart."""
    rows: list[dict[str, Any]] = []
    for number in range(ITEMS):
        kind = number % 4  # 0: fixed, 1: broken, else unchanged
        margin = (0.9 if kind == 0 else 0.1) if is_signal_true else (number // 4) % 2
        item = f"HumanEval/{number}"
        rows.append(asdict(Record("none", item, 0, kind == 1, "")))
        rows.append(asdict(Record("func-pkg", item, 0, kind == 0, "", signals={"margin": float(margin)})))
        rows.append(asdict(Record("none:brief", item, 0, kind in (0, 1), "")))
    path.mkdir()
    (path / "run.json").write_text(json.dumps({"version": 1, "benchmark": "humaneval", "model": "hf:small.gguf"}))
    (path / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_signal_that_tells_is_found_and_holds_on_the_other_half(tmp_path: Path) -> None:
    out = tmp_path / "gate.json"
    (rule,) = calibrate_gate([write_run(tmp_path / "run", is_signal_true=True)], out, below=1e9).columns
    assert rule.bounds is not None
    assert 0.1 < rule.bounds["margin"] <= 0.9
    assert rule.learned.items + rule.held_out.items == ITEMS
    assert (rule.held_out.fixed, rule.held_out.broken) == (rule.held_out.shown, 0)
    assert rule.always.broken > 0
    assert rule.controls["none:brief"].fixed == rule.held_out.fixed  # it fixes the same items without code
    (read,) = read_rules(out)
    assert (read.context, read.below, read.bounds) == ("code", 1e9, rule.bounds)


def test_where_no_signal_tells_nothing_is_shown(tmp_path: Path) -> None:
    (rule,) = calibrate_gate([write_run(tmp_path / "run", is_signal_true=False)]).columns
    assert rule.bounds is None
    assert (rule.held_out.shown, rule.held_out.fixed, rule.held_out.broken) == (0, 0, 0)


def test_the_same_items_of_two_runs_fall_into_the_same_half(tmp_path: Path) -> None:
    first, second = (write_run(tmp_path / name, is_signal_true=True) for name in ("a", "b"))
    (one,) = calibrate_gate([first]).columns
    (two,) = calibrate_gate([first, second]).columns
    assert two.learned.items == 2 * one.learned.items


def test_a_run_without_signals_is_refused(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run", is_signal_true=True)
    text = (path / "records.jsonl").read_text().splitlines()
    (path / "records.jsonl").write_text("".join(line + "\n" for line in text if "func-pkg" not in line))
    with pytest.raises(InputError, match="signals"):
        calibrate_gate([path])


def test_the_command_writes_the_rules_and_tells_both_halves(tmp_path: Path) -> None:
    path, out = write_run(tmp_path / "run", is_signal_true=True), tmp_path / "gate.json"
    done = CliRunner().invoke(main, ["eval", "calibrate", str(path), "-o", str(out), "--json"])
    assert done.exit_code == 0, done.output
    head, rule = map(json.loads, done.output.splitlines())
    assert head["models"] == ["hf:small.gguf"]
    assert rule["held_out"]["broken"] == 0
    assert json.loads(out.read_text())["rules"][0]["held_out"] == rule["held_out"]
