"""The options of `pkg mcp`."""

from __future__ import annotations

import click

from pkg.console.settings import combine, decode_option, source_setting
from pkg.service.mcp.agent_configs import AGENTS, SCOPES

mcp_options = combine(
    source_setting(help="Answer about one source of the graph only."),
    click.option(
        "--here",
        is_flag=True,
        help="Answer about the source that the current folder is in, and about all of them where it is in none.",
    ),
    click.option(
        "--model",
        callback=decode_option,
        metavar="MODEL",
        help="Who writes the answers of ask: gguf:FILE, openai:NAME@URL or hf:FOLDER; without it ask gives evidence.",
    ),
    click.option("--allow-build", is_flag=True, help="Let agents bring the graph up to date; else they only read."),
    click.option("--watch", is_flag=True, help="Build what changes on disk in the background, while agents ask."),
    click.option("--http", "is_http", is_flag=True, help="Serve streamable HTTP, not standard input and output."),
    click.option("--host", callback=decode_option, metavar="ADDRESS", help="Where --http listens; default: 127.0.0.1."),
    click.option("--port", type=click.IntRange(0, 65535), help="Port of --http; 0 takes a free one. Default: 8721."),
    click.option(
        "--install",
        "agent",
        type=click.Choice(list(AGENTS)),
        help="Show what to put into the configuration of an agent, and where, so that it starts this server.",
    ),
    click.option(
        "--scope",
        type=click.Choice(SCOPES),
        help="With --install: for the project in the current folder (default), or for all of the user's.",
    ),
    click.option("--write", "is_written", is_flag=True, help="With --install: add it to the file, and keep the rest."),
)
"""Options that select what is served, how, and for which agent."""
