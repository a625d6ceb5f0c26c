"""Describe in words what an answer about dependencies may lack: one sentence, or every count."""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

from pkg.errors import count_things
from pkg.retrieval.deps.answer import (
    UNRESOLVED_CALLS,
    Answer,
    CallCoverage,
    Chains,
    Cycles,
    Dependencies,
    Impact,
    Unused,
)


@singledispatch
def describe_doubt(answer: Answer) -> str:
    """Return what the answer may lack because of calls that could not be resolved; "" if nothing."""
    return ""


@describe_doubt.register(Dependencies)
def _doubt_callers(answer: Dependencies) -> str:
    coverage = answer.coverage
    if coverage.named is not None:
        return coverage.named.describe()
    if not coverage.same_name or answer.direction == "out":
        return ""
    callers = _count_callers(answer)
    known = f"{count_things(callers, 'caller')}; " if callers else ""
    return f"{known}{_count_unresolved(coverage, 'more ' if callers else '')}"


@describe_doubt.register(Chains)
def _doubt_chains(answer: Chains) -> str:
    calls = answer.coverage.unbound + (answer.coverage.same_name or 0)
    is_sure = answer.chains and not answer.coverage.notes
    if is_sure or not calls:
        return ""
    return f"{count_things(calls, 'call')} on the way could not be resolved, so a chain may be missing"


@describe_doubt.register(Impact)
def _doubt_impact(answer: Impact) -> str:
    coverage = answer.coverage
    if coverage.named is not None:
        return coverage.named.describe()
    same = coverage.same_name or 0
    if coverage.unbound > same:
        return f"{count_things(coverage.unbound, 'call')} that may lead there could not be resolved, so more may break"
    return f"{_count_unresolved(coverage, '')}, so more may break" if same else ""


@describe_doubt.register(Cycles)
def _doubt_cycles(answer: Cycles) -> str:
    return _doubt_source(answer.coverage, "so a cycle of calls may be missing")


@describe_doubt.register(Unused)
def _doubt_unused(answer: Unused) -> str:
    return _doubt_source(answer.coverage, "and may use what is listed here")


def describe_unlisted(answer: Answer) -> str:
    """Return how many calls in the target could not be resolved; "" if the answer lists them or has none."""
    if not isinstance(answer, Dependencies) or answer.direction == "in" or not answer.coverage.unbound:
        return ""
    listed = {each.relation for each in answer.found} | dict(answer.left_out).keys()
    calls = count_things(answer.coverage.unbound, "call")
    return "" if UNRESOLVED_CALLS in listed else f"{calls} in it could not be resolved; see pkg deps"


def _doubt_source(coverage: CallCoverage, conclusion: str) -> str:
    if not coverage.unbound:
        return ""
    calls = coverage.bound + coverage.possible + coverage.unbound
    return f"{coverage.unbound:,} of {count_things(calls, 'call')} could not be resolved, {conclusion}"


def _count_callers(answer: Dependencies) -> int:
    listed = {each.place.id for each in answer.found if each.relation == "callers"}
    return len(listed) + dict(answer.left_out).get("callers", 0)


def _count_unresolved(coverage: CallCoverage, more: str) -> str:
    calls = count_things(coverage.same_name or 0, f"{more}call")
    return f"{calls} of {coverage.names.removeprefix('the name ')} could not be resolved"


def describe_affected(answer: Impact) -> str:
    """Return how many places may break, how many of them in tests, and how many only possibly."""
    if not answer.total:
        return "nothing is known that may break"
    unsure = f" ({answer.possible:,} only possibly)" if answer.possible else ""
    tests = f"{answer.tests:,}" if answer.tests else "none"
    return f"{count_things(answer.total, 'place')} may break{unsure}, {tests} of them in tests"


def format_counts(coverage: CallCoverage) -> str:
    """Return the counted call sites, or reads, by whether they are bound, in one line."""
    line = (
        f"{coverage.what} {coverage.scope}: {coverage.bound:,} bound, {coverage.possible:,} possible,"
        f" {coverage.unbound:,} unbound"
    )
    if coverage.same_name is None:
        return line
    return f"{line}; unbound call sites of {coverage.names} in all of the source: {coverage.same_name:,}"


def explain_coverage(answer: Answer) -> Iterator[str]:
    """Yield the counts of an answer, one line each, with the reasons of unbound call sites that may be callers."""
    coverage = answer.coverage
    yield format_counts(coverage)
    for reason, count in coverage.reasons if coverage.same_name else ():
        yield f"  {count:,} {reason}"
    if isinstance(answer, Unused) and answer.spared:
        yield "no link leads to these either, but they may be used:"
        yield from (f"  {count:,} {kind}" for kind, count in answer.spared)
