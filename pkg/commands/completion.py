"""`pkg completion`: write the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from pkg.errors import UsageError


@click.command(epilog="Example:  pkg completion bash >> ~/.bashrc")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Write a script for shell completion."""
    found = get_completion_class(shell)
    if found is None:
        raise UsageError(f"no completion for '{shell}'; expected bash, zsh or fish")
    main = click.get_current_context().find_root().command
    click.echo(found(main, {}, "pkg", "_PKG_COMPLETE").source())
