"""Decide for one question whether a prompt shows what the search found, where no example of the question can tell.

Code that is shown breaks answers as well as it mends them. Where a question shows examples, these decide afterwards
(pkg.generation.cascade). Where it shows none, a rule for models of a size decides beforehand, by signals of the search.
The rules beside this file were learned by `pkg eval calibrate`, which makes others from runs of one's own.
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
Shown = Literal["signatures", "code"]
CONTEXTS: tuple[Shown, ...] = get_args(Shown)


@dataclass(frozen=True, slots=True)
class GateRule:
    """When models below a size are shown one kind of context."""

    context: Shown
    below: float | None  # parameters of the models that it is for; None for any
    bounds: Mapping[str, float] | None  # what signals must reach; None shows nothing, ever

    def admits(self, signals: Mapping[str, float]) -> bool:
        """Tell whether the context is shown."""
        return reaches(self.bounds, signals)

    def explain(self, signals: Mapping[str, float]) -> str:
        """Say why a context is not shown."""
        if self.bounds is None:
            return f"{self.context} broke as much as they mended with models of this size"
        low = next(name for name, least in self.bounds.items() if signals.get(name, 0.0) < least)
        return (
            f"{self.context} mend only where {low} is at least {self.bounds[low]:g}, and it is {signals.get(low, 0):g}"
        )


def reaches(bounds: Mapping[str, float] | None, signals: Mapping[str, float]) -> bool:
    """Tell whether signals reach their bounds, one that is missing being 0; nothing reaches bounds that are None."""
    return bounds is not None and all(signals.get(name, 0.0) >= least for name, least in bounds.items())


def list_rules(rules: Sequence[GateRule], parameters: float | None) -> list[GateRule]:
    """List the rules for models of a size, an unknown one being large: the first that admits decides what is shown."""
    return [rule for rule in rules if rule.below is None or (parameters is not None and parameters < rule.below)]


@lru_cache(maxsize=8)
def read_rules(path: Path = RULES) -> tuple[GateRule, ...]:
    """Read rules in their order; a PathError without the file, an InputError for what holds none."""
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
    """Write rules, each with what it was learned from, as read_rules reads them."""
    return json.dumps({"version": VERSION, "rules": list(rules)}, indent=1) + "\n"
