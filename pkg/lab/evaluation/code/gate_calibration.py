"""Learn from runs when shown code helps a model, on one half of the items, and test the rule on the other half."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pkg.errors import InputError
from pkg.generation.gate import SIGNALS, reaches
from pkg.lab.evaluation.code.run_folder import Record, read_head, read_records

CONTEXT_OF = {"signatures": "signatures", "func-pkg": "code", "block-pkg": "code"}
"""Content of the prompts of a condition, as named by pkg generate."""

BASE = "none"
PENALTY = 2  # a broken answer weighs as much as two fixed ones: without context it would have been correct
LEAST_GAIN = 3  # gain below which a rule may be chance, so that no code is shown
STEPS = 10  # number of thresholds tried for each signal, at equal quantiles


class Effect(NamedTuple):
    """The effect of showing code on some items."""

    items: int
    shown: int  # items with shown code
    fixed: int
    broken: int

    @property
    def gain(self) -> int:
        """Return the fixed answers less the penalty for broken ones."""
        return self.fixed - PENALTY * self.broken


@dataclass(frozen=True, slots=True)
class ConditionRule:
    """The rule learned for one condition, and its effect on held-out items."""

    column: str
    context: str
    bounds: Mapping[str, float] | None  # None: never show code
    learned: Effect
    held_out: Effect
    always: Effect  # on the held-out items, if code were always shown
    controls: Mapping[str, Effect]  # effect of no code, or of a random helper, on the items with shown code


@dataclass(frozen=True, slots=True)
class Calibration:
    """Rules for showing code, learned from runs of one model or of models of one size."""

    runs: tuple[str, ...]
    models: tuple[str, ...]
    benchmarks: tuple[str, ...]
    columns: tuple[ConditionRule, ...]

    def list_rules(self, below: float | None = None) -> Iterator[dict[str, Any]]:
        """Yield the best rule of each context for pkg.generation.gate, best first.

        below: the rules apply to models of fewer parameters; None for any.
        """
        ordered = sorted(self.columns, key=lambda each: -each.learned.gain)
        for context in dict.fromkeys(each.context for each in ordered):
            best = next(each for each in ordered if each.context == context)
            yield {
                "context": context,
                "below": below,
                "bounds": best.bounds,
                "column": best.column,
                "models": self.models,
                "benchmarks": self.benchmarks,
                "learned": best.learned._asdict(),
                "held_out": best.held_out._asdict(),
            }


class _Pair(NamedTuple):
    """The answers to one item of one run, without and with code."""

    key: str  # run and item
    before: bool
    after: bool
    signals: Mapping[str, float]


def calibrate(paths: Sequence[Path], seed: int = 0) -> Calibration:
    """Learn a rule for each condition that shows code; raises InputError if no run has one with signals.

    Items of the same name in several runs, such as of two models, fall into the same half, so that no held-out item is
    learned from.
    """
    heads = [read_head(path) for path in paths]
    kept = [_read_first(path) for path in paths]
    conditions = [name for name in CONTEXT_OF if any(name in run and BASE in run for run in kept)]
    if not conditions:
        raise InputError(
            f"no run of {', '.join(map(str, paths))} has the column {BASE} and one of {', '.join(CONTEXT_OF)} with the"
            " signals of its search; run pkg eval with these columns"
        )
    return Calibration(
        tuple(map(str, paths)),
        tuple(dict.fromkeys(str(head["model"]) for head in heads)),
        tuple(dict.fromkeys(str(head["benchmark"]) for head in heads)),
        tuple(_learn(name, kept, seed) for name in conditions),
    )


def _read_first(path: Path) -> dict[str, dict[str, Record]]:
    """Read the first sample of each condition and item; of conditions that show code, only those with signals."""
    found: dict[str, dict[str, Record]] = {}
    for record in read_records(path):
        if record.sample == 0 and (record.signals or record.column not in CONTEXT_OF):
            found.setdefault(record.column, {})[record.item] = record
    return found


def _learn(condition: str, kept: Sequence[Mapping[str, Mapping[str, Record]]], seed: int) -> ConditionRule:
    pairs = list(_pair(condition, kept))
    learned = [each for each in pairs if _is_learned(each.key, seed)]
    held = [each for each in pairs if not _is_learned(each.key, seed)]
    best = max(_list_bounds(learned), key=lambda each: (measure(learned, each).gain, -len(each)))
    bounds = best if measure(learned, best).gain >= LEAST_GAIN else None
    shown = {each.key for each in held if reaches(bounds, each.signals)}
    names = sorted({name for run in kept for name in run if name == "random" or name.startswith("none:")})
    controls = {name: [each for each in _pair(name, kept) if each.key in shown] for name in names}
    return ConditionRule(
        condition,
        CONTEXT_OF[condition],
        bounds,
        measure(learned, bounds),
        measure(held, bounds),
        measure(held, {}),
        {name: measure(found, {}) for name, found in controls.items()},
    )


def _pair(condition: str, kept: Sequence[Mapping[str, Mapping[str, Record]]]) -> Iterator[_Pair]:
    for number, run in enumerate(kept):
        for item, record in run.get(condition, {}).items():
            before = run.get(BASE, {}).get(item)
            if before is not None:
                yield _Pair(f"{number} {item}", before.passed, record.passed, record.signals)


def _is_learned(key: str, seed: int) -> bool:
    """Return whether an item is in the half to learn from, which depends on its name and the seed only."""
    return hashlib.sha256(f"{seed} {key.partition(' ')[2]}".encode()).digest()[0] % 2 == 0


def _list_bounds(pairs: Sequence[_Pair]) -> Iterator[dict[str, float]]:
    """Yield candidate rules: always show, and one signal with a lower bound; more conditions would overfit."""
    yield {}
    for name in SIGNALS:
        values = [each.signals[name] for each in pairs if name in each.signals]
        if values:
            for least in sorted(
                set(np.quantile(values, np.linspace(0, 1, STEPS, endpoint=False)[1:]).round(4).tolist())
            ):
                yield {name: float(least)}


def measure(pairs: Sequence[_Pair], bounds: Mapping[str, float] | None) -> Effect:
    """Count the effect of showing code on items whose signals reach the bounds."""
    shown = [each for each in pairs if reaches(bounds, each.signals)]
    fixed = sum(each.after > each.before for each in shown)
    return Effect(len(pairs), len(shown), fixed, sum(each.before > each.after for each in shown))


def list_rows(found: Calibration) -> Iterator[dict[str, Any]]:
    """Yield the calibration as JSON rows."""
    yield {"type": "calibration", "runs": found.runs, "models": found.models, "benchmarks": found.benchmarks}
    for each in found.columns:
        row = {**asdict(each), "learned": each.learned._asdict(), "held_out": each.held_out._asdict()}
        row |= {"always": each.always._asdict()}
        row |= {"controls": {name: effect._asdict() for name, effect in each.controls.items()}}
        yield {"type": "rule", **row}
