"""A small graph of code that sends mail, questions about it, and the answers of `pkg query`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from trees import write_tree

import pkg
from pkg.cli import main

MAIL = '''\
class Mailer:
    """Send mails by a server."""

    def send_mail(self, customer, message):
        """Send a message to a customer."""
        if self.server.is_closed():
            raise ConnectionError
        return deliver(customer.address, message)


def deliver(address, message):
    """Hand a message over to the post office."""
    return address, message


def parse_price(text):
    """Read a price in cents from a text such as $1.50."""
    return round(float(text.strip().lstrip("$")) * 100)


def count_words(text):
    """Count the words of a text."""
    return len(text.split())
'''

QUESTION = "send a mail to a customer"
MISFIT = "bake a chocolate cake with strawberries in the oven"
UNKNOWN = "zxqvblorgh"


def build_mail_graph(folder: Path, others: Mapping[str, str] | None = None) -> str:
    """Build the graph of a folder shop beside the given one, optionally with other files; return its address."""
    write_tree(folder / "shop", {"mail.py": MAIL, **(others or {})})
    address = f"sqlite:///{folder / 'graph.db'}"
    pkg.build_graph(folder / "shop", store=address)
    return address


def ask_command(address: str, question: str, *options: str) -> list[dict[str, Any]]:
    """Return the hits of `pkg query`, as in its JSON lines."""
    done = CliRunner().invoke(main, ["query", question, "--store", address, "--json", *options])
    assert done.exit_code == 0, done.output
    return [line for line in map(json.loads, done.stdout.splitlines()) if line["type"] == "hit"]


def tell_hits(hits: list[dict[str, Any]]) -> list[tuple[str, float, str]]:
    """Return the parts of hits that a retriever must reproduce: id, score and place, in order."""
    return [(hit["id"], hit["score"], f"{hit['path']}:{hit['start_line']}-{hit['end_line']}") for hit in hits]


def tell_metadata(metadata: Mapping[str, Any]) -> tuple[str, float, str]:
    """Return the same from the metadata of a passage."""
    return metadata["id"], metadata["score"], f"{metadata['path']}:{metadata['lines']}"
