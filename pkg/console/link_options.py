"""Options of commands that list links."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pkg.retrieval.deps.answer import RELATION_KINDS, DepsOptions, RelationKind

DEPS = DepsOptions()


def _split_relations(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> tuple[RelationKind, ...]:
    """Parse relation kinds separated by commas or given several times."""
    found = [word.strip() for value in values for word in value.split(",")]
    chosen = tuple(kind for kind in RELATION_KINDS if kind in found)
    wrong = sorted(set(found) - set(chosen))
    if wrong:
        raise click.BadParameter(f"unknown kind '{wrong[0]}'; expected {', '.join(RELATION_KINDS)}", ctx, param)
    return chosen


relation_option = click.option(
    "--relation",
    "relations",
    multiple=True,
    metavar="KIND,...",
    callback=_split_relations,
    help=f"Links to follow: {', '.join(RELATION_KINDS)}; without it all.",
)
limit_option = click.option(
    "--limit",
    type=click.IntRange(0),
    default=DEPS.limit,
    show_default=True,
    help="Maximum number of lines of each kind; 0 for all.",
)
"""Maximum number of lines of each kind."""
