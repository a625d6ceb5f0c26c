"""Parse a style sheet like the Neo4j Browser: comments are unknown, and a rule with a second colon is dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping

Style = dict[str, dict[str, str]]


def parse_style(text: str) -> Style:
    """Return the properties of each selector, such as node.Function; raise for anything the Browser would drop."""
    rules = re.findall(r"([^{}]+?)\s*\{((?:\"[^\"]*\"|[^\"}])*)\}\s*", text)
    assert "".join(re.sub(r"\s", "", f"{name}{{{body}}}") for name, body in rules) == re.sub(r"\s", "", text)
    return {
        name.strip(): dict(_parse_property(each) for each in body.split(";") if each.strip()) for name, body in rules
    }


def _parse_property(text: str) -> tuple[str, str]:
    name, value = text.split(":")
    return name.strip(), value.strip().strip('"')


def make_caption(style: Style, label: str, properties: Mapping[str, object]) -> str:
    """Return the caption of a node: names in braces are replaced by its properties, missing ones by nothing."""
    caption = style[f"node.{label}"]["caption"]
    return re.sub(r"\{([^{}]*)\}", lambda found: str(properties.get(found[1], "")), caption)
