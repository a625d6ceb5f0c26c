"""Decide whether the prompt of a question without examples shows context from the graph.

Context breaks answers as well as it repairs them. The examples of a question decide after the fact
(pkg.generation.cascade); without examples, rules by model size decide beforehand from the signals of the search. The
rules beside this file were learned by `pkg eval calibrate`, which makes others from a user's own runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_args

from pkg.errors import InputError, PathError
from pkg.generation.signals import SIGNALS

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
