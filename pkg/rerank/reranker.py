"""The use case: choose the best of several candidates and say why."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pkg.errors import InputError, MissingExtraError, SandboxError
from pkg.local_errors import describe_local
from pkg.rerank.candidates import Candidate, Extracted, Name, Ranked, Ranking, RerankOptions, Task, Verdict
from pkg.rerank.case import Case, Contender, make_case
from pkg.rerank.contenders import find_contenders
from pkg.rerank.stages.sandbox_stages import BehaviourStage, ExamplesStage, OracleStage, SmokeStage
from pkg.rerank.stages.similarity import SimilarityStage
from pkg.rerank.stages.static_stages import Stage, StaticStage, SyntaxStage

if TYPE_CHECKING:
    from pkg.sandbox.protocol import Sandbox


ORDER = ("oracle", "examples", "syntax", "static", "behaviour")
"""The evidence, strongest first. What a candidate does on an example says more than what may be wrong in a branch of
it that no example reaches, so the doubts of the syntax and the static stage come behind the examples. Likeness to the
query comes last, in `_weigh`."""

_SEEN = frozenset(("examples", "behaviour"))  # the stages that see what a candidate does

_REACHED = ("syntax", "smoke", "static")  # the stages that drop, in the order in which a candidate gets past them


def settle_doubts(case: Case, contenders: Sequence[Contender]) -> None:
    """Drop whom the static stage doubts, but for those for whom every visible example holds (A-08)."""
    for each in contenders:
        doubt = each.verdicts.get("static")
        shown = each.verdicts.get("examples")
        is_cleared = bool(case.examples) and shown is not None and shown.passed
        if each.dropped is None and doubt is not None and not doubt.passed and not is_cleared:
            each.dropped = "static"


def choose_finalists(contenders: Sequence[Contender]) -> list[Contender]:
    """Give those that nothing has dropped; where all were, those of the last stage that somebody reached (A-09)."""
    alive = [each for each in contenders if each.dropped is None]
    if alive:
        return alive
    furthest = max(map(_reached, contenders))
    return [each for each in contenders if _reached(each) == furthest]


def _reached(contender: Contender) -> int:
    return len(_REACHED) if contender.dropped is None else _REACHED.index(contender.dropped)


def order_contenders(case: Case, contenders: Sequence[Contender]) -> list[Contender]:
    """Sort by how far each came, then by the evidence, then by the order given."""
    return sorted(contenders, key=lambda each: (-_reached(each), *_weigh(case, each), each.places[0]))


def _weigh(case: Case, contender: Contender) -> tuple[float, ...]:
    """Give what sorts: each piece of evidence after the other, or their weighted sum where weights are given.

    Among equals in all that was seen of what they do, the candidate given first stands before likeness to the query:
    it is the greedy one as a rule, and the paper's stages, where likeness chooses, end below it in every form of the
    benchmark (benchmarks/results/rerank.json). An answer with lines below that only use what it defines stands a notch
    below an equal one without.
    """
    weights = case.options.weights
    has_driver = float(bool(contender.found.driver) and not case.options.takes_whole)
    if not weights:
        is_later = bool(_SEEN & {*case.options.stages}) and 0 not in contender.places
        evidence = (-contender.score(stage) for stage in ORDER)
        return (*evidence, has_driver, float(is_later), -contender.score("similarity"))
    total = sum(weight * contender.score(stage) for stage, weight in weights.items())
    return (-contender.score("oracle"), -total, has_driver)


_FILTERS: tuple[Stage, ...] = (SyntaxStage(), StaticStage(), SmokeStage(), ExamplesStage(), OracleStage())
_COMPARISONS: tuple[Stage, ...] = (BehaviourStage(), SimilarityStage())


class Reranker:
    """Chooses among candidates, one task after the other, with one sandbox; use it in a with statement."""

    def __init__(self, options: RerankOptions | None = None, sandbox: Sandbox | None = None) -> None:
        """Open the sandbox of the options where none is given; a PkgError says what it lacks."""
        self.options = options or RerankOptions()
        self.note = ""
        self.sandbox = sandbox or (self._open() if self.options.runs_code else None)

    def __enter__(self) -> Reranker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sandbox."""
        if self.sandbox is not None:
            self.sandbox.close()

    def _open(self) -> Sandbox | None:
        """Open the sandbox; where this platform's default is missing only the stages that run nothing are left."""
        from pkg.sandbox.worker_pool import open_sandbox

        try:
            return open_sandbox(self.options.sandbox, self.options.jobs)
        except (SandboxError, MissingExtraError) as fault:
            if self.options.sandbox is not None or sys.platform == "linux":
                raise
            self.note = f"no candidate was run, for there is no sandbox here: {fault}"
            return None

    def rerank(
        self, query: str, candidates: Sequence[str | Mapping[str, Any] | Candidate], *, examples: Sequence[Any] = ()
    ) -> Ranking:
        """Choose among candidates for a query; an InputError when there are none."""
        return self.rank(Task(query, make_candidates(candidates), tuple(examples)))

    def rank(self, task: Task, tests: Any = None) -> Ranking:
        """Choose among the candidates of a task; hidden tests make it an oracle.

        An InputError says that there are no candidates, or what is wrong with an example or a test.
        """
        if not task.candidates:
            raise InputError("no candidates; expected at least one, as a text or an object with the field text")
        answers = [each.text for each in task.candidates]
        case = make_case(task.query, task.examples, self.options, self.sandbox, tests, answers)
        case.notes += [self.note] if self.note else []
        contenders = find_contenders(task, case)
        run_filters(case, contenders)
        settle_doubts(case, contenders)
        finalists = choose_finalists(contenders)
        run_comparisons(case, contenders, finalists)
        return make_ranking(task, case, order_contenders(case, contenders))


def make_candidates(given: Iterable[str | Mapping[str, Any] | Candidate]) -> tuple[Candidate, ...]:
    """Make candidates of texts, and of objects with a text and perhaps an id; InputError for anything else."""
    candidates = tuple(_make_candidate(index, each) for index, each in enumerate(given))
    repeated = [name for name, count in Counter(each.id for each in candidates).items() if count > 1]
    if repeated:
        raise InputError(f"several candidates have the id {repeated[0]!r}; expected ids that differ, or none")
    return candidates


def _make_candidate(index: int, given: Any) -> Candidate:
    if isinstance(given, Candidate):
        return given
    if isinstance(given, str):
        return Candidate(index, given)
    text = given.get("text") if isinstance(given, Mapping) else None
    if not isinstance(text, str):
        raise InputError(f"candidate {index} has no text; expected a text, or an object with the field text")
    own = given.get("id")
    extra = {name: value for name, value in given.items() if name not in ("id", "text")}
    return Candidate(own if isinstance(own, str | int) and not isinstance(own, bool) else index, text, extra)


def run_filters(case: Case, contenders: Sequence[Contender]) -> None:
    """Run the stages that look at each candidate by itself, on those that are left."""
    for stage in _FILTERS:
        if stage.name not in case.options.stages and not (stage.name == "oracle" and case.is_oracle):
            continue
        alive = [each for each in contenders if each.dropped is None]
        for contender, verdict in zip(alive, judge_each(stage, case, alive), strict=True):
            contender.verdicts[stage.name] = verdict
            if stage.drops and not verdict.passed:
                contender.dropped = stage.name


def run_comparisons(case: Case, contenders: Sequence[Contender], finalists: Sequence[Contender]) -> None:
    """Run the stages that look at candidates side by side; the cosine is told of every candidate."""
    for stage in _COMPARISONS:
        if stage.name not in case.options.stages:
            continue
        runnable = [each for each in finalists if each.dropped not in ("syntax", "smoke")]
        judged = contenders if stage.name == "similarity" else runnable
        for contender, verdict in zip(judged, compare_all(stage, case, judged), strict=True):
            contender.verdicts[stage.name] = verdict


def compare_all(stage: Stage, case: Case, contenders: Sequence[Contender]) -> Sequence[Verdict]:
    """Return the verdicts of a stage that compares; where it fails unexpectedly, those without whom it does not.

    Who is at fault fails beside itself too, and has no points of this stage; the others are compared with each other.
    """
    try:
        return list(stage.judge(case, contenders))
    except Exception as fault:
        reason = describe_local(fault)
    faults = [_find_fault(stage, case, each) for each in contenders]
    sound = [each for each, fault in zip(contenders, faults, strict=True) if not fault]
    compared = iter(compare_all(stage, case, sound) if len(sound) < len(contenders) else ())
    reasons = [fault or (reason if len(sound) == len(contenders) else "") for fault in faults]
    case.notes += [
        f"{stage.name} of candidate {each.places[0]}: {reason}"
        for each, reason in zip(contenders, reasons, strict=True)
        if reason
    ]
    return [Verdict(stage.name, True, 0.0, reason) if reason else next(compared) for reason in reasons]


def _find_fault(stage: Stage, case: Case, contender: Contender) -> str:
    """Say how a stage fails that compares a candidate with itself; "" where it does not."""
    try:
        stage.judge(case, [contender, contender])
    except Exception as fault:
        return describe_local(fault)
    return ""


def judge_each(stage: Stage, case: Case, contenders: Sequence[Contender]) -> Sequence[Verdict]:
    """Return the verdicts of a stage; where it fails unexpectedly, each candidate is judged alone.

    One for which it fails even so is not dropped, and has no points of this stage.
    """
    try:
        return list(stage.judge(case, contenders))
    except Exception as fault:
        reason = describe_local(fault)
        if len(contenders) == 1:
            case.notes.append(f"{stage.name} of candidate {contenders[0].places[0]}: {reason}")
            return [Verdict(stage.name, True, 0.0, reason)]
    return [verdict for each in contenders for verdict in judge_each(stage, case, [each])]


def make_ranking(task: Task, case: Case, ordered: Sequence[Contender]) -> Ranking:
    """Say the outcome for every candidate; those of equal code stand one behind the other."""
    ranked: dict[int, Ranked] = {}
    for rank, contender in enumerate(ordered, 1):
        for place in contender.places:
            ranked[place] = _make_ranked(task.candidates, contender, place, rank)
    order = [task.candidates[place].id for contender in ordered for place in contender.places]
    return Ranking(
        chosen=order[0],
        order=tuple(order),
        candidates=tuple(ranked[place] for place in range(len(task.candidates))),
        fallback=all(each.dropped is not None for each in ordered),
        entry=case.entry,
        examples=tuple(each.shown for each in case.examples),
        inputs=case.inputs,
        sandbox=case.sandbox.name if case.sandbox is not None else None,
        oracle=case.is_oracle,
        notes=tuple(case.notes),
        id=task.id,
        extra=task.extra,
    )


def describe_found(found: Extracted) -> str:
    """Say what was done to find the code, and which of its lines only use what it defines."""
    if found.is_bare or not found.driver:
        return found.note
    return "; ".join(filter(None, (found.note, f"a notch below for lines that only use it ({found.driver})")))


def _make_ranked(candidates: Sequence[Candidate], contender: Contender, place: int, rank: int) -> Ranked:
    first: Name | None = candidates[contender.places[0]].id if place != contender.places[0] else None
    similarity = contender.verdicts.get("similarity")
    reason = contender.verdicts[contender.dropped].reason if contender.dropped else describe_found(contender.found)
    return Ranked(
        id=candidates[place].id,
        rank=rank,
        code=contender.code,
        votes=contender.votes,
        same_as=first,
        dropped=contender.dropped,
        reason=reason,
        verdicts=tuple(contender.verdicts.values()),
        similarity=similarity.score if similarity is not None else None,
        extra=candidates[place].extra,
        is_cut=contender.found.is_cut,
    )
