"""What may be asked about dependencies, and what is refused."""

from __future__ import annotations

from dataclasses import dataclass

from pkg.errors import UsageError

QUESTIONS = ("links", "path", "impact", "cycles", "unused", "imports")
DIRECTIONS = ("in", "out", "both")
LINK_DEPTH = 1
CHAIN_DEPTH = 10  # hops of a chain, steps of an impact: longer ones are rarely read, and the answer says when it stops
DEFAULT_LIMIT = 200  # lines of one kind: more than a person reads, and hubs have thousands

_WITH_NAME = ("links", "path", "impact")


@dataclass(frozen=True, slots=True)
class DepsOptions:
    """The settings of one question about dependencies."""

    question: str = "links"  # one of QUESTIONS
    to: str | None = None  # the end of a path
    source: str | None = None
    depth: int | None = None  # None for LINK_DEPTH or CHAIN_DEPTH
    direction: str = "both"  # one of DIRECTIONS
    limit: int = DEFAULT_LIMIT  # lines of one kind; 0 for no limit

    @property
    def steps(self) -> int:
        """Give the depth that was asked for, or the one that fits the question."""
        if self.depth is not None:
            return self.depth
        return LINK_DEPTH if self.question == "links" else CHAIN_DEPTH


def check_options(name: str | None, options: DepsOptions) -> None:
    """Refuse what cannot be meant, with a UsageError."""
    for what, value, choices in (
        ("question", options.question, QUESTIONS),
        ("direction", options.direction, DIRECTIONS),
    ):
        if value not in choices:
            raise UsageError(f"unknown {what} '{value}'; expected one of: {', '.join(choices)}")
    for what, number in (("depth", options.steps), ("limit", options.limit)):
        if number < 0:
            raise UsageError(f"{what} is {number}; expected 0 or more")
    if not name and options.question in _WITH_NAME:
        raise UsageError(
            "no name was given; expected a function, class or file, such as Cart.total, shop/cart.py or"
            " shop/cart.py:12, or one of --cycles, --unused, --imports"
        )
    if (options.to is None) == (options.question == "path"):
        raise UsageError("a path has two ends, and no other question has a second name; write: --path A B")


def cut_limit(limit: int, count: int) -> int:
    """Give how many of so many are shown."""
    return min(limit, count) if limit else count
