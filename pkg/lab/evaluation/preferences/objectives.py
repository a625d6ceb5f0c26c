"""A score of several objectives: a weighted mixture of pass@k and grades by preference, and the Pareto front (C-27).

Models of a run on a bench and of runs of benchmarks are matched by their identity, not by their name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from pkg.errors import InputError, UsageError
from pkg.lab.evaluation.code.code_report import BASE
from pkg.lab.evaluation.code.run_folder import MODELS, read_head, read_lines, read_records
from pkg.lab.evaluation.judgement_report import report_judgements
from pkg.lab.evaluation.preferences.preference_bench import BENCHMARK, Grading, read_gradings
from pkg.lab.evaluation.share_statistics import pass_at_k
from pkg.lab.judge.judge_tasks import PREFERENCES
from pkg.lab.judge.judgements import GRADES, read_judgements

CODE = "code"
"""The objective of code that passes its tests; the others are the preferences."""

WEIGHTS: Mapping[str, float] = {CODE: float(len(PREFERENCES)), **dict.fromkeys(PREFERENCES, 1.0)}
"""Default weights: code weighs as much as all preferences together."""


@dataclass(frozen=True, slots=True)
class Objectives:
    """The values of one model, each from 0 to 1, and their weighted mean."""

    model: str
    passes: Mapping[str, float]  # pass@k by benchmark
    grades: Mapping[str, float]  # mean grade by preference, from 1 to 10
    code: float  # mean of the benchmarks
    preference: float  # weighted mean of the grades, scaled
    score: float


@dataclass(frozen=True, slots=True)
class ObjectiveReport:
    """The models with all objectives, the best score first."""

    k: int
    grading: str  # the judge and the references
    weights: Mapping[str, float]  # shares that sum to 1
    models: tuple[Objectives, ...]
    front: tuple[
        str, ...
    ]  # models that no other exceeds in one of code and preference without being below in the other
    left_out: Mapping[str, str]  # models by the reason


def parse_weights(given: Iterable[str]) -> dict[str, float]:
    """Parse weights such as code=2, which replace the default ones, and return their shares.

    Raises UsageError for an unknown objective, a weight below 0, and if all weights of code or of preferences are 0.
    """
    weights = dict(WEIGHTS)
    for each in given:
        name, _, number = each.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        if name not in weights or not 0 <= value < float("inf"):
            raise UsageError(f"the weight is '{each}'; expected NAME=NUMBER, with one of {', '.join(weights)}")
        weights[name] = value
    if not weights[CODE] or not any(weights[name] for name in PREFERENCES):
        raise UsageError("the weights of code or of all preferences are 0; expected both above 0 for a mixture")
    total = sum(weights.values())
    return {name: value / total for name, value in weights.items()}


def scale_grade(grade: float) -> float:
    """Scale a grade from 1 to 10 to a share from 0 to 1."""
    low, high = GRADES
    return (grade - low) / (high - low)


def combine_objectives(
    model: str, passes: Mapping[str, float], grades: Mapping[str, float], weights: Mapping[str, float]
) -> Objectives:
    """Return the weighted mean of the objectives of a model; all must be known.

    weights: shares that sum to 1.
    """
    code = fmean(passes.values())
    mixed = sum(weights[name] * scale_grade(grades[name]) for name in PREFERENCES if weights[name])
    of_preferences = sum(weights[name] for name in PREFERENCES)
    return Objectives(model, passes, grades, code, mixed / of_preferences, weights[CODE] * code + mixed)


def find_front(models: Sequence[Objectives]) -> tuple[str, ...]:
    """Return the models on the Pareto front of code and preference."""
    return tuple(each.model for each in models if not any(_dominates(other, each) for other in models))


def _dominates(one: Objectives, other: Objectives) -> bool:
    is_as_good = one.code >= other.code and one.preference >= other.preference
    return is_as_good and (one.code, one.preference) != (other.code, other.preference)


def report_objectives(
    paths: Sequence[Path], weights: Mapping[str, float], k: int = 1, judge: str = ""
) -> ObjectiveReport:
    """Read a run on a bench and runs of benchmarks, and combine them by model.

    judge: the grading to use, by its judge or by judge / references; by default the last of the run. Raises UsageError
    unless there is one run on a bench and one or more of benchmarks, InputError if no model has both.
    """
    heads = {path: read_head(path) for path in paths}
    benches = [path for path in paths if heads[path].get("benchmark") == BENCHMARK]
    runs = [path for path in paths if path not in benches]
    if len(benches) != 1 or not runs:
        raise UsageError(
            f"{len(benches)} folders of pkg eval preferences and {len(runs)} of benchmarks; expected one, and one or"
            " more"
        )
    grading = _choose_grading(benches[0], judge)
    grades = _read_grades(benches[0], grading)
    names = {str(row["identity"]): str(row["label"]) for row in read_lines(benches[0] / MODELS)}
    passes: dict[str, dict[str, float]] = defaultdict(dict)
    strange: dict[str, str] = {}
    for path in runs:
        name = names.get(str(heads[path].get("identity")))
        if name is None:
            strange[str(heads[path].get("model"))] = "not in the run on the bench"
        elif (share := _read_share(path, k)) is not None:
            passes[name][str(heads[path]["benchmark"])] = share
    return _combine(grading, grades, passes, weights, k, strange)


def _combine(
    grading: Grading,
    grades: Mapping[str, Mapping[str, float]],
    passes: Mapping[str, Mapping[str, float]],
    weights: Mapping[str, float],
    k: int,
    left_out: dict[str, str],
) -> ObjectiveReport:
    """Combine the objectives of the models that have all."""
    benchmarks = {name for of_model in passes.values() for name in of_model}
    wanted = [name for name in PREFERENCES if weights[name]]
    found = []
    for model, of_model in grades.items():
        missing = [name for name in wanted if name not in of_model]
        missing += sorted(benchmarks - passes.get(model, {}).keys()) or ([] if benchmarks else [f"pass@{k}"])
        if missing:
            left_out[model] = f"without {', '.join(missing)}"
        else:
            found.append(combine_objectives(model, passes[model], of_model, weights))
    if not found:
        reasons = "; ".join(f"{model} {reason}" for model, reason in left_out.items())
        raise InputError(f"no model has all objectives: {reasons}; expected runs of the same models")
    ordered = tuple(sorted(found, key=lambda each: (-each.score, each.model)))
    return ObjectiveReport(k, grading.name, weights, ordered, find_front(ordered), left_out)


def _choose_grading(path: Path, judge: str) -> Grading:
    """Return the last grading of a run that has a judge; raises InputError if there is none."""
    known = list(read_gradings(path))
    found = [each for each in known if judge in ("", each.judge, each.name) and (path / each.file).exists()]
    if not found:
        names = ", ".join(each.name for each in known) or "none"
        raise InputError(f"no grading{f' by {judge}' if judge else ''} in {path}; found {names}")
    return found[-1]


def _read_grades(path: Path, grading: Grading) -> dict[str, dict[str, float]]:
    """Return the mean grade of each model by preference."""
    judgements = [each for each in read_judgements(path / grading.file) if not each.case]
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for each in report_judgements(judgements).systems if judgements else ():
        if each.mean is not None:
            found[each.system][each.preference] = each.mean
    return dict(found)


def _read_share(path: Path, k: int) -> float | None:
    """Return pass@k of a run without context; None if it has too few samples."""
    verdicts: dict[str, dict[int, bool]] = defaultdict(dict)
    for record in read_records(path):
        if record.column == BASE:
            verdicts[record.item][record.sample] = record.passed
    if not verdicts or min(map(len, verdicts.values())) < k:
        return None
    return fmean(pass_at_k(len(each), sum(each.values()), k) for each in verdicts.values())
