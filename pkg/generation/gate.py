"""Decide whether the prompt of a question without examples shows context from the graph.

Context breaks answers as well as it repairs them. The examples of a question decide after the fact
(pkg.generation.cascade); without examples, rules by model size decide beforehand from the signals of the search. The
rules beside this file were learned by `pkg eval calibrate`, which makes others from a user's own runs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from pkg.errors import InputError, PathError
from pkg.model import Hit
from pkg.retrieval.question import parse_question
from pkg.terms.words import split_terms

SIGNALS = ("own", "score", "margin", "cosine", "agreement", "held", "named", "lines")
"""Of the best hit: 1 if it is from a repository and not a corpus, its score, the difference to the next score, its
cosine, 1 if no hit has a higher cosine, the weighted share of the question's terms in it, the share of its name's terms
in the question, and its number of lines."""


def measure_signals(text: str, hits: Sequence[Hit], corpora: Collection[str]) -> Mapping[str, float]:
    """Return the signals of a question and its hits, the best first; none without hits.

    corpora: the names of sources that are not repositories.
    """
    if not hits:
        return {}
    best = hits[0]
    weights = parse_question(text).weights
    asked = set(split_terms(text.encode("utf-8", "replace")))
    held = set(split_terms(f"{best.qualname}\n{best.content}".encode("utf-8", "replace")))
    name = set(split_terms(best.qualname.rpartition(".")[2].encode("utf-8", "replace")))
    total = sum(weights.values())
    found = {
        "own": float(best.source not in corpora),
        "score": best.score,
        "margin": best.score - max((hit.score for hit in hits[1:]), default=0.0),
        "cosine": best.cosine,
        "agreement": float(all(hit.cosine <= best.cosine for hit in hits)),
        "held": sum(weight for term, weight in weights.items() if term in held) / total if total else 0.0,
        "named": len(name & asked) / len(name) if name else 0.0,
        "lines": float(best.content.count("\n") + 1),
    }
    return {each: round(found[each], 4) for each in SIGNALS}


RULES = Path(__file__).with_name("gate.json")
VERSION = 1  # of the file
ShownContext = Literal["signatures", "code"]
CONTEXTS: tuple[ShownContext, ...] = get_args(ShownContext)


@dataclass(frozen=True, slots=True)
class GateRule:
    """The condition under which models below a size are shown one kind of context."""

    context: ShownContext
    below: float | None  # number of parameters; None for any model
    bounds: Mapping[str, float] | None  # least values of signals; None never shows it

    def admits(self, signals: Mapping[str, float]) -> bool:
        """Return whether the context is shown."""
        return reaches(self.bounds, signals)

    def explain(self, signals: Mapping[str, float]) -> str:
        """Return the reason why the context is not shown."""
        if self.bounds is None:
            return f"{self.context} broke as many answers as they repaired with models of this size"
        low = next(name for name, least in self.bounds.items() if signals.get(name, 0.0) < least)
        return f"{self.context} help only if {low} is at least {self.bounds[low]:g}; it is {signals.get(low, 0):g}"


def reaches(bounds: Mapping[str, float] | None, signals: Mapping[str, float]) -> bool:
    """Return whether signals reach their bounds; a missing signal is 0, and no signals reach bounds of None."""
    return bounds is not None and all(signals.get(name, 0.0) >= least for name, least in bounds.items())


def list_rules(rules: Sequence[GateRule], parameters: float | None) -> list[GateRule]:
    """Return the rules for a model size, of which the first that admits decides; an unknown size counts as large."""
    return [rule for rule in rules if rule.below is None or (parameters is not None and parameters < rule.below)]


@lru_cache(maxsize=8)
def read_rules(path: Path = RULES) -> tuple[GateRule, ...]:
    """Read the rules of a file in their order; raises PathError without the file and InputError for invalid content."""
    try:
        return _parse_rules(json.loads(path.read_text("utf-8")))
    except OSError as fault:
        raise PathError(f"cannot read the rules in {path}: {fault.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise InputError(f"no rules in {path} ({fault}); expected a file that pkg eval calibrate has written") from None


def _parse_rules(found: Any) -> tuple[GateRule, ...]:
    if found["version"] != VERSION:
        raise ValueError(f"version {found['version']}")
    return tuple(map(_parse, found["rules"]))


def _parse(row: Mapping[str, Any]) -> GateRule:
    bounds = row["bounds"]
    if bounds is not None and not set(bounds) <= set(SIGNALS):
        raise ValueError(f"signals {', '.join(bounds)}")
    if row["context"] not in CONTEXTS:
        raise ValueError(f"context {row['context']}")
    return GateRule(row["context"], row["below"], bounds)


def write_rules(rules: Sequence[Mapping[str, Any]]) -> str:
    """Serialize rules, each with the data it was learned from, for read_rules."""
    return json.dumps({"version": VERSION, "rules": list(rules)}, indent=1) + "\n"
